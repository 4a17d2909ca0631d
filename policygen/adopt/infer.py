"""Infers the spec of a cluster: pools, teams, priorities and models, and what had to be guessed."""

from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt import (
    kube_scheduler,
    kueue,
    models,
    namespaces,
    nodes,
    pools,
    priorities,
    rendered_models,
    scalers,
    volcano,
    workloads,
)
from policygen.adopt.capacity import NO_NEED, NodeNeed
from policygen.adopt.guesses import of_members, of_namespaces, of_queues, of_sums, of_version
from policygen.adopt.kube_scheduler import NamespaceLimits
from policygen.adopt.namespaces import Space
from policygen.adopt.on_nodes import on_nodes
from policygen.adopt.origins import Origins, origins
from policygen.adopt.pools import Found
from policygen.adopt.profiles import Profiles, profiles
from policygen.adopt.quotas import HERE
from policygen.adopt.rendered_models import RenderedModel
from policygen.adopt.teams import TeamInput, parents, teams, weights_of
from policygen.adopt.trees import Guess, Scope, TeamTree, label, unused
from policygen.adopt.workloads import QueuePlaces
from policygen.core.names import GPU, SCHEDULER_CONTAINER, SET
from policygen.core.versions import DEFAULT, KUEUE_V1BETA2, Version
from policygen.kubernetes.cluster import KUEUE, Cluster
from policygen.plan import pool as plan_pool
from policygen.plan.amounts import HOST
from policygen.spec import derived_names
from policygen.spec.programs import KedaSettings, KubeSchedulerSettings
from policygen.spec.types import (
    Model,
    Platform,
    Pool,
    Priority,
    SchedulingPolicy,
    SharedQueue,
    Spec,
    Target,
)


class Inferred(Struct, frozen=True):
    """A spec, and its values that no object shows."""

    spec: Spec
    guesses: tuple[Guess, ...]
    left: tuple[tuple[str, str], ...]
    """What the spec cannot say about nodes and workloads, by the name of an object."""
    renamed: Mapping[tuple[str, str, str], str]
    """By kind, namespace and name of an object, the name under which the spec renders it."""
    origins: Origins
    workloads: bool
    """Whether models have objects that `render --with workloads` prints."""


def sets(cluster: Cluster) -> list[str]:
    """The names of the sets that policygen rendered, those with the most objects first."""
    counts: dict[str, int] = {}
    for found in cluster.objects:
        name = found.labels.get(SET)
        if name:
            counts[name] = counts.get(name, 0) + 1
    return sorted(counts, key=lambda it: (-counts[it], it))


