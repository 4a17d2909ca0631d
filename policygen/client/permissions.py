"""The permissions that an identity needs to read everything in a query."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from policygen.api_validation import schemas
from policygen.client.live import ClusterQuery
from policygen.kubernetes.scopes import OF_THE_CLUSTER
from policygen.kubernetes.snapshot import CONFIG_MAP, GroupKind


class Permission(Struct, frozen=True, order=True):
    """The permission to list the objects of a kind."""

    group: str
    resource: str
    names: tuple[str, ...] = ()
    """Only objects with these names; empty for all names."""
    namespace: str = ""
    """Empty for the complete cluster."""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        names = f" named {', '.join(self.names)}" if self.names else ""
        where = f" in namespace {self.namespace}" if self.namespace else ""
        return f"list {resource}{names}{where}"


def permissions(query: ClusterQuery) -> tuple[Permission, ...]:
    """The smallest set of permissions, sorted.

    ConfigMaps are allowed only by name. If namespaces are set, namespaced objects are allowed only
    in them.
    """
    return tuple(sorted(_permissions(query)))


def _permissions(query: ClusterQuery) -> Iterator[Permission]:
    known = dict(_served())
    for kind in query.kinds:
        names = tuple(sorted(query.config_maps)) if kind == CONFIG_MAP else ()
        served = known.get(kind)
        plural = served.plural if served else query.plurals.get(kind) or _regular(kind.kind)
        namespaced = served.namespaced if served else kind not in OF_THE_CLUSTER
        for namespace in (namespaced and query.namespaces) or ("",):
            yield Permission(kind.group, plural, names, namespace)


def _regular(kind: str) -> str:
    """The plural of a kind that only rules read."""
    return f"{kind.lower()}{'es' if kind.endswith('s') else 's'}"


def _served() -> Iterable[tuple[GroupKind, schemas.ServedKind]]:
    for at, kinds in schemas.index().kinds.items():
        api_version = at.removeprefix(f"{schemas.CORE}/")
        for kind in kinds:
            served = schemas.served(api_version, kind)
            if served is not None:
                yield GroupKind(served.group, kind), served
