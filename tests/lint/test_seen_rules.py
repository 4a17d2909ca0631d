"""Rules that need a live cluster: which objects they report, and when they report nothing."""

import pytest
import yaml

from policygen.core import versions
from policygen.core.finding import Verdict
from policygen.documents.files import Source
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.snapshot import GroupKind
from policygen.lint.engine import run
from policygen.lint.kinds import every, to_read
from policygen.lint.registry import RULES
from policygen.lint.rule import Facts, Need
from policygen.plan.compile import compile_plan
from policygen.spec import forms
from policygen.spec.load import load
from tests.client.looks import snapshot
from tests.examples_of_rules import examples

BY_NAME = {rule.name: rule for rule in RULES}


def bad(rule):
    """The documents of the rule's bad example."""
    example, *_ = examples(rule, good=False)
    return list(yaml.safe_load_all(example.text))


def of(documents, kind):
    return next(each for each in documents if each["kind"] == kind)


def messages(rule, documents, spec="", beside=()):
    """The messages of a rule for a cluster, run with the rules in `beside`.

    Documents of policygen's own kinds become its spec, after `spec`.
    """
    ours = [each for each in documents if each["apiVersion"] == forms.OWN]
    text = "---\n".join([spec, *(yaml.safe_dump(each) for each in ours)])
    loaded = load([Source("spec.yaml", text, None)])
    look = snapshot(yaml.safe_dump_all(each for each in documents if each not in ours))
    cluster = Cluster(look.objects, look.seen, look.pods)
    plan = compile_plan(loaded.sound)
    facts = Facts(cluster, versions.DEFAULT, frozenset(Need), loaded.spec, plan)
    outcomes = run(map(BY_NAME.__getitem__, (rule, *beside)), facts)
    assert all(outcome.verdict != "crashed" for outcome in outcomes)
    return [hit.message for hit in outcomes[0].hits]


def without(documents, kind):
    return [each for each in documents if each["kind"] != kind]


def test_the_cause_of_an_inactive_queue_is_reported_by_its_own_rule():
    rule, other = "cluster-queue-not-active", "flavor-missing"
    documents = bad(rule)
    assert len(messages(rule, documents, beside=[other])) == 1
    lacking = without(documents, "ResourceFlavor")
    assert messages(rule, lacking, beside=[other]) == []
    assert len(messages(rule, lacking)) == 1


@pytest.mark.parametrize(
    "reason, other",
    [
        ("Stopped", "queue-stopped"),
        ("AdmissionCheckNotFound", "admission-check-missing"),
        ("Ready", "cohort-cycle"),
    ],
)
def test_causes_in_objects_are_left_to_other_rules_if_these_run(reason, other):
    documents = bad("cluster-queue-not-active")
    (condition,) = of(documents, "ClusterQueue")["status"]["conditions"]
    condition["reason"] = reason
    assert messages("cluster-queue-not-active", documents, beside=[other]) == []
    (message,) = messages("cluster-queue-not-active", documents)
    assert f"admits nothing ({reason}: " in message


def test_templates_of_operators_kinds_are_judged_on_a_cluster_too():
    """No server validates pod templates in them: a refusal shows only when pods are created."""
    container = {
        "name": "main",
        "image": "i",
        "resources": {"requests": {"nvidia.com/gpu": 1}},
    }
    template = {"spec": {"containers": [container]}}
    job = {
        "apiVersion": "kubeflow.org/v1",
        "kind": "PyTorchJob",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"pytorchReplicaSpecs": {"Worker": {"replicas": 2, "template": template}}},
    }
    (message,) = messages("gpu-request-without-limit", [job])
    assert message.startswith("container main of PyTorchJob b/a requests 1 nvidia.com/gpu")
    for kind in ("Succeeded", "Failed"):
        ended = {"conditions": [{"type": kind, "status": "True"}]}
        assert messages("gpu-request-without-limit", [job | {"status": ended}]) == []


