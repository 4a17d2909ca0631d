"""What an identity must be allowed so that everything wanted can be read."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from policygen.cluster.live import Wanted
from policygen.cluster.projection import CONFIG_MAP
from policygen.cluster.seen import GroupKind
from policygen.served import schemas


class Permission(Struct, frozen=True, order=True):
    """To list the objects of a kind."""

    group: str
    resource: str
    names: tuple[str, ...] = ()
    """Only those of these names; none: all."""

    def __str__(self) -> str:
        resource = f"{self.resource}.{self.group}" if self.group else self.resource
        names = f" named {', '.join(self.names)}" if self.names else ""
        return f"list {resource}{names}"


def permissions(wanted: Wanted) -> tuple[Permission, ...]:
    """The smallest set, sorted. Of ConfigMaps only those that are asked for by name."""
    return tuple(sorted(_permissions(wanted)))


def _permissions(wanted: Wanted) -> Iterator[Permission]:
    known = dict(_plurals())
    for kind in wanted.kinds:
        names = tuple(sorted(wanted.config_maps)) if kind == CONFIG_MAP else ()
        yield Permission(kind.group, known.get(kind, f"{kind.kind.lower()}s"), names)


def _plurals() -> Iterable[tuple[GroupKind, str]]:
    """Of the kinds whose schemas we have; others are regular."""
    for at, kinds in schemas.index().kinds.items():
        api_version = at.removeprefix(f"{schemas.CORE}/")
        for kind in kinds:
            served = schemas.served(api_version, kind)
            if served is not None:
                yield GroupKind(served.group, kind), served.plural
