"""Pools and their teams: what each is guaranteed and may use, which models run there, and what is free."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import Finding
from policygen.explain.lending import Lending
from policygen.plan.amounts import Vector
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import range_of
from policygen.plan.rules import (
    GUARANTEE_NOT_ENFORCED,
    MODEL_ABOVE_LIMIT,
    MODEL_ABOVE_QUOTA,
    MODELS_EXCEED_LIMIT,
)
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import deserved_amounts

_WARNINGS = frozenset(
    (MODELS_EXCEED_LIMIT, MODEL_ABOVE_LIMIT, MODEL_ABOVE_QUOTA, GUARANTEE_NOT_ENFORCED)
)


class ModelRow(Struct, frozen=True):
    """A model that runs on a pool."""

    name: str
    least: int
    """Replicas, or gangs, that must run at one time."""
    most: int
    always: int
    """Those that run all the time; 0 for training and batch models."""
    devices: tuple[tuple[str, int], ...]
    """What one of them takes, by resource, without cpu and memory."""

    replicas: str
    """`4`, or `4 to 24` if an autoscaler decides."""


class TeamRow(Struct, frozen=True):
    """A team, or the `.own` leaf of one, on a pool."""

    name: str
    team: str
    parent: str | None
    depth: int
    leaf: bool
    weight: int
    guarantee: Vector
    deserved: Vector | None
    """None: it is not a queue of Volcano."""
    limit: Vector
    claim: Vector
    """What it can take back from others."""
    room: Vector
    """How much it may borrow."""
    models: tuple[ModelRow, ...]
    used: Vector
    """What its models, and those of its children, use all the time; at most its limit."""
    borrows_from: tuple[str, ...]
    """Teams, and the rest of the pool, from which it may borrow."""
    evicts: tuple[str, ...]
    """Teams whose workloads it may evict to take back its own amount."""

    def free(self, resource: str) -> int:
        """What it is guaranteed and its models do not use all the time."""
        return max(0, self.guarantee[resource] - self.used.get(resource, 0))


class Overview(Struct, frozen=True):
    """All pools by name."""

    name: str
    """That of the Platform."""
    pools: tuple["PoolRow", ...]
    unplaced: tuple[str, ...]
    """Models that fit no pool."""
    warnings: tuple[str, ...]
    """What never runs, and which guarantees are not enforced."""


class PoolRow(Struct, frozen=True):
    """A pool and its teams, parents first."""

    name: str
    queue: str
    """The name of the shared queue, or of the pool."""
    scheduler: str
    preempts: bool
    lends: bool
    """Whether teams can borrow from each other, or from the rest of the pool."""
    resources: tuple[str, ...]
    """Without cpu and memory."""
    available: Vector
    rest: Vector
    """What no team is guaranteed."""
    used: Vector
    teams: tuple[TeamRow, ...]
    models: tuple[ModelRow, ...]
    """Those without a team."""

    def free(self, resource: str) -> int:
        """What models do not use all the time."""
        return max(0, self.available[resource] - self.used.get(resource, 0))


def overview(decided: Decisions, findings: Iterable[Finding] = ()) -> Overview:
    """All pools, their teams and models. `findings`: those that contradict a table are shown."""
    placements = decided.workloads.placements
    unplaced = tuple(it.model.name for it in placements if it.chosen is None)
    warnings = tuple(it.message for it in findings if it.rule in _WARNINGS)
    return Overview(decided.platform.name, tuple(_pools(decided)), unplaced, warnings)


def _pools(decided: Decisions) -> Iterator[PoolRow]:
    trees = {facts.name: tree for tree in decided.trees for facts in tree.pools}
    placed: dict[str, list[Assignment]] = {}
    for it in decided.workloads.assignments:
        # Of a shared queue, the first pool is tried first.
        placed.setdefault(it.facts.name, []).append(it)
    for facts in decided.pools:
        yield _pool(trees[facts.name], facts, placed.get(facts.name, []))


def _pool(tree: Tree, facts: PoolFacts, placed: Sequence[Assignment]) -> PoolRow:
    by_node: dict[str, list[Assignment]] = {}
    for it in placed:
        by_node.setdefault(it.node.name if it.node else "", []).append(it)
    deserved = deserved_amounts(tree) if tree.scheduler == "volcano" else {}
    lending = Lending(tree)
    return PoolRow(
        name=facts.name,
        queue=tree.queue,
        scheduler=facts.scheduler,
        preempts=facts.policy.preemption_enabled,
        resources=facts.resources,
        available=facts.available,
        rest=tree.rest[facts.name],
        lends=lending.exists,
        used=_used(tree, None, facts, by_node),
        teams=tuple(
            _team(lending, node, facts, by_node, deserved.get(node.name)) for node in _ordered(tree)
        ),
        models=tuple(_model(it) for it in by_node.get("", [])),
    )


def _ordered(tree: Tree, parent: str | None = None) -> Iterator[TeamNode]:
    """The nodes of a tree, each followed by its children."""
    for node in tree.by_parent.get(parent, ()):
        yield node
        yield from _ordered(tree, node.name)


def _team(
    lending: Lending,
    node: TeamNode,
    facts: PoolFacts,
    by_node: Mapping[str, Sequence[Assignment]],
    deserved: Vector | None,
) -> TeamRow:
    lenders = [
        name
        for resource in facts.resources
        if node.leaf
        for name in lending.lenders(node, facts.name, resource)
    ]
    evicted = [
        it.team.name
        for resource in facts.resources
        if node.leaf and lending.reclaims
        for it in lending.borrowers(node, facts.name, resource)
    ]
    return TeamRow(
        name=node.name,
        team=node.team.name,
        parent=node.parent,
        depth=node.depth,
        leaf=node.leaf,
        weight=node.weight,
        guarantee=node.guarantee[facts.name],
        deserved=deserved,
        limit=node.limit[facts.name],
        claim={it: lending.claim(node, facts.name, it) for it in facts.resources},
        room={it: lending.room(node, facts.name, it) for it in facts.resources},
        models=tuple(_model(it) for it in by_node.get(node.name, ())),
        used=_used(lending.tree, node, facts, by_node),
        borrows_from=tuple(dict.fromkeys(lenders)),
        evicts=tuple(dict.fromkeys(evicted)),
    )


def _used(
    tree: Tree,
    node: TeamNode | None,
    facts: PoolFacts,
    by_node: Mapping[str, Sequence[Assignment]],
) -> dict[str, int]:
    """What the models of a node, and of those below it, use all the time. None: the pool.

    Replicas above a limit wait, so a node counts at most its limit. Only queues bound parents.
    """
    name = node.name if node else None
    used = dict.fromkeys(facts.keys, 0)
    for it in by_node.get(name or "", ()):
        for resource, amount in it.replicas.piece.items():
            used[resource] += amount * it.replicas.always
    for child in tree.by_parent.get(name, ()):
        for resource, amount in _used(tree, child, facts, by_node).items():
            used[resource] += amount
    if node is None or not (node.leaf or tree.scheduler != "kube-scheduler"):
        return used
    limit = node.limit[facts.name]
    return {resource: min(amount, limit[resource]) for resource, amount in used.items()}


def _model(it: Assignment) -> ModelRow:
    devices = tuple((name, it.replicas.piece[name]) for name in (it.size.resource,))
    found = it.replicas
    shown = range_of(it.model, found)
    return ModelRow(it.model.name, found.least, found.most, found.always, devices, shown)