def _unscheduled(documents, message):
    (condition,) = of(documents, "Pod")["status"]["conditions"]
    condition["message"] = message
    return documents


def test_a_pod_without_a_node_is_reported_with_the_schedulers_message():
    rule = "pod-unscheduled-long"
    (message,) = messages(rule, bad(rule))
    assert (
        "has fit no node for 15h: 0/4 nodes are available: 4 Insufficient nvidia.com/gpu; pack the pods"
        in message
    )
    words = (
        "0/4 nodes are available: 4 node(s) had untolerated taint(s). preemption: 0/4 nodes are "
        "available: 4 Preemption is not helpful for scheduling."
    )
    (message,) = messages(rule, _unscheduled(bad(rule), words))
    assert (
        ": 4 node(s) had untolerated taint(s); change the constraint that excludes the pods from the nodes"
        in message
    )
    assert "preemption" not in message


def test_a_workload_that_waits_for_no_quota_is_not_sent_for_quota():
    rule = "workload-pending-long"
    documents = bad(rule)
    (condition,) = of(documents, "Workload")["status"]["conditions"]
    condition["message"] = "LocalQueue nosuch doesn't exist"
    (message,) = messages(rule, documents)
    assert message.endswith(
        "(LocalQueue nosuch doesn't exist); fix the problem that blocks admission, or delete the Workload"
    )


def _nodes(documents, *taints):
    """One node for each of these taints."""
    (node,) = (it for it in documents if it["kind"] == "Node")
    made = []
    for number, taint in enumerate(taints):
        metadata = node["metadata"] | {"name": f"n{number}"}
        made.append(node | {"metadata": metadata, "spec": {"taints": taint}})
    return [*made, *without(documents, "Node")]


def test_a_taint_of_some_nodes_is_reported_unless_another_flavor_has_it():
    rule = "node-taint-not-tolerated"
    taint = {"key": "held", "value": "x", "effect": "NoSchedule"}
    documents = _nodes(bad(rule), [taint], [], [taint], [])
    (message,) = messages(rule, documents)
    assert message.startswith(
        "2 of 4 nodes of ResourceFlavor a100 have taint held=x:NoSchedule (n0, n2), but"
    )
    assert "so jobs without a toleration of their own cannot use 16 nvidia.com/gpu" in message
    flavor = of(documents, "ResourceFlavor")
    spec = flavor["spec"] | {"nodeTaints": [taint]}
    other = flavor | {"metadata": {"name": "held"}, "spec": spec}
    assert messages(rule, [*documents, other]) == []
    # A taint of all its nodes is reported, whether another flavor tolerates it or not.
    assert len(messages(rule, [*_nodes(bad(rule), [taint], [taint]), other])) == 1


ONCE = {"key": "gpu", "value": "a", "effect": "NoSchedule"}
TWICE = {**ONCE, "effect": "NoExecute"}
OTHER = {**ONCE, "value": "b"}
EQUAL = {**ONCE, "operator": "Equal"}


