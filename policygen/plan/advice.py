"""Warnings and notes about settings of a spec that do not have the effect they seem to have."""

from collections import defaultdict
from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.tolerations import tolerates
from policygen.plan import needs, rules, scheduler, vanishing_nodes, volcano
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.pool import PoolFacts
from policygen.plan.replicas import counted_resources
from policygen.plan.tree import Tree, shares
from policygen.spec.types import Bounds, Spec, Team

_FEW = 10
"""A share of cpu or memory this many times smaller than that of the GPUs is a mistake."""


def reports(
    spec: Spec,
    pools: Sequence[PoolFacts],
    trees: Sequence[Tree],
    assignments: Sequence[Assignment],
    extras: frozenset[str],
) -> Iterator[Hit]:
    """Warnings and notes. None of them prevents rendering."""
    used = {facts.name for tree in trees if tree.nodes for facts in tree.pools}
    for facts in pools:
        yield from _pool(facts, used=facts.name in used, alone=len(pools) == 1)
        yield from _inert(facts)
    yield from _inert_quotas(spec, pools)
    yield from scheduler.weak_packing(pools)
    yield from _teams(spec, trees)
    yield from _unprotected(trees)
    yield from vanishing_nodes.reports(pools, trees)
    yield from _omitted_profiles(trees)
    yield from _small_host_quotas(trees)
    yield from _unqueued_trees(trees)
    yield from _nothing_to_reach(trees)
    yield from _shared_namespaces(spec)
    yield from needs.unused_extras(pools, extras)
    yield from needs.of_kueue(spec, trees, assignments, extras)
    yield from needs.of_volcano(pools, extras)
    yield from needs.of_kube_scheduler(spec, pools, extras)


def _pool(facts: PoolFacts, *, used: bool, alone: bool) -> Iterator[Hit]:
    pool = facts.pool
    at = pool.at / "spec"
    name = pool.at / "metadata" / "name"
    if not used:
        yield Hit(
            rules.POOL_WITHOUT_TEAMS,
            f'no team has a quota for pool "{pool.name}", so no workload can use the pool; add the '
            "pool to the quotas of a team",
            name,
        )
    if pool.tolerations is not None:
        for index, taint in enumerate(pool.taints):
            if taint.effect != "PreferNoSchedule" and not any(
                tolerates(toleration, taint) for toleration in pool.tolerations
            ):
                yield Hit(
                    rules.TAINT_NOT_TOLERATED,
                    f'the tolerations of pool "{pool.name}" do not include its taint {taint.key}, '
                    "so only pods with their own toleration can use the pool; add the toleration, "
                    "or remove `tolerations`: policygen then tolerates all taints of the pool",
                    at / "taints" / index,
                )
    if facts.policy.overcommit_ratio is not None and facts.policy.overcommit_ratio > 1:
        yield Hit(
            rules.OVERCOMMIT_IS_NOT_SHARING,
            f'pool "{pool.name}": overcommitRatio changes only the sum of the teams\' limits, not '
            "the number of pods on a GPU; to share GPUs, write gpu.sharing",
            at / "schedulingPolicy" / "overcommitRatio",
        )
    available = pool.capacity.available_gpus
    if available is not None and pool.capacity.total_gpus is not None:
        reserve = pool.capacity.total_gpus - available
        if reserve > 0:
            yield Hit(
                rules.AVAILABLE_BELOW_TOTAL,
                f'pool "{pool.name}": {reserve} of {pool.capacity.total_gpus} GPUs are in no '
                "quota, because availableGPUs is lower than totalGPUs",
                pool.capacity_at("availableGPUs"),
            )
    if not pool.taints and not alone:
        yield Hit(
            rules.POOL_UNTAINTED,
            f'pool "{pool.name}" has no taint, so any pod can use the cpu and memory of its nodes; '
            "taint the nodes, and write the taint into spec.taints of the pool",
            name,
        )


def _inert(facts: PoolFacts) -> Iterator[Hit]:
    """Settings that have no effect with the pool's scheduler."""
    pool, at = facts.pool, facts.pool.at / "spec"
    for value, works, name in (
        (pool.quota_cpu_and_memory, "kube-scheduler", "quotaCpuAndMemory"),
        (pool.scheduling_policy.topology_aware, "kueue", "schedulingPolicy.topologyAware"),
        (pool.topology_levels, "kueue", "topology"),
        (
            pool.autoscaler and pool.autoscaler.provisioning_class,
            "kueue",
            "autoscaler.provisioningClass",
        ),
    ):
        if value and facts.scheduler != works:
            yield Hit(
                rules.INERT_SETTING,
                f"{name} has no effect, because the pool has scheduler {facts.scheduler} and "
                f"{name} works only with {works}; remove {name}",
                at.to(*name.split(".")).on_key(),
            )
    if pool.topology_levels and facts.scheduler == "kueue" and not facts.policy.topology_aware:
        yield Hit(
            rules.INERT_SETTING,
            "topology has no effect unless schedulingPolicy.topologyAware is true; write "
            "topologyAware: true, or remove topology",
            (at / "topology").on_key(),
        )
    if pool.quota_backstop and facts.scheduler == "kube-scheduler":
        yield Hit(
            rules.INERT_SETTING,
            "quotaBackstop has no effect, because a pool of kube-scheduler always has "
            "ResourceQuotas; remove quotaBackstop",
            (at / "quotaBackstop").on_key(),
        )


