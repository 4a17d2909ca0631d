"""Reads the trees of teams from the Queues of Volcano."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from msgspec.structs import replace

from policygen.adopt.kueue import OWN
from policygen.adopt.trees import TeamBranch, TeamTree, amount, is_extended, label
from policygen.core.finding import at_path
from policygen.core.names import SET
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping, texts
from policygen.kubernetes.volcano import Amounts, QueueView
from policygen.plan.amounts import HOST
from policygen.spec.derived_names import queue as queue_name

POOL = "volcano"
"""The name of the pool of queues without a node group."""
_MOST_WEIGHT = 65_535
_AFFINITY = ("nodeGroupAffinity", "requiredDuringSchedulingIgnoredDuringExecution")
VOLCANOS = ("root", "default")
"""The queues that Volcano creates itself."""

Queues = Mapping[str, Sequence[Entry[QueueView]]]
"""The queues below each queue, by its name; "" for those below Volcano's root."""


def trees(cluster: Cluster) -> Iterator[TeamTree]:
    """One tree for each pool that policygen rendered, and one for all queues of each node group.

    A rendered queue below Volcano's root is that of a pool, and so is one whose children have its name
    as their last part, as `speech.h100` below `h100`. Other queues there are teams.
    """
    below: dict[str, list[Entry[QueueView]]] = {}
    # One for each name, so that no queue is below itself. The server refuses those without a name.
    named = {it.name: it for it in cluster.queues if it.name}
    known = named.keys() - {"root"}
    for queue in named.values():
        if queue.name not in VOLCANOS:
            above = queue.fields.parent
            below.setdefault(above if above in known else "", []).append(queue)
    groups: dict[str, list[Entry[QueueView]]] = {}
    taken = {label(it.name) for it in cluster.flavors}
    for top in below.get("", ()):
        # A queue whose parent is missing is one of a team: Volcano refuses it.
        alone = top.fields.parent in {"", "root"} and label(top.name) == top.name
        if alone and (top.labels.get(SET) or _is_of_pool(top, below)):
            taken.add(label(top.name))
            yield _tree(top, below)
        else:
            groups.setdefault(node_group(top.object), []).append(top)
    for group, tops in groups.items():
        tree = _of_group(taken, group, tops, below)
        if tree is not None:
            yield tree


def _is_of_pool(top: Entry[QueueView], below: Queues) -> bool:
    children = below.get(top.name, ())
    named = all(it.name.endswith(queue_name("", top.name)) for it in children)
    return bool(children) and named and any(map(is_extended, top.fields.capability))


def node_group(queue: Object) -> str:
    """The node group that a queue requires; empty if it requires none, or one of several."""
    groups = texts(at_path(queue.data, ("spec", "affinity")), *_AFFINITY)
    return groups[0] if len(groups) == 1 else ""


def _of_group(
    taken: Collection[str], group: str, tops: Sequence[Entry[QueueView]], below: Queues
) -> TeamTree | None:
    """The tree of queues that were written by hand; None if none of them has an amount of GPUs.

    `taken` are the names of other pools.
    """
    pool = label(group) if group else POOL
    while pool in taken:
        pool = f"{pool}-{POOL}"
    queues = [*((it, None) for it in tops), *(pair for it in tops for pair in _below(it, below))]
    preempts = _preempts([it for it, _ in queues], below)
    branches = []
    for queue, above in queues:
        fields = queue.fields
        branches.append(
            TeamBranch(
                object=queue.object,
                kind="Queue",
                name=queue.name,
                team=label(queue.name),
                own=False,
                above=above,
                guarantee={pool: _vector(_certain(fields, preempts=preempts))},
                limit={pool: _vector(fields.capability)},
                weight=min(max(fields.weight, 1), _MOST_WEIGHT),
                namespaces=(),
            )
        )
    branches = _within_parents(_with_children(branches, pool), pool)
    roots = [it for it in branches if it.above is None]
    keys = dict.fromkeys(name for it in branches for name in (*it.guarantee[pool], *it.limit[pool]))
    available = {
        name: max(
            sum(it.guarantee[pool].get(name, 0) for it in roots),
            *(it.limit[pool].get(name, 0) for it in roots),
        )
        for name in keys
        if name in HOST or is_extended(name)
    }
    if not any(is_extended(name) and count for name, count in available.items()):
        return None
    return TeamTree(
        queue=pool,
        scheduler="volcano",
        pools=(pool,),
        root=tops[0].object if group else None,
        root_name="",
        branches=tuple(branches),
        available={pool: {it: count for it, count in available.items() if count}},
        preempts=preempts,
    )


