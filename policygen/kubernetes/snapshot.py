"""A cluster at one time: its objects, its pods, and what could not be read. From a file or a server."""

from collections.abc import Mapping
from datetime import datetime
from typing import NamedTuple

from msgspec import Struct, field

from policygen.core.finding import At
from policygen.kubernetes.controllers import CONFIG_MAPS
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import PodSpec


class GroupKind(NamedTuple):
    """A kind and its API group: `("kueue.x-k8s.io", "ClusterQueue")`."""

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
"""The first step of the path of a pod in a snapshot."""


class Gap(Struct, frozen=True, order=True):
    """A kind that a run needed and could not read.

    Not a Finding: it is data of a snapshot, and each rule decides whether the gap matters to it.
    """

    group: str
    kind: str
    namespace: str
    """Empty: in the whole cluster."""
    reason: str
    """The error of the server or of the connection, one line. Empty: it was not requested."""

    @property
    def what(self) -> str:
        """The kind, with its namespace if it has one."""
        kind = GroupKind(self.group, self.kind)
        return f"{kind} in namespace {self.namespace}" if self.namespace else str(kind)

    def __str__(self) -> str:
        if self.reason:
            return f"{self.what} could not be read: {self.reason}"
        return f"{self.what} was not read"


class Seen(Struct, frozen=True):
    """What was read of a cluster. An object of a kind that was read completely either is here or is absent."""

    context: str
    """The name of the context, which findings show."""
    taken: datetime
    """When, in UTC. Rules use it as the current time."""
    server: str
    """The API server's version, `v1.36.3`; empty: unknown."""
    read: frozenset[GroupKind] = frozenset()
    """Kinds that were read completely: in all namespaces, or in `namespaces`."""
    unserved: frozenset[GroupKind] = frozenset()
    """Kinds that the server does not serve, because a CRD is not installed: they have no objects."""
    gaps: tuple[Gap, ...] = ()
    namespaces: tuple[str, ...] = ()
    """The namespaces in which objects of namespaced kinds were read; empty: all."""
    no_server: str = ""
    """Why the version is unknown: the error of the server or of the connection, one line."""
    config_maps: frozenset[str] = frozenset(CONFIG_MAPS)
    """Names of the ConfigMaps that were requested; other ConfigMaps may exist."""
    in_cluster: bool = False
    """True if it was taken in a pod of the cluster; `context` is then not in a kubeconfig."""
    redacted: bool = False
    """True if names are replaced by hashes."""
    key: str = ""
    """An identifier of the hash key. With the same key, equal names have equal hashes."""

    @property
    def kubectl_context(self) -> str:
        """The context for commands of kubectl; empty in a pod, which needs none."""
        return "" if self.in_cluster else self.context


class Owner(Struct, frozen=True, array_like=True, gc=False):
    """The controller of an object, by its ownerReferences."""

    api_version: str
    kind: str
    name: str
    uid: str


class Pod(Struct, frozen=True, eq=False, gc=False):
    """A pod of a cluster. It has only what rules read, because a cluster may have very many pods.

    Pods share equal parts, so nothing that it refers to may be changed.
    """

    document: int
    """The index of its snapshot, as in `At.document`."""
    number: int
    """Its index in the snapshot."""
    namespace: str
    name: str
    spec: PodSpec
    """Shared by all pods with an equal spec."""
    node: str = ""
    """Empty: the pod is not scheduled."""
    phase: str = ""
    """Pending, Running, Succeeded, Failed or Unknown."""
    owner: Owner | None = None
    labels: Mapping[str, str] = field(default_factory=dict)
    """Only those of Kueue, Volcano and policygen."""
    annotations: Mapping[str, str] = field(default_factory=dict)
    """Only those of Kueue, Volcano and policygen."""
    created: datetime | None = None
    deleted: datetime | None = None
    """When its deletion was requested."""
    gates: tuple[str, ...] = ()
    """Its scheduling gates."""
    waiting: str = ""
    """Why a container waits: `ImagePullBackOff`."""
    unscheduled: str = ""
    """The reason of `PodScheduled: False`: `Unschedulable`, `SchedulingGated`."""
    unscheduled_why: str = ""
    """The scheduler's message: `0/4 nodes are available: 4 Insufficient nvidia.com/gpu`."""

    @property
    def at(self) -> At:
        """Its place."""
        return At(self.document, (PODS, self.number))

    @property
    def object(self) -> Object:
        """The object for findings, without data."""
        return Object(self.at, "v1", "Pod", self.name, self.namespace, {})

    @property
    def done(self) -> bool:
        """Whether it has finished, so that it holds no resources."""
        return self.phase in {"Succeeded", "Failed"}

    def __str__(self) -> str:
        return f"Pod {self.namespace}/{self.name}"


class Snapshot(Struct, frozen=True, eq=False):
    """A cluster at one time."""

    seen: Seen
    objects: tuple[Object, ...]
    """Policy objects are complete, with status and managedFields. Nodes and workloads have only the
    fields that rules read (`projection`). Each is at `At(document, ("objects", i))`."""
    pods: tuple[Pod, ...] = ()
    """Every pod, each with its own place. A pod that no other object of the snapshot owns is also one
    of the objects, because its spec is checked as a template."""
