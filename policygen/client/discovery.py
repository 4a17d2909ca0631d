"""What an API server serves: the paths of each kind, and the groups that do not answer.

Uses aggregated discovery of Kubernetes 1.30 and later: two requests for all groups.
Source: k8s.io/api/apidiscovery/v2.
"""

from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct, field

from policygen.client.requests import ReadError
from policygen.core.decoding import decode
from policygen.kubernetes.snapshot import GroupKind

ACCEPT = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList"
PATHS = ("/api", "/apis")
_APPS = "apps"
"""A group that every API server has."""


class Resource(Struct, frozen=True):
    """The path of the objects of a kind."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool

    @property
    def group_kind(self) -> GroupKind:
        """The kind with its group."""
        return GroupKind(self.group, self.kind)

    @property
    def api_version(self) -> str:
        """The apiVersion of an object."""
        return f"{self.group}/{self.version}" if self.group else self.version

    def path(self, namespace: str = "") -> str:
        """The path of the list, in all namespaces or in one."""
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        within = f"/namespaces/{namespace}" if namespace else ""
        return f"{root}{within}/{self.plural}"


class ServedResources(Struct, frozen=True):
    """The kinds that a server serves."""

    resources: Mapping[GroupKind, tuple[Resource, ...]]
    """By kind, in the server's order of preference."""
    broken: frozenset[str]
    """Groups with an unknown version, because their aggregated API server does not answer."""

    def find(self, kind: GroupKind, preferred: str = "") -> Resource | None:
        """The resource of a kind, in the preferred version if it exists. Raises ReadError if unknown."""
        found = self.resources.get(kind, ())
        for resource in found:
            if resource.api_version == preferred:
                return resource
        if found:
            return found[0]
        if kind.group in self.broken:
            raise ReadError(
                f"an aggregated API server serves the API group {kind.group}, but does not answer"
            )
        if kind.group == _APPS and not any(it.group == _APPS for it in self.resources):
            raise ReadError(
                f"the server lists no API group {_APPS}, although every API server has it"
            )
        return None


class _Kind(Struct):
    kind: str = ""


class _Resource(Struct, rename="camel"):
    resource: str
    response_kind: _Kind | None = None
    scope: str = ""
    verbs: tuple[str, ...] = ()


class _GroupVersion(Struct):
    version: str
    resources: tuple[_Resource, ...] = ()
    freshness: str = "Current"


class _GroupMeta(Struct):
    name: str = ""


class _Group(Struct):
    metadata: _GroupMeta = field(default_factory=_GroupMeta)
    versions: tuple[_GroupVersion, ...] = ()


class _GroupList(Struct):
    items: tuple[_Group, ...]


def served(get: Callable[..., bytes]) -> ServedResources:
    """Ask a server. Raises ReadError."""
    resources: dict[GroupKind, list[Resource]] = {}
    broken = set()
    for path in PATHS:
        try:
            groups = decode(get(path, accept=ACCEPT), _GroupList)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise ReadError(f"the answer to {path} is not a list of API groups: {error}") from None
        if not any(version.resources for group in groups.items for version in group.versions):
            raise ReadError(
                f"the answer to {path} lists no kind, although every API server has some"
            )
        for group in groups.items:
            name = group.metadata.name
            for version in group.versions:
                if version.freshness != "Current":
                    broken.add(name)
                for listed in version.resources:
                    if listed.response_kind is not None and "list" in listed.verbs:
                        kind, namespaced = listed.response_kind.kind, listed.scope == "Namespaced"
                        resources.setdefault(GroupKind(name, kind), []).append(
                            Resource(name, version.version, kind, listed.resource, namespaced)
                        )
    return ServedResources(
        {kind: tuple(found) for kind, found in resources.items()}, frozenset(broken)
    )
