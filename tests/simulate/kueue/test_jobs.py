"""The Workloads that Kueue creates for objects, and why it creates none."""

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.kueue.jobs import jobs, workload_name
from tests.objects import cluster

QUEUE = "kueue.x-k8s.io/queue-name"
CLASS = "kueue.x-k8s.io/priority-class"
GROUP = "kueue.x-k8s.io/pod-group-name"
TOTAL = "kueue.x-k8s.io/pod-group-total-count"
POD = "{containers: [{resources: {requests: {cpu: 1}}}]}"
CLASSES = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: WorkloadPriorityClass, metadata: {name: urgent}, value: 900}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: high}, value: 70}
---
"""
DEFAULTS = """
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: a}, value: 9, globalDefault: true}
---
{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {name: b}, value: 7, globalDefault: true}
---
"""
QUEUES = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: default, namespace: n}, spec: {clusterQueue: c}}
---
"""
CONFIGURATION = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def found(text):
    it = cluster(text)
    return jobs(it, first(it, DEFAULT["kueue"]))


def made(kind, metadata="", spec="", group="batch/v1", labels=f"{QUEUE}: q"):
    return f"{{apiVersion: {group}, kind: {kind}, metadata: {{name: j, namespace: n, labels: {{{labels}}}, {metadata}}}, spec: {{{spec}}}}}\n"


def job(metadata="", pod=POD, labels=f"{QUEUE}: q"):
    return made("Job", metadata, f"template: {{spec: {pod}}}", labels=labels)


def reason(text):
    queued, ((other),) = found(text)
    assert queued == []
    return other.reason


def queued(text):
    it, others = found(text)
    assert others == []
    return it


def pod(name, labels="", annotations="", spec=POD):
    return (
        f"{{apiVersion: v1, kind: Pod, metadata: {{name: {name}, namespace: n, labels: {{{labels}}}, "
        f"annotations: {{{annotations}}}}}, spec: {spec}}}\n"
    )


def test_a_job():
    (it,) = queued(job())
    assert (it.namespace, it.fields.queue_name, it.fields.priority) == ("n", "q", 0)
    assert it.owner.kind == "Job"


def test_the_name_has_a_hash_of_kind_group_name_and_uid():
    """sha1 of "Job", "batch", "j" and "u", one a line; measured on Kueue 0.19.2 for real UIDs."""
    (it,) = queued(job("uid: u"))
    assert it.name == "job-j-5cf3c"
    assert workload_name(it.owner, "j" * 300).startswith("job-" + "j" * 243 + "-")
    assert len(workload_name(it.owner, "j" * 300, short=True)) == 63


def test_each_pod_of_a_deployment_and_each_group_of_a_set_is_a_workload():
    text = made("Deployment", spec=f"replicas: 2, template: {{spec: {POD}}}", group="apps/v1")
    assert [it.name for it in queued(text)] == ["pod-j-0", "pod-j-1"]
    spec = f"replicas: 2, leaderWorkerTemplate: {{size: 3, workerTemplate: {{spec: {POD}}}}}"
    sets = made("LeaderWorkerSet", spec=spec, group="leaderworkerset.x-k8s.io/v1")
    assert [it.name.rpartition("-")[0] for it in queued(sets)] == [
        "leaderworkerset-j-0",
        "leaderworkerset-j-1",
    ]


@pytest.mark.parametrize(
    ("text", "priority"),
    [
        (job(), 0),
        (DEFAULTS + job(), 7),
        (job(pod="{priorityClassName: high, containers: []}"), 70),
        (job(pod="{priorityClassName: system-node-critical, containers: []}"), 2_000_001_000),
        (
            job(
                pod="{priorityClassName: high, containers: []}",
                labels=f"{QUEUE}: q, {CLASS}: urgent",
            ),
            900,
        ),
        (
            made(
                "PyTorchJob",
                spec="runPolicy: {schedulingPolicy: {priorityClass: high}}, "
                f"pytorchReplicaSpecs: {{Worker: {{template: {{spec: {POD}}}}}}}",
                group="kubeflow.org/v1",
            ),
            70,
        ),
    ],
)
def test_priorities(text, priority):
    assert [it.fields.priority for it in queued(CLASSES + text)] == [priority]


