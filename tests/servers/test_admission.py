"""The admission policies on real servers: who passes the door, and who is refused by which rule."""

import json
from contextlib import closing
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.documents.files import Source
from policygen.plan.admission.parameters import rule_of
from policygen.plan.compile import compile_plan
from policygen.plan.pods import (
    ANNOTATIONS,
    JOB_ANNOTATIONS,
    LABELS,
    LWS_ANNOTATIONS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
)
from policygen.spec.load import load
from tests.servers.bench import CONTEXT, OBSERVER_TOKEN
from tests.servers.client import JSON, MERGE, Client
from tests.servers.draws import draws_of
from tests.servers.rendering import json_documents, rendered
from tests.servers.workloads import GPU, VOLCANO_QUEUE, Ask, deployment, job, pod, vcjob
from tests.strategies import specs

EXAMPLES = Path(__file__).parents[2] / "examples"
POLICY = ("admissionregistration.k8s.io/v1", "ValidatingAdmissionPolicy")
DENIED = "admission-deny' denied request: "
BATCH = Ask(scheduler="mixed.binpack", priority="batch")
TRAINING = {
    "scheduler": "volcano",
    "priority": "training.preempting",
    "node_selector": {"pool": "training-h100"},
    "tolerations": [
        {"key": "pool", "operator": "Equal", "value": "training-h100", "effect": "NoSchedule"}
    ],
}
LAB = "lab.training-h100"


def text_of(example):
    return "\n---\n".join(
        it.read_text("utf-8") for it in sorted((EXAMPLES / example).glob("*.yaml"))
    )


