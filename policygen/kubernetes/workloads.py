"""The pod templates of every kind that creates pods, as one type.

Source: core/v1, apps/v1 and batch/v1 of Kubernetes 1.36.3; batch.volcano.sh/v1alpha1 of Volcano
1.14; the CRDs of the training operators, JobSet, LeaderWorkerSet and Ray.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cached_property
from typing import Any, NamedTuple, Self

from msgspec import Struct, field

from policygen.core.finding import At, Path, at_path
from policygen.core.names import VOLCANO_JOB_QUEUE
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.object import Object, Read
from policygen.kubernetes.untyped import integer, mappings, numbered, text

_VOLCANO_BATCH = "batch.volcano.sh"
_RAW = "raw_templates"
"""The attribute of an object for its templates."""
APP_WRAPPER = "AppWrapper"
TRAIN_JOB = ("trainer.kubeflow.org", "TrainJob")
"""The group and kind whose pods are those of another object (`train_jobs`)."""
_OF_A_POD = ("cpu", "memory")
"""Pod-level resources besides hugepages (resource.IsSupportedPodLevelResource)."""


class Resources(Struct, rename="camel", frozen=True):
    """The requests and limits of a container or a pod."""

    requests: dict[str, Fraction] = field(default_factory=dict)
    limits: dict[str, Fraction] = field(default_factory=dict)


class Container(Struct, rename="camel", frozen=True):
    """A container, with the fields that rules read."""

    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    env: tuple[dict[str, Any], ...] = ()
    ports: tuple[dict[str, Any], ...] = ()
    restart_policy: str = ""
    """Of an init container: `Always` makes it a sidecar."""

    @property
    def requests(self) -> dict[str, Fraction]:
        """Its requests; a limit without a request is the request."""
        return {**self.resources.limits, **self.resources.requests}


class PodSpec(Struct, rename="camel", frozen=True, dict=True):
    """`spec` of a pod or of its template."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_name: str = ""
    host_network: bool = False
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: dict[str, Any] = field(default_factory=dict)
    tolerations: tuple[TolerationView, ...] = ()
    scheduler_name: str = ""
    scheduling_gates: tuple[dict[str, Any], ...] = ()
    priority_class_name: str = ""
    active_deadline_seconds: int | None = None
    runtime_class_name: str = ""
    restart_policy: str = ""
    topology_spread_constraints: tuple[dict[str, Any], ...] = ()
    resource_claims: tuple[dict[str, Any], ...] = ()
    volumes: tuple[dict[str, Any], ...] = ()
    resources: Resources = Resources()
    """Pod-level resources, from Kubernetes 1.34 on."""
    overhead: dict[str, Fraction] = field(default_factory=dict)
    """Resources of its runtime, added to those of its containers."""

    @cached_property
    def requests(self) -> Mapping[str, Fraction]:
        """The requests of one pod: the sum of containers and sidecars, or the maximum of init containers.

        A limit of a container without a request is the request. Pod-level requests replace the sum of
        the containers. Source: k8s.io/component-helpers, resource.PodRequests.
        """
        found = self.of_containers()
        found.update(self.pod_level())
        if self.overhead:
            _add(found, self.overhead)
        return found

    @cached_property
    def limits(self) -> Mapping[str, Fraction]:
        """The limits of one pod, counted as its requests are. Source: resource.PodLimits."""
        found = self._of_containers(lambda it: it.resources.limits)
        found.update(self.resources.limits)
        for name, amount in self.overhead.items():
            if name in found:
                found[name] += amount
        return found

    def pod_level(self) -> dict[str, Fraction]:
        """The pod-level requests of a pod, by the names of its pod-level resources.

        Without a request of cpu or memory, the API server writes the sum of the containers; if these
        request none, or for huge pages, the limit.
        Source: pkg/apis/core/v1/defaults.go, setDefaultPodRequests, of Kubernetes 1.36.3.
        """
        own = self.resources
        if not (own.limits or own.requests):
            return {}
        found = {**own.limits, **own.requests}
        of_containers = self.of_containers()
        for name in _OF_A_POD:
            if name in own.limits and name not in own.requests and name in of_containers:
                found[name] = of_containers[name]
        return {
            name: amount
            for name, amount in found.items()
            if name in _OF_A_POD or name.startswith("hugepages-")
        }

    def of_containers(self) -> dict[str, Fraction]:
        """The requests of the containers of one pod, without pod-level resources and overhead."""
        return self._of_containers(lambda it: it.requests)

    def _of_containers(
        self, of: Callable[[Container], Mapping[str, Fraction]]
    ) -> dict[str, Fraction]:
        total: dict[str, Fraction] = {}
        for container in self.containers:
            _add(total, of(container))
        if not self.init_containers:
            return total
        peak: dict[str, Fraction] = {}
        beside: dict[str, Fraction] = {}
        for container in self.init_containers:
            requested = of(container)
            if container.restart_policy == "Always":
                _add(total, requested)
                _add(beside, requested)
                requested = {}
            for name in {**requested, **beside}:
                now = requested.get(name, Fraction(0)) + beside.get(name, Fraction(0))
                peak[name] = max(peak.get(name, now), now)
        return {
            name: max(total.get(name, Fraction(0)), peak.get(name, Fraction(0)))
            for name in {**total, **peak}
        }