def test_a_class_of_the_name_default_counts_behind_its_gate():
    text = CLASSES.replace("urgent", "default") + job()
    gate = f"{CONFIGURATION}featureGates: {{WorkloadPriorityClassDefaulting: true}}\n---\n"
    assert [it.fields.priority for it in (*queued(text), *queued(gate + text))] == [0, 900]


def deployment(own="", pods=""):
    spec = f"template: {{metadata: {{labels: {{{pods}}}}}, spec: {POD}}}"
    return made("Deployment", spec=spec, group="apps/v1", labels=own)


@pytest.mark.parametrize(
    ("text", "queue", "priority"),
    [
        (deployment(f"{QUEUE}: q, {CLASS}: urgent", f"{QUEUE}: other"), "q", 900),
        (deployment(f"{QUEUE}: q", f"{CLASS}: urgent"), "q", 900),
        (deployment("", f"{QUEUE}: other, {CLASS}: urgent"), "other", 900),
        (deployment(f"{CLASS}: urgent", f"{QUEUE}: other"), "other", 0),
        (QUEUES + deployment(f"{CLASS}: urgent", f"{QUEUE}: other"), "default", 900),
        (QUEUES + job(labels=""), "default", 0),
        (
            made(
                "ReplicaSet",
                spec=f"template: {{metadata: {{labels: {{{QUEUE}: q}}}}, spec: {POD}}}",
                group="apps/v1",
                labels="",
            ),
            "q",
            0,
        ),
    ],
)
def test_which_labels_count(text, queue, priority):
    (it,) = queued(CLASSES + text)
    assert (it.fields.queue_name, it.fields.priority) == (queue, priority)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (job(labels=""), f"it has no label {QUEUE}"),
        (job(labels=f"{QUEUE}: q, {CLASS}: gone"), "WorkloadPriorityClass gone does not exist; no WorkloadPriorityClass is defined"),
        (job(pod="{priorityClassName: gone, containers: []}"), "PriorityClass gone does not exist, so kube-apiserver refuses its pods; no PriorityClass is defined"),
        (job(labels="").replace("spec: {", "spec: {suspend: true, ", 1), f"it has no label {QUEUE}, and it is suspended; remove spec.suspend"),
        (job(labels="", pod="{priorityClassName: gone, containers: []}"), "PriorityClass gone does not exist, so kube-apiserver refuses its pods; no PriorityClass is defined"),
        (CLASSES + job(labels=f"{QUEUE}: q, {CLASS}: urgnt"), 'WorkloadPriorityClass urgnt does not exist; did you mean "urgent"?'),
        (job(labels="").replace("kind: Job", "kind: Jobb"), 'kind Jobb of batch/v1 does not exist; did you mean "Job"?'),
        (job(labels="").replace("batch/v1", "apps/v1"), "kind Job of apps/v1 does not exist; write apiVersion: batch/v1"),
        (made("JobSet", spec="a: b", group="batch/v1", labels=""), "kind JobSet of batch/v1 does not exist; write an apiVersion of the group jobset.x-k8s.io"),
        (made("Foo", spec=f"jobTemplate: {{spec: {POD}}}", group="example.com/v1", labels=""), "the pods of kind Foo are not modelled"),
        (job("ownerReferences: [{apiVersion: jobset.x-k8s.io/v1alpha2, kind: JobSet, name: s, controller: true}]"), "it belongs to JobSet s"),
        (job("annotations: {kueue.x-k8s.io/prebuilt-workload-name: w}"), "it uses the existing Workload w"),
        (job().replace("namespace: n", "namespace: kube-system"), "Kueue does not manage namespace kube-system"),
        (f"{CONFIGURATION}integrations: {{frameworks: [pod]}}\n---\n" + job(), "integrations.frameworks of Kueue's Configuration does not have batch/job"),
        (made("CronJob", spec=f"jobTemplate: {{metadata: {{labels: {{{QUEUE}: q}}}}, spec: {{template: {{spec: {POD}}}}}}}"), "a CronJob creates its Jobs later"),
        (made("CronJob", spec=f"jobTemplate: {{spec: {{template: {{spec: {POD}}}}}}}", labels=""), "a CronJob creates its Jobs later"),
        (made("DaemonSet", spec=f"template: {{metadata: {{labels: {{{QUEUE}: q}}}}, spec: {POD}}}", group="apps/v1"), "the number of its pods depends on the nodes"),
        (made("Job", spec=f"tasks: [{{template: {{spec: {POD}}}}}]", group="batch.volcano.sh/v1alpha1", labels=""), "Kueue does not manage kind Job of batch.volcano.sh"),
        (made("RayJob", spec=f"clusterSelector: {{a: b}}, rayClusterSpec: {{headGroupSpec: {{template: {{spec: {POD}}}}}}}", group="ray.io/v1"), "it uses an existing RayCluster (clusterSelector)"),
        (made("SparkApplication", group="sparkoperator.k8s.io/v1beta2"), "the pods of kind SparkApplication are not modelled"),
        (
            made("JobSet", spec="replicatedJobs: [" + ", ".join(f"{{name: j{i}, template: {{spec: {{template: {{spec: {POD}}}}}}}}}" for i in range(19)) + "]", group="jobset.x-k8s.io/v1alpha2"),
            "it has 19 pod sets; a Workload has at most 18",
        ),
    ],
)  # fmt: skip
def test_objects_without_a_workload(text, words):
    assert reason(text) == words


