"""Objects with the label of a set that are probably those of another spec, which has the same name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policygen.core.names import SYSTEM_NAMESPACES
from policygen.kubernetes.object import Object

QUEUES = frozenset({"ClusterQueue", "LocalQueue", "Cohort", "Queue"})
_OF_TEAMS = frozenset({"ClusterQueue", "LocalQueue", "Queue", "ResourceQuota"})


def strangers(
    rendered: Iterable[Object], orphans: Sequence[Object], there: Iterable[Object]
) -> tuple[Object, ...]:
    """The orphans that are probably those of another spec. `there` are the rendered objects that exist.

    If several teams are orphans and no team of the spec exists, these are the orphans of all other teams
    and of their pools: pools of two specs can have one name. Otherwise they are those that nothing connects
    with the rendered objects, if queues are among them.

    Two objects are connected if one names the other, or both name a third one, a namespace or a team. What a
    spec no longer renders is usually connected with the rest: a queue with its cohort or flavor, a
    LocalQueue with a namespace of another queue. A single object can be a rest, too, so there must be
    several that are connected, with a queue. Then the other orphans without a connection are also
    strangers.
    """
    mine = list(rendered)
    if _have_other_teams(mine, orphans) and not has_teams(there):
        return tuple(orphans)
    left = unconnected(mine, orphans)
    counts = Counter(name for _, names in left for name in names)
    is_set = any(it.kind in QUEUES and any(counts[one] > 1 for one in them) for it, them in left)
    return tuple(it for it, _ in left) if is_set else ()


def unconnected(
    rendered: Iterable[Object], orphans: Sequence[Object]
) -> Sequence[tuple[Object, set[str]]]:
    """The orphans that nothing connects with the rendered objects, and what each of them names."""
    if not orphans:
        return ()
    mine = list(rendered)
    known = {_name(it) for it in (*mine, *orphans)} - {*SYSTEM_NAMESPACES}
    known |= {f"team {it}" for names in _teams((*mine, *orphans)) for it in names}
    reached = {name for it in mine for name in _names(it, known)}
    left = [(it, _names(it, known)) for it in orphans]
    while near := [it for it in left if it[1] & reached]:
        left = [it for it in left if not it[1] & reached]
        reached |= {name for _, names in near for name in names}
    return left


def _name(found: Object) -> str:
    """What others can name: an object, or the namespace of one."""
    return found.namespace or found.name


def _names(found: Object, known: set[str]) -> set[str]:
    """The objects and namespaces that an object names."""
    fields = {key: value for key, value in found.data.items() if key not in {"kind", "metadata"}}
    return known & {_name(found), f"team {_team(found)}", *_texts(fields)}


def _have_other_teams(mine: Iterable[Object], orphans: Iterable[Object]) -> bool:
    """Whether the orphans are of several teams, and the spec has none of these."""
    here, others = _teams(mine), _teams(orphans)
    is_common = not (here[0] | here[1]).isdisjoint(others[0] | others[1])
    return any(here) and max(map(len, others)) > 1 and not is_common


def has_teams(found: Iterable[Object]) -> bool:
    """Whether queues or quotas of teams are among the objects."""
    return any(_teams(found))


def _teams(found: Iterable[Object]) -> tuple[set[str], set[str]]:
    """The teams that names of queues contain, and the namespaces of teams."""
    named: tuple[set[str], set[str]] = set(), set()
    for it in found:
        if name := _team(it):
            named[bool(it.namespace)].add(name)
    return named


def _team(found: Object) -> str:
    """The namespace of a queue or quota, or what the name of a queue has before that of the pool."""
    if found.kind not in _OF_TEAMS:
        return ""
    return found.namespace or found.name.rpartition(".")[0]


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
