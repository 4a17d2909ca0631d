"""The cluster that a rule sees: declared in manifests or seen by a snapshot, typed, indexed once."""

from collections.abc import Callable, Iterable
from typing import Any, TypeVar, cast

from policygen.core.finding import Path
from policygen.kubernetes import configurations, core, kueue, volcano, workloads
from policygen.kubernetes.field_access import Doubts, Roots
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Pod, Seen
from policygen.kubernetes.table import Table
from policygen.kubernetes.typed import Misspelt, Reader

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
    """Every object of the input by kind. Immutable once made; a rule never searches it.

    Tables hold what could be read. A field that could not is `malformed`; its object is read without
    it, and `doubts` knows who looks at it. Where nothing is left to read, the table still knows the
    object's name, so that a reference to it is not called dangling.
    """

    def __init__(
        self,
        objects: Iterable[Object],
        seen: Seen | None = None,
        pods: Iterable[Pod] = (),
        *,
        unread: Roots = frozenset(),
        misspelt: Misspelt | None = None,
    ) -> None:
        self.objects = tuple(objects)
        self.seen = seen
        """How far the cluster was seen; None: it is declared, and none was looked at."""
        self.pods = tuple(pods)
        """The pods that were seen, whoever made them; declared ones are only in `workloads`."""
        self.doubts = Doubts(unread)
        self._misspelt = misspelt or {}
        self._unread = unread
        self._kinds: dict[tuple[str, str], list[Object]] = {}
        for it in self.objects:
            self._kinds.setdefault((it.group, it.kind), []).append(it)
        self.kinds = frozenset(kind for _, kind in self._kinds) | ({"Pod"} if self.pods else set())
        self._typed = set(workloads.SHAPES)
        self._reader = Reader(self.doubts, unread, self._misspelt)
        spec = self._spec
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
        self.kueue_workloads = spec(KUEUE, "Workload", kueue.WorkloadView)
        """What Kueue has made of what was sent to it; not `workloads`, which are what was sent."""
        self.queues = spec(VOLCANO, "Queue", volcano.QueueView)
        self.pod_groups = spec(VOLCANO, "PodGroup", volcano.PodGroupView)
        self.volcano_jobs = spec(VOLCANO_BATCH, "Job", volcano.VolcanoJobView)
        self.namespaces = self._table("", "Namespace", core.NamespaceView)
        self.nodes = self._table("", "Node", core.NodeView)
        self.resource_quotas = spec("", "ResourceQuota", core.ResourceQuotaView)
        self.limit_ranges = spec("", "LimitRange", core.LimitRangeView)
        self.priority_classes = self._table(SCHEDULING, "PriorityClass", core.PriorityClassView)
        self.config_maps = self._table("", "ConfigMap", core.ConfigMapView)
        self.horizontal_pod_autoscalers = spec(
            "autoscaling", "HorizontalPodAutoscaler", core.HorizontalPodAutoscalerView
        )
        self.vertical_pod_autoscalers = spec(
            "autoscaling.k8s.io", "VerticalPodAutoscaler", core.VerticalPodAutoscalerView
        )
        self.scheduler_configurations = self._table(
            SCHEDULER_CONFIG,
            "KubeSchedulerConfiguration",
            configurations.SchedulerConfigurationView,
        )
        self.kueue_configurations = self._table(
            KUEUE_CONFIG, "Configuration", configurations.KueueConfigurationView
        )
        self.volcano_configurations = self._table(
            "", VOLCANO_CONFIGURATION, configurations.VolcanoConfigurationView
        )
        self.workloads = tuple(self._workloads())
        """What makes pods; of a cluster that was seen not what another of them has made, nor what
        has ended."""
        self.tables = frozenset(self._typed)
        """Groups and kinds that are typed, whether there are objects of them or not."""
        self.malformed = tuple(self._reader.malformed)
        self._derived: dict[Callable[..., Any], tuple[Any, Roots]] = {}
        self._others: dict[Roots, Cluster] = {}

    def of(self, group: str, kind: str) -> tuple[Object, ...]:
        """The objects of a kind as they were written, readable or not."""
        return tuple(self._reader.as_written(self._kinds.get((group, kind), ())))

    def derive(self, make: "Callable[[Cluster], T]") -> T:
        """What a function makes of the cluster; made once per function, so pass a named one."""
        if make not in self._derived:
            self._derived[make] = self.doubts.during(lambda: make(self))
        found, read = self._derived[make]
        self.doubts.again(read)
        return cast("T", found)

    def without(self, objects: Roots) -> "Cluster":
        """The same, with nothing read of these objects, whose fields are not all known."""
        unread = self._unread | objects
        if unread not in self._others:
            self._others[unread] = Cluster(
                self.objects, self.seen, self.pods, unread=unread, misspelt=self._misspelt
            )
        return self._others[unread]

    def doubting(self, misspelt: Misspelt) -> "Cluster":
        """The same, with fields unknown that are only misspelt, by the roots of their objects."""
        return Cluster(self.objects, self.seen, self.pods, misspelt=misspelt)

    @property
    def unknown(self) -> Iterable[tuple[Object, Path]]:
        """The fields that have some value, and nobody knows which."""
        for it in self.malformed:
            yield it.object, it.path
        for each in self.objects if self._misspelt else ():
            for path in self._misspelt.get(each.at, ()):
                yield each, path

    def _spec(self, group: str, kind: str, type_: type[T]) -> Table[T]:
        return self._table(group, kind, type_, ("spec",))

    def _table(self, group: str, kind: str, type_: type[T], within: Path = ()) -> Table[T]:
        self._typed.add((group, kind))
        return self._reader.table(self._kinds.get((group, kind), ()), type_, within)

    def _workloads(self) -> Iterable[workloads.Workload]:
        for kind in workloads.SHAPES:
            for it in self._reader.as_written(self._kinds.get(kind, ())):
                if self.seen and not workloads.stands_alone(it):
                    continue
                found = self._reader.workload_of(it)
                if found is not None:
                    yield found