class PodTemplate(Struct, frozen=True, eq=False):
    """A pod template and the number of its pods."""

    at: At
    """The template; `at / "spec"` is its pod spec. For a Pod, the object itself."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    spec: PodSpec
    replicas: int | None
    """None: unknown."""


class Workload(Read, frozen=True, eq=False):
    """An object that creates pods, or a pod."""

    templates: tuple[PodTemplate, ...]
    # Those of the object. As properties, their calls took 1 % of the time of lint.
    kind: str
    namespace: str
    at: At

    @classmethod
    def of(cls, object_: Object, templates: Iterable[PodTemplate]) -> Self:
        """The workload of an object with these pod templates."""
        return cls(object_, tuple(templates), object_.kind, object_.namespace, object_.at)

    @property
    def spec(self) -> Mapping[str, Any]:
        """The raw `spec`."""
        found = self.object.data.get("spec")
        return found if isinstance(found, dict) else {}

    def scheduler_name(self, template: PodTemplate) -> str:
        """The `schedulerName` of the pods of a template; empty for the default.

        A Volcano Job has one name for all tasks without a name, and its webhook writes `volcano`.
        Source: pkg/controllers/job/job_controller_util.go, createJobPod, of Volcano 1.14.1.
        """
        name = template.spec.scheduler_name
        if name or self.object.group != _VOLCANO_BATCH:
            return name
        return text(self.spec, "schedulerName") or "volcano"

    def scheduler_at(self, template: PodTemplate) -> At:
        """The place of this name."""
        own = template.spec.scheduler_name or self.object.group != _VOLCANO_BATCH
        return (template if own else self).at.to("spec", "schedulerName")


def scheduler_of_operator(object_: Object) -> str:
    """The scheduler that KubeRay writes into pods without a `schedulerName`; empty: none.

    Source: KubeRay's guide about Volcano.
    """
    if object_.group != "ray.io":
        return ""
    labels = object_.labels
    return labels.get("ray.io/scheduler-name", "volcano" if VOLCANO_JOB_QUEUE in labels else "")


class TemplateLocation(Struct, frozen=True):
    """Where the pod templates of a kind are, and their number."""

    templates: tuple[str | int, ...]
    """The path of the template; "*" is every item of a list or mapping."""
    replicas: tuple[str | int, ...] = ()
    """The path of the number of pods, from the item of the last "*", or from the root."""
    one: int | None = 1
    """The number of pods if that field is missing; None: unknown."""
    at_most: tuple[str | int, ...] = ()
    """The path of a maximum of the number of pods."""
    times: tuple[str | int, ...] = ()
    """The path of a factor of the number of pods: the number of their groups."""
    less: tuple[str | int, ...] = ()
    """The path of a field that replaces one of the pods if it is set."""


_LAST: TemplateLocation = TemplateLocation(())
RAY_CLUSTERS: Mapping[str, tuple[str, ...]] = {
    "RayCluster": (),
    "RayJob": ("rayClusterSpec",),
    "RayService": ("rayClusterConfig",),
}
"""The path of the cluster below `spec`, by the kind of Ray."""
TEMPLATES: dict[tuple[str, str], tuple[TemplateLocation, ...]] = {
    ("", "Pod"): (_LAST,),
    ("", "ReplicationController"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "Deployment"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "ReplicaSet"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "StatefulSet"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("argoproj.io", "Rollout"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "DaemonSet"): (TemplateLocation(("spec", "template"), (), None),),
    # At most as many pods run as completions remain: job_controller.go, manageJob; so in Kueue.
    ("batch", "Job"): (
        TemplateLocation(
            ("spec", "template"), ("spec", "parallelism"), at_most=("spec", "completions")
        ),
    ),
    ("batch", "CronJob"): (
        TemplateLocation(
            ("spec", "jobTemplate", "spec", "template"),
            ("spec", "jobTemplate", "spec", "parallelism"),
            at_most=("spec", "jobTemplate", "spec", "completions"),
        ),
    ),
    (_VOLCANO_BATCH, "Job"): (TemplateLocation(("spec", "tasks", "*", "template"), ("replicas",)),),
    ("jobset.x-k8s.io", "JobSet"): (
        TemplateLocation(
            ("spec", "replicatedJobs", "*", "template", "spec", "template"),
            ("template", "spec", "parallelism"),
            at_most=("template", "spec", "completions"),
            times=("replicas",),
        ),
    ),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): (
        TemplateLocation(
            ("spec", "leaderWorkerTemplate", "leaderTemplate"), times=("spec", "replicas")
        ),
        TemplateLocation(
            ("spec", "leaderWorkerTemplate", "workerTemplate"),
            ("spec", "leaderWorkerTemplate", "size"),
            times=("spec", "replicas"),
            less=("spec", "leaderWorkerTemplate", "leaderTemplate"),
        ),
    ),
    **{
        ("kubeflow.org", kind): (
            TemplateLocation(("spec", replicas, "*", "template"), ("replicas",)),
        )
        for kind, replicas in {
            "PyTorchJob": "pytorchReplicaSpecs",
            "TFJob": "tfReplicaSpecs",
            "XGBoostJob": "xgbReplicaSpecs",
            "PaddleJob": "paddleReplicaSpecs",
            "JAXJob": "jaxReplicaSpecs",
            "MPIJob": "mpiReplicaSpecs",
        }.items()
    },
    **{
        ("ray.io", kind): (
            TemplateLocation(("spec", *way, "headGroupSpec", "template")),
            TemplateLocation(
                ("spec", *way, "workerGroupSpecs", "*", "template"),
                ("replicas",),
                times=("numOfHosts",),
            ),
        )
        for kind, way in RAY_CLUSTERS.items()
    },
    ("workload.codeflare.dev", APP_WRAPPER): (),
}
"""Every kind that creates pods, by group and kind. The templates of an AppWrapper are those of its objects."""
KINDS = tuple(sorted({kind for _, kind in (*TEMPLATES, TRAIN_JOB)}))
"""The names of these kinds and of TrainJobs, sorted."""
_PLACES = {**TEMPLATES, TRAIN_JOB: TEMPLATES["jobset.x-k8s.io", "JobSet"]}


def sum_of(counts: Iterable[int | None]) -> int | None:
    """The sum of numbers of pods; None if one of them is unknown."""
    found = list(counts)
    known = [it for it in found if it is not None]
    return sum(known) if len(known) == len(found) else None


def pod_templates(object_: Object) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The templates of an object: the path of each, and its data."""
    for path, data, _ in raw_templates(object_):
        if isinstance(data, dict):
            yield path, data


