"""The workloads that policygen renders run on real schedulers, and are refused without an image."""

import json
import subprocess
from collections import Counter
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest
import yaml

from policygen.app.patch import patch
from policygen.app.requests import PatchRequest, RenderRequest
from policygen.app.workload import FORMS, workload
from policygen.core.errors import UsageError
from policygen.core.names import HOSTNAME
from policygen.kubernetes.node_filters import REQUIRED
from policygen.plan.model_names import MODEL
from tests.patch.foreign import drawn
from tests.servers.pages import bad, good
from tests.servers.rendering import rendered
from tests.servers.set_controllers import set_controllers
from tests.servers.test_other_tools import install
from tests.servers.upstream import JOB_SET, LEADER_WORKER_SET

ROOT = Path(__file__).parents[2]
EXAMPLES = (
    "kueue-team-tree",
    "ml-platform",
    "serving-slices",
    "spot-and-on-demand",
    "ten-models",
    "three-schedulers",
    "volcano-training",
)
WAITING = {("ten-models", "speech"): 2}
"""The pods that the limit of a team keeps waiting, as `policygen simulate` shows them."""
SET = "LeaderWorkerSet"
HPA = "HorizontalPodAutoscaler"
WITHOUT_PODS = ("PodDisruptionBudget", HPA)
"""Objects of models that start no pods here."""


def example(name):
    """An example with its workloads, each with an image."""
    texts = (it.read_text("utf-8") for it in sorted((ROOT / "examples" / name).glob("*.yaml")))
    documents = [it for text in texts for it in yaml.safe_load_all(text)]
    for document in documents:
        if document["kind"] == "Model":
            container = document["spec"].setdefault("container", {})
            container.setdefault("image", "registry.example.com/any:1")
    return rendered(documents, "workloads", "volcano-config")


def pods_of(thing, scaled):
    """The number of pods that run if all of a workload runs. `scaled` are the autoscalers by name."""
    if thing["kind"] == "Deployment" and (hpa := scaled.get(thing["metadata"]["name"])):
        return hpa["spec"]["minReplicas"]  # also without a metric
    spec = thing["spec"].get("jobTemplate", thing)["spec"]
    if "tasks" in spec:
        return sum(it["replicas"] for it in spec["tasks"])
    if thing["kind"] == "JobSet":
        return sum(
            it["replicas"] * it["template"]["spec"].get("parallelism", 1)
            for it in spec["replicatedJobs"]
        )
    if thing["kind"] == SET:
        return spec["replicas"] * spec["leaderWorkerTemplate"]["size"]
    return spec["parallelism"] if "parallelism" in spec else spec["replicas"]


def runs(out):
    """The Jobs of the CronJobs, as `kubectl create job --from` makes them."""
    for it in out.objects:
        if it["kind"] == "CronJob":
            template = it["spec"]["jobTemplate"]
            metadata = {"name": "now", "namespace": it["metadata"]["namespace"]}
            metadata |= template.get("metadata", {})
            yield {**template, "apiVersion": "batch/v1", "kind": "Job", "metadata": metadata}


def expected(name, out):
    """The pods of models that can run, by namespace."""
    found, scaled = Counter(), out.of(HPA)
    for it in out.objects:
        if MODEL in it["metadata"]["labels"] and it["kind"] not in WITHOUT_PODS:
            found[it["metadata"]["namespace"]] += pods_of(it, scaled)
    return {space: count - WAITING.get((name, space), 0) for space, count in found.items()}


def stored(cluster, out):
    """The current spec of each object of a model, after its kind, namespace and name."""
    for it in out.objects:
        if MODEL in it["metadata"]["labels"]:
            where = it["metadata"]["namespace"], it["metadata"]["name"]
            path = cluster.client.resource(it["apiVersion"], it["kind"]).path(*where)
            yield (it["kind"], *where), cluster.client.get(path).body["spec"]


def running(cluster):
    """The running pods of models, by namespace."""
    pods = (it for it in cluster.pods() if MODEL in it["metadata"].get("labels", {}))
    return dict(
        Counter(
            it["metadata"]["namespace"] for it in pods if it["status"].get("phase") == "Running"
        )
    )


