"""What the spec says that will not do what it reads like, and what it needs from elsewhere."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policygen import versions
from policygen.finding import At, Hit, Severity
from policygen.plan import controllers, scheduler
from policygen.plan.amounts import CPU
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree, shares
from policygen.plan.workloads import Seat
from policygen.spec.types import Spec, Team, Toleration


def refusals(spec: Spec, trees: Sequence[Tree]) -> Iterator[Hit]:
    """What has no rendering that would hold: errors."""
    yield from _depth(trees)
    yield from _quotas(spec, trees)
    having = shares(trees)
    for team in spec.teams:
        wanting = [
            facts.name
            for facts, _ in having.get(team.name, ())
            if facts.pool.quota_cpu_and_memory and facts.scheduler == "kube-scheduler"
        ]
        if wanting and not (team.container_defaults or spec.platform.container_defaults):
            yield Hit(
                "container-defaults-missing",
                f'pool "{wanting[0]}" has quotaCpuAndMemory, so every container of team '
                f'"{team.name}" without requests would be refused; write containerDefaults '
                "{cpu, memory} for the team or in the Platform's defaults",
                team.at / "metadata" / "name",
            )


def _depth(trees: Sequence[Tree]) -> Iterator[Hit]:
    for tree in trees:
        if tree.scheduler != "volcano":
            continue
        for node in tree.nodes:
            # The pool's own queue stands above the root teams.
            if node.depth + 1 > versions.VOLCANO_QUEUE_DEPTH and node.name == node.team.name:
                yield Hit(
                    "volcano-tree-too-deep",
                    f'team "{node.name}" stands {node.depth + 1} queues deep in pool '
                    f'"{tree.queue}", and Volcano takes {versions.VOLCANO_QUEUE_DEPTH}; '
                    "move it up",
                    node.team.at / "spec" / "parent",
                )


def _quotas(spec: Spec, trees: Sequence[Tree]) -> Iterator[Hit]:
    """A ResourceQuota knows a resource by its name only."""
    having = shares(trees)
    for team in spec.teams:
        owners: defaultdict[str, list[PoolFacts]] = defaultdict(list)
        for facts, _ in having.get(team.name, ()):
            for resource in facts.resources:
                owners[resource].append(facts)
            owners[CPU].append(facts)
        for resource, pools in owners.items():
            limited = [
                facts
                for facts in pools
                if facts.scheduler == "kube-scheduler"
                and (resource != CPU or facts.pool.quota_cpu_and_memory)
            ]
            if not limited or len(pools) == 1:
                continue
            first = limited[0]
            second = next(facts for facts in pools if facts is not first)
            apart = f'team "{team.name}" has shares of pools "{first.name}" and "{second.name}"'
            if resource == CPU:
                message = (
                    f'{apart}, and the cpu and memory that a quota allows for "{first.name}" '
                    "are used up by pods of both; use two teams, or leave quotaCpuAndMemory out"
                )
                severity = Severity.WARNING
            else:
                message = (
                    f"{apart}, both counted as {resource}, and the quota that limits "
                    f'"{first.name}" would count them together; '
                    "use two teams, or another resource name"
                )
                severity = Severity.ERROR
            at = _quota_at(team, second.name)
            yield Hit("quota-cannot-tell-pools-apart", message, at, severity)


def _quota_at(team: Team, pool: str) -> At:
    return next((quota.at / "pool" for quota in team.quotas if quota.pool == pool), team.at)


def reports(
    spec: Spec,
    pools: Sequence[PoolFacts],
    trees: Sequence[Tree],
    seats: Sequence[Seat],
    extras: frozenset[str],
) -> Iterator[Hit]:
    """Warnings and notes; nothing here stops a render."""
    used = {facts.name for tree in trees if tree.nodes for facts in tree.pools}
    for facts in pools:
        yield from _pool(facts, used=facts.name in used, alone=len(pools) == 1)
        yield from _inert(facts)
    yield from scheduler.weak_packing(pools)
    yield from _teams(spec, trees)
    yield from _unqueued_trees(trees)
    yield from _nothing_to_reach(trees)
    yield from _shared_namespaces(spec)
    yield from _unused_extras(pools, extras)
    yield from _kueue(spec, trees, seats, extras)
    yield from _volcano(pools, extras)
    yield from _kube_scheduler(spec, pools, extras)


def _note(rule: str, message: str, at: At | None = None) -> Hit:
    return Hit(rule, message, at, Severity.INFO)


def _pool(facts: PoolFacts, *, used: bool, alone: bool) -> Iterator[Hit]:
    pool = facts.pool
    at = pool.at / "spec"
    name = pool.at / "metadata" / "name"
    if not used:
        yield Hit(
            "pool-without-teams",
            f'no team has a share of pool "{pool.name}", so nothing can use it; add it to the '
            "quotas of a team",
            name,
            Severity.WARNING,
        )
    if pool.tolerations is not None:
        for index, taint in enumerate(pool.taints):
            if taint.effect != "PreferNoSchedule" and not any(
                _tolerates(toleration, taint.key, taint.value, taint.effect)
                for toleration in pool.tolerations
            ):
                yield Hit(
                    "taint-not-tolerated",
                    f'the tolerations of pool "{pool.name}" leave out its taint {taint.key}, so '
                    "only pods that tolerate it themselves get in; add it, or remove "
                    "tolerations to get those of the taints",
                    at / "taints" / index,
                    Severity.WARNING,
                )
    if facts.policy.overcommit_ratio is not None and facts.policy.overcommit_ratio > 1:
        yield _note(
            "overcommit-is-not-sharing",
            f'overcommitRatio of pool "{pool.name}" bounds the sum of its teams\' limits; '
            "no GPU is promised twice, and Volcano's overcommit-factor is another thing",
            at / "schedulingPolicy" / "overcommitRatio",
        )
    available = pool.capacity.available_gpus
    if available is not None and pool.capacity.total_gpus is not None:
        reserve = pool.capacity.total_gpus - available
        if reserve > 0:
            yield _note(
                "gpus-kept-back",
                f'pool "{pool.name}" keeps {reserve} of {pool.capacity.total_gpus} GPUs out of '
                "every quota",
                at / "capacity" / "availableGPUs",
            )
    if not pool.taints and not alone:
        yield _note(
            "pool-untainted",
            f'pool "{pool.name}" has no taint, so any pod of the cluster may take its cpu and '
            "memory; taint its nodes and write the taint here",
            name,
        )


def _inert(facts: PoolFacts) -> Iterator[Hit]:
    """Settings that the pool's scheduler has no use for."""
    pool, at = facts.pool, facts.pool.at / "spec"
    for said, works, words in (
        (pool.quota_cpu_and_memory, "kube-scheduler", "quotaCpuAndMemory"),
        (pool.scheduling_policy.topology_aware, "kueue", "schedulingPolicy.topologyAware"),
    ):
        if said and facts.scheduler != works:
            yield Hit(
                "inert-setting",
                f"{words} does nothing on a pool that {facts.scheduler} schedules, only on one "
                f"of {works}; remove it",
                _below(at, words).on_key(),
                Severity.WARNING,
            )
    if pool.quota_backstop and facts.scheduler == "kube-scheduler":
        yield Hit(
            "inert-setting",
            "quotaBackstop adds nothing on a kube-scheduler pool, whose quota binds anyway; "
            "remove it",
            (at / "quotaBackstop").on_key(),
            Severity.WARNING,
        )


