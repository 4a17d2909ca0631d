"""Models that are within all limits, but that the nodes of their pools never hold together."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.core.packing import Bins, PackedItem, PackingSteps, alone, packs
from policygen.core.quoting import counted, listed, quoted
from policygen.plan import model_limits
from policygen.plan.amounts import HOST, amount_of
from policygen.plan.assignment import Assignment, place_of
from policygen.plan.node_room import node_amounts
from policygen.plan.pods import requests
from policygen.plan.resource_sum import ByLeaf
from policygen.plan.rules import MODELS_EXCEED_NODES
from policygen.plan.tree import Tree
from policygen.plan.workload.availability import is_apart

_APART = "own node"
_MOST_APART = 8
"""The most models of a queue whose replicas are kept on different nodes."""
_STARTING = 30
"""The most models that are tried beside the serving models, those with the most GPUs first."""
_NAMED = 64
"""Of more models, those that do not matter for a finding are named, too."""
_STEPS = 200_000
"""How many ways to fill a node are tried for a queue and its remedies."""
_ADDED = 32
"""The most nodes of which the number is found."""


class _Pods(Struct, frozen=True, eq=False):
    """Pods of a model that need nodes at the same time."""

    chosen: Assignment
    item: PackedItem
    each: int
    """The pods of a piece: a replica or a gang."""
    pieces: int

    @property
    def count(self) -> int:
        """All pods."""
        return self.each * self.pieces


class _Nodes(Struct, frozen=True, eq=False):
    """The nodes of the pools of a queue."""

    names: tuple[str, ...]
    """Of the resources."""
    bins: tuple[Bins, ...]
    steps: PackingSteps

    def hold(self, pods: Iterable[_Pods]) -> bool | None:
        """Whether the nodes hold pods at the same time; None: unknown."""
        return packs(_items(pods), self.bins, self.steps)

    def short(self, pods: Sequence[_Pods]) -> Sequence[str]:
        """The resources that alone are not enough; all if only several of them are not enough together."""
        items = _items(pods)
        for i, name in enumerate(self.names):
            if packs(*alone(items, self.bins, i), self.steps) is False:
                return (name,)
        return self.names


def may_hold(tree: Tree, chosen: Iterable[Assignment]) -> bool:
    """Whether no finding is reported if these are the models of a queue that are within all limits."""
    if any(it.pool.gpu.sharing == "mig" for it in tree.pools):
        return True
    nodes, serving, starting = _demand(tree, [it for it in chosen if not model_limits.exceeds(it)])
    return nodes.hold(serving) is not False and all(
        nodes.hold([*serving, it]) is not False for it in _largest(starting)
    )


def check(tree: Tree, by_leaf: ByLeaf, short: Collection[str | None]) -> Iterator[Hit]:
    """A finding about the models of a queue whose pods no placement runs at the same time.

    `short` are the teams whose models exceed a limit, or None for the pools: which of them run is not
    known. MIG pools are not checked, because the spec does not state the instances of each node.
    """
    if None in short or any(it.pool.gpu.sharing == "mig" for it in tree.pools):
        return
    mine = [it for some in by_leaf.values() for it in some if _counts(tree, it, short)]
    nodes, serving, starting = _demand(tree, mine)
    together = nodes.hold(serving)
    if together is False:
        found = _needed(nodes, serving)
        yield _hit(tree, nodes, found, (), _remedy(tree, nodes, serving, starting, found))
    elif together:
        waiting = [it for it in _largest(starting) if nodes.hold([*serving, it]) is False]
        if waiting:
            found = _needed(nodes, serving, waiting[0])
            remedy = _remedy(tree, nodes, serving, starting, found)
            yield _hit(tree, nodes, found, waiting, remedy)


def _counts(tree: Tree, chosen: Assignment, short: Collection[str | None]) -> bool:
    """Whether all replicas of a model that must run are within the limits above it."""
    node = chosen.node
    if chosen.rank.limit or model_limits.exceeds(chosen):
        return False
    while node is not None:
        if node.name in short:
            return False
        node = tree.parent(node)
    return True


def _demand(
    tree: Tree, chosen: Sequence[Assignment]
) -> tuple[_Nodes, Sequence[_Pods], Sequence[_Pods]]:
    """The nodes of a queue, the pods that always run, and those of models that start beside them."""
    nodes = _nodes(tree, chosen)
    serving = [_pods(nodes, it, it.replicas.always) for it in chosen if it.replicas.always]
    starting = [_pods(nodes, it, it.replicas.least) for it in chosen if not it.replicas.always]
    return nodes, serving, starting


def _nodes(tree: Tree, chosen: Sequence[Assignment]) -> _Nodes:
    apart = [it for it in chosen if is_apart(it)]
    keys = [f"{_APART} {it.model.name}" for it in apart] if len(apart) <= _MOST_APART else []
    names = (*tree.pools[0].resources, *HOST, *keys)
    bins = tuple(Bins(it.name, node_amounts(it, names), it.node_count) for it in tree.pools)
    return _Nodes(names, bins, PackingSteps(_STEPS))


def _pods(nodes: _Nodes, chosen: Assignment, pieces: int) -> _Pods:
    gang = chosen.model.gang
    asked = {**requests(chosen), f"{_APART} {chosen.model.name}": int(is_apart(chosen))}
    amounts = tuple(asked.get(name, 0) for name in nodes.names)
    item = PackedItem(amounts, frozenset(it.name for it in chosen.pools))
    return _Pods(chosen, item, gang.size if gang is not None else 1, pieces)


def _items(pods: Iterable[_Pods]) -> Mapping[PackedItem, int]:
    found: dict[PackedItem, int] = {}
    for it in pods:
        found[it.item] = found.get(it.item, 0) + it.count
    return found


def _largest(starting: Sequence[_Pods]) -> Iterator[_Pods]:
    """The models that start, without those that need no more than one before them."""
    found: list[_Pods] = []
    for it in sorted(starting, key=lambda it: -it.count * it.item.amounts[0]):
        if len(found) < _STARTING and not any(_covers(each, it) for each in found):
            found.append(it)
            yield it


def _covers(one: _Pods, other: _Pods) -> bool:
    """Whether the other pods have room wherever these have it."""
    return (
        one.count >= other.count
        and one.item.bins <= other.item.bins
        and all(
            most >= amount
            for most, amount in zip(one.item.amounts, other.item.amounts, strict=True)
        )
    )


def _needed(
    nodes: _Nodes, serving: Sequence[_Pods], waiting: _Pods | None = None
) -> Sequence[_Pods]:
    """The models, without serving models that do not matter: the others have no room without them, too."""
    more = [waiting] if waiting is not None else []
    left = [*serving, *more]
    for it in sorted(serving, key=lambda it: it.count * it.item.amounts[0]):
        others = [other for other in left if other is not it]
        if len(left) <= _NAMED and nodes.hold(others) is False:
            left = others
    return left


def _runs(nodes: _Nodes, serving: Sequence[_Pods], starting: Sequence[_Pods]) -> bool:
    """Whether all models certainly run, so that no finding is left."""
    return bool(nodes.hold(serving)) and all(
        nodes.hold([*serving, it]) for it in _largest(starting)
    )


def _remedy(
    tree: Tree,
    nodes: _Nodes,
    serving: Sequence[_Pods],
    starting: Sequence[_Pods],
    found: Sequence[_Pods],
) -> str:
    """Changes that lead to no other finding about nodes."""
    changes = [_more_nodes(tree, nodes, serving, starting)]
    fewer: list[tuple[int, str]] = []
    for it in found:
        if it not in serving:
            continue
        others = [other for other in serving if other is not it]
        budget = it.chosen.model.availability
        least = (budget.min_available or 0) + 1 if budget is not None else 1
        for count in range(it.pieces - 1, max(least, it.pieces - _ADDED) - 1, -1):
            if _runs(nodes, [*others, replace(it, pieces=count)], starting):
                scaled = it.chosen.model.autoscaling is not None and it.chosen.model.gang is None
                field = "minReplicas" if scaled else "the replicas"
                text = f"lower {field} of model {quoted(it.chosen.model.name)} to {count}"
                fewer.append(((it.pieces - count) * it.each * it.item.amounts[0], text))
                break
    changes.append(min(fewer)[1] if fewer else "request other amounts for each pod")
    return ", or ".join(changes)


def _more_nodes(
    tree: Tree, nodes: _Nodes, serving: Sequence[_Pods], starting: Sequence[_Pods]
) -> str:
    if len(tree.pools) == 1:
        (bins,) = nodes.bins
        for more in range(1, _ADDED + 1):
            grown = replace(nodes, bins=(replace(bins, count=bins.count + more),))
            if _runs(grown, serving, starting):
                return f"add {counted(more, 'node')} to {place_of(tree.pools)}"
    return "add nodes"


def _hit(
    tree: Tree, nodes: _Nodes, found: Sequence[_Pods], waiting: Sequence[_Pods], remedy: str
) -> Hit:
    names = nodes.short(found)
    shown = [it for it in names if not it.startswith(_APART)]
    pods = [_text(it, nodes, shown) for it in found if it not in waiting]
    have = listed(
        [f"{bins.count} × {_amount(bins.amounts, nodes.names, shown)}" for bins in nodes.bins],
        "and",
    )
    apart = [it for it in found if is_apart(it.chosen)] if len(names) > 1 else []
    own = ", and that replicas run on different nodes" if apart else ""
    because = f"because no pod can be divided over nodes{own}"
    where = f"the nodes of {place_of(tree.pools)} ({have})"
    if waiting:
        first = _text(waiting[0], nodes, shown)
        beside = f" beside the serving models {listed(pods, 'and')}" if pods else ""
        message = f"{where} never have room for {first}{beside}, {because}"
        others = [quoted(it.chosen.model.name) for it in waiting[1:]]
        if others:
            message += f"; nor for {listed(others, 'or')}"
    else:
        message = f"{where} never have room for all pods of {listed(pods, 'and')}, {because}, so some pods never start"
    models = [it.chosen for it in (*found, *waiting[1:])]
    return Hit(
        MODELS_EXCEED_NODES,
        f"{message}; {remedy}",
        tree.pools[0].pool.at / "metadata" / "name",
        tuple(dict.fromkeys(it.model.at / "metadata" / "name" for it in models)),
    )


def _text(it: _Pods, nodes: _Nodes, shown: Sequence[str]) -> str:
    """A model with its pods and what each of them requests."""
    return f"{it.chosen.model.name} ({it.count} × {_amount(it.item.amounts, nodes.names, shown)})"


def _amount(amounts: Sequence[int], names: Sequence[str], shown: Sequence[str]) -> str:
    has = dict(zip(names, amounts, strict=True))
    return listed([amount_of(name, has[name]) for name in shown], "and")