RawTemplate = tuple[Path, Any, int | None]


def raw_templates(object_: Object) -> Sequence[RawTemplate]:
    """The same for values of any type, with the number of pods of each.

    The values are those of templates, or of a parent that is of a wrong type. The object keeps the result.
    """
    known: Sequence[RawTemplate] | None = object_.__dict__.get(_RAW)
    if known is None:
        known = object_.__dict__[_RAW] = tuple(_raw_templates(object_))
    return known


def _raw_templates(object_: Object) -> Iterator[RawTemplate]:
    for above, owner, location in _locations(object_):
        for path, data, item in _follow(owner, location.templates, above, owner):
            yield path, data, _count(location, item)


def replicas_at(workload: Workload, template: PodTemplate) -> At:
    """The field with the number of pods of a template, or of groups of its pods; else the template."""
    for above, _, location in _locations(workload.object):
        steps, path = (*above, *location.templates), template.at.path
        field = location.times if location.times[-1:] == ("replicas",) else location.replicas
        if len(steps) != len(path) or not field:
            continue
        if all(name in ("*", each) for name, each in zip(steps, path, strict=True)):
            item = path[: steps.index("*") + 1] if "*" in steps else above
            return At(template.at.document, (*item, *field))
    return template.at


class Wrapped(NamedTuple):
    """An object that an AppWrapper creates."""

    path: Path
    """In the AppWrapper."""
    group: str
    kind: str
    data: dict[str, Any]