def test_all_jobs_are_managed_without_a_label_if_the_configuration_says_so():
    text = f"{CONFIGURATION}manageJobsWithoutQueueName: true\n---\n" + job(labels="")
    assert [it.fields.queue_name for it in queued(text)] == [""]


def test_a_stateful_set_has_a_workload_in_any_namespace():
    """Measured on Kueue 0.19.2: its controller does not look at the namespace selector."""
    text = made("StatefulSet", spec=f"template: {{spec: {POD}}}", group="apps/v1")
    assert len(queued(text.replace("namespace: n", "namespace: kube-system"))) == 1


MEMBER = {"labels": f"{QUEUE}: q, {GROUP}: g", "annotations": f"{TOTAL}: '2'"}


def test_a_group_of_pods_is_one_workload():
    text = "---\n".join((pod("a", **MEMBER), pod("b", **MEMBER), pod("c", f"{QUEUE}: q")))
    names = {it.name.rpartition("-")[0] or it.name: it.fields for it in queued(text)}
    assert set(names) == {"g", "pod-c"}
    assert [it.count for it in names["g"].pod_sets] == [2]


@pytest.mark.parametrize(
    ("pods", "words"),
    [
        ([pod("a", **MEMBER)], "group g has 1 of 2 pods"),
        ([pod("a", MEMBER["labels"])], f"annotation {TOTAL} of group g is not a number of pods"),
        (
            [pod("a", **MEMBER), pod("b", f"{QUEUE}: other, {GROUP}: g", MEMBER["annotations"])],
            f"the pods of group g have different values of {QUEUE}",
        ),
    ],
)
def test_groups_without_a_workload(pods, words):
    _, others = found("---\n".join(pods))
    assert {it.reason for it in others} == {words}
    assert len(others) == len(pods)


def test_fast_admission_does_not_wait_for_all_pods():
    fast = f"{MEMBER['annotations']}, kueue.x-k8s.io/pod-group-fast-admission: 'true'"
    (it,) = queued(pod("a", MEMBER["labels"], fast))
    assert [found.count for found in it.fields.pod_sets] == [2]
