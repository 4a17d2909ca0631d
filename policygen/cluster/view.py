"""The cluster that a rule sees: declared in manifests or seen by a snapshot, typed, indexed once."""

import re
from collections.abc import Callable, Iterable
from fractions import Fraction
from typing import Any, TypeVar, cast

import msgspec

from policygen import quantity
from policygen.cluster import configuration, core, kueue, volcano, workload
from policygen.cluster.in_parts import InParts
from policygen.cluster.object import Object
from policygen.cluster.parts import keyed_texts
from policygen.cluster.renames import canonical
from policygen.cluster.seen import Pod, Seen
from policygen.cluster.table import Entry, Table
from policygen.finding import Path

T = TypeVar("T")

KUEUE = "kueue.x-k8s.io"
KUEUE_CONFIG = "config.kueue.x-k8s.io"
SCHEDULING = "scheduling.k8s.io"
VOLCANO = "scheduling.volcano.sh"
VOLCANO_BATCH = "batch.volcano.sh"
SCHEDULER_CONFIG = "kubescheduler.config.k8s.io"
VOLCANO_CONFIGURATION = "volcano-scheduler.conf"
"""The kind under which Volcano's scheduler configuration, which has none, is kept."""


class Malformed(msgspec.Struct, frozen=True):
    """An object whose fields could not be read: the first reason, and where."""

    object: Object
    path: Path
    message: str