def infer(cluster: Cluster, scope: Scope) -> Inferred:
    """The spec that renders the objects of a scope, as far as they show it."""
    name = scope.name
    trees = [*kueue.trees(cluster), *volcano.trees(cluster)]
    spaces = namespaces.spaces(cluster, scope)
    places = workloads.places_of_queues(cluster, trees)
    labelled = rendered_models.read(cluster, scope, places)
    used = [(it.queue[2], it.first.namespace) for it in labelled if it.queue]
    owned, guessed = namespaces.of_teams(cluster, trees, spaces, used, by_hand=not scope.rendered)
    queued = _queued(trees)
    limits = kube_scheduler.limits(
        owned,
        spaces,
        queued,
        parents(trees),
        rendered_models.above_quotas(labelled, spaces),
    )
    owned |= _alone(limits, owned, spaces)
    ranked = priorities.priorities(cluster, scope)
    names = {it.name for it in ranked}
    found_models, needs, of_pods = models.of_pod_groups(cluster, trees, owned, scope, names)
    if not scope.rendered:
        needs = workloads.needs(cluster, places, needs)
    made = _pools(
        cluster,
        scope,
        trees,
        limits,
        _with_defaults(needs, trees, limits, spaces),
        labelled=labelled,
    )
    guesses = list(_of_pools(made))
    assumed = namespaces.unseen(cluster, scope, spaces, {it: owned[it] for it in guessed})
    backstops = _backstops(trees, owned, spaces, assumed)
    # In a pool with a backstop, each namespace of its teams would have a ResourceQuota.
    limited = {it.team for tree in trees if backstops & {*tree.pools} for it in tree.branches}
    owned = {it: names for it, names in owned.items() if it not in assumed & limited}
    listed = [replace(it, quota_backstop=it.name in backstops) for it in made.pools]
    schedulers = {it.name: it.scheduler or "kueue" for it in listed}
    ranks = priorities.adjusted(ranked, listed, schedulers)
    platform = _platform(cluster, name, trees, ranks, scope)
    facts, _ = plan_pool.resolve(Spec(platform, tuple(listed)))
    shown = weights_of(trees)
    found_teams = rendered_models.with_unused_pools(
        teams(TeamInput(trees, limits, facts, owned, spaces, shown)), labelled, facts
    )
    spec = Spec(
        platform,
        tuple(sorted(listed, key=lambda it: it.name)),
        tuple(sorted(found_teams, key=lambda it: it.name)),
    )
    left = (*made.left, *of_pods)
    of_space = {it.name: team for team in spec.teams for it in team.namespaces}
    of_groups = {it.name: it for it in found_models}
    for model, unsure in rendered_models.models(cluster, labelled, of_space, facts, of_groups):
        known = model.priority in names
        of_groups[model.name] = model if known else replace(model, priority=None)
        guesses += unsure
    spec, unsure_max = rendered_models.autoscaled(
        replace(spec, models=tuple(of_groups[it] for it in sorted(of_groups))), labelled
    )
    guesses += unsure_max
    if not scope.rendered:
        queues = QueuePlaces(places, namespaces.admitting(trees))
        more, others, probable = workloads.models(cluster, of_space, facts, queues, names)
        guesses += probable
        spec = replace(spec, models=tuple(_together(spec.models, more)))
        left += tuple((str(it), reason) for it, reason in others)
    for branch in (branch for tree in trees for branch in tree.branches if not branch.name):
        guesses.append(Guess("Team", branch.team, ("metadata", "name"), f"Guess: {_NAMELESS}."))
        text = f"{_NAMELESS}, so servers refuse it; the spec calls its team {branch.team}"
        left += ((str(branch.object or branch.kind), text),)
    shared = list(namespaces.shared(trees, owned))
    left += tuple((str(it.object), text) for it, text in shared if it.object)
    guesses += (
        *of_queues(trees, shown, spec.teams),
        *of_sums(spec.teams, spec.pools),
        *of_version(platform),
        *of_members(spec.teams, owned),
        *of_namespaces(cluster, trees, owned, assumed if scope.rendered else guessed, shared),
    )
    return Inferred(
        spec,
        tuple(guesses),
        left,
        dict(_renamed(cluster, trees, name)),
        origins(trees, cluster.flavors),
        workloads=bool(labelled),
    )


def _together(of_groups: Iterable[Model], of_workloads: Sequence[Model]) -> list[Model]:
    """The models by name; one of a pod group gets another name if it has that of a workload."""
    made = {it.name: it for it in of_workloads}
    for it in of_groups:
        name = unused(it.name, made)
        made[name] = replace(it, name=name)
    return [made[it] for it in sorted(made)]


def _renamed(
    cluster: Cluster, trees: Iterable[TeamTree], set_name: str
) -> Iterator[tuple[tuple[str, str, str], str]]:
    """The names of rendered objects, for objects whose own names differ."""
    for tree in trees:
        if tree.scheduler == "kueue":
            yield ("Cohort", "", tree.root_name), tree.queue
        for branch in tree.branches:
            node = f"{branch.team}.{kueue.OWN}" if branch.own else branch.team
            queue = derived_names.queue(node, tree.queue)
            yield ("Queue" if tree.scheduler == "volcano" else branch.kind, "", branch.name), queue
            if branch.kind == "ClusterQueue":
                for local in cluster.derive(kueue.local_queues).get(branch.name, ()):
                    yield ("LocalQueue", local.namespace, local.name), tree.queue
    for flavor in cluster.flavors:
        yield ("ResourceFlavor", "", flavor.name), label(flavor.name)
        yield ("Topology", "", flavor.fields.topology_name), label(flavor.name)
    for namespaced in (cluster.resource_quotas, cluster.limit_ranges):
        for found in namespaced:
            yield (found.object.kind, found.namespace, found.name), set_name


_CAPACITY = (
    "Guess: the quotas show only the sum of this pool. Write the real number of nodes, and the GPUs, "
    "cpu and memory of a node."
)
_NAMELESS = "the queue has no name"
_NODES = "Guess: no object shows which nodes this pool has."
_PROBABLE = "Guess: queues of Volcano name no nodes; no other pool has these nodes."


def _queued(trees: Iterable[TeamTree]) -> dict[str, frozenset[str]]:
    """The resources that the queues of each team count."""
    found: dict[str, frozenset[str]] = {}
    for tree in trees:
        for branch in tree.branches:
            keys = {name for vector in branch.guarantee.values() for name in vector} - set(HOST)
            found[branch.team] = found.get(branch.team, frozenset()) | keys
    return found