def wrapped(data: Mapping[str, Any]) -> Iterator[Wrapped]:
    """The objects that an AppWrapper with this data creates."""
    for i, it in numbered(data, "spec", "components"):
        if isinstance(inner := it.get("template"), dict):
            group = text(inner, "apiVersion").rpartition("/")[0]
            yield Wrapped(("spec", "components", i, "template"), group, text(inner, "kind"), inner)


def _locations(object_: Object) -> Iterator[tuple[Path, Any, TemplateLocation]]:
    """Where the templates are: the path of the object that has them, its data, and the place in it."""
    if object_.kind != APP_WRAPPER:
        for location in _PLACES[object_.group, object_.kind]:
            yield (), object_.data, location
        return
    for it in wrapped(object_.data):
        for location in TEMPLATES.get((it.group, it.kind), ()):
            yield it.path, it.data, location


def _count(location: TemplateLocation, item: Any) -> int | None:
    """The number of pods of a template; None if it is unknown or invalid."""
    count = _number(item, location.replicas, location.one)
    if not (location.at_most or location.times or location.less):
        return None if count is None else max(0, count)
    most = _number(item, location.at_most, count)
    groups = _number(item, location.times, 1)
    if count is None or most is None or groups is None:
        return None
    taken = 1 if location.less and at_path(item, location.less) is not None else 0
    return max(0, min(count, most) - taken) * groups


def _number(item: Any, path: Path, default: int | None) -> int | None:
    """An integer; the default if it is missing or has no path, None if it has another type."""
    found = at_path(item, path) if path else None
    return default if found is None else integer(found)


_FINISHED = {"Complete", "Completed", "Succeeded", "Failed"}
"""Conditions of batch/v1, JobSet and the training operators."""
_PHASES = {"Succeeded", "Failed", "Complete", "Completed", "Terminated", "Aborted"}
"""Of pods, of Volcano's Jobs, of RayJobs (`jobDeploymentStatus`)."""


def is_checked(object_: Object) -> bool:
    """Whether rules check an object of a cluster.

    They skip objects of another workload, which has the same templates, and finished ones, which
    create no pods.
    """
    for owner in mappings(object_.data, "metadata", "ownerReferences"):
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        if owner.get("controller") is True and (group, owner.get("kind")) in TEMPLATES:
            return False
    status = object_.data.get("status")
    if not isinstance(status, dict):
        return True
    phases = {
        text(status, "phase"),
        text(status, "state", "phase"),
        text(status, "jobDeploymentStatus"),
    }
    return phases.isdisjoint(_PHASES) and not any(
        condition.get("type") in _FINISHED and condition.get("status") == "True"
        for condition in mappings(status.get("conditions"))
    )


def _follow(data: Any, rest: Path, path: Path, item: Any) -> Iterator[tuple[Path, Any, Any]]:
    taken = 0
    for step in rest:
        if step == "*" or not isinstance(data, dict):
            break
        data, taken = data.get(step), taken + 1
    path, rest = (*path, *rest[:taken]), rest[taken:]
    if data is None:
        return  # null is read as missing
    if not rest:
        yield path, data, item
    elif isinstance(data, dict | list) and rest[0] == "*":
        children: Iterable[tuple[str | int, Any]]
        children = data.items() if isinstance(data, dict) else enumerate(data)
        for key, child in children:
            yield from _follow(child, rest[1:], (*path, key), child)
    else:
        yield path, data, item


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    if not total:
        total.update(more)
        return
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