class Door:
    """Policies that are in force during a test. The next test begins when they are not any more."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.probes = []
        self.filled = None

    def close(self, out, kinds=None):
        """Apply objects of these kinds, or all, and wait until the API server knows all policies.

        Quotas stay away: a drawn one may allow nothing.
        """
        kept = [
            it
            for it in out.objects
            if it["kind"] != "ResourceQuota" and (kinds is None or it["kind"] in kinds)
        ]
        self.cluster.apply(json_documents(kept))
        for it in out.objects:
            if it["kind"] == "ConfigMap" and "resources" in it["data"]:
                ask = Ask(resource=it["data"]["resources"].split()[0])
                probe = pod("probe", self.cluster.namespace(it["metadata"]["namespace"]), ask)
                self.cluster.until("the policies", lambda bad=probe: " needs [" in self._tried(bad))
                self.probes.append(probe)

    def fill(self, out, thing, kinds=None):
        """As `close`, and wait until the API server adds missing fields to new objects, such as this one."""
        if not self.cluster.client.get(
            "/apis/admissionregistration.k8s.io/v1/mutatingadmissionpolicies"
        ).ok:
            pytest.skip("this release of Kubernetes does not serve MutatingAdmissionPolicy")
        self.close(out, kinds)
        self.cluster.until("the defaults", lambda: tried(self.cluster, thing) == "")
        self.filled = thing

    def _opened(self):
        """Whether the API server adds no field any more."""
        before = dict(self.filled["metadata"]["labels"])
        return created(self.cluster, self.filled)["metadata"]["labels"] == before

    def open(self):
        if self.filled:
            for name in ("MutatingAdmissionPolicyBinding", "MutatingAdmissionPolicy"):
                for it in self.cluster.objects(POLICY[0], name):
                    if it["metadata"].get("labels"):
                        self.cluster.delete(POLICY[0], name, it["metadata"]["name"])
        kind = (POLICY[0], f"{POLICY[1]}Binding")
        ours = [it for it in self.cluster.objects(*kind) if it["metadata"].get("labels")]
        for it in ours:
            self.cluster.delete(*kind, it["metadata"]["name"])
        for probe in self.probes:
            self.cluster.until(
                "no policy", lambda it=probe: "AdmissionPolicy" not in self._tried(it)
            )
        if self.filled:
            self.cluster.until("no defaults", self._opened)

    def _tried(self, thing):
        return tried(self.cluster, thing)


@pytest.fixture
def door(cluster):
    found = Door(cluster)
    yield found
    found.open()


def tried(cluster, thing):
    """The message of a refusal in a dry run, with warnings; empty if the server accepts the object."""
    resource = cluster.client.resource(thing["apiVersion"], thing["kind"])
    path = resource.path(thing["metadata"]["namespace"])
    answer = cluster.client.request("POST", path, thing, query={"dryRun": "All"})
    return " ".join(answer.warnings) if answer.ok else answer.message


def created(cluster, thing):
    """What the API server would store for an object; the object of the answer if it refuses it."""
    path = cluster.client.resource(thing["apiVersion"], thing["kind"]).path(
        thing["metadata"]["namespace"]
    )
    return cluster.client.request("POST", path, thing, query={"dryRun": "All"}).body


@pytest.fixture
def mixed(cluster, door):
    """The example with three schedulers, and nodes of all pools."""
    out = rendered(text_of("three-schedulers"), "admission")
    door.close(out)
    for facts in out.pools.values():
        cluster.add_nodes(facts, 2, prefix=facts.name)
    return cluster


def carrying(needed, fields, *, limit=True):
    """A Pod, Job or vcjob with these fields of a model."""
    amount = {needed.resource: str(needed.units)}
    resources = {"requests": amount, **({"limits": amount} if limit else {})}
    spec = {
        "containers": [{"name": "main", "image": "none.invalid/none", "resources": resources}],
        "restartPolicy": "Never",
    }
    labels, annotations, own, on_object = {"policygen.dev/model": needed.model}, {}, {}, {}
    for it in fields:
        match it.owner:
            case "":
                spec[it.name] = it.value
            case _ if it.owner == LABELS:
                labels[it.name] = it.value
            case _ if it.owner == ANNOTATIONS:
                annotations[it.name] = it.value
            case _ if it.owner == NODE_SELECTOR:
                spec.setdefault("nodeSelector", {})[it.name] = it.value
            case _ if it.owner == TOLERATIONS:
                same = {"operator": "Equal", "value": it.value.value}
                how = same if it.value.value else {"operator": "Exists"}
                toleration = {"key": it.name, "effect": it.value.effect, **how}
                spec.setdefault("tolerations", []).append(toleration)
            case _ if it.owner == VCJOB_SPEC:
                own[it.name] = it.value
            case _:
                on_object[it.name] = it.value
    metadata = {"name": "tried", "namespace": needed.namespace, "labels": labels}
    template = {"metadata": {"labels": dict(labels), "annotations": annotations}, "spec": spec}
    owners = {it.owner for it in needed.fields}
    if VCJOB_SPEC in owners:
        tasks = [{"name": "main", "replicas": 9, "template": template}]
        scheduler = spec.get("schedulerName", "default-scheduler")
        priority = {it: spec[it] for it in ("priorityClassName",) if it in spec}
        own = {"schedulerName": scheduler, **priority, "tasks": tasks} | own
        version = "batch.volcano.sh/v1alpha1"
        return {"apiVersion": version, "kind": "Job", "metadata": metadata, "spec": own}
    if JOB_ANNOTATIONS in owners:
        metadata["annotations"] = on_object
        body = {"template": template}
        return {"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": body}
    metadata["annotations"] = annotations
    return {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}


def models_of(text):
    """The fields of the models of a spec that this control plane can run."""
    plan = compile_plan(load([Source("spec.yaml", text, None)], {}).sound)
    return [
        it
        for it in plan.pods
        if it.namespace and LWS_ANNOTATIONS not in {field.owner for field in it.fields}
    ]


def check_each_field(cluster, text):
    """The number of fields that were taken out, each time of a pod that passes with it."""
    tries = 0
    for needed in models_of(text):
        assert tried(cluster, carrying(needed, needed.fields)) == "", needed
        for field in needed.fields:
            rest = tuple(it for it in needed.fields if it is not field)
            message = tried(cluster, carrying(needed, rest))
            assert DENIED in message, (needed.model, field, message)
            assert f"[{rule_of(field)}] " in message, (needed.model, field, message)
            assert f"`policygen workload {needed.model}`" in message
            assert "`policygen patch FILE --spec SPEC`" in message
            tries += 1
        assert tried(cluster, carrying(needed, needed.fields, limit=False)) != ""
    return tries


def test_the_policies_are_accepted_and_their_types_are_right(mixed):
    names = ("mixed-admission-deny", "mixed-admission-parameters")
    for name in names:
        status = mixed.until(
            "the type check", lambda name=name: mixed.get(*POLICY, name).get("status")
        )
        assert status["typeChecking"] == {}
    assert mixed.apply_twice(rendered(text_of("three-schedulers"), "admission").text).changed == []


@pytest.mark.parametrize("example", ["three-schedulers", "volcano-training"])
def test_a_pod_without_one_field_of_its_model_is_refused_by_the_rule_of_this_field(
    cluster, door, example
):
    text = text_of(example)
    door.close(rendered(text, "admission"))
    assert check_each_field(cluster, text) > 5


def test_a_pod_of_a_drawn_model_without_one_field_is_refused_by_its_rule(cluster, door):
    draws = [draws_of(specs(tag=f"d{number}"), number) for number in (1, 2)]
    found = [next(it for it in one if models_of(it.spec)) for one in draws]
    tries = 0
    for it in found:
        door.close(rendered(it.spec, "admission", **_target(it)))
        tries += check_each_field(cluster, it.spec)
    assert tries > 3


def _target(it):
    return {name: str(version) for name, version in it.settings.target.items()}


def test_what_kueue_and_controllers_create_passes(mixed):
    """Pods of admitted Jobs, gated pods, Deployments, Jobs of CronJobs, and pods without GPUs."""
    labelled = {"kueue.x-k8s.io/queue-name": "batch-a100"}
    served = deployment("served", "data", BATCH, replicas=2)
    served["metadata"]["labels"] = labelled
    made = job("of-cron", "data", BATCH, queue="batch-a100")
    cron = {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "metadata": {"name": "nightly", "namespace": "data"},
        "spec": {
            "schedule": "0 0 1 1 *",
            "jobTemplate": {"metadata": {"labels": labelled}, "spec": made["spec"]},
        },
    }
    mixed.create(cron)
    uid = mixed.get("batch/v1", "CronJob", "nightly", "data")["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "CronJob", "name": "nightly", "controller": True}
    of_cron = {**made, "metadata": {**made["metadata"], "ownerReferences": [{**owner, "uid": uid}]}}
    plain = {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "metadata": {"name": "agent", "namespace": "data"},
        "spec": {
            "selector": {"matchLabels": {"app": "agent"}},
            "template": Ask(
                gpus=0, labels={"app": "agent"}, tolerations=[{"operator": "Exists"}]
            ).template,
        },
    }
    mixed.create(
        job("trained", "data", BATCH, pods=3, queue="batch-a100"),
        pod("gated", "data", Ask(scheduler="mixed.binpack", labels=labelled)),
        served,
        of_cron,
        plain,
        deployment("cpu", "data", Ask(gpus=0), replicas=2),
    )
    with mixed.kube_scheduler(rendered(text_of("three-schedulers")).scheduler_config):
        mixed.becomes("GPUs in use", lambda: mixed.bound("data"), 7)
    mixed.becomes("pods without GPUs", lambda: _named(mixed, "data", "cpu-"), 2)
    mixed.until("pods of the DaemonSet", lambda: _named(mixed, "data", "agent-"))


def _named(cluster, namespace, prefix):
    return sum(it["metadata"]["name"].startswith(prefix) for it in cluster.pods(namespace))


def test_what_volcano_creates_passes(mixed):
    """Pods and PodGroups of vcjobs and of Jobs with a queue annotation."""
    numbers = vcjob("vcjob", "lab", Ask(**TRAINING), pods=2, queue=LAB)
    (task,) = numbers["spec"]["tasks"]
    (container,) = task["template"]["spec"]["containers"]
    container["resources"] = {"requests": {GPU: 1}, "limits": {GPU: 1}}
    annotated = Ask(annotations={VOLCANO_QUEUE: LAB}, **TRAINING)
    mixed.create(
        numbers,
        job("plain", "lab", annotated),
        deployment("cpu", "lab", Ask(gpus=0, scheduler="volcano")),
    )
    mixed.becomes("GPUs in use", lambda: mixed.bound("lab"), 3)
    mixed.becomes("pods without GPUs", lambda: _named(mixed, "lab", "cpu-"), 1)


FOREIGN = {"key": "pool", "operator": "Equal", "value": "serving-l4", "effect": "NoSchedule"}


BAD = [
    (pod("bad", "data", BATCH), "queue", "kueue.x-k8s.io/queue-name=batch-a100"),
    (job("bad", "data", BATCH), "queue", "kueue.x-k8s.io/queue-name=batch-a100"),
    (job("bad", "data", BATCH, queue="training"), "queue", "a queue of namespace data"),
    (deployment("bad", "data", BATCH), "queue", "Deployment bad needs"),
    (vcjob("bad", "lab", Ask(**TRAINING)), "queue", f"{VOLCANO_QUEUE}={LAB}"),
    (
        job("bad", "data", Ask(scheduler="volcano"), queue="batch-a100"),
        "scheduler",
        "schedulerName: mixed.binpack",
    ),
    (
        job("bad", "data", Ask(scheduler="mixed.binpack", priority="urgent"), queue="batch-a100"),
        "priority",
        "one of the priority classes",
    ),
    (
        job("bad", "data", BATCH, queue="batch-a100", kueue_priority="urgent"),
        "priority",
        "one of the priority classes",
    ),
    (
        vcjob("bad", "lab", Ask(**TRAINING), queue=LAB, priority="urgent"),
        "priority",
        "one of the priority classes",
    ),
    (
        vcjob("bad", "lab", Ask(**{**TRAINING, "node_selector": {}}), queue=LAB),
        "nodes",
        "nodeSelector pool: training-h100",
    ),
    (pod("bad", "data", Ask(gpus=0, tolerations=[FOREIGN])), "nodes", "pool=serving-l4:NoSch"),
    (pod("bad", "data", Ask(gpus=0, tolerations=[{"operator": "Exists"}])), "nodes", "pool="),
]


def test_a_bad_object_is_refused_by_its_rule(mixed):
    without_limit = vcjob("bad", "lab", Ask(**TRAINING), queue=LAB)
    (task,) = without_limit["spec"]["tasks"]
    task["template"]["spec"]["containers"][0]["resources"] = {"requests": {GPU: "1"}}
    for thing, rule, words in [*BAD, (without_limit, "resources", "a limit equal to its request")]:
        message = tried(mixed, thing)
        assert DENIED in message, thing
        assert f"[{rule}] " in message, thing
        assert words in message
        assert "`policygen patch" not in message or "`policygen workload" in message


def test_a_pod_of_a_job_without_a_queue_is_refused(mixed):
    """A Job from before the policies cannot replace a pod."""
    mixed.create(job("old", "data", Ask(gpus=0)))
    uid = mixed.get("batch/v1", "Job", "old", "data")["metadata"]["uid"]
    owner = {"apiVersion": "batch/v1", "kind": "Job", "name": "old", "uid": uid, "controller": True}
    lost = pod("old-1", "data", BATCH)
    lost["metadata"]["ownerReferences"] = [owner]
    # The webhook of Kueue, which comes first, knows the new Job late.
    mixed.until("the rule", lambda: "[queue] " in tried(mixed, lost))


def test_an_update_is_refused_only_if_it_changes_the_object(mixed):
    """An object from before the policies keeps working: controllers release its finalizers."""
    good = job("updated", "data", BATCH, queue="batch-a100")
    mixed.create(good)
    where = ("batch/v1", "Job", "updated")
    mixed.patch(*where, {"metadata": {"finalizers": ["example.com/hold"]}}, "data")
    path = mixed.client.resource(*where[:2]).path("data", "updated")
    change = {"metadata": {"labels": {"kueue.x-k8s.io/queue-name": "other"}}}
    answer = mixed.client.request("PATCH", path, change, content_type=MERGE)
    assert not answer.ok
    assert "queue" in answer.message
    # Otherwise the cleanup waits for it.
    mixed.patch(*where, {"metadata": {"finalizers": None}}, "data")


def test_other_actions_let_objects_pass(cluster, door):
    text = text_of("three-schedulers").replace(
        "spec:\n  target:",
        'spec:\n  admission: {action: warn, rules: {nodes: "off", scheduler: deny}}\n  target:',
        1,
    )
    out = rendered(text, "admission")
    cluster.apply(out.text)
    bad = job("bad", "data", Ask(scheduler="volcano", tolerations=[FOREIGN]))
    door.probes.append(pod("probe", "data", Ask()))
    cluster.until("a warning", lambda: "admission-warn" in tried(cluster, bad))
    message = tried(cluster, bad)
    assert "[queue] " in message
    assert "[nodes]" not in message
    scheduler = job("bad", "data", Ask(scheduler="volcano"), queue="batch-a100")
    cluster.until("a refusal", lambda: "admission-deny' denied" in tried(cluster, scheduler))


def test_lint_finds_policies_and_parameters_that_drifted(mixed):
    rules = [word for rule in ("field-drifted", "object-missing") for word in ("--rule", rule)]
    access = ["--kubeconfig", str(mixed.bench.kubeconfig), "--context", CONTEXT]
    spec = str(EXAMPLES / "three-schedulers" / "policy.yaml")

    def lint():
        words = ["lint", spec, "--with", "admission", *access, *rules, "-f", "json"]
        report = json.loads(CliRunner().invoke(cli, words).stdout)
        assert report["complete"], report
        found = {(it["rule"], it["object"], it["path"]) for it in report["findings"]}
        return {it for it in found if "ResourceQuota" not in it[1]}  # `close` applies none

    assert lint() == set()
    mixed.patch(*POLICY, "mixed-admission-deny", {"spec": {"failurePolicy": "Ignore"}})
    mixed.patch("v1", "ConfigMap", "mixed-admission", {"data": {"queues": "any"}}, "data")
    mixed.delete(POLICY[0], f"{POLICY[1]}Binding", "mixed-admission-parameters")
    assert lint() == {
        ("field-drifted", "ValidatingAdmissionPolicy mixed-admission-deny", "spec.failurePolicy"),
        ("field-drifted", "ConfigMap data/mixed-admission", "data.queues"),
        ("object-missing", "ValidatingAdmissionPolicyBinding mixed-admission-parameters", None),
    }


def test_a_team_that_can_edit_config_maps_cannot_open_its_door(mixed):
    rules = [{"apiGroups": [""], "resources": ["configmaps"], "verbs": ["*"]}]
    rbac = "rbac.authorization.k8s.io"
    metadata = {"name": "editors", "namespace": "data"}
    group = {"kind": "Group", "apiGroup": rbac, "name": "policygen:observers"}
    role = {"kind": "Role", "apiGroup": rbac, "name": "editors"}
    mixed.create(
        {"apiVersion": f"{rbac}/v1", "kind": "Role", "metadata": metadata, "rules": rules},
        {
            "apiVersion": f"{rbac}/v1",
            "kind": "RoleBinding",
            "metadata": metadata,
            "subjects": [group],
            "roleRef": role,
        },
    )
    client = Client(mixed.bench.server, OBSERVER_TOKEN, mixed.bench.ca.read_text("ascii"))
    with closing(client) as team:
        _changes_are_refused(mixed, team)
    mixed.patch("v1", "ConfigMap", "mixed-admission", {"data": {"note": "by an admin"}}, "data")


def _changes_are_refused(cluster, team):
    path = "/api/v1/namespaces/data/configmaps"
    other = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "own"}}
    cluster.until("the role", lambda: team.request("POST", path, other, query={"dryRun": "All"}).ok)
    changed = {"data": {"queues": "any"}}
    for method, body, form in (("DELETE", {}, JSON), ("PATCH", changed, MERGE)):
        answer = team.request(method, f"{path}/mixed-admission", body, content_type=form)
        assert "only users who may update ValidatingAdmissionPolicies" in answer.message


def filling(text):
    """A spec whose policies also add missing fields."""
    head, target = "spec:\n", "  target:"
    assert f"{head}{target}" in text
    return text.replace(f"{head}{target}", f"{head}  admission: {{defaults: true}}\n{target}", 1)


def value_of(field, thing):
    """The value that a Pod has for a field of its model."""
    metadata, spec = thing["metadata"], thing["spec"]
    match field.owner:
        case "":
            return spec.get(field.name)
        case _ if field.owner == LABELS:
            return metadata["labels"].get(field.name)
        case _ if field.owner == ANNOTATIONS:
            return metadata.get("annotations", {}).get(field.name)
        case _ if field.owner == NODE_SELECTOR:
            return spec.get("nodeSelector", {}).get(field.name)
    made = [it for it in spec["tolerations"] if it.get("key") == field.name]
    assert all(it["effect"] == field.value.effect for it in made)
    return field.value if [it.get("value") for it in made] == [field.value.value] else None


def test_missing_fields_are_added_to_new_objects(cluster, door):
    text = filling(text_of("three-schedulers"))
    out = rendered(text, "admission")
    found = [it for it in models_of(text) if "vcjob" not in str(it.fields)]
    door.fill(out, carrying(found[0], ()))
    for facts in out.pools.values():
        cluster.add_nodes(facts, 2, prefix=facts.name)
    schedulers = set()
    for needed in found:
        bare = carrying(needed, ())
        assert tried(cluster, bare) == ""
        made = created(cluster, bare)
        assert all(value_of(it, made) == it.value for it in needed.fields), (needed, made)
        schedulers.add(made["spec"]["schedulerName"])
        if (name := made["spec"].get("priorityClassName")) is not None:
            known = cluster.get("scheduling.k8s.io/v1", "PriorityClass", name)
            assert made["spec"]["priority"] == known["value"]
    assert schedulers == {"mixed.binpack", "volcano"}
    _values_of_users_stay(cluster, found)
    _kueue_starts_what_lacked_its_label(cluster, out)


def _values_of_users_stay(cluster, found):
    """A wrong value, objects with an owner, without GPUs or in other namespaces, and updates."""
    needed = found[0]
    bare = carrying(needed, ())
    wrong = carrying(needed, ())
    wrong["spec"]["schedulerName"] = "other"
    assert "[scheduler] " in tried(cluster, wrong)
    owner = {"apiVersion": "example.com/v1", "kind": "Trainer", "name": "a", "uid": "b"}
    owned = carrying(needed, ())
    owned["metadata"]["ownerReferences"] = [{**owner, "controller": True}]
    assert "[scheduler] " in tried(cluster, owned)
    cluster.namespace("elsewhere")
    elsewhere = {**bare, "metadata": {**bare["metadata"], "namespace": "elsewhere"}}
    plain = pod("plain", needed.namespace, Ask(gpus=0))
    for thing in (elsewhere, plain):
        made = created(cluster, thing)
        assert made["spec"]["schedulerName"] == "default-scheduler"
        assert made["metadata"].get("labels") == thing["metadata"].get("labels")


def _kueue_starts_what_lacked_its_label(cluster, out):
    """The policy runs before Kueue's webhook. A second apply removes nothing."""
    queued = created(cluster, job("other", "data", Ask(), queue="batch-a100"))
    assert queued["spec"]["template"]["spec"]["schedulerName"] == "mixed.binpack"
    lacking = job("feature-extraction", "data", Ask())
    text = json_documents([lacking])
    cluster.apply(text)
    made = cluster.get("batch/v1", "Job", "feature-extraction", "data")
    assert made["metadata"]["labels"]["kueue.x-k8s.io/queue-name"] == "batch-a100"
    assert made["spec"]["suspend"]
    assert cluster.apply_twice(text).changed == []
    with cluster.kube_scheduler(out.scheduler_config):
        cluster.becomes("GPUs in use", lambda: cluster.bound("data"), 1)
    again = cluster.get("batch/v1", "Job", "feature-extraction", "data")
    assert again["metadata"]["labels"] == made["metadata"]["labels"]
    assert again["spec"]["template"]["spec"]["schedulerName"] == "mixed.binpack"
    (started,) = cluster.pods("data")
    assert started["spec"]["priority"] == 100