def _alone(
    limits: Iterable[NamespaceLimits],
    owned: Mapping[str, tuple[str, ...]],
    spaces: Mapping[str, Space],
) -> dict[str, tuple[str, ...]]:
    """The namespaces of teams without queues: each is a team of its own."""
    alone = {it.team: it.namespaces for it in limits if it.team not in owned}
    taken = {name for names in (*owned.values(), *alone.values()) for name in names}
    rest = [it.name for it in spaces.values() if it.name not in taken]
    return alone | {unused(it, {*alone, *owned}): (it,) for it in rest}


def _with_defaults(
    needs: Mapping[str, NodeNeed],
    trees: Sequence[TeamTree],
    limits: Sequence[NamespaceLimits],
    spaces: Mapping[str, Space],
) -> dict[str, NodeNeed]:
    """What a node must hold: the pods of gangs, and containers without requests of their own."""
    defaults = [it.defaults for it in spaces.values() if it.defaults]
    if not defaults:
        return dict(needs)
    cpu = max(it.cpu_milli for it in defaults)
    memory = max(it.memory_bytes for it in defaults)
    of_quotas = {pool.name for it in kube_scheduler.pools_of(limits).values() for pool in it}
    names = {*of_quotas, *(it for tree in trees for it in tree.pools)}
    every = dict.fromkeys(names, NO_NEED) | dict(needs)
    return {
        name: NodeNeed(it.units, max(it.cpu_milli, cpu), max(it.memory_bytes, memory))
        for name, it in every.items()
    }


class _Pools(Struct, frozen=True):
    pools: list[Pool]
    selectors: frozenset[str]
    """Pools whose nodeSelector is a guess."""
    probable: frozenset[str]
    """Pools whose nodes are those that no other pool has."""
    assumed: frozenset[str]
    """Pools whose nodes are not those of any Node."""
    differing: Mapping[str, tuple[str, ...]]
    """By pool, what its nodes are and it cannot say."""
    left: tuple[tuple[str, str], ...]
    """Nodes that are in no pool, and what pools cannot say of their nodes."""


def _of_pools(made: _Pools) -> Iterator[Guess]:
    """The guesses about pools."""
    for names, field, text in (
        (made.selectors, "nodeSelector", _NODES),
        (made.probable, "nodeSelector", _PROBABLE),
        (made.assumed, "capacity", _CAPACITY),
    ):
        yield from (Guess("ResourcePool", it, ("spec", field), text) for it in sorted(names))
    for pool, texts in sorted(made.differing.items()):
        yield from (
            Guess("ResourcePool", pool, ("spec", "capacity"), f"Guess: {it}.") for it in texts
        )


def _pools(  # noqa: PLR0913 - what was read of nodes, queues, quotas and pods
    cluster: Cluster,
    scope: Scope,
    trees: Sequence[TeamTree],
    limits: Sequence[NamespaceLimits],
    needs: Mapping[str, NodeNeed],
    *,
    labelled: Sequence[RenderedModel],
) -> _Pools:
    """The pools of queues and of quotas, and those without which other objects would not exist."""
    shown = profiles(cluster, scope.name)
    found: list[Found] = [*pools.of_trees(cluster, trees), *kube_scheduler.pools(limits)]
    left: list[tuple[str, str]] = []
    probable: dict[str, Pool] = {}
    if not scope.rendered:
        probable = nodes.of_volcano(cluster, found)
        found = [replace(it, pool=probable.get(it.name, it.pool)) for it in found]
        more, left = nodes.without_queue(cluster, found)
        found += more
        left += nodes.invalid_taints(cluster)
    of_pool = rendered_models.in_pools(labelled, found)
    found = [rendered_models.on_pool(it, of_pool.get(it.name, ())) for it in found]
    needs = dict(needs)
    seen = {it.name: it for it in found}
    for name, several in of_pool.items():
        needs[name] = rendered_models.need(needs.get(name, NO_NEED), seen[name], several)
    listed, ranks = pools.completed(found, shown, needs)
    real = [on_nodes(cluster, seen[it.name], it, shown, exact=scope.rendered) for it in listed]
    listed = [it.pool for it in real]
    assumed = frozenset(it.pool.name for it in real if not it.sized)
    for it in real:
        flavor = pools.flavor_of(cluster, it.pool.name) if it.pool.scheduler is None else None
        name = str(flavor or f"ResourcePool {it.pool.name}")
        left += [(name, message) for message in (*it.differences, *it.taints)]
    unseen = pools.without_pool(found, listed, shown, ranks)
    listed += pools.completed(unseen, shown, {})[0]
    doubled = priorities.doubled(cluster, scope)
    of_pods = {
        name: preempts
        for name, several in of_pool.items()
        if seen[name].scheduler == "kube-scheduler"
        and (preempts := rendered_models.preempting(several, doubled)) is not None
    }
    listed = _with_both(listed, priorities.preempting(cluster, scope), of_pods)
    if not listed and priorities.without_kueue(cluster, scope):
        listed.append(_unseen_pool(0, preempts=False))
    made, guessed = pools.apart(listed)
    made, groups = pools.in_groups(made, found)
    guessed |= groups
    differing = {it.pool.name: it.differences for it in real}
    return _Pools(made, guessed, frozenset(probable), assumed, differing, tuple(left))