def _with_children(branches: Sequence[TeamBranch], pool: str) -> list[TeamBranch]:
    """The branches, each with a guarantee of at least those below it, as a spec needs it.

    `branches`: parents first.
    """
    below: dict[str, dict[str, int]] = {}
    made = []
    for branch in reversed(branches):
        own, sums = branch.guarantee[pool], below.get(branch.team, {})
        most = {it: max(own.get(it, 0), sums.get(it, 0)) for it in dict.fromkeys((*own, *sums))}
        if branch.above is not None:
            above = below.setdefault(branch.above, {})
            above |= {it: above.get(it, 0) + count for it, count in most.items()}
        made.append(replace(branch, guarantee={pool: most}))
    return made[::-1]


def _within_parents(branches: Sequence[TeamBranch], pool: str) -> list[TeamBranch]:
    """The branches, each with a guarantee within its limit, and within what is left of its parent's.

    `branches`: parents first. Queues can contradict each other; the comparison lists each amount.
    """
    left: dict[str, dict[str, int]] = {}
    made = []
    for branch in branches:
        most, above = branch.limit[pool], left.get(branch.above or "")
        own = {it: min(n, most.get(it, n)) for it, n in branch.guarantee[pool].items()}
        if above is not None:
            own = {it: min(n, above[it]) for it, n in own.items()}
            above |= {it: above[it] - n for it, n in own.items()}
        left[branch.team] = dict(own)
        made.append(replace(branch, guarantee={pool: own}))
    return made


def _below(queue: Entry[QueueView], below: Queues) -> Iterator[tuple[Entry[QueueView], str | None]]:
    for child in below.get(queue.name, ()):
        yield child, label(queue.name)
        yield from _below(child, below)


def _preempts(queues: Iterable[Entry[QueueView]], below: Queues) -> bool:
    """Whether queues get back what they lent: Volcano reclaims it from every queue that is reclaimable and has jobs.

    `reclaimable` of a queue decides nothing about what the queue itself gets back.
    """
    return any(it.fields.reclaimable for it in queues if not below.get(it.name))


def _certain(queue: QueueView, *, preempts: bool) -> Amounts:
    """What a queue can always have: what it deserves if it gets that back, else only what Volcano reserves for it."""
    return queue.deserved if preempts else queue.guarantee.resource


def unreclaimable(tree: TeamTree) -> list[str]:
    """The queues from which Volcano reclaims nothing, though it reclaims from others of their pool."""
    above = {it.above for it in tree.branches if not it.own}
    return [
        it.name
        for it in tree.branches
        if it.object
        and it.team not in above
        and mapping(it.object.data, "spec").get("reclaimable") is False
        and tree.preempts
    ]


def _tree(top: Entry[QueueView], below: Queues) -> TeamTree:
    pool = top.name
    whole = _vector(top.fields.capability or top.fields.deserved)
    keys = {name for name, count in whole.items() if count or name in HOST}

    def vector(amounts: Amounts) -> dict[str, int]:
        return {name: count for name, count in _vector(amounts).items() if name in keys}

    inside = list(_inside(top, below, None))
    preempts = _preempts([top, *(it for it, _ in inside)], below)
    branches = []
    for queue, above in inside:
        team = queue.name.removesuffix(queue_name("", pool)) or queue.name
        own = above is not None and team == f"{above}.{OWN}"
        fields = queue.fields
        branches.append(
            TeamBranch(
                object=queue.object,
                kind="Queue",
                name=queue.name,
                team=above if own and above else label(team),
                own=own,
                above=above,
                guarantee={pool: vector(_certain(fields, preempts=preempts))},
                limit={pool: vector(fields.capability)},
                weight=1,
                namespaces=(),
            )
        )
    return TeamTree(
        queue=pool,
        scheduler="volcano",
        pools=(pool,),
        root=top.object,
        root_name=top.name,
        branches=tuple(branches),
        available={pool: {name: whole[name] for name in whole if name in keys}},
        preempts=preempts,
    )


def _inside(
    queue: Entry[QueueView], below: Queues, team: str | None
) -> Iterable[tuple[Entry[QueueView], str | None]]:
    """The queues below a queue, parents first, each with the team above."""
    for child in below.get(queue.name, ()):
        yield child, team
        pool = queue_name("", _last(child.name))
        yield from _inside(child, below, label(child.name.removesuffix(pool)))


def _last(name: str) -> str:
    return name.rpartition(".")[2]


def _vector(amounts: Amounts) -> dict[str, int]:
    return {name: amount(name, value) for name, value in amounts.items()}
