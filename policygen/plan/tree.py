"""The guarantee and limit of each team: one tree of teams for each queue."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from msgspec import Struct

from policygen.core import versions
from policygen.core.finding import Hit
from policygen.plan import rules
from policygen.plan.amounts import Vector, less, total
from policygen.plan.pool import PoolFacts
from policygen.plan.shares import Order, Share, Shares, children_of, in_order
from policygen.plan.sums import Sums
from policygen.spec import derived_names
from policygen.spec.types import Platform, Quota, Scheduler, Spec, Team


class TeamNode(Struct, frozen=True, eq=False):
    """A team in the tree of one queue, or the `<team>.own` leaf of a team with children."""

    name: str
    team: Team
    parent: str | None
    """Name of the node above; None for the queue's root."""
    depth: int
    """1 for a root team."""
    leaf: bool
    """Only leaves accept workloads."""
    weight: int
    guarantee: Mapping[str, Vector]
    """By pool."""
    limit: Mapping[str, Vector]
    children: tuple[str, ...] = ()

    @property
    def own(self) -> bool:
        """Whether it is the `<team>.own` leaf."""
        return self.name != self.team.name


class Tree(Struct, frozen=True, dict=True):
    """The teams that share a queue."""

    queue: str
    pools: tuple[PoolFacts, ...]
    """More than one only in a shared queue; then in the order in which they are tried."""
    nodes: tuple[TeamNode, ...]
    """Parents before children, by name within a parent."""
    rest: Mapping[str, Vector]
    """By pool, the amounts that no root team is guaranteed."""

    @cached_property
    def by_team(self) -> Mapping[str, TeamNode]:
        """The node of each team, without the `.own` leaves."""
        return {node.name: node for node in self.nodes if not node.own}

    @cached_property
    def by_parent(self) -> Mapping[str | None, Sequence[TeamNode]]:
        """The nodes below each node by its name, and the root teams under None."""
        found: defaultdict[str | None, list[TeamNode]] = defaultdict(list)
        for node in self.nodes:
            found[node.parent].append(node)
        return dict(found)

    @cached_property
    def leaf_of(self) -> Mapping[str, TeamNode]:
        """The node for the workloads of each team, if it has one: its own or `.own`."""
        return {node.team.name: node for node in self.leaves}

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler of the queue's pools."""
        return self.pools[0].scheduler

    def name_of(self, node: TeamNode) -> str:
        """The name of a node's queue or cohort on the cluster: `<team>.<queue>`."""
        return derived_names.queue(node.name, self.queue)

    def above(self, node: TeamNode) -> str:
        """The name of the parent of a node, or of the queue's root."""
        return self.queue if node.parent is None else derived_names.queue(node.parent, self.queue)

    def parent(self, node: TeamNode) -> TeamNode | None:
        """The node above; None for a root team."""
        return None if node.parent is None else self.by_team[node.parent]

    def ancestors(self, node: TeamNode) -> Iterator[TeamNode]:
        """The nodes above, the nearest first."""
        found = self.parent(node)
        while found is not None:
            yield found
            found = self.parent(found)

    def teams_from(self, name: str) -> Iterator[str]:
        """The names of a team and of all teams below it."""
        yield name
        for it in self.by_parent.get(name, ()):
            if not it.own:
                yield from self.teams_from(it.name)

    def spare(self, above: Iterable[TeamNode], pool: str, resource: str) -> int:
        """By how much a guarantee can grow: what root teams leave, and the limits of the nodes above it."""
        left = (it.limit[pool][resource] - it.guarantee[pool][resource] for it in above)
        return min((self.rest[pool][resource], *left))

    @property
    def leaves(self) -> Iterator[TeamNode]:
        """The nodes that accept workloads."""
        return (node for node in self.nodes if node.leaf)


def shares(trees: Iterable[Tree]) -> dict[str, list[tuple[PoolFacts, TeamNode]]]:
    """By team, each pool of its quotas, with its node there."""
    found: dict[str, list[tuple[PoolFacts, TeamNode]]] = {}
    for tree in trees:
        for name, node in tree.by_team.items():
            found.setdefault(name, []).extend((facts, node) for facts in tree.pools)
    return found


def build(spec: Spec, pools: Mapping[str, PoolFacts]) -> tuple[list[Tree], list[Hit]]:
    """The tree of every queue, and an error for every sum that cannot be rendered.

    The team tree must have no cycles and no dangling references.
    """
    hits: list[Hit] = []
    queues: defaultdict[str, list[PoolFacts]] = defaultdict(list)
    for queue in spec.platform.shared_queues:
        queues[queue.name] = [pools[name] for name in queue.pools if name in pools]
    for facts in pools.values():
        if facts.queue == facts.name:
            queues[facts.name].append(facts)
    order = {team.name: (rank, team) for rank, team in enumerate(_parents_first(spec.teams))}
    quotas: defaultdict[str, dict[str, Quota]] = defaultdict(dict)
    for team in spec.teams:
        for quota in team.quotas:
            quotas[quota.pool][team.name] = quota
    trees = []
    for name in sorted(queue for queue, members in queues.items() if members):
        members = queues[name]
        hits += _differing(members)
        hits += _crowded(name, members, spec.platform)
        shares: dict[str, dict[str, Share]] = {}
        for facts in members:
            worked = Shares(facts, order, quotas[facts.name], hits)
            shares[facts.name] = worked.all()
            sums = Sums(facts, worked.order, quotas[facts.name], shares[facts.name])
            hits += sums.faults(ratio_exceeded=worked.exceeded)
        trees.append(_tree(members, order, quotas, shares, hits))
    return trees, hits


