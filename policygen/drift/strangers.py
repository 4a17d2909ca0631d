"""Objects with the label of a set that are probably those of another spec, which has the same name."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from policygen.core.names import SYSTEM_NAMESPACES
from policygen.kubernetes.object import Object

QUEUES = frozenset({"ClusterQueue", "LocalQueue", "Cohort", "Queue"})


def strangers(rendered: Iterable[Object], orphans: Sequence[Object]) -> tuple[Object, ...]:
    """The orphans that nothing connects with the rendered objects, if queues are among them.

    Two objects are connected if one names the other, or both name a third one, or a namespace. What a
    spec no longer renders is usually connected with the rest: a queue with its cohort or flavor, a
    LocalQueue with a namespace of another queue. A single object can be a rest, too, so there must be
    several that are connected, with a queue. Then the other orphans without a connection are also
    strangers.
    """
    left = unconnected(rendered, orphans)
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
    return known & {_name(found), *_texts(fields)}


def _texts(data: Any) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for value in data.values():
            yield from _texts(value)
    elif isinstance(data, list):
        for value in data:
            yield from _texts(value)