def _below(at: At, words: str) -> At:
    for step in words.split("."):
        at /= step
    return at


def _tolerates(toleration: Toleration, key: str, value: str | None, effect: str) -> bool:
    if toleration.effect not in (None, effect):
        return False
    if toleration.key is None:
        return toleration.operator == "Exists"
    if toleration.key != key:
        return False
    return toleration.operator == "Exists" or (toleration.value or "") == (value or "")


def _teams(spec: Spec, trees: Sequence[Tree]) -> Iterator[Hit]:
    # Where limits fit side by side, nobody can take what another is guaranteed.
    unqueued = {
        tree.queue
        for tree in trees
        if tree.scheduler == "kube-scheduler" and _crowded(tree, tree.pools[0])
    }
    for team in spec.teams:
        at = team.at / "spec" / "maxPending"
        if team.shares_namespace:
            at = team.at / "maxPending"
        if team.max_pending is not None and not team.namespaces:
            yield Hit(
                "max-pending-without-namespaces",
                f'maxPending of team "{team.name}" bounds nothing: it has no namespaces of its '
                "own; write it for its child teams",
                at,
                Severity.WARNING,
            )
        for quota in team.quotas:
            if quota.pool in unqueued and quota.guarantee:
                yield Hit(
                    "guarantee-not-enforced",
                    f'kube-scheduler guarantees nothing: team "{team.name}" gets its limit of '
                    f'pool "{quota.pool}" only while others leave it; schedule the pool with '
                    "kueue or volcano, or keep the sum of limits within the pool",
                    quota.at / "guarantee",
                    Severity.WARNING,
                )