def _with_both(
    listed: Sequence[Pool], shown: frozenset[bool], of_pods: Mapping[str, bool]
) -> list[Pool]:
    """The pools; if classes show pools that preempt, or pools that do not, such a pool exists.

    `of_pods` are the pools of kube-scheduler of which pods show whether they preempt.
    """
    made = [_never(it) if of_pods.get(it.name) is False else it for it in listed]
    movable = [
        index
        for index, it in enumerate(made)
        if it.scheduler == "kube-scheduler" and it.name not in of_pods
    ]
    fixed = {
        it.scheduler == "volcano" and it.scheduling_policy.preemption_enabled is not False
        for it in made
        if it.scheduler != "kube-scheduler"
    } | set(of_pods.values())
    if True in shown - fixed and not movable:
        made.append(_unseen_pool(len(made), preempts=True))
    if False in shown - fixed:
        if len(movable) > (True not in fixed):
            made[movable[0]] = _never(made[movable[0]])
        else:
            made.append(_unseen_pool(len(made), preempts=False))
    return made


def _never(pool: Pool) -> Pool:
    """The pool without preemption."""
    policy = replace(pool.scheduling_policy, preemption_enabled=False)
    return replace(pool, scheduling_policy=policy)


def _unseen_pool(number: int, *, preempts: bool) -> Pool:
    """A pool of which only the classes of priorities show that it exists."""
    policy = SchedulingPolicy(bin_pack=False, preemption_enabled=None if preempts else False)
    found = pools.unseen(number + 1, GPU, policy)
    return pools.completed([found], Profiles(), {})[0][0]


def _backstops(
    trees: Iterable[TeamTree],
    owned: Mapping[str, tuple[str, ...]],
    spaces: Mapping[str, Space],
    assumed: frozenset[str],
) -> frozenset[str]:
    """The pools of whose resources all namespaces of all their teams have limits.

    `assumed` are the teams whose namespaces no object shows.
    """
    found = set()
    for tree in trees:
        if any(it.own and it.team in assumed for it in tree.branches):
            continue  # the own queue of a team means that it has a namespace
        teams = {it.team for it in tree.branches if it.team in owned} - assumed
        names = {name for team in teams for name in owned[team]}
        for pool in tree.pools:
            resources = [it for it in tree.available[pool] if it not in HOST]
            if names and all(
                name in spaces and spaces[name].requested(it) is not None
                for name in names
                for it in resources
            ):
                found.add(pool)
    return frozenset(found)


def _platform(
    cluster: Cluster,
    name: str,
    trees: Iterable[TeamTree],
    ranks: Sequence[Priority],
    scope: Scope,
) -> Platform:
    shared = tuple(
        SharedQueue(tree.queue, HERE, tree.pools) for tree in trees if len(tree.pools) > 1
    )
    scheduler = f"{name}-{SCHEDULER_CONTAINER}"
    file = next((it for it in cluster.config_maps if it.name == scheduler), None)
    settings = KubeSchedulerSettings()
    if file is not None:
        settings = KubeSchedulerSettings(namespace=file.namespace)
    address = scalers.prometheus(cluster, scope)
    return Platform(
        name=name,
        at=HERE,
        target=Target(kueue=_kueue_version(cluster)),
        priorities=tuple(ranks),
        shared_queues=shared,
        kube_scheduler=settings,
        keda=None if address is None else KedaSettings(address),
    )


def _kueue_version(cluster: Cluster) -> Version:
    """The default, or the newest version that has the API versions of the objects."""
    versions = {it.version for it in cluster.objects if it.group == KUEUE}
    if "v1alpha1" in versions:
        return Version(0, 13)
    if "v1beta1" in versions:
        return Version(KUEUE_V1BETA2[0], KUEUE_V1BETA2[1] - 1)
    return DEFAULT["kueue"]