def _inert_quotas(spec: Spec, pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Fields of quotas on kube-scheduler pools that a ResourceQuota cannot express."""
    unqueued = {facts.name: facts for facts in pools if facts.scheduler == "kube-scheduler"}
    for team in spec.teams:
        for quota in team.quotas:
            facts = unqueued.get(quota.pool)
            if facts is None:
                continue
            shared_by_weight = quota.guarantee is None or facts.policy.overcommit_ratio is not None
            if quota.weight != 1 and not shared_by_weight:
                yield Hit(
                    rules.INERT_SETTING,
                    f'weight has no effect on pool "{quota.pool}", because kube-scheduler does '
                    "not divide GPUs by weight; remove the weight, or schedule the pool with "
                    "kueue or volcano",
                    quota.field("weight"),
                )
            if facts.pool.quota_cpu_and_memory:
                continue
            for name, bounds in (("cpu", quota.cpu), ("memory", quota.memory)):
                if bounds != Bounds():
                    yield Hit(
                        rules.INERT_SETTING,
                        f'{name} has no effect on pool "{quota.pool}" without quotaCpuAndMemory; '
                        f"write quotaCpuAndMemory: true for the pool, or remove {name}",
                        quota.field(name).on_key(),
                    )


def _omitted_profiles(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Limits that list some MIG profiles of a pool. A guarantee without a profile is 0, a limit is not."""
    for name, places in shares(trees).items():
        for facts, node in places:
            quota = next((it for it in node.team.quotas if it.pool == facts.name), None)
            listed = dict((quota and quota.limit) or ())
            omitted = {
                profile: node.limit[facts.name][resource]
                for profile, resource in zip(facts.profiles, facts.resources, strict=True)
                if profile not in listed
            }
            if quota is None or not listed or not omitted:
                continue
            can_use = " and ".join(f"{count} × {profile}" for profile, count in omitted.items())
            zeros = ", ".join(f"{profile}: 0" for profile in omitted)
            yield Hit(
                rules.LIMIT_OMITS_PROFILES,
                f'team "{name}" can also use {can_use} of pool "{facts.name}", because its limit omits '
                f"them (in a guarantee, an omitted profile is 0); to prevent this, add {zeros} to the limit",
                quota.field("limit").on_key(),
            )


def _small_host_quotas(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Written limits of cpu or memory with which a team can never use most of its GPUs."""
    for name, places in shares(trees).items():
        for facts, node in places:
            quota = next((it for it in node.team.quotas if it.pool == facts.name), None)
            limit = node.limit[facts.name]
            share = facts.vector(limit)
            gpus = [amount_of(it, limit[it]) for it in facts.resources if limit[it]]
            if quota is None or not gpus:
                continue
            for resource, bounds in ((CPU, quota.cpu), (MEMORY, quota.memory)):
                has = bounds.limit
                if (
                    has is None
                    or has * _FEW >= share[resource]
                    or resource not in counted_resources(facts)
                ):
                    continue
                yield Hit(
                    rules.HOST_QUOTA_SMALL,
                    f'team "{name}" can use {" and ".join(gpus)} of pool "{facts.name}", but only '
                    f"{amount_of(resource, has, share[resource])}, while "
                    f"{amount_of(resource, share[resource], has)} belong to these GPUs, so pods that "
                    f"request {resource} wait and GPUs stay idle; raise the limit of {resource}, or "
                    "remove it",
                    (quota.field(resource) / "limit").on_key(),
                )


def _teams(spec: Spec, trees: Sequence[Tree]) -> Iterator[Hit]:
    # If the sum of limits fits the pool, no team can use GPUs that another is guaranteed.
    unqueued = {
        tree.queue
        for tree in trees
        if tree.scheduler == "kube-scheduler" and _oversubscribed(tree, tree.pools[0])
    }
    for team in spec.teams:
        if team.max_pending is not None and not team.namespaces:
            yield Hit(
                rules.MAX_PENDING_WITHOUT_NAMESPACES,
                f'maxPending of team "{team.name}" has no effect, because the team has no '
                "namespaces; write maxPending for its child teams",
                team.max_pending_at,
            )
        for quota in team.quotas:
            if quota.pool in unqueued and quota.guarantee:
                yield Hit(
                    rules.GUARANTEE_NOT_ENFORCED,
                    f'the guarantee of team "{team.name}" is not enforced, because other teams can '
                    f'use all of pool "{quota.pool}" first; schedule the pool with kueue or '
                    "volcano, or lower the limits of the teams until their sum fits the pool",
                    quota.field("guarantee"),
                )


def _unprotected(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Guarantees that several other teams of Volcano can use together, and that nothing reclaims."""
    for tree in trees:
        for name, amounts in volcano.unprotected(tree).items():
            node, facts = tree.by_team.get(name), tree.pools[0]
            if node is None:  # `.own`, whose guarantee nobody wrote
                continue
            taken = " and ".join(amount_of(it, amount) for it, amount in amounts.items())
            yield Hit(
                rules.GUARANTEE_NOT_ENFORCED,
                f'the guarantee of team "{name}" is not enforced: other teams together can use {taken} of it '
                f'in pool "{facts.name}", because Volcano without preemption limits each queue, and not their '
                "sum; remove preemptionEnabled: false, or lower the limits of the teams until their sum fits the pool",
                node.team.quota_at(facts.name, "guarantee"),
            )


def _oversubscribed(tree: Tree, facts: PoolFacts) -> bool:
    """Whether the limits of root teams sum to more than the pool has."""
    roots = [node.limit[facts.name] for node in tree.nodes if node.parent is None]
    return any(
        sum(limit[resource] for limit in roots) > facts.available[resource]
        for resource in facts.resources
    )


def _unqueued_trees(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Limits of kube-scheduler pools that ResourceQuotas cannot sum over teams, or divide further."""
    for tree in trees:
        if tree.scheduler != "kube-scheduler":
            continue
        facts = tree.pools[0]
        for node in tree.nodes:
            if node.name != node.team.name:
                continue
            if node.children:
                yield Hit(
                    rules.TREE_NOT_ENFORCED,
                    f'the limit of team "{node.name}" on pool "{facts.name}" does not count the '
                    "GPUs of its child teams, because ResourceQuotas have no hierarchy; schedule "
                    "the pool with kueue or volcano",
                    node.team.quota_at(facts.name),
                )
            count = len(node.team.namespaces)
            for resource in facts.resources:
                limit = node.limit[facts.name][resource]
                if count > limit > 0:
                    yield Hit(
                        rules.NAMESPACE_WITHOUT_QUOTA,
                        f'team "{node.name}": the limit of {limit} {resource} is divided over '
                        f"{count} namespaces, so {count - limit} of the namespaces have a quota of "
                        "0; raise the limit, or give the team fewer namespaces",
                        node.team.quota_at(facts.name),
                    )


def _nothing_to_reach(trees: Sequence[Tree]) -> Iterator[Hit]:
    """Leaf teams whose limit is 0, because of a small weight and a low overcommitRatio."""
    for tree in trees:
        if len(tree.pools) > 1:
            continue
        facts = tree.pools[0]
        for node in tree.leaves:
            limit = node.limit[facts.name]
            written = (_writes_zero(it.team, facts) for it in (node, *tree.ancestors(node)))
            if not any(limit[resource] for resource in facts.resources) and not any(written):
                yield Hit(
                    rules.LIMIT_OF_ZERO,
                    f'team "{node.team.name}" has a limit of 0 on pool "{facts.name}", because its '
                    f"weight gives it less than one {' or '.join(facts.resources)}; raise the "
                    "weight, or write a limit",
                    node.team.quota_at(facts.name, "weight"),
                )


def _writes_zero(team: Team, facts: PoolFacts) -> bool:
    """Whether the limit of a team says that it cannot use a pool."""
    limits = [dict(it.limit or ()) for it in team.quotas if it.pool == facts.name]
    return any(it and not any(it.values()) for it in limits)


def _shared_namespaces(spec: Spec) -> Iterator[Hit]:
    """Queues of the articles' ConfigMap that share a namespace, whose one quota counts for all."""
    shared: defaultdict[str, list[Team]] = defaultdict(list)
    for team in spec.teams:
        if team.max_pending is not None:
            for namespace in team.namespaces:
                if namespace.shared:
                    shared[namespace.name].append(team)
    for name, teams in sorted(shared.items()):
        if len(teams) > 1:
            total = sum(team.max_pending or 0 for team in teams)
            yield Hit(
                rules.MAX_PENDING_SUMMED,
                f'queues {", ".join(team.name for team in teams)} share namespace "{name}", '
                f"so their maxPending values are added to one limit of {total}; write each queue "
                "as a Team with its own namespace",
                teams[0].max_pending_at,
            )
