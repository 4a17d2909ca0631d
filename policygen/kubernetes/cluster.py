"""The objects that rules check: those of manifests or of a snapshot, typed and indexed."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, cast

from policygen.core.finding import At, Path
from policygen.kubernetes import (
    configurations,
    core,
    kueue,
    kueue_workloads,
    train_jobs,
    volcano,
    workloads,
)
from policygen.kubernetes.field_access import AccessLog, Roots
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Pod, Seen
from policygen.kubernetes.table import Table
from policygen.kubernetes.typed import Reader

T = TypeVar("T")

KUEUE = "kueue.x-k8s.io"
KUEUE_CONFIG = "config.kueue.x-k8s.io"
SCHEDULING = "scheduling.k8s.io"
VOLCANO = "scheduling.volcano.sh"
VOLCANO_BATCH = "batch.volcano.sh"
SCHEDULER_CONFIG = "kubescheduler.config.k8s.io"
VOLCANO_CONFIGURATION = "volcano-scheduler.conf"
"""The kind under which Volcano's scheduler configuration, which has none, is kept."""


class Cluster:
    """Every object of the input by kind. It is immutable, and rules use its indexes.

    Tables hold the objects that could be read. An invalid field is in `malformed`; its object is
    read without it, and `accesses` records the rules that read it. The table knows the names of
    unreadable objects, so that references to them are not reported as dangling.
    """

    train_jobs: dict[At, train_jobs.TrainJobPods]
    """By the place of the TrainJob."""
    _by_group: dict[str, list[workloads.Workload]]

    def __init__(
        self,
        objects: Iterable[Object],
        seen: Seen | None = None,
        pods: Iterable[Pod] = (),
        *,
        unread: Roots = frozenset(),
        context: Roots = frozenset(),
    ) -> None:
        self.objects, self.context = tuple(objects), context
        """`context`: the objects beside manifests that are not checked, of a spec or of a cluster."""
        self.seen = seen
        """What was read of the cluster; None: the objects are from manifests."""
        self.pods = tuple(pods)
        """All pods of a snapshot; pods of manifests are only in `workloads`."""
        self.accesses = AccessLog(unread)
        self._unread, self._reader = unread, Reader(self.accesses, unread)
        self._kinds = _by_kind(self.objects)
        self.kinds = frozenset(kind for _, kind in self._kinds) | ({"Pod"} if self.pods else set())
        self._typed, spec = set(workloads.TEMPLATES), self._spec
        self.cluster_queues = spec(KUEUE, "ClusterQueue", kueue.ClusterQueueView)
        self.cohorts = spec(KUEUE, "Cohort", kueue.CohortView)
        self.local_queues = spec(KUEUE, "LocalQueue", kueue.LocalQueueView)
        self.flavors = spec(KUEUE, "ResourceFlavor", kueue.ResourceFlavorView)
        self.topologies = spec(KUEUE, "Topology", kueue.TopologyView)
        self.workload_priority_classes = self._table(
            KUEUE, "WorkloadPriorityClass", kueue.WorkloadPriorityClassView
        )
        self.admission_checks = spec(KUEUE, "AdmissionCheck", kueue.AdmissionCheckView)
        self.provisioning_request_configs = spec(
            KUEUE, "ProvisioningRequestConfig", kueue.ProvisioningRequestConfigView
        )
        self.multi_kueue_configs = spec(KUEUE, "MultiKueueConfig", kueue.MultiKueueConfigView)
        self.multi_kueue_clusters = spec(KUEUE, "MultiKueueCluster", kueue.MultiKueueClusterView)
        # The Workloads that Kueue created; `workloads` are the objects that users create.
        self.kueue_workloads = spec(KUEUE, "Workload", kueue_workloads.WorkloadView)
        self.queues = spec(VOLCANO, "Queue", volcano.QueueView)
        self.pod_groups = spec(VOLCANO, "PodGroup", volcano.PodGroupView)
        self.volcano_jobs = spec(VOLCANO_BATCH, "Job", volcano.VolcanoJobView)
        self.hyper_nodes = spec("topology.volcano.sh", "HyperNode", volcano.HyperNodeView)
        self.namespaces = self._table("", "Namespace", core.NamespaceView)
        self.nodes = self._table("", "Node", core.NodeView)
        self.resource_quotas = spec("", "ResourceQuota", core.ResourceQuotaView)
        self.limit_ranges = spec("", "LimitRange", core.LimitRangeView)
        self.priority_classes = self._table(SCHEDULING, "PriorityClass", core.PriorityClassView)
        self.runtime_classes = self._table("node.k8s.io", "RuntimeClass", core.RuntimeClassView)
        self.persistent_volumes = spec("", "PersistentVolume", core.PersistentVolumeView)
        self.persistent_volume_claims = spec(
            "", "PersistentVolumeClaim", core.PersistentVolumeClaimView
        )
        self.storage_classes = self._table("storage.k8s.io", "StorageClass", core.StorageClassView)
        self.config_maps = self._table("", "ConfigMap", core.ConfigMapView)
        self.horizontal_pod_autoscalers = spec(
            "autoscaling", "HorizontalPodAutoscaler", core.HorizontalPodAutoscalerView
        )
        self.pod_disruption_budgets = spec(
            "policy", "PodDisruptionBudget", core.PodDisruptionBudgetView
        )
        self.vertical_pod_autoscalers = spec(
            "autoscaling.k8s.io", "VerticalPodAutoscaler", core.VerticalPodAutoscalerView
        )
        self.scaled_objects = spec("keda.sh", "ScaledObject", core.ScaledObjectView)
        self.node_pools = spec("karpenter.sh", "NodePool", core.NodePoolView)
        self.scheduler_configurations = self._file(
            SCHEDULER_CONFIG,
            "KubeSchedulerConfiguration",
            configurations.SchedulerConfigurationView,
        )
        self.kueue_configurations = self._file(
            KUEUE_CONFIG, "Configuration", configurations.KueueConfigurationView
        )
        self.volcano_configurations = self._file(
            "", VOLCANO_CONFIGURATION, configurations.VolcanoConfigurationView
        )
        self._by_group, self.train_jobs = {}, {}
        self.workloads = tuple(self._workloads())
        """Objects that create pods, in the order of the input: by kind, the rules take 4 % more processor
        time, since objects that were read together are neighbours in memory. Those of a snapshot exclude
        finished objects, and objects of another workload."""
        self.malformed = tuple(self._reader.malformed)
        self._derived: dict[Callable[..., Any], tuple[Any, Roots]] = {}
        self._others: dict[Roots, Cluster] = {}

    @property
    def tables(self) -> frozenset[tuple[str, str]]:
        """All typed groups and kinds, including those without objects."""
        return frozenset(self._typed)

    def of(self, group: str, kind: str) -> tuple[Object, ...]:
        """The raw objects of a kind, readable or not."""
        return tuple(self._kinds.get((group, kind), ()))

    def workloads_of(self, *groups: str) -> Sequence[workloads.Workload]:
        """The `workloads` of these API groups."""
        return [it for group in groups for it in self._by_group.get(group, ())]

    def derive(self, make: "Callable[[Cluster], T]") -> T:
        """The cached result of a function of the cluster. Pass a function with a name: it is the key."""
        if make not in self._derived:
            self._derived[make] = self.accesses.recorded(lambda: make(self))
        found, read = self._derived[make]
        if read:
            self.accesses.repeat(read)
        return cast("T", found)

    def without(self, objects: Roots) -> "Cluster":
        """A cluster whose tables skip these objects, because some of their fields are invalid."""
        unread = self._unread | objects
        if unread not in self._others:
            self._others[unread] = Cluster(
                self.objects, self.seen, self.pods, unread=unread, context=self.context
            )
        return self._others[unread]

    def with_objects(
        self, objects: Iterable[Object], make: "Callable[[Cluster], T]", made: T
    ) -> "Cluster":
        """A cluster with other objects, and with a known result of a function that it derives."""
        other = Cluster(objects, self.seen, self.pods, context=self.context)
        other._derived[make] = made, frozenset()
        return other

    @property
    def invalid_fields(self) -> Iterable[tuple[Object, Path]]:
        """The invalid fields, whose intended value is unknown."""
        for invalid in self.malformed:
            yield invalid.object, invalid.path

    def _spec(self, group: str, kind: str, type_: type[T]) -> Table[T]:
        return self._table(group, kind, type_, ("spec",))

    def _table(self, group: str, kind: str, type_: type[T], within: Path = ()) -> Table[T]:
        self._typed.add((group, kind))
        return self._reader.table(self._kinds.get((group, kind), ()), type_, within)

    def _file(self, group: str, kind: str, type_: type[T]) -> Table[T]:
        self._typed.add((group, kind))
        return self._reader.table(self._kinds.get((group, kind), ()), type_, file=True)

    def _workloads(self) -> Iterable[workloads.Workload]:
        for object_ in self.objects:
            kind = object_.group, object_.kind
            if kind not in workloads.TEMPLATES and kind != workloads.TRAIN_JOB:
                continue
            if self.seen and not workloads.is_checked(object_):
                continue
            train_job = kind == workloads.TRAIN_JOB
            found = self._train_job(object_) if train_job else self._reader.workload_of(object_)
            if found is not None:
                self._by_group.setdefault(object_.group, []).append(found)
                yield found

    def _train_job(self, object_: Object) -> workloads.Workload:
        """A TrainJob, without pods if they are not known. Other rules report what its runtime has invalid."""
        kinds = (train_jobs.CLUSTER_RUNTIME, train_jobs.RUNTIME)
        runtimes = (it for kind in kinds for it in self.of(train_jobs.GROUP, kind))
        made = train_jobs.train_job(object_, runtimes)
        reader = Reader(AccessLog(), frozenset())
        found = reader.workload_of(made.object)
        if found is None or reader.malformed:
            made = train_jobs.TrainJobPods(object_, unknown="its runtime cannot be read")
            found = workloads.Workload.of(object_, ())
        self.train_jobs[object_.at] = made
        return found


def _by_kind(objects: Iterable[Object]) -> dict[tuple[str, str], list[Object]]:
    found: dict[tuple[str, str], list[Object]] = {}
    for object_ in objects:
        found.setdefault((object_.group, object_.kind), []).append(object_)
    return found
