"""Reads the namespaces of teams: their ResourceQuotas and LimitRanges, and whose they are."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.adopt.trees import Scope, TeamBranch, TeamTree, amount, is_extended, unused
from policygen.core.names import MANAGED_BY, SET, SYSTEM_NAMESPACES, TOOL
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.kubernetes import COUNTED
from policygen.spec.types import NodeResources

REQUESTS = "requests."
_OF_NO_TEAM = ("", *SYSTEM_NAMESPACES)
"""Namespaces that a team cannot have; a manifest without a namespace does not name one."""


class Space(Struct, frozen=True):
    """What a namespace has of its own."""

    name: str
    created: bool
    """Whether the set creates it."""
    hard: Mapping[str, int]
    """The limits of its ResourceQuota, by the names there."""
    defaults: NodeResources | None
    """The requests that its LimitRange gives to containers."""

    def requested(self, resource: str) -> int | None:
        """How much of a resource its pods may request; None without a limit."""
        return self.hard.get(f"{REQUESTS}{resource}")

    @property
    def counted(self) -> Mapping[str, int]:
        """The limits of the number of objects, which are equal in all namespaces of a team."""
        return {it: n for it, n in self.hard.items() if REQUESTS not in it}

    @property
    def gpus(self) -> Vector:
        """The limits of requests, apart from cpu and memory."""
        named = {it.removeprefix(REQUESTS): n for it, n in self.hard.items() if REQUESTS in it}
        return {name: count for name, count in named.items() if is_extended(name)}

    @property
    def parts(self) -> tuple[int, int]:
        """The sum of GPUs, then of all requests: a namespace with more is earlier in its team."""
        named = (n for it, n in self.hard.items() if REQUESTS in it)
        return sum(self.gpus.values()), sum(named)


def spaces(cluster: Cluster, scope: Scope) -> dict[str, Space]:
    """The namespaces with objects of the set, by name."""
    hard: dict[str, dict[str, int]] = {}
    defaults: dict[str, NodeResources] = {}
    created: set[str] = set()
    every = [it for it in cluster.resource_quotas if scope.has(it.labels)]
    plain = {it.namespace for it in every if not _is_scoped(it.object)}
    for quota in every:
        # A quota of only some pods counts only where no other one exists.
        if _is_scoped(quota.object) and quota.namespace in plain:
            continue
        most = hard.setdefault(quota.namespace, {})
        for name, value in quota.fields.hard.items():
            count = amount(name.removeprefix(REQUESTS), value)
            most[name] = min(count, most.get(name, count))  # all quotas of a namespace apply
    for limits in cluster.limit_ranges:
        if not scope.has(limits.labels):
            continue
        for item in limits.fields.limits:
            request = item.default_request
            if item.type == "Container" and CPU in request and MEMORY in request:
                defaults[limits.namespace] = NodeResources(
                    amount(CPU, request[CPU]), amount(MEMORY, request[MEMORY])
                )
    for namespace in cluster.namespaces:
        if namespace.labels.get(SET) == scope.name and namespace.labels.get(MANAGED_BY) == TOOL:
            created.add(namespace.name)
    return {
        name: Space(name, name in created, hard.get(name, {}), defaults.get(name))
        for name in sorted({*hard, *defaults, *created} - {*_OF_NO_TEAM})
    }


def existing(cluster: Cluster) -> frozenset[str]:
    """The namespaces that objects show."""
    named = {it.name for it in cluster.namespaces} | {it.namespace for it in cluster.objects}
    return frozenset(named - {*_OF_NO_TEAM})


def unseen(
    cluster: Cluster, scope: Scope, found: Mapping[str, Space], guessed: Mapping[str, Sequence[str]]
) -> frozenset[str]:
    """The teams whose guessed namespaces no object shows. Of a set, only its own objects count."""
    there = frozenset(found) if scope.rendered else existing(cluster)
    return frozenset(team for team, names in guessed.items() if not there & {*names})


def _is_scoped(quota: Object) -> bool:
    spec = mapping(quota.data, "spec")
    return bool(spec.get("scopes") or spec.get("scopeSelector"))


def of_teams(
    cluster: Cluster,
    trees: Sequence[TeamTree],
    found: Mapping[str, Space],
    used: Iterable[tuple[str, str]] = (),
    *,
    by_hand: bool = False,
) -> tuple[dict[str, tuple[str, ...]], frozenset[str]]:
    """The namespaces of each team with a queue, and the teams for which they are a guess.

    Kueue's queues name their namespaces; Volcano's do not, so these are those of pod groups in the
    queue, then those with the name of the team, or that begin with it. `used` are queues of Volcano
    and the namespaces of other pods in them. Numbers show the namespaces of a team, unless they were
    written `by_hand`.
    """
    owned: dict[str, tuple[str, ...]] = {}
    taken: set[str] = set()
    queues = [it for tree in trees for it in tree.branches if it.kind == "ClusterQueue"]
    for branch in queues:
        # A namespace belongs to one team; of queues of several teams, the first one has it.
        mine = owned.get(branch.team, ())
        mine += tuple(it for it in branch.namespaces if it not in {*taken, *_OF_NO_TEAM})
        taken |= set(mine)
        if mine:
            owned[branch.team] = mine
    in_queue = in_queues(cluster, trees, used)
    without = dict.fromkeys((*_without_namespaces(trees), *in_queue))
    open_teams = sorted(name for name in without if name not in owned)
    guessed: dict[str, list[str]] = {}
    for team in open_teams:
        guessed[team] = [name for name in in_queue.get(team, ()) if name not in taken]
        taken |= set(guessed[team])
    free = [it for it in found.values() if it.name not in taken]
    without_names = _OpenTeams(open_teams, _above(trees), limits_of(trees))
    for space in free:
        if by_hand and not any(_is_named_after(space, it) for it in open_teams):
            continue
        nearest = _nearest(space, without_names, guessed, found)
        if nearest is not None:
            guessed[nearest].append(space.name)
            taken.add(space.name)
    guessed |= {it.team: [] for it in queues if it.team not in owned}
    for team, names in guessed.items():
        if not names:
            names.append(unused(team, taken | found.keys()))
            taken |= set(names)
        # A quota is divided among the namespaces, and the first ones get the rest.
        parts = {it: found[it].parts if it in found else (0, 0) for it in names}
        owned[team] = tuple(sorted(sorted(names), key=lambda it: parts[it], reverse=True))
    return owned, frozenset(guessed)


def shared(
    trees: Iterable[TeamTree], owned: Mapping[str, tuple[str, ...]]
) -> Iterator[tuple[TeamBranch, str]]:
    """Queues that admit a namespace of another team, each with what becomes of it."""
    team_of = {name: team for team, names in owned.items() for name in names}
    for branch in (branch for tree in trees for branch in tree.branches):
        for name in branch.namespaces:
            other = team_of.get(name, branch.team)
            if other != branch.team:
                reason = "because a namespace of the spec has only one team"
                yield branch, f"namespace {name} and its models are those of team {other}, {reason}"


def admitting(trees: Iterable[TeamTree]) -> dict[str, list[str]]:
    """By namespace, the teams whose queues admit it."""
    found: dict[str, list[str]] = {}
    for branch in (branch for tree in trees for branch in tree.branches):
        for name in branch.namespaces:
            teams = found.setdefault(name, [])
            if branch.team not in teams:
                teams.append(branch.team)
    return found


def _without_namespaces(trees: Iterable[TeamTree]) -> list[str]:
    """Teams that need namespaces: leaves of Volcano, and teams with a leaf of their own.

    A team that is only a cohort on Kueue has none.
    """
    parents = _above(trees)
    own = {it.team for tree in trees for it in tree.branches if it.own}
    volcano = {it.team for tree in trees if tree.scheduler == "volcano" for it in tree.branches}
    cohorts = {it.team for tree in trees for it in tree.branches if it.kind == "Cohort"}
    return sorted(it for it in volcano if it in own or it not in parents | cohorts)


def in_queues(
    cluster: Cluster, trees: Iterable[TeamTree], used: Iterable[tuple[str, str]] = ()
) -> dict[str, list[str]]:
    """The namespaces of the pod groups and jobs in the queues of each team of Volcano."""
    team_of = {
        it.name: it.team for tree in trees if tree.scheduler == "volcano" for it in tree.branches
    }
    found: dict[str, set[str]] = {}
    named = [*used]
    named += [(it.fields.queue, it.namespace) for it in cluster.pod_groups]
    named += [(it.fields.queue, it.namespace) for it in cluster.volcano_jobs]
    for queue, namespace in named:
        team = team_of.get(queue)
        if team is not None and namespace not in _OF_NO_TEAM:
            found.setdefault(team, set()).add(namespace)
    return {team: sorted(names) for team, names in found.items()}


class _OpenTeams(Struct, frozen=True):
    """The teams whose queues name no namespaces."""

    names: Sequence[str]
    above: frozenset[str]
    """The teams with child teams."""
    limits: Mapping[tuple[str, str], Mapping[str, int]]
    """What the queues of each team may use, by team and scheduler."""


def _nearest(
    space: Space,
    teams: _OpenTeams,
    guessed: Mapping[str, Sequence[str]],
    found: Mapping[str, Space],
) -> str | None:
    """The team whose numbers and name a namespace has."""

    def fits(team: str) -> bool:
        vector = teams.limits.get((team, "volcano"), {})
        count = space.hard.get(COUNTED["volcano"])
        if count is not None and count < sum(vector.values()):
            return False
        if any(vector.get(name) != most for name, most in space.gpus.items() if name in vector):
            return False
        beside = [found[it] for it in guessed[team] if it in found]
        return all((it.counted, it.defaults) == (space.counted, space.defaults) for it in beside)

    queued = {name for vector in teams.limits.values() for name in vector}
    if space.hard and COUNTED["volcano"] not in space.hard and not (space.gpus.keys() & queued):
        # Quotas of kube-scheduler only: of a team with a queue only if its children need a quota of it, too.
        able = [
            it
            for it in teams.names
            if space.name.startswith(f"{it}-")
            and it in teams.above
            and _can_share(space, guessed[it], found)
            and fits(it)
        ]
        return max(able, key=len, default=None)
    able = [team for team in teams.names if fits(team)]
    named = [team for team in able if _is_named_after(space, team)]
    if named:
        return max(named, key=len)
    if not space.hard and not space.defaults:
        return None
    empty = [team for team in able if not guessed[team]]
    return next(iter(empty or able), None)


def _is_named_after(space: Space, team: str) -> bool:
    return space.name == team or space.name.startswith(f"{team}-")


def _above(trees: Iterable[TeamTree]) -> frozenset[str]:
    """The teams with child teams."""
    return frozenset(it.above for tree in trees for it in tree.branches if it.above and not it.own)


def _can_share(space: Space, beside: Iterable[str], found: Mapping[str, Space]) -> bool:
    """Whether a limit that is divided among namespaces can give these parts: they differ by at most 1."""
    others = [found[it].gpus for it in beside if it in found]
    return all(
        it.keys() == space.gpus.keys()
        and all(abs(n - space.gpus[name]) <= 1 for name, n in it.items())
        for it in others
    )


def limits_of(trees: Iterable[TeamTree]) -> dict[tuple[str, str], dict[str, int]]:
    """By team and scheduler, what all its queues may use, without cpu and memory."""
    found: dict[tuple[str, str], dict[str, int]] = {}
    for tree in trees:
        for branch in tree.branches:
            if branch.own:
                continue
            sums = found.setdefault((branch.team, tree.scheduler), {})
            for pool, available in tree.available.items():
                limit = {**available, **branch.limit.get(pool, {})}
                if not any(branch.guarantee.get(pool, {}).values()) and not any(limit.values()):
                    continue
                for name in available:
                    if name not in HOST:
                        sums[name] = sums.get(name, 0) + limit[name]
    return found