def _crowded(tree: Tree, facts: PoolFacts) -> bool:
    """Whether limits of root teams sum to more than the pool has."""
    roots = [node.limit[facts.name] for node in tree.nodes if node.parent is None]
    return any(
        sum(limit[resource] for limit in roots) > facts.available[resource]
        for resource in facts.resources
    )


def _unqueued_trees(trees: Sequence[Tree]) -> Iterator[Hit]:
    """What the quotas of kube-scheduler pools cannot do: add up over teams, or divide by nothing."""
    for tree in trees:
        if tree.scheduler != "kube-scheduler":
            continue
        facts = tree.pools[0]
        for node in tree.nodes:
            if node.name != node.team.name:
                continue
            at = next(quota.at for quota in node.team.quotas if quota.pool == facts.name) / "pool"
            if node.children:
                yield Hit(
                    "tree-not-enforced",
                    f'kube-scheduler knows no tree: the quotas of team "{node.name}" and of its '
                    f'child teams bind each for itself on pool "{facts.name}", so together they '
                    "may pass its limit; schedule the pool with kueue or volcano",
                    at,
                    Severity.WARNING,
                )
            count = len(node.team.namespaces)
            for resource in facts.resources:
                limit = node.limit[facts.name][resource]
                if count > limit:
                    yield Hit(
                        "namespace-without-quota",
                        f'{limit} {resource} over {count} namespaces of team "{node.name}" leave '
                        f"{count - limit} of them none; raise the limit",
                        at,
                        Severity.WARNING,
                    )


