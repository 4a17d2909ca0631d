"""The teams of pools as graphs: who may borrow through whom, and who can take back what.

Each pool, and each team with children, is a hub. Teams lend to the hub above what they do not use,
and borrow from it what the others do not use.
"""

from collections.abc import Iterator

from msgspec import Struct

from policygen.explain.overview import Overview, PoolRow, TeamRow
from policygen.plan.amounts import Vector


class GraphNode(Struct, frozen=True):
    """A pool or a team in the graph of a pool."""

    id: str
    parent: str | None
    """None for a pool."""
    depth: int
    name: str
    amounts: str
    """What it is guaranteed and may use; of a pool what it has."""
    borrows: str
    """The most that it borrows through its parent; empty if it cannot borrow."""
    reclaims: str
    """What it lends to its parent and can take back by eviction; empty if it lends nothing."""
    models: tuple[str, ...]


def graphs(found: Overview) -> Iterator[tuple[GraphNode, ...]]:
    """The nodes of each pool, the pool first and each team before its children."""
    for number, pool in enumerate(found.pools):
        yield tuple(_nodes(pool, f"p{number}"))


def _nodes(pool: PoolRow, root: str) -> Iterator[GraphNode]:
    ids = {row.name: f"{root}t{number}" for number, row in enumerate(pool.teams)}
    rest = _each(pool, pool.rest)
    yield GraphNode(
        id=root,
        parent=None,
        depth=0,
        name=f"{pool.name} ({pool.scheduler})",
        amounts=f"{_each(pool, pool.available, name=True)}; not guaranteed: {rest}",
        borrows="",
        reclaims="",
        models=tuple(f"{it.replicas} × {it.name}" for it in pool.models),
    )
    for row in pool.teams:
        yield _team(pool, row, ids[row.name], ids[row.parent] if row.parent else root)


def _team(pool: PoolRow, row: TeamRow, id_: str, parent: str) -> GraphNode:
    each = pool.resources
    may_borrow = pool.lends and any(row.room[it] > 0 for it in each)
    lends = pool.lends and pool.preempts and any(row.claim[it] for it in each)
    amounts = f"guarantee {_each(pool, row.guarantee)}, limit {_each(pool, row.limit)}"
    return GraphNode(
        id=id_,
        parent=parent,
        depth=row.depth,
        name=row.name,
        amounts=amounts,
        borrows=_each(pool, row.room) if may_borrow else "",
        reclaims=_each(pool, row.claim) if lends else "",
        models=tuple(f"{it.replicas} × {it.name}" for it in row.models),
    )


def _each(pool: PoolRow, amounts: Vector, *, name: bool = False) -> str:
    """The amount of each resource; their names only if the pool has several."""
    if len(pool.resources) == 1:
        only = pool.resources[0]
        return f"{amounts[only]} {only}" if name else str(amounts[only])
    return " + ".join(f"{amounts[it]} {it.rpartition('/')[2]}" for it in pool.resources)