@pytest.mark.parametrize(
    ("taints", "toleration", "fault", "remedy"),
    [
        ([[TWICE]], EQUAL, "has another effect", {"effect": "NoExecute"}),
        ([[OTHER]], EQUAL, "has another value", {"value": "b"}),
        ([[ONCE, TWICE]], EQUAL, "has another effect", {"effect": ""}),
        ([[ONCE], [TWICE]], EQUAL, "has another effect", {"effect": ""}),
        ([[ONCE], [OTHER]], EQUAL, "has another value", {"operator": "Exists", "value": ""}),
        (
            [[ONCE], [{**OTHER, "effect": "NoExecute"}]],
            EQUAL,
            "has another value and effect",
            {"operator": "Exists", "value": "", "effect": ""},
        ),
        (
            [[ONCE, TWICE]],
            {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"},
            "has another effect",
            {"effect": ""},
        ),
    ],
)
def test_the_remedy_of_a_toleration_keeps_what_it_tolerates(taints, toleration, fault, remedy):
    rule = "node-taint-not-tolerated"
    documents = _nodes(bad(rule), *taints)
    spec = of(documents, "ResourceFlavor")["spec"]
    spec["tolerations"] = [toleration]
    (message,) = messages(rule, documents)
    assert f"the toleration for this key in the flavor {fault}; " in message
    assert all(it in message for key, value in remedy.items() for it in (key, value))
    spec["tolerations"] = [{**toleration, **remedy}]
    assert messages(rule, documents) == []


def test_all_taints_that_a_flavor_does_not_know_are_named():
    rule = "node-taint-not-tolerated"
    documents = _nodes(bad(rule), [ONCE, TWICE])
    (message,) = messages(rule, documents)
    assert "have taints gpu=a:NoSchedule and gpu=a:NoExecute, which" in message
    spec = of(documents, "ResourceFlavor")["spec"]
    spec["nodeTaints"] = [ONCE]  # a job that tolerates only this one is admitted
    (message,) = messages(rule, documents)
    assert "have taint gpu=a:NoExecute, which" in message
    spec["nodeTaints"] = [ONCE, TWICE]
    assert messages(rule, documents) == []


def test_taints_of_several_keys_are_one_finding():
    rule = "node-taint-not-tolerated"
    (message,) = messages(rule, _nodes(bad(rule), [ONCE, {**OTHER, "key": "held"}]))
    assert "have taints gpu=a:NoSchedule and held=b:NoSchedule, which" in message
    left = _nodes(bad(rule), [ONCE], [])
    assert messages(rule, left)[0].endswith("left over, run: kubectl taint nodes n0 gpu-")


def test_a_cordon_and_a_taint_that_keeps_no_pod_away_pass():
    rule = "node-taint-not-tolerated"
    cordon = {"key": "node.kubernetes.io/unschedulable", "effect": "NoSchedule"}
    soft = {"key": "held", "effect": "PreferNoSchedule"}
    assert messages(rule, _nodes(bad(rule), [cordon], [soft], [])) == []


@pytest.mark.parametrize("rule", ["workload-pending-long", "gang-pending-long"])
def test_a_spec_sets_how_long_a_rule_waits(rule):
    platform = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        f"spec: {{lint: {{bounds: {{{rule}: 100h}}}}}}\n"
    )
    assert len(messages(rule, bad(rule))) == 1
    assert messages(rule, bad(rule), platform) == []
    assert len(messages(rule, bad(rule), platform.replace("100h", "1h30m"))) == 1


def test_a_workload_deactivated_by_a_user_waits_for_a_user():
    documents = bad("workload-pending-long")
    of(documents, "Workload")["spec"]["active"] = False
    assert messages("workload-pending-long", documents) == []
    assert messages("workload-deactivated", documents) == []


def test_a_workload_waits_since_it_was_evicted():
    documents = bad("workload-pending-long")
    of(documents, "Workload")["status"]["conditions"].append(
        {"type": "Evicted", "status": "True", "lastTransitionTime": "2026-11-21T02:00:00Z"}
    )
    assert messages("workload-pending-long", documents) == []


def copies(pod, count, **more):
    """This number of pods of one Job."""
    made = []
    for number in range(count):
        each = yaml.safe_load(yaml.safe_dump(pod))
        each["metadata"] |= {"name": f"train-{number}", **more}
        each["metadata"]["ownerReferences"] = [
            {
                "apiVersion": "batch/v1",
                "kind": "Job",
                "name": "train",
                "uid": "1",
                "controller": True,
            }
        ]
        made.append(each)
    return made


JOB = {
    "apiVersion": "batch/v1",
    "kind": "Job",
    "metadata": {"name": "train", "namespace": "vision"},
}


def with_job(rule, count=3, job=JOB):
    documents = bad(rule)
    return [*without(documents, "Pod"), *copies(of(documents, "Pod"), count), job]