def _nothing_to_reach(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Leaves whose limit is 0: a small weight under a tight overcommit ratio."""
    for tree in trees:
        if len(tree.pools) > 1:
            continue
        facts = tree.pools[0]
        for node in tree.leaves:
            limit = node.limit[facts.name]
            if not any(limit[resource] for resource in facts.resources):
                yield Hit(
                    "limit-of-zero",
                    f'team "{node.team.name}" may have nothing of pool "{facts.name}": its '
                    "weight's share of available x overcommitRatio is less than one unit; raise "
                    "its weight or write a limit",
                    node.team.at / "metadata" / "name"
                    if not node.team.shares_namespace
                    else node.team.at / "weight",
                    Severity.WARNING,
                )


def _shared_namespaces(spec: Spec) -> Iterator[Hit]:
    """Queues of the articles' ConfigMap that one namespace's quota bounds together."""
    shared: defaultdict[str, list[Team]] = defaultdict(list)
    for team in spec.teams:
        if team.shares_namespace and team.max_pending is not None:
            for namespace in team.namespaces:
                shared[namespace.name].append(team)
    for name, teams in sorted(shared.items()):
        if len(teams) > 1:
            total = sum(team.max_pending or 0 for team in teams)
            yield Hit(
                "max-pending-summed",
                f"queues {', '.join(team.name for team in teams)} share namespace "
                f'"{name}", and a quota cannot tell them apart, so their maxPending binds '
                f"as one sum of {total}; give each queue a Team with a namespace of its own",
                teams[0].at / "maxPending",
                Severity.WARNING,
            )


def _kueue(
    spec: Spec, trees: Sequence[Tree], seats: Sequence[Seat], extras: frozenset[str]
) -> Iterator[Hit]:
    queues = [tree for tree in trees if tree.scheduler == "kueue"]
    mine = [facts for tree in queues for facts in tree.pools]
    if any(
        node.team.max_pending is not None and node.team.namespaces
        for tree in queues
        for node in tree.nodes
    ):
        yield _note(
            "max-pending-is-silent",
            "maxPending counts workloads that wait or run: above it a Job is accepted and waits "
            "outside the queue, without a Workload and without an event, until another goes",
        )
    if "kueue-config" not in extras:
        if controllers.weights_differ(trees):
            yield _note(
                "fair-sharing-needed",
                "weights differ, and Kueue heeds them only with fairSharing "
                "{preemptionStrategies: [LessThanOrEqualToFinalShare, LessThanInitialShare]} in "
                "its Configuration; render --with kueue-config writes it",
            )
        if spec.platform.target.kueue.release < versions.KUEUE_WAITS and any(
            seat.model.gang and seat.fit.facts in mine and seat.fit.facts.policy.gang_scheduling
            for seat in seats
        ):
            yield _note(
                "wait-for-pods-ready-needed",
                "gangs on Kueue pools start whole only with waitForPodsReady in its "
                "Configuration; render --with kueue-config writes it",
            )
    if spec.platform.target.kueue.release < versions.KUEUE_TOPOLOGY_GATE and any(
        facts.policy.topology_aware for facts in mine
    ):
        yield _note(
            "topology-gate-needed",
            f"Kueue {spec.platform.target.kueue} heeds Topology only with the feature gate "
            "TopologyAwareScheduling",
        )
    levels = [facts for facts in mine if facts.policy.topology_aware]
    for facts in levels:
        if not facts.pool.topology_levels:
            yield _note(
                "topology-by-node",
                f'pool "{facts.name}" is topologyAware without levels, so a node is its only '
                "level; write topology.levels, widest first",
                (facts.pool.at / "spec" / "schedulingPolicy").on_key(),
            )


_SCHEDULER_OF = {"kueue-config": "kueue", "volcano-config": "volcano"}


def _unused_extras(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    """Configurations that were asked for and that no pool needs."""
    for extra, name in _SCHEDULER_OF.items():
        if extra in extras and not any(facts.scheduler == name for facts in pools):
            message = f"--with {extra} writes nothing: no pool is scheduled by {name}"
            yield Hit("inert-option", message, None, Severity.WARNING)
    if "second-scheduler" in extras and not any(
        facts.policy.bin_pack or facts.policy.spread for facts in scheduler.placed(pools)
    ):
        message = "--with second-scheduler writes nothing: kube-scheduler packs or spreads no pool"
        yield Hit("inert-option", message, None, Severity.WARNING)


def _volcano(pools: Sequence[PoolFacts], extras: frozenset[str]) -> Iterator[Hit]:
    mine = [facts for facts in pools if facts.scheduler == "volcano"]
    if not mine:
        return
    if "volcano-config" not in extras:
        yield _note(
            "volcano-config-needed",
            "Volcano's shipped configuration ignores deserved and parent and does not pack GPUs; "
            "render --with volcano-config writes one that does",
        )
    if len(mine) < len(pools):
        selectors = " or ".join(
            sorted({f"{key}:{value}" for facts in mine for key, value in facts.pool.node_selector})
        )
        yield _note(
            "volcano-node-selector",
            "other schedulers place pods too: start Volcano's scheduler with "
            f"--node-selector={selectors}, or it books their nodes",
        )


def _kube_scheduler(
    spec: Spec, pools: Sequence[PoolFacts], extras: frozenset[str]
) -> Iterator[Hit]:
    chosen = list(scheduler.profiles(spec.platform, pools))
    if chosen and "second-scheduler" not in extras:
        names = " and ".join(profile.scheduler_name for profile, _ in chosen)
        yield _note(
            "scheduler-profiles-unread",
            f"nothing reads the ConfigMap with the scheduler profiles ({names}) yet: render --with "
            "second-scheduler to run them, or give the main kube-scheduler the file of "
            "--raw-scheduler-config",
        )
    for profile, margin in chosen:
        if profile.strategy == "MostAllocated":
            yield _note(
                "packing-margin",
                f"{profile.scheduler_name} packs: one GPU more in use on a node is worth at "
                f"least {margin} points above all that opposes it",
            )
