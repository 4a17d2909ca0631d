"""Workloads that Kueue manages: the LocalQueue that each names, and its ClusterQueue.

Source: pkg/controller/jobframework and pkg/controller/jobs of Kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.finding import At, Path, at_path
from policygen.core.names import JOB_SET, LEADER_WORKER_SET, LOCAL_QUEUE
from policygen.core.versions import Minor
from policygen.kubernetes import kueue_gates
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView, LocalQueueView
from policygen.kubernetes.kueue_requests import BY_POD_KINDS, adjusted, as_pod
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import keyed_texts, numbered
from policygen.kubernetes.workloads import APP_WRAPPER, PodTemplate, Workload, wrapped

PRIORITY = "kueue.x-k8s.io/priority-class"
MIN_PARALLELISM = "kueue.x-k8s.io/job-min-parallelism"
ELASTIC = "kueue.x-k8s.io/elastic-job"
EQUAL_COMPLETIONS = "kueue.x-k8s.io/job-completions-equal-parallelism"
GROUP = "kueue.x-k8s.io/pod-group-name"
GROUP_COUNT = "kueue.x-k8s.io/pod-group-total-count"
MAX_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
PREBUILT = "kueue.x-k8s.io/prebuilt-workload-name"
DEFAULT_QUEUE = "default"
"""The LocalQueue of jobs that name none. Source: pkg/controller/jobframework/defaults.go."""

FRAMEWORKS: Mapping[tuple[str, str], str] = {
    ("", "Pod"): "pod",
    ("apps", "Deployment"): "deployment",
    ("apps", "StatefulSet"): "statefulset",
    ("batch", "Job"): "batch/job",
    ("batch", "CronJob"): "batch/job",
    ("jobset.x-k8s.io", "JobSet"): JOB_SET,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): LEADER_WORKER_SET,
    **{
        ("kubeflow.org", kind): f"kubeflow.org/{kind.lower()}"
        for kind in ("PyTorchJob", "TFJob", "XGBoostJob", "PaddleJob", "JAXJob", "MPIJob")
    },
    **{
        ("ray.io", kind): f"ray.io/{kind.lower()}"
        for kind in ("RayCluster", "RayJob", "RayService")
    },
    ("trainer.kubeflow.org", "TrainJob"): "trainer.kubeflow.org/trainjob",
    ("workload.codeflare.dev", "AppWrapper"): "workload.codeflare.dev/appwrapper",
}
"""The integration that manages a kind, by API group and kind."""

_SINCE: Mapping[str, Minor] = {
    "trainer.kubeflow.org/trainjob": (0, 14),
    "ray.io/rayservice": (0, 17),
    "sparkoperator.k8s.io/sparkapplication": (0, 17),
}
"""Integrations that not every supported release has, and the first release that has them."""
_UNREAD = ("sparkoperator.k8s.io/sparkapplication",)
"""Integrations of kinds whose pods policygen does not know."""


def integrations(release: Minor) -> tuple[str, ...]:
    """All integrations that a release of Kueue has. Source: pkg/controller/jobs."""
    every = dict.fromkeys((*FRAMEWORKS.values(), *_UNREAD))
    return tuple(it for it in every if _SINCE.get(it, release) <= release)


BY_POD = frozenset(
    {
        ("", "ReplicationController"),
        ("apps", "DaemonSet"),
        ("apps", "ReplicaSet"),
        ("argoproj.io", "Rollout"),
    }
)
"""Kinds that no integration manages; their pods are queued separately, by the label of each pod."""

TOGETHER = tuple(kind for _, kind in FRAMEWORKS if kind not in ("Deployment", "Pod"))
"""Kinds whose pods Kueue admits together."""


class Queued(Struct, frozen=True, eq=False):
    """A workload that names a LocalQueue where Kueue reads the name, or that Kueue sends to one."""

    workload: Workload
    name: str
    cluster_queue: Entry[ClusterQueueView] | None

    @property
    def at(self) -> At:
        """The place of the label."""
        own = labels(self.workload).get(LOCAL_QUEUE)
        place = labels_at(self.workload) if own else _of_pods(self.workload)
        return place / LOCAL_QUEUE


def queued(cluster: Cluster) -> tuple[Queued, ...]:
    """All such workloads; use it with `cluster.derive`."""
    return tuple(_queued(cluster))


def in_default_queue(settings: Settings) -> Iterator[Queued]:
    """The workloads of manifests that Kueue sends to LocalQueue `default`, because they name no queue.

    On a cluster, objects have the label that its webhooks write. Without a Configuration, only Jobs certainly count.
    Source: pkg/controller/jobframework/defaults.go, ApplyDefaultLocalQueue.
    """
    cluster, gate = settings.cluster, "LocalQueueDefaulting"
    if cluster.seen is not None:
        return
    if kueue_gates.known(gate, settings.target) and not settings.gate(gate):
        return  # later releases always do this
    named = {id(it.workload) for it in cluster.derive(queued)}
    for workload in managed(cluster):
        local = cluster.local_queues.get(DEFAULT_QUEUE, workload.namespace)
        if local is None or id(workload) in named or workload.object.is_made:
            continue
        framework = FRAMEWORKS[workload.object.group, workload.kind]
        managed_there = selects(cluster, settings.managed, workload.namespace) is not False
        if managed_there and framework in settings.frameworks:
            queue = cluster.cluster_queues.get(local.fields.cluster_queue)
            yield Queued(workload, DEFAULT_QUEUE, queue)


def managed(cluster: Cluster) -> Iterator[Workload]:
    """The workloads of kinds that Kueue manages."""
    return filter(is_managed, cluster.workloads)


def is_managed(workload: Workload) -> bool:
    """Whether Kueue manages workloads of this kind."""
    return (workload.object.group, workload.kind) in FRAMEWORKS


def target(entry: Entry[LocalQueueView]) -> str:
    """The ClusterQueue that a LocalQueue names; a key for `Table.by`."""
    return entry.fields.cluster_queue


def labels(workload: Workload) -> Mapping[str, str]:
    """The labels of the object that Kueue manages.

    A Job without labels takes those of its pods.
    Source: pkg/apis/batch/v1/defaults.go, SetDefaults_Job.
    """
    found = _own_labels(workload)
    if not found and workload.object.group == "batch" and workload.templates:
        return workload.templates[0].labels
    return found


def labels_at(workload: Workload) -> At:
    """The place of these labels."""
    job = workload.object.group == "batch" and workload.templates
    if job and not _own_labels(workload):
        return _of_pods(workload)
    above = ("spec", "jobTemplate") if workload.kind == "CronJob" else ()
    return workload.at.to(*above, "metadata", "labels")


def _of_pods(workload: Workload) -> At:
    return workload.templates[0].at.to("metadata", "labels")


def _own_labels(workload: Workload) -> Mapping[str, str]:
    if workload.kind == "CronJob":
        return keyed_texts(workload.object.data, "spec", "jobTemplate", "metadata", "labels")
    return workload.labels


def local_queues(cluster: Cluster, name: str, namespace: str) -> Sequence[Entry[LocalQueueView]]:
    """The LocalQueues of a name and namespace; without a namespace, all of that name."""
    known = cluster.local_queues
    if not namespace:
        return known.by(_name).get(name, ())
    found = (known.get(name, namespace), known.get(name))
    return [entry for entry in found if entry is not None]


def inner_labels(workload: Workload) -> Iterator[tuple[Path, Mapping[str, str]]]:
    """The labels of each object that a JobSet or an AppWrapper creates, and their path.

    If the workload names no queue, Kueue queues such an object separately, by its own label.
    Source: pkg/controller/jobframework/utils.go, WorkloadShouldBeSuspended.
    """
    paths: list[Path] = []
    if (workload.object.group, workload.kind) == ("jobset.x-k8s.io", "JobSet"):
        jobs = numbered(workload.object.data, "spec", "replicatedJobs")
        paths = [("spec", "replicatedJobs", i, "template") for i, _ in jobs]
    elif workload.kind == APP_WRAPPER:
        paths = [
            it.path for it in wrapped(workload.object.data) if (it.group, it.kind) in FRAMEWORKS
        ]
    for path in paths:
        at: Path = (*path, "metadata", "labels")
        yield at, keyed_texts({"labels": at_path(workload.object.data, at)}, "labels")


def counted(cluster: Cluster, workload: Workload, template: PodTemplate) -> Mapping[str, Fraction]:
    """The amounts that Kueue counts for one pod, with the defaults of LimitRanges."""
    spec = as_pod(template.spec) if workload.kind in BY_POD_KINDS else template.spec
    return adjusted(cluster, spec, workload.namespace).requests


def _queued(cluster: Cluster) -> Iterator[Queued]:
    for workload in managed(cluster):
        name = labels(workload).get(LOCAL_QUEUE)
        if workload.kind == "Deployment" and not name and workload.templates:
            # Kueue manages its pods separately, so their own label is enough.
            name = workload.templates[0].labels.get(LOCAL_QUEUE)
        if not name:
            continue
        local = local_queues(cluster, name, workload.namespace)
        one = local[0] if len(local) == 1 else None
        queue = cluster.cluster_queues.get(one.fields.cluster_queue) if one else None
        yield Queued(workload, name, queue)


def _name(entry: Entry[LocalQueueView]) -> str:
    return entry.name