@pytest.mark.parametrize("name", EXAMPLES)
def test_the_workloads_of_an_example_run(cluster, tools, name):
    out = example(name)
    with ExitStack() as stack:
        if out.of(SET):
            stack.enter_context(set_controllers(cluster, tools))
        with suppress(UsageError):  # no pool has a profile
            stack.enter_context(cluster.kube_scheduler(out.scheduler_config))
        if any(it.scheduler == "volcano" for it in out.pools.values()):
            stack.enter_context(cluster.volcano(out.volcano_config))
        for facts in out.pools.values():
            levels = [it for it in facts.pool.topology_levels if it != HOSTNAME]
            cluster.add_nodes(facts, labels=dict.fromkeys(levels, "a"))
        cluster.apply(out.text)
        cluster.create(*runs(out))
        want = expected(name, out)
        cluster.becomes("running pods", lambda: running(cluster), want)
        guaranteed = {
            it["status"]["qosClass"] for it in cluster.pods() if it["spec"].get("nodeName")
        }
        assert guaranteed == {"Guaranteed"}
        specs = dict(stored(cluster, out))
        cluster.apply(out.text)
        assert dict(stored(cluster, out)) == specs
        assert running(cluster) == want


def uids(cluster):
    return {it["metadata"]["uid"] for it in cluster.pods("language")}


def start_on_each_node(cluster):
    """The pods of a DaemonSet start, also on the node whose GPUs are all used by two pods."""
    on = Counter(it["spec"]["nodeName"] for it in cluster.pods("language"))
    assert [*on.values()] == [2]
    names = [it["metadata"]["name"] for it in cluster.objects("v1", "Node")]
    cluster.create(*map(of_daemon_set, names))
    started = lambda: sorted(it["spec"].get("nodeName", "") for it in cluster.pods("vision"))
    cluster.becomes("nodes with a pod of the DaemonSet", started, sorted(names))


def of_daemon_set(node):
    """A pod as the controller of DaemonSets makes it."""
    field = {"key": "metadata.name", "operator": "In", "values": [node]}
    required = {"nodeSelectorTerms": [{"matchFields": [field]}]}
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": f"network-{node}", "namespace": "vision"},
        "spec": {
            "schedulerName": "ml.binpack",
            "affinity": {"nodeAffinity": {REQUIRED: required}},
            "tolerations": [{"operator": "Exists"}],
            "containers": [{"name": "a", "image": "a", "resources": {"requests": {"cpu": "250m", "memory": "200Mi"}}}],
        },
    }  # fmt: skip


def test_a_job_keeps_its_pods_when_it_is_applied_again(cluster, tools, tmp_path):
    """Kueue suspends it when it is created, then starts it; `suspend: true` in the file would restart its pods."""
    policy = ROOT / "examples" / "ml-platform" / "policy.yaml"
    out = rendered(list(yaml.safe_load_all(policy.read_text("utf-8"))))
    cluster.apply(out.text)
    made = workload(RenderRequest((str(policy),), {}), "pretraining", "job")
    file = tmp_path / "job.yaml"
    file.write_text(made.text, "utf-8")
    config = str(cluster.bench.kubeconfig)
    apply = [tools["kubectl"].binary("kubectl"), "--kubeconfig", config, "apply", "-f", str(file)]
    subprocess.run(apply, check=True, capture_output=True)
    with cluster.kube_scheduler(out.scheduler_config):
        for facts in out.pools.values():
            cluster.add_nodes(facts)
        cluster.becomes("GPUs in use", lambda: cluster.bound("language"), 8)
        assert cluster.admitted("language") == ["pretraining"]
        pods = uids(cluster)
        start_on_each_node(cluster)
        for flags in ((), ("--server-side", "--force-conflicts")):
            subprocess.run([*apply, *flags], check=True, capture_output=True)
            cluster.stays("pods", lambda: uids(cluster), pods, for_s=1)


RUN = ("Pod", "Deployment", "StatefulSet", "Job", "JobSet", "LeaderWorkerSet")
"""Kinds of the drawn manifests whose controllers the bench has."""


