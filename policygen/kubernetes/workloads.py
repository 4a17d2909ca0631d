"""What runs: the pod templates of every kind that makes pods, seen alike.

Source: core/v1, apps/v1 and batch/v1 of Kubernetes 1.36.3; batch.volcano.sh/v1alpha1 of Volcano
1.14; the shapes of the training operators, JobSet, LeaderWorkerSet, Ray, as their CRDs have them.
"""

from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import Struct, field

from policygen.core.finding import At, Path, at_path
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.object import Object, Read
from policygen.kubernetes.untyped import mappings, text, whole

_OF_A_POD = ("cpu", "memory")
"""What a pod can ask for as a whole, besides hugepages (resource.IsSupportedPodLevelResource)."""


class Resources(Struct, rename="camel", frozen=True):
    """What a container, or a pod, asks for and may use."""

    requests: dict[str, Fraction] = field(default_factory=dict)
    limits: dict[str, Fraction] = field(default_factory=dict)


class Container(Struct, rename="camel", frozen=True):
    """A container; of its fields those that rules read."""

    name: str = ""
    image: str = ""
    resources: Resources = Resources()
    env: tuple[dict[str, Any], ...] = ()
    restart_policy: str = ""
    """Of an init container: `Always` makes it a sidecar."""


class PodSpec(Struct, rename="camel", frozen=True, dict=True):
    """`spec` of a pod or of its template."""

    containers: tuple[Container, ...] = ()
    init_containers: tuple[Container, ...] = ()
    node_selector: dict[str, str] = field(default_factory=dict)
    affinity: dict[str, Any] = field(default_factory=dict)
    tolerations: tuple[TolerationView, ...] = ()
    scheduler_name: str = ""
    priority_class_name: str = ""
    restart_policy: str = ""
    topology_spread_constraints: tuple[dict[str, Any], ...] = ()
    resource_claims: tuple[dict[str, Any], ...] = ()
    resources: Resources = Resources()
    """Of the pod as a whole, from Kubernetes 1.34 on."""
    overhead: dict[str, Fraction] = field(default_factory=dict)
    """What its runtime takes beside its containers."""

    @cached_property
    def requests(self) -> Mapping[str, Fraction]:
        """What one pod counts as: containers and sidecars summed, init containers as a maximum.

        A limit without a request is the request; what the pod asks for as a whole stands in the
        place of its containers' sum. Source: k8s.io/component-helpers, resource.PodRequests;
        UseLimitsAsMissingRequestsInPod of Kueue.
        """
        found = self._of_containers()
        found.update(self.of_the_whole())
        _add(found, self.overhead)
        return found

    def of_the_whole(self) -> dict[str, Fraction]:
        """What it asks for as a whole, of what a pod can ask for so."""
        return {
            name: amount
            for name, amount in {**self.resources.limits, **self.resources.requests}.items()
            if name in _OF_A_POD or name.startswith("hugepages-")
        }

    def _of_containers(self) -> dict[str, Fraction]:
        total: dict[str, Fraction] = {}
        for each in self.containers:
            _add(total, _asked(each))
        if not self.init_containers:
            return total
        peak: dict[str, Fraction] = {}
        beside: dict[str, Fraction] = {}
        for each in self.init_containers:
            asked = _asked(each)
            if each.restart_policy == "Always":
                _add(total, asked)
                _add(beside, asked)
                asked = {}
            for name in {*asked, *beside}:
                now = asked.get(name, Fraction(0)) + beside.get(name, Fraction(0))
                peak[name] = max(peak.get(name, now), now)
        return {
            name: max(total.get(name, Fraction(0)), peak.get(name, Fraction(0)))
            for name in {*total, *peak}
        }


class Template(Struct, frozen=True, eq=False):
    """A pod template, and how many pods are made of it."""

    at: At
    """The template; `at / "spec"` is its pod spec. For a Pod, the object itself."""
    labels: Mapping[str, str]
    annotations: Mapping[str, str]
    spec: PodSpec
    replicas: int | None
    """None: not known."""


class Workload(Read, frozen=True, eq=False):
    """An object that makes pods, or a pod."""

    templates: tuple[Template, ...]

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.object.kind

    @property
    def spec(self) -> Mapping[str, Any]:
        """`spec` as it was written."""
        found = self.object.data.get("spec")
        return found if isinstance(found, dict) else {}


class TemplateLocation(Struct, frozen=True):
    """Where a kind keeps its pod templates."""

    templates: tuple[str | int, ...]
    """The way to the template; "*" stands for every item of a list or mapping."""
    replicas: tuple[str | int, ...] = ()
    """The way to their number, from the item that the last "*" stands for, or from the root."""
    one: int | None = 1
    """How many pods where nothing is written."""
    at_most: tuple[str | int, ...] = ()
    """The way, as that to their number, to a number that bounds it."""
    times: tuple[str | int, ...] = ()
    """Likewise to a number by which it is multiplied: the groups of such pods."""
    less: tuple[str | int, ...] = ()
    """Likewise to what, if it is there, takes the place of one of them."""