def _parents_first(teams: Sequence[Team]) -> list[Team]:
    children = children_of(sorted(teams, key=lambda team: team.name))
    order: list[Team] = []
    level = children.get(None, [])
    while level:
        order += level
        level = [child for team in level for child in children.get(team.name, ())]
    return order


def _differing(members: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Pools of one queue are alternatives, so they must have the same resources and policy."""
    first = members[0]
    for facts in members[1:]:
        at = (facts.pool.at / "spec").on_key()
        if facts.resources != first.resources:
            yield Hit(
                rules.SHARED_QUEUE_POOLS_DIFFER,
                f'pool "{facts.name}" has {", ".join(facts.resources)}, but pool "{first.name}" of the '
                f"same shared queue has {', '.join(first.resources)}; use pools with the same "
                "resources",
                at,
            )
        for field, name in (
            ("preemption_enabled", "preemptionEnabled"),
            ("topology_aware", "topologyAware"),
        ):
            if getattr(facts.policy, field) != getattr(first.policy, field):
                yield Hit(
                    rules.SHARED_QUEUE_POOLS_DIFFER,
                    f'pool "{facts.name}" and pool "{first.name}" are in one shared queue, but '
                    f"differ in {name}; write the same value for both pools",
                    at,
                )


def _crowded(queue: str, members: Sequence[PoolFacts], platform: Platform) -> Iterator[Hit]:
    """Errors for a queue that exceeds Kueue's bounds: flavors, resources, and their product."""
    if members[0].scheduler != "kueue":
        return
    version = platform.target.kueue
    most = versions.kueue_release(version).max_items
    flavors, resources = len(members), len(members[0].keys)
    cells = versions.KUEUE_GROUP_CELLS
    if resources > most:
        yield Hit(
            rules.TOO_MANY_RESOURCES,
            f'pool "{members[0].name}" has {resources} resources, but a queue of Kueue {version} '
            f"can have at most {most}; use fewer MIG profiles, or make two pools",
            (members[0].pool.at / "spec" / "gpu" / "mig" / "instances").on_key(),
        )
    elif flavors > most or flavors * resources > cells:
        bound = min(most, cells // resources)
        at = next(shared.at for shared in platform.shared_queues if shared.name == queue)
        yield Hit(
            rules.TOO_MANY_FLAVORS,
            f'shared queue "{queue}" has {flavors} pools with {resources} resources each, but '
            f"Kueue {version} allows at most {bound} such pools in a queue; divide the shared "
            "queue into several",
            at / "pools",
        )


def _tree(
    members: Sequence[PoolFacts],
    order: Order,
    quotas: Mapping[str, Mapping[str, Quota]],
    shares: Mapping[str, Mapping[str, Share]],
    hits: list[Hit],
) -> Tree:
    """The nodes of a queue: its teams, and an `.own` leaf for a team with children and namespaces."""
    inside = in_order({team for facts in members for team in shares[facts.name]}, order)
    children = children_of(inside)

    def share(team: Team, facts: PoolFacts) -> Share:
        nothing = dict.fromkeys(facts.keys, 0)
        return shares[facts.name].get(team.name, Share(nothing, nothing))

    nodes: list[TeamNode] = []
    depth: dict[str, int] = {}
    for team in inside:
        depth[team.name] = depth.get(team.parent or "", 0) + 1
        below = children.get(team.name, [])
        own = derived_names.own_leaf(team.name) if below and team.namespaces else None
        node = TeamNode(
            name=team.name,
            team=team,
            parent=team.parent,
            depth=depth[team.name],
            leaf=not below and bool(team.namespaces),
            weight=_weight(team, members, quotas, hits),
            guarantee={facts.name: share(team, facts).guarantee for facts in members},
            limit={facts.name: share(team, facts).limit for facts in members},
            children=tuple(child.name for child in below) + ((own,) if own else ()),
        )
        nodes.append(node)
        if not below and not team.namespaces:
            pool = next(facts.name for facts in members if team.name in shares[facts.name])
            message = (
                f'team "{team.name}" has a quota for pool "{pool}", but no namespace in which '
                "workloads can use the quota; write spec.namespaces, or add the pool to the quotas "
                "of a child team"
            )
            hits.append(Hit(rules.SHARE_WITHOUT_NAMESPACES, message, team.quota_at(pool)))
        if own:
            promised = {
                facts.name: total(facts.keys, [share(child, facts).guarantee for child in below])
                for facts in members
            }
            nodes.append(
                TeamNode(
                    name=own,
                    team=team,
                    parent=team.name,
                    depth=node.depth + 1,
                    leaf=True,
                    weight=1,
                    guarantee={
                        pool: less(vector, promised[pool])
                        for pool, vector in node.guarantee.items()
                    },
                    limit=node.limit,
                )
            )
    roots = [node for node in nodes if node.parent is None]
    rest = {
        facts.name: less(
            facts.available, total(facts.keys, [node.guarantee[facts.name] for node in roots])
        )
        for facts in members
    }
    return Tree(members[0].queue, tuple(members), tuple(nodes), rest)


def _weight(
    team: Team,
    members: Sequence[PoolFacts],
    quotas: Mapping[str, Mapping[str, Quota]],
    hits: list[Hit],
) -> int:
    given = [quota for facts in members if (quota := quotas[facts.name].get(team.name)) is not None]
    for quota in given[1:]:
        if quota.weight != given[0].weight:
            message = (
                f'team "{team.name}" has weight {quota.weight} in one pool of a shared queue, but '
                f"weight {given[0].weight} in another pool of this queue; write the same weight "
                "for all pools of the queue"
            )
            hits.append(Hit(rules.SHARED_QUEUE_WEIGHTS_DIFFER, message, quota.field("weight")))
    return given[0].weight if given else 1