def foreign(folder):
    """Drawn manifests with the fields that `policygen patch` writes."""
    for seed in range(60):
        name, text, data, model = drawn(seed)
        if data["kind"] in RUN and model != "gang-job":  # which has too few pods for its gang
            (folder / name).write_bytes(text.encode())
    policy = str(ROOT / "tests" / "patch" / "policy.yaml")
    done = patch(PatchRequest((str(folder),), (policy,)))
    assert done.report.findings == ()
    return [
        json.loads(it.text) if it.source.name.endswith("json") else yaml.safe_load(it.text)
        for it in done.files
    ]


def test_patched_manifests_run(cluster, tools, tmp_path):
    objects = foreign(tmp_path)
    assert len(objects) >= 20
    policy = (ROOT / "tests" / "patch" / "policy.yaml").read_text("utf-8")
    out = rendered(list(yaml.safe_load_all(policy)), "volcano-config")
    with (
        set_controllers(cluster, tools),
        cluster.kube_scheduler(out.scheduler_config),
        cluster.volcano(out.volcano_config),
    ):
        for facts in out.pools.values():
            cluster.add_nodes(facts, labels={"disk": "ssd"})
        cluster.apply(out.text)
        for it in objects:
            if it["kind"] == SET:  # whose StatefulSet would have the name of another one
                it["metadata"]["name"] += "-set"
        cluster.create(*objects)
        want = Counter()
        for it in objects:
            want[it["metadata"]["namespace"]] += 1 if it["kind"] == "Pod" else pods_of(it, {})
        cluster.becomes("running pods", lambda: running(cluster), dict(want))


def test_workload_differs_from_model(cluster):
    """Serving pods preempt the page's Job only if it has the priority of its model."""
    rule = "workload-differs-from-model"
    pages = [[*yaml.safe_load_all(text)] for text in (bad(rule), good(rule))]
    spec = [it for it in pages[0] if it["apiVersion"].startswith("policygen.dev/")]
    cluster.apply(rendered(spec).text)
    wrong, right = ({it["kind"]: it for it in page if it not in spec} for page in pages)
    server = right["Deployment"]
    # The other half of the quota, which no pod preempts.
    labels = server["metadata"]["labels"]
    metadata = {"name": "full", "namespace": "speech", "labels": labels}
    cluster.create({**right["Job"], "metadata": metadata}, wrong["Job"])
    both = ["asr", "full"]
    admitted = lambda: [it for it in cluster.admitted("speech") if it in both]
    cluster.becomes("admitted", admitted, both)
    cluster.create(server)
    pods = lambda: Counter(it.partition("-")[0] for it in cluster.waiting("speech"))
    cluster.becomes("pods", pods, {"full": 2, "asr": 2, "answers": 2})
    cluster.stays("admitted", admitted, both, for_s=1)
    cluster.delete("apps/v1", "Deployment", "answers", "speech")
    cluster.delete("batch/v1", "Job", "asr", "speech")
    cluster.becomes("pods", pods, {"full": 2})
    cluster.create(right["Job"])
    cluster.becomes("admitted", admitted, both)
    cluster.create(server)
    cluster.becomes("admitted", admitted, ["full"])


def test_no_kind_is_accepted_without_an_image(cluster, tools, tmp_path):
    install(cluster, tools, LEADER_WORKER_SET, JOB_SET)
    text = (ROOT / "examples" / "ml-platform" / "policy.yaml").read_text("utf-8")
    documents = list(yaml.safe_load_all(text))
    for it in documents:
        it["spec"].pop("container", None)
    spec = tmp_path / "spec.yaml"
    spec.write_text(yaml.safe_dump_all(documents), "utf-8")
    for form in FORMS:
        model = {"vcjob": "embeddings", "cronjob": "reindex"}.get(form, "segmenter")
        made = workload(RenderRequest((str(spec),), {}), model, form)
        thing = next(yaml.safe_load_all(made.text))
        assert "containers[0].image" in cluster.refusal(thing), form
        containers = made.text.replace('image: ""', "image: a").replace("image: []", "image: a")
        if form != "vcjob":  # whose queue does not exist
            cluster.create(next(yaml.safe_load_all(containers)))