def test_pods_of_one_owner_are_reported_once_with_the_rest_of_guarantees():
    (message,) = messages("pod-bypasses-queue", with_job("pod-bypasses-queue"))
    assert "3 pods of Job vision/train use 12 nvidia.com/gpu outside the queues of pool" in message
    assert "need 8 nvidia.com/gpu, but these pods leave only 0" in message


def test_an_owner_with_a_queue_or_an_unknown_owner_is_not_reported():
    labelled = JOB | {
        "metadata": JOB["metadata"] | {"labels": {"kueue.x-k8s.io/queue-name": "a100"}}
    }
    assert messages("pod-bypasses-queue", with_job("pod-bypasses-queue", job=labelled)) == []
    unknown = [each for each in with_job("pod-bypasses-queue") if each["kind"] != "Job"]
    assert messages("pod-bypasses-queue", unknown) == []


def test_pods_elsewhere_and_ended_ones_hold_nothing_of_the_pool():
    documents = bad("pod-bypasses-queue")
    of(documents, "Pod")["spec"]["nodeName"] = "n2"
    assert messages("pod-bypasses-queue", documents) == []
    of(documents, "Pod")["spec"]["nodeName"] = "n1"
    of(documents, "Pod")["status"]["phase"] = "Succeeded"
    assert messages("pod-bypasses-queue", documents) == []


def test_a_pod_that_does_not_go_away_and_one_whose_job_has_ended():
    documents = bad("gpu-held-unused")
    pod = of(documents, "Pod")
    pod["status"] = {"phase": "Running"}
    assert messages("gpu-held-unused", documents) == []
    pod["metadata"]["deletionTimestamp"] = "2026-11-20T12:00:00Z"
    (message,) = messages("gpu-held-unused", documents)
    assert "(4 nvidia.com/gpu on node n1): the pod was deleted 15h ago but still exists" in message
    pods = copies(pod, 2, deletionTimestamp=None)
    others = [*without(documents, "Pod"), *pods]
    (message,) = messages("gpu-held-unused", [*others, job_ended_at("2026-11-21T01:00:00Z")])
    assert "the GPUs of 2 pods of Job vision/train are unused (8 " in message
    assert "the pod's Job has ended" in message
    # Pods are listed first, and a Job may end before it is listed itself.
    assert messages("gpu-held-unused", [*others, job_ended_at("2026-11-21T03:00:04Z")]) == []


def job_ended_at(time, **other):
    ended = {"type": "Complete", "status": "True", "lastTransitionTime": time}
    return JOB | {"status": {"conditions": [ended]}} | other


def test_another_job_of_that_name_is_not_the_owner_of_a_pod():
    documents = bad("gpu-held-unused")
    pod = of(documents, "Pod")
    pod["status"] = {"phase": "Running"}
    others = [*without(documents, "Pod"), *copies(pod, 2)]
    of_volcano = job_ended_at("2026-11-21T01:00:00Z", apiVersion="batch.volcano.sh/v1alpha1")
    assert messages("gpu-held-unused", [*others, of_volcano]) == []
    anew = job_ended_at("2026-11-21T01:00:00Z", metadata=JOB["metadata"] | {"uid": "another"})
    assert messages("gpu-held-unused", [*others, anew]) == []


def test_without_owners_pods_outside_queues_are_not_reported():
    documents = with_job("pod-bypasses-queue")
    look = snapshot(yaml.safe_dump_all(documents), read=every() - {GroupKind("batch", "Job")})
    rule = BY_NAME["pod-bypasses-queue"]
    assert GroupKind("batch", "Job") in to_read([rule])
    facts = Facts(Cluster(look.objects, look.seen, look.pods), versions.DEFAULT, frozenset(Need))
    (outcome,) = run([rule], facts)
    assert outcome.verdict == Verdict.NOT_EVALUATED
    assert "Job.batch was not read" in outcome.reason


