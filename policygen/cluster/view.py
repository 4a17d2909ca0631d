"""The cluster that a rule sees: declared in manifests or seen by a snapshot, typed, indexed once."""

import re
from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import partial
from typing import Any, TypeVar, cast

import msgspec

from policygen import quantity
from policygen.cluster import configuration, core, kueue, volcano, workload
from policygen.cluster.doubts import (
    Doubts,
    Roots,
    left_out,
    outermost,
    unknown_field,
    watched,
    watched_if_there,
)
from policygen.cluster.in_parts import InParts
from policygen.cluster.object import Object
from policygen.cluster.parts import keyed_texts
from policygen.cluster.renames import canonical
from policygen.cluster.seen import Pod, Seen
from policygen.cluster.table import Entry, Table
from policygen.finding import At, Path

T = TypeVar("T")

KUEUE = "kueue.x-k8s.io"
KUEUE_CONFIG = "config.kueue.x-k8s.io"
SCHEDULING = "scheduling.k8s.io"
VOLCANO = "scheduling.volcano.sh"
VOLCANO_BATCH = "batch.volcano.sh"
SCHEDULER_CONFIG = "kubescheduler.config.k8s.io"
VOLCANO_CONFIGURATION = "volcano-scheduler.conf"
"""The kind under which Volcano's scheduler configuration, which has none, is kept."""

MAX_UNKNOWN = 20
"""Fields of an object that may be unknown; one with more is not read."""


class Malformed(msgspec.Struct, frozen=True):
    """A field of an object that could not be read: why, and where."""

    object: Object
    path: Path
    message: str


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
        misspelt: Mapping[At, tuple[Path, ...]] | None = None,
    ) -> None:
        self.objects = tuple(objects)
        self.seen = seen
        """How far the cluster was seen; None: it is declared, and none was looked at."""
        self.pods = tuple(pods)
        """The pods that were seen, whoever made them; declared ones are only in `workloads`."""
        self.doubts = Doubts(unread)
        self._misspelt = misspelt or {}
        """Fields that are not there since their names are misspelt, by the roots of objects."""
        self._unread = unread
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
        self._derived: dict[Callable[..., Any], tuple[Any, Roots]] = {}
        self._others: dict[Roots, Cluster] = {}

    def of(self, group: str, kind: str) -> tuple[Object, ...]:
        """The objects of a kind as they were written, readable or not."""
        return tuple(self._as_written(self._kinds.get((group, kind), ())))

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

    def doubting(self, misspelt: Mapping[At, tuple[Path, ...]]) -> "Cluster":
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

    def _as_written(self, objects: Iterable[Object]) -> Iterable[Object]:
        """Objects for those who read their data themselves, to whom a misspelt field is unknown."""
        for it in objects:
            if it.at not in self._misspelt:
                yield it
            elif it.at not in self._unread:
                yield watched(it, ("data",), partial(self.doubts.note, it.at))

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
            before = len(self._malformed)
            read = self._read(it, {} if data is None else data, type_, within)
            if read is None:
                unread.append(it)
            elif len(self._malformed) > before and not within:
                # Who reads a controller's file as it was written trusts its types.
                raw = watched(it, ("data",), partial(self.doubts.note, it.at))
                entries.append(Entry(raw, read))
            else:
                entries.append(Entry(it, read))
        return Table(entries, unread, self.doubts)

    def _read(self, it: Object, data: Any, type_: type[T], within: Path) -> T | None:
        read = self._converted(it, data, type_, within)
        for path in self._misspelt.get(it.at, ()):
            if path in (within, within[: len(path)]):
                return None  # it is the whole
            if path[: len(within)] == within and read is not None:
                if it.at in self._unread:
                    return None
                note = partial(self.doubts.note, it.at)
                read = watched_if_there(read, path[len(within) :], note)
        self.doubts.taken()  # what reading has looked at
        return read

    def _converted(self, it: Object, data: Any, type_: type[T], within: Path) -> T | None:
        in_parts: InParts[Any] | None = self._in_parts.get(type_)
        try:
            if in_parts is not None and it.at not in self._misspelt:
                return cast("T", in_parts.convert(data))
            return msgspec.convert(data, type_, dec_hook=decoded)
        except (msgspec.ValidationError, RecursionError):
            pass
        unknown: list[Path] = []
        try:
            data = _without_nulls(data)  # the API server takes null for absent
            while True:
                try:
                    read = msgspec.convert(data, type_, dec_hook=decoded)
                    break
                except msgspec.ValidationError as error:
                    message, path = _said(str(error))
                    self._malformed.append(Malformed(it, (*within, *path), message))
                    field = unknown_field(path)
                    if not field or it.at in self._unread or len(unknown) == MAX_UNKNOWN:
                        return None
                    unknown.append(field)
                    data = left_out(data, field)
        except RecursionError:
            self._malformed.append(Malformed(it, within, "it nests too deep to be read"))
            return None
        for field in outermost(unknown):
            read = watched(read, field, partial(self.doubts.note, it.at))
        return read

    def _workloads(self) -> Iterable[workload.Workload]:
        for group, kind in workload.SHAPES:
            for it in self._as_written(self._kinds.get((group, kind), ())):
                if self.seen and not workload.stands_alone(it):
                    continue
                made = [self._template(it, *each) for each in workload.written(it)]
                slips = self._misspelt.get(it.at, ())
                whole = None not in made and (made or not slips)
                if not whole and it.at in self._unread:
                    continue
                found = workload.Workload(it, tuple(each for each in made if each is not None))
                if not whole:
                    found = watched(found, ("object",), partial(self.doubts.note, it.at))
                self.doubts.taken()
                yield found

    def _template(
        self, it: Object, path: Path, data: Any, replicas: int | None
    ) -> workload.Template | None:
        if not isinstance(data, dict):
            self._mistyped(it, path, data)
            return None
        spec, metadata = data.get("spec"), data.get("metadata")
        read = self._read(it, {} if spec is None else spec, workload.PodSpec, (*path, "spec"))
        if read is None:
            return None
        if not isinstance(metadata, dict | None):
            self._mistyped(it, (*path, "metadata"), metadata)
            return None
        made = workload.Template(
            at=it.at.to(*path),
            labels=keyed_texts(metadata, "labels"),
            annotations=keyed_texts(metadata, "annotations"),
            spec=read,
            replicas=replicas,
        )
        note = partial(self.doubts.note, it.at)
        slips = self._misspelt.get(it.at, ())
        if any(slip[: len(path)] != path for slip in slips):
            made = watched(made, ("replicas",), note)
        for name in ("labels", "annotations"):
            wrong = [*_no_texts((*path, "metadata", name), (metadata or {}).get(name))]
            for where, value in wrong:
                self._mistyped(it, where, value)
            if wrong and it.at in self._unread:
                return None
            if wrong or {(*path, "metadata"), (*path, "metadata", name)}.intersection(slips):
                made = watched(made, (name,), note)
        return made

    def _mistyped(self, it: Object, path: Path, value: Any) -> None:
        message = f"{type(value).__name__} is the wrong type"
        self._malformed.append(Malformed(it, path, message))


def _no_texts(path: Path, data: Any) -> Iterable[tuple[Path, Any]]:
    """What is no text of a mapping of texts, or the whole if it is no mapping."""
    if isinstance(data, dict):
        for key, value in data.items():
            if not isinstance(value, str | None):
                yield (*path, key), value
    elif data is not None:
        yield path, data


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
