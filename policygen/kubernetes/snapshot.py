"""What was seen of a cluster, when, and what could not be: the same from a file and from a server."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct, field

from policygen.core.finding import At
from policygen.kubernetes.controllers import CONFIG_MAPS
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import PodSpec


class GroupKind(NamedTuple):
    """A kind, and the API group that it is of: `("kueue.x-k8s.io", "ClusterQueue")`."""

    group: str
    """Empty for core kinds."""
    kind: str

    def __str__(self) -> str:
        return f"{self.kind}.{self.group}" if self.group else self.kind


POD = GroupKind("", "Pod")
NODE = GroupKind("", "Node")
NAMESPACE = GroupKind("", "Namespace")
CONFIG_MAP = GroupKind("", "ConfigMap")

PODS = "pods"
"""The part of a snapshot in which its pods stand."""


class Gap(Struct, frozen=True, order=True):
    """Something that was asked for and could not be read."""

    group: str
    kind: str
    namespace: str
    """Empty: in the whole cluster."""
    reason: str
    """What the server, or the way to it, said; one line. Empty: nobody asked."""

    @property
    def what(self) -> str:
        """The kind, and where."""
        kind = GroupKind(self.group, self.kind)
        return f"{kind} in namespace {self.namespace}" if self.namespace else str(kind)

    def __str__(self) -> str:
        said = f"could not be read: {self.reason}" if self.reason else "was not read"
        return f"{self.what} {said}"


class Seen(Struct, frozen=True):
    """How far a look at a cluster went. What was read in full and is not there is absent."""

    context: str
    """The name under which the cluster was reached, which findings show."""
    taken: datetime
    """When, in UTC; what rules mean by now."""
    server: str
    """The API server's version, `v1.36.3`; empty: not known."""
    read: frozenset[GroupKind] = frozenset()
    """Kinds that were read in full: in the whole cluster, or in `namespaces`."""
    unserved: frozenset[GroupKind] = frozenset()
    """Kinds that the server does not have (a CRD that is not installed), so that there are none."""
    gaps: tuple[Gap, ...] = ()
    namespaces: tuple[str, ...] = ()
    """The only ones in which objects of namespaced kinds were read; none: all."""
    no_server: str = ""
    """Why its version is not known: what the server, or the way to it, said; one line."""
    config_maps: frozenset[str] = frozenset(CONFIG_MAPS)
    """Names of the ConfigMaps that were asked for; of others it is not known whether they are there."""
    in_cluster: bool = False
    """It was taken in a pod of the cluster, so that `context` is none of a kubeconfig."""
    redacted: bool = False
    """Names are replaced by hashes."""
    key: str = ""
    """What the key of these hashes is called: of two snapshots with one key the same names have the same."""

    @property
    def kubectl_context(self) -> str:
        """The context that a command of kubectl names; empty: none, as in a pod."""
        return "" if self.in_cluster else self.context


class Owner(Struct, frozen=True, array_like=True, gc=False):
    """The controller of an object, by its ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str


class Pod(Struct, frozen=True, eq=False, gc=False):
    """A pod that was seen: no more of it than rules read, since there may be very many.

    Where many say the same they share it, so nothing that hangs on it may be changed.
    """

    document: int
    """Of the snapshot that it is in."""
    number: int
    """Its place there."""
    namespace: str
    name: str
    spec: PodSpec
    """Shared by all pods that ask for the same."""
    node: str = ""
    """Empty: on none."""
    phase: str = ""
    """Pending, Running, Succeeded, Failed or Unknown."""
    owner: Owner | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Those of Kueue, Volcano and policygen only."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Likewise."""
    created: datetime | None = None
    deleted: datetime | None = None
    """When its deletion was asked for."""
    gates: tuple[str, ...] = ()
    """Its scheduling gates."""
    waiting: str = ""
    """Why a container waits: `ImagePullBackOff`."""
    unscheduled: str = ""
    """The reason of `PodScheduled: False`: `Unschedulable`, `SchedulingGated`."""
    unscheduled_why: str = ""
    """Its message, in the scheduler's words: `0/4 nodes are available: 4 Insufficient nvidia.com/gpu`."""

    @property
    def at(self) -> At:
        """Where it stands."""
        return At(self.document, (PODS, self.number))

    @property
    def object(self) -> Object:
        """As a finding names it."""
        return Object(self.at, "v1", "Pod", self.name, self.namespace, {})

    @property
    def done(self) -> bool:
        """Whether it has ended, so that it holds nothing."""
        return self.phase in {"Succeeded", "Failed"}

    def __str__(self) -> str:
        return f"Pod {self.namespace}/{self.name}"


class Snapshot(Struct, frozen=True, eq=False):
    """A cluster as it was at one time."""

    seen: Seen
    objects: tuple[Object, ...]
    """Policy objects whole, with status and managedFields; what runs and nodes, as far as rules read
    them (`projection`). Each at `At(document, ("objects", i))`."""
    pods: tuple[Pod, ...] = ()
    """Every pod, each at a place of its own; one that no other object of the snapshot stands for
    is among the objects too, since its spec is judged as a template."""