_LAST: TemplateLocation = TemplateLocation(())
SHAPES: dict[tuple[str, str], tuple[TemplateLocation, ...]] = {
    ("", "Pod"): (_LAST,),
    ("", "ReplicationController"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "Deployment"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "ReplicaSet"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "StatefulSet"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("argoproj.io", "Rollout"): (TemplateLocation(("spec", "template"), ("spec", "replicas")),),
    ("apps", "DaemonSet"): (TemplateLocation(("spec", "template"), (), None),),
    # No more pods run than completions are left: job_controller.go, manageJob; Kueue counts so too.
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
    ("batch.volcano.sh", "Job"): (
        TemplateLocation(("spec", "tasks", "*", "template"), ("replicas",)),
    ),
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
            TemplateLocation((*way, "headGroupSpec", "template")),
            TemplateLocation(
                (*way, "workerGroupSpecs", "*", "template"), ("replicas",), times=("numOfHosts",)
            ),
        )
        for kind, way in {
            "RayCluster": ("spec",),
            "RayJob": ("spec", "rayClusterSpec"),
            "RayService": ("spec", "rayClusterConfig"),
        }.items()
    },
}
"""Every kind that makes pods, by group and kind."""
KINDS = tuple(sorted({kind for _, kind in SHAPES}))
"""Every kind that makes pods, whatever its group."""


def found(object_: Object) -> Iterator[tuple[Path, Mapping[str, Any], int | None]]:
    """The templates of an object: the way to each, its data, and the number of its pods."""
    for path, data, count in written(object_):
        if isinstance(data, dict):
            yield path, data, count


def written(object_: Object) -> Iterator[tuple[Path, Any, int | None]]:
    """What stands where templates should be, or on the way there if that is of a wrong type."""
    for shape in SHAPES[object_.group, object_.kind]:
        for path, data, item in _follow(object_.data, shape.templates, (), object_.data):
            yield path, data, _count(shape, item)


def _count(shape: TemplateLocation, item: Any) -> int | None:
    """How many pods there are of a template; None where that is not known, or no number."""

    def at(way: Path, default: int | None) -> int | None:
        found = at_path(item, way) if way else None
        return default if found is None else whole(found)

    count = at(shape.replicas, shape.one)
    most, groups = at(shape.at_most, count), at(shape.times, 1)
    if count is None or most is None or groups is None:
        return None
    taken = 1 if shape.less and at_path(item, shape.less) is not None else 0
    return max(0, min(count, most) - taken) * groups


_ENDED = {"Complete", "Completed", "Succeeded", "Failed"}
"""Conditions of batch/v1, of JobSet, of the training operators, and of all of them."""
_PHASES = {"Succeeded", "Failed", "Complete", "Completed", "Terminated", "Aborted"}
"""Of pods, of Volcano's Jobs, of RayJobs (`jobDeploymentStatus`)."""


def stands_alone(it: Object) -> bool:
    """Whether an object on a cluster speaks for itself.

    One that another kind that makes pods has made says what that one says, and one that has
    ended asks for nothing more.
    """
    for owner in mappings(it.data, "metadata", "ownerReferences"):
        group = str(owner.get("apiVersion", "")).rpartition("/")[0]
        if owner.get("controller") is True and (group, owner.get("kind")) in SHAPES:
            return False
    status = it.data.get("status")
    if not isinstance(status, dict):
        return True
    phases = {
        text(status, "phase"),
        text(status, "state", "phase"),
        text(status, "jobDeploymentStatus"),
    }
    return phases.isdisjoint(_PHASES) and not any(
        each.get("type") in _ENDED and each.get("status") == "True"
        for each in mappings(status.get("conditions"))
    )


def _follow(data: Any, way: Path, path: Path, item: Any) -> Iterator[tuple[Path, Any, Any]]:
    if data is None:
        return  # as if it were not there
    if not way:
        yield path, data, item
    elif isinstance(data, dict) and way[0] != "*":
        yield from _follow(data.get(way[0]), way[1:], (*path, way[0]), item)
    elif isinstance(data, dict | list) and way[0] == "*":
        children: Iterable[tuple[str | int, Any]]
        children = data.items() if isinstance(data, dict) else enumerate(data)
        for key, child in children:
            yield from _follow(child, way[1:], (*path, key), child)
    else:
        yield path, data, item


def _asked(container: Container) -> dict[str, Fraction]:
    return {**container.resources.limits, **container.resources.requests}


def _add(total: dict[str, Fraction], more: Mapping[str, Fraction]) -> None:
    for name, amount in more.items():
        total[name] = total[name] + amount if name in total else amount