def test_a_quota_of_zero_and_one_of_cpu_are_not_reported_as_used_up():
    documents = bad("quota-used-up")
    quota = of(documents, "ResourceQuota")
    quota["spec"]["hard"] = quota["status"]["hard"] = {"requests.nvidia.com/gpu": "0", "cpu": "4"}
    quota["status"]["used"] = {"requests.nvidia.com/gpu": "0", "cpu": "4"}
    assert messages("quota-used-up", documents) == []


@pytest.mark.parametrize("rule", [rule.name for rule in RULES if rule.may_exist])
def test_a_refused_value_that_is_on_a_server_is_still_reported(rule):
    example = examples(rule, good=False)[0]
    assert len(messages(rule, list(yaml.safe_load_all(example.text)))) >= 1


@pytest.mark.parametrize("rule", ["admission-check-flavor-refused", "two-default-priorities"])
def test_a_value_on_a_server_is_not_called_refused(rule):
    example = examples(rule, good=False)[0]
    assert not any("refused" in it for it in messages(rule, list(yaml.safe_load_all(example.text))))


def test_what_volcano_made_or_what_has_ended_is_sent_nowhere():
    group = {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "metadata": {"name": "a", "namespace": "b"},
        "spec": {"queue": "gone"},
    }
    assert len(messages("gang-without-queue", [group])) == 1
    assert messages("gang-without-queue", [group | {"status": {"phase": "Completed"}}]) == []
    owner = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "name": "a"}
    group["metadata"]["ownerReferences"] = [owner | {"uid": "1", "controller": True}]
    assert messages("gang-without-queue", [group]) == []


def test_claims_of_a_cluster_are_known_even_if_there_are_none():
    documents = bad("volume-claim-missing")
    [message] = messages("volume-claim-missing", without(documents, "PersistentVolumeClaim"))
    assert message.endswith("no PersistentVolumeClaim of this namespace is defined")


def test_a_volume_whose_name_is_no_text_has_its_claim_checked():
    documents = bad("volume-claim-missing")
    for it in documents:
        if it["kind"] == "Job":
            it["spec"]["template"]["spec"]["volumes"][0]["name"] = ["data"]
    assert len(messages("volume-claim-missing", documents)) == 1


def _later(documents, **changes):
    """The Workload with quota, and the queue, with other values."""
    workload = documents[-1]
    workload["metadata"]["creationTimestamp"] = changes.get("created", "2026-11-20T20:00:00Z")
    workload["spec"]["priority"] = changes.get("priority", 0)
    queue = of(documents, "ClusterQueue")["spec"]
    queue["queueingStrategy"] = changes.get("strategy", "BestEffortFIFO")
    queue["preemption"] = {"withinClusterQueue": changes.get("within", "Never")}
    return documents


@pytest.mark.parametrize(
    ("changes", "remedy"),
    [
        ({"created": "2026-11-20T17:00:00Z"}, None),
        ({"priority": 100}, None),
        ({"strategy": "StrictFIFO"}, None),
        ({"priority": -5, "within": "LowerPriority"}, None),
        ({"within": "LowerOrNewerEqualPriority"}, None),
        ({}, "write queueingStrategy: StrictFIFO in the queue"),
        (
            {"within": "LowerPriority"},
            "give its job a WorkloadPriorityClass with a higher value, so",
        ),
        ({"priority": -5}, "write preemption.withinClusterQueue: LowerPriority in the queue, so"),
    ],
)
def test_a_workload_starves_only_if_later_ones_hold_its_quota(changes, remedy):
    rule = "workload-starves"
    found = messages(rule, _later(bad(rule), **changes))
    assert [remedy in it for it in found] == ([] if remedy is None else [True])


def test_a_workload_that_starves_is_reported_once():
    documents, rule = bad("workload-starves"), "workload-pending-long"
    of(documents, "Workload")["metadata"]["creationTimestamp"] = "2026-11-18T12:00:00Z"
    assert messages(rule, documents, beside=["workload-starves"]) == []
    assert len(messages(rule, documents)) == 1