class Cluster:
    """Every object of the input by kind. Immutable once made; a rule never searches it.

    Tables hold what could be read. What could not is `malformed`, and its table still knows
    its name, so that a reference to it is not called dangling.
    """

    def __init__(
        self, objects: Iterable[Object], seen: Seen | None = None, pods: Iterable[Pod] = ()
    ) -> None:
        self.objects = tuple(objects)
        self.seen = seen
        """How far the cluster was seen; None: it is declared, and none was looked at."""
        self.pods = tuple(pods)
        """The pods that were seen, whoever made them; declared ones are only in `workloads`."""
        self._malformed: list[Malformed] = []
        self._kinds: dict[tuple[str, str], list[Object]] = {}
        for it in self.objects:
            self._kinds.setdefault((it.group, it.kind), []).append(it)
        self.kinds = frozenset(kind for _, kind in self._kinds) | ({"Pod"} if self.pods else set())
        self._typed = set(workload.SHAPES)
        self._in_parts: dict[type[Any], InParts[Any]] = {
            type_: InParts(type_, decoded) for type_ in (kueue.ClusterQueue, workload.PodSpec)
        }
        """What converts to types of which most objects have parts of others."""
        spec = self._spec
        self.cluster_queues = spec(KUEUE, "ClusterQueue", kueue.ClusterQueue)
        self.cohorts = spec(KUEUE, "Cohort", kueue.Cohort)
        self.local_queues = spec(KUEUE, "LocalQueue", kueue.LocalQueue)
        self.flavors = spec(KUEUE, "ResourceFlavor", kueue.ResourceFlavor)
        self.topologies = spec(KUEUE, "Topology", kueue.Topology)
        self.workload_priority_classes = self._table(
            KUEUE, "WorkloadPriorityClass", kueue.WorkloadPriorityClass
        )
        self.admission_checks = spec(KUEUE, "AdmissionCheck", kueue.AdmissionCheck)
        self.provisioning_request_configs = spec(
            KUEUE, "ProvisioningRequestConfig", kueue.ProvisioningRequestConfig
        )
        self.multi_kueue_configs = spec(KUEUE, "MultiKueueConfig", kueue.MultiKueueConfig)
        self.multi_kueue_clusters = spec(KUEUE, "MultiKueueCluster", kueue.MultiKueueCluster)
        self.kueue_workloads = spec(KUEUE, "Workload", kueue.Workload)
        """What Kueue has made of what was sent to it; not `workloads`, which are what was sent."""
        self.queues = spec(VOLCANO, "Queue", volcano.Queue)
        self.pod_groups = spec(VOLCANO, "PodGroup", volcano.PodGroup)
        self.volcano_jobs = spec(VOLCANO_BATCH, "Job", volcano.Job)
        self.namespaces = self._table("", "Namespace", core.Namespace)
        self.nodes = self._table("", "Node", core.Node)
        self.resource_quotas = spec("", "ResourceQuota", core.ResourceQuota)
        self.limit_ranges = spec("", "LimitRange", core.LimitRange)
        self.priority_classes = self._table(SCHEDULING, "PriorityClass", core.PriorityClass)
        self.config_maps = self._table("", "ConfigMap", core.ConfigMap)
        self.horizontal_pod_autoscalers = spec(
            "autoscaling", "HorizontalPodAutoscaler", core.HorizontalPodAutoscaler
        )
        self.vertical_pod_autoscalers = spec(
            "autoscaling.k8s.io", "VerticalPodAutoscaler", core.VerticalPodAutoscaler
        )
        self.scheduler_configurations = self._table(
            SCHEDULER_CONFIG, "KubeSchedulerConfiguration", configuration.SchedulerConfiguration
        )
        self.kueue_configurations = self._table(
            KUEUE_CONFIG, "Configuration", configuration.KueueConfiguration
        )
        self.volcano_configurations = self._table(
            "", VOLCANO_CONFIGURATION, configuration.VolcanoConfiguration
        )
        self.workloads = tuple(self._workloads())
        """What makes pods; of a cluster that was seen not what another of them has made, nor what
        has ended."""
        self.tables = frozenset(self._typed)
        """Groups and kinds that are typed, whether there are objects of them or not."""
        self.malformed = tuple(self._malformed)
        self._derived: dict[Callable[..., Any], Any] = {}

    def of(self, group: str, kind: str) -> tuple[Object, ...]:
        """The objects of a kind as they were written, readable or not."""
        return tuple(self._kinds.get((group, kind), ()))

    def derive(self, make: "Callable[[Cluster], T]") -> T:
        """What a function makes of the cluster; made once per function, so pass a named one."""
        if make not in self._derived:
            self._derived[make] = make(self)
        found: T = self._derived[make]
        return found

    def _spec(self, group: str, kind: str, type_: type[T]) -> Table[T]:
        return self._table(group, kind, type_, ("spec",))

    def _table(self, group: str, kind: str, type_: type[T], within: Path = ()) -> Table[T]:
        self._typed.add((group, kind))
        entries: list[Entry[T]] = []
        unread: list[Object] = []
        for it in self._kinds.get((group, kind), ()):
            data: Any = canonical(it)
            for step in within:
                data = data.get(step)
            read = self._read(it, {} if data is None else data, type_, within)
            if read is None:
                unread.append(it)
            else:
                entries.append(Entry(it, read))
        return Table(entries, unread)

    def _read(self, it: Object, data: Any, type_: type[T], within: Path) -> T | None:
        in_parts: InParts[Any] | None = self._in_parts.get(type_)
        try:
            if in_parts is not None:
                return cast("T", in_parts.convert(data))
            return msgspec.convert(data, type_, dec_hook=decoded)
        except (msgspec.ValidationError, RecursionError):
            pass
        try:  # the API server takes null for absent
            return msgspec.convert(_without_nulls(data), type_, dec_hook=decoded)
        except msgspec.ValidationError as error:
            message, path = _said(str(error))
        except RecursionError:
            message, path = "it nests too deep to be read", ()
        self._malformed.append(Malformed(it, (*within, *path), message))
        return None

    def _workloads(self) -> Iterable[workload.Workload]:
        for group, kind in workload.SHAPES:
            for it in self._kinds.get((group, kind), ()):
                if self.seen and not workload.stands_alone(it):
                    continue
                templates = []
                for path, data, replicas in workload.found(it):
                    spec = data.get("spec")
                    read = self._read(
                        it, {} if spec is None else spec, workload.PodSpec, (*path, "spec")
                    )
                    if read is not None:
                        templates.append(
                            workload.Template(
                                at=it.at.to(*path),
                                labels=keyed_texts(data, "metadata", "labels"),
                                annotations=keyed_texts(data, "metadata", "annotations"),
                                spec=read,
                                replicas=replicas,
                            )
                        )
                yield workload.Workload(it, tuple(templates))


def decoded(type_: type[Any], value: Any) -> Any:
    """What msgspec asks for the types that it does not know: quantities. Raises ValueError."""
    if type_ is Fraction:
        return quantity.parse(value).value
    raise NotImplementedError(type_)


def _without_nulls(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: _without_nulls(value) for key, value in data.items() if value is not None}
    if isinstance(data, list):
        return [_without_nulls(value) for value in data]
    return data


_STEP = re.compile(r"\.([^.\[\]`]+)|\[([0-9]+|\.\.\.)\]")


def _said(error: str) -> tuple[str, Path]:
    """A message of msgspec, and its path: "Expected `int`, got `str` - at `$.a[0]`"."""
    message, _, where = error.partition(" - at `")
    path: list[str | int] = []
    for name, index in _STEP.findall(where.removeprefix("key in ").rstrip("`")):
        if index == "..." or name == "...":
            break  # a key of a mapping, which msgspec does not name
        path.append(name or int(index))
    return message.replace("`", ""), tuple(path)
