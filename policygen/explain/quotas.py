"""The arithmetic of amounts: what a pool has, and the guarantee and limit of each team.

The values are those of the plan. Formulas only describe how the plan computed them; a test
evaluates each formula and compares.
"""

from collections.abc import Sequence
from functools import cache

from policygen.core.finding import At
from policygen.explain.step import Step, Steps, exact, joined, minus
from policygen.hardware import catalog
from policygen.plan import nodes
from policygen.plan.amounts import CPU, HOST, MEMORY, divide
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.pools import SHARED_PER_GPU
from policygen.spec.types import Quota


def available(facts: PoolFacts, resource: str) -> Steps:
    """What all teams together can use of a resource of a pool."""
    spec = facts.pool.at / "spec"
    if resource in HOST:
        return _host(facts, resource)
    gpu = facts.pool.gpu
    if gpu.sharing == "mig":
        profile = next(profile for profile, _ in gpu.instances if _is_of(facts, profile, resource))
        at = spec.to("gpu", "mig", "instances", profile)
        return [Step(_of_pool("instances", facts, resource), _units(facts, resource), at=at)]
    cards = _cards(facts)
    if gpu.sharing not in SHARED_PER_GPU:
        return cards
    replicas = Step("replicas of each GPU", str(gpu.replicas), at=spec.to("gpu", "replicas"))
    return [
        *cards,
        replicas,
        Step(
            _of_pool("available", facts, resource),
            _units(facts, resource),
            f"{cards[-1].value} × {replicas.value}",
        ),
    ]


def guarantee(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The amount that a team, or the `.own` leaf of one, can always use."""
    amount = node.guarantee[facts.name][resource]
    name = _of_node("guarantee", node, facts, resource)
    if node.name != node.team.name:
        team = tree.by_team[node.team.name]
        children = [it for it in tree.by_parent[team.name] if it is not node]
        return joined(
            guarantee(tree, team, facts, resource),
            *(guarantee(tree, it, facts, resource) for it in children),
            [
                Step(
                    name,
                    exact(resource, amount),
                    minus(
                        resource,
                        team.guarantee[facts.name][resource],
                        [it.guarantee[facts.name][resource] for it in children],
                    ),
                    note=f"for the namespaces of team {team.name} itself",
                )
            ],
        )
    quota = _quota(node, facts)
    if quota is None:
        note = "the team has no quota for this pool"
        return [Step(name, exact(resource, 0), at=node.team.at.to("spec", "quotas"), note=note)]
    if resource in HOST:
        written = quota.cpu.guarantee if resource == CPU else quota.memory.guarantee
        if written is not None:
            return [Step(name, exact(resource, amount), at=quota.at.to(resource, "guarantee"))]
        units = {it: node.guarantee[facts.name][it] for it in facts.resources}
        parts = [guarantee(tree, node, facts, it) for it in facts.resources if units[it]]
        return joined(
            available(facts, resource),
            *(available(facts, it) for it in facts.resources),
            *parts,
            [Step(name, exact(resource, amount), proportional(facts, resource, units))],
        )
    if quota.guarantee is None:
        return _guarantee_by_weight(tree, node, facts, resource)
    return [Step(name, exact(resource, amount), at=_unit_at(quota, facts, "guarantee", resource))]


def limit(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The most that a team can use, with what it borrows."""
    amount = node.limit[facts.name][resource]
    name = _of_node("limit", node, facts, resource)
    if node.name != node.team.name:
        return limit(tree, tree.by_team[node.team.name], facts, resource)
    quota = _quota(node, facts)
    if quota is None:
        note = "the team has no quota for this pool"
        return [Step(name, exact(resource, 0), at=node.team.at.to("spec", "quotas"), note=note)]
    written = facts.units(quota.limit or ())
    ratio = facts.policy.overcommit_ratio if node.parent is None else None
    if resource in HOST:
        of_host = quota.cpu.limit if resource == CPU else quota.memory.limit
        if of_host is not None:
            return [Step(name, exact(resource, amount), at=quota.at.to(resource, "limit"))]
        if not written and ratio is None:
            return _wider(tree, node, facts, resource)
        units = {it: node.limit[facts.name][it] for it in facts.resources}
        wider = _above(tree, node, facts, resource)
        formula = f"min({proportional(facts, resource, units)}, {wider[-1].value})"
        return joined(
            available(facts, resource),
            *(available(facts, it) for it in facts.resources),
            *(limit(tree, node, facts, it) for it in facts.resources),
            wider,
            [Step(name, exact(resource, amount), formula)],
        )
    if resource in written:
        return [Step(name, exact(resource, amount), at=_unit_at(quota, facts, "limit", resource))]
    if ratio is not None:
        return _limit_by_weight(tree, node, facts, resource)
    return _wider(tree, node, facts, resource)


def rest(tree: Tree, facts: PoolFacts, resource: str) -> Steps:
    """What a pool has beyond the guarantees of its root teams."""
    roots = tree.by_parent.get(None, ())
    has = available(facts, resource)
    return joined(
        has,
        *(guarantee(tree, it, facts, resource) for it in roots),
        [
            Step(
                _of_pool("not guaranteed to any team", facts, resource),
                exact(resource, tree.rest[facts.name][resource]),
                minus(
                    resource,
                    facts.available[resource],
                    [it.guarantee[facts.name][resource] for it in roots],
                ),
            )
        ],
    )


def by_weight(
    name: str,
    value: int,
    inputs: tuple[int, Sequence[int], Sequence[int], Sequence[int]],
    index: int,
    bound: str,
) -> Step:
    """A share by weight. `inputs` are the arguments of `plan.amounts.divide`.

    `bound` names what a share that is not by weight has reached.
    """
    amount, weights, floors, ceilings = inputs
    division = divide(amount, weights, floors, ceilings)
    if division is None or index not in division.open:
        fixed = ceilings[index] if value == ceilings[index] else floors[index]
        return Step(name, str(value), f"{fixed} + 0", note=bound)
    formula = f"floor({division.amount} × {weights[index]} / {division.weight})"
    whole = division.amount * weights[index] // division.weight
    note = f"by weight; the open weights sum to {division.weight}"
    if value > whole:
        return Step(
            name, str(value), f"{formula} + 1", note=f"{note}; with a unit of the remainder"
        )
    return Step(name, str(value), formula, note=note)


def bounded(inputs: tuple[int, Sequence[int], Sequence[int], Sequence[int]]) -> list[int]:
    """The indexes of the shares that are not by weight, since they have reached their upper bound."""
    division = divide(*inputs)
    if division is None:
        return []
    ceilings = inputs[-1]
    return [it for it in range(len(ceilings)) if it not in division.open and ceilings[it] > 0]


def proportional(facts: PoolFacts, resource: str, units: dict[str, int]) -> str:
    """The formula of cpu or memory in proportion to units."""
    scale = facts.slices
    if len(facts.resources) == 1:
        only = facts.resources[0]
        mine, every = str(units[only]), str(facts.available[only])
    else:
        mine, every = (
            f"({' + '.join(f'{amounts[it]} × {scale[it]}' for it in facts.resources)})"
            for amounts in (units, facts.available)
        )
    return f"floor({exact(resource, facts.available[resource])} × {mine} / {every})"


def _cards(facts: PoolFacts) -> Steps:
    """The physical GPUs that the teams can use."""
    capacity = facts.pool.capacity
    cards = nodes.cards(facts.pool, facts.product, [])
    counted = str(cards[0]) if cards else ""
    name = f"GPUs of pool {facts.name}"
    for field, written in (
        ("availableGPUs", capacity.available_gpus),
        ("totalGPUs", capacity.total_gpus),
    ):
        if written is not None:
            return [Step(name, counted, at=facts.pool.capacity_at(field))]
    return [
        Step(
            f"nodes of pool {facts.name}", str(capacity.nodes), at=facts.pool.capacity_at("nodes")
        ),
        _per_node(facts),
        Step(name, counted, f"{capacity.nodes} × {facts.per_node}"),
    ]


def _per_node(facts: PoolFacts) -> Step:
    spec, name, value = facts.pool.at / "spec", "GPUs of a node", str(facts.per_node)
    if facts.pool.gpu.per_node is not None:
        return Step(name, value, at=spec.to("gpu", "perNode"))
    node_type = facts.pool.capacity.node_type
    if node_type is not None and catalog.shape(node_type) is not None:
        at = facts.pool.capacity_at("nodeType")
        return Step(name, value, at=at, note=f"of node type {node_type}, docs/hardware.md")
    if facts.product is not None:
        at = spec.to("gpu", "product")
        return Step(name, value, at=at, note=f"usual for {facts.product.id}, docs/hardware.md")
    return Step(name, value, at=spec / "capacity", note="totalGPUs / nodes")


def _host(facts: PoolFacts, resource: str) -> Steps:
    """The cpu or memory of the nodes behind the available GPUs."""
    cards = nodes.cards(facts.pool, facts.product, []) or (0, 1)
    node = _of_a_node(facts, resource)
    name = _of_pool("available", facts, resource)
    formula = f"floor({node[-1].value} × {cards[0]} / {cards[1]})"
    return joined(
        node,
        _cards(facts),
        [_per_node(facts)],
        [Step(name, exact(resource, facts.available[resource]), formula)],
    )


def _of_a_node(facts: PoolFacts, resource: str) -> Steps:
    """The allocatable cpu or memory of a node."""
    capacity, spec = facts.pool.capacity, facts.pool.at / "spec"
    has = facts.node.cpu_milli if resource == CPU else facts.node.memory_bytes
    name = f"{resource} of a node"
    if capacity.node_allocatable is not None:
        return [
            Step(
                name, exact(resource, has), at=facts.pool.capacity_at("nodeAllocatable") / resource
            )
        ]
    node_type = capacity.node_type or (facts.product.shape if facts.product else "")
    shape = catalog.shape(node_type)
    if shape is None:
        return [Step(name, exact(resource, has), at=spec / "capacity")]
    raw = shape.cpu_milli if resource == CPU else shape.memory_bytes
    reserved = capacity.system_reserved
    taken = catalog.system_reserved(shape.cpu_milli, shape.memory_bytes)[resource == MEMORY]
    if reserved is not None:
        taken = reserved.cpu_milli if resource == CPU else reserved.memory_bytes
    at = facts.pool.capacity_at("nodeType") if capacity.node_type else spec.to("gpu", "product")
    return [
        Step(
            f"{resource} of node type {shape.name}",
            exact(resource, raw),
            at=at,
            note="docs/hardware.md",
        ),
        Step(
            "reserved for the system",
            exact(resource, taken),
            at=facts.pool.capacity_at("systemReserved") / resource,
            note="" if reserved else "the rule in docs/hardware.md",
        ),
        Step(name, exact(resource, has), minus(resource, raw, [taken])),
    ]


def _wider(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The limit of a team that writes none: that of its parent, or all that the pool has."""
    has = _above(tree, node, facts, resource)
    name = _of_node("limit", node, facts, resource)
    quota = _quota(node, facts)
    whose = "the limit of its parent" if node.parent else "all that the pool has"
    at = quota.field("limit") if quota else None
    return joined(has, [Step(name, has[-1].value, at=at, note=whose)])


def _above(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The limit of the parent of a team, or all that the pool has."""
    parent = tree.parent(node)
    return limit(tree, parent, facts, resource) if parent else available(facts, resource)


def _guarantee_by_weight(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The guarantee of an article's queue: the share of its weight in what others do not write."""
    roots, pool = tree.by_parent[None], facts.name
    sharing = [it for it in roots if (quota := _quota(it, facts)) and quota.guarantee is None]
    written = [it.guarantee[pool][resource] for it in roots if it not in sharing]
    free = max(0, facts.available[resource] - sum(written))
    count = len(sharing)
    weights = [it.weight for it in sharing]
    step = by_weight(
        _of_node("guarantee", node, facts, resource),
        node.guarantee[pool][resource],
        (free, weights, [0] * count, [free] * count),
        sharing.index(node),
        "all that is free",
    )
    return joined(
        available(facts, resource),
        [
            Step(
                "divided by weight",
                str(free),
                f"max(0, {minus(resource, facts.available[resource], written)})",
            )
        ],
        [weight(it, facts) for it in sharing],
        [step],
    )


def _limit_by_weight(tree: Tree, node: TeamNode, facts: PoolFacts, resource: str) -> Steps:
    """The limit of a root team without a limit, in a pool with an overcommitRatio."""
    ratio, pool, has = facts.policy.overcommit_ratio, facts.name, facts.available[resource]
    roots = tree.by_parent[None]
    written = [
        it
        for it in roots
        if (quota := _quota(it, facts)) and resource in facts.units(quota.limit or ())
    ]
    sharing = [it for it in roots if it not in written and _quota(it, facts)]
    product = int(has * (ratio or 0))
    limits = [it.limit[pool][resource] for it in written]
    free = max(0, product - sum(limits))
    step = by_weight(
        _of_node("limit", node, facts, resource),
        node.limit[pool][resource],
        (
            free,
            [it.weight for it in sharing],
            [it.guarantee[pool][resource] for it in sharing],
            [has] * len(sharing),
        ),
        sharing.index(node),
        "at least its guarantee, and at most what the pool has",
    )
    at = facts.pool.at.to("spec", "schedulingPolicy", "overcommitRatio")
    return joined(
        available(facts, resource),
        [
            Step("overcommitRatio", f"{float(ratio or 0):g}", at=at),
            Step("the most that limits sum to", str(product), f"floor({has} × {ratio})"),
        ],
        *(limit(tree, it, facts, resource) for it in written),
        [
            Step("divided by weight", str(free), f"max(0, {minus(resource, product, limits)})"),
            *(weight(it, facts) for it in sharing),
            step,
        ],
    )


def weight(node: TeamNode, facts: PoolFacts) -> Step:
    """The weight of a team."""
    if node.name != node.team.name:
        return Step(f"weight of {node.name}", "1", note="the leaf of a parent has weight 1")
    at = node.team.quota_at(facts.name, "weight")
    return Step(f"weight of team {node.name}", str(node.weight), at=at)


def _quota(node: TeamNode, facts: PoolFacts) -> Quota | None:
    return next((it for it in node.team.quotas if it.pool == facts.name), None)


def _unit_at(quota: Quota, facts: PoolFacts, bound: str, resource: str) -> At:
    at = quota.field(bound)
    profile = facts.profiles[facts.resources.index(resource)]
    return at / profile if profile else at


def _is_of(facts: PoolFacts, profile: str, resource: str) -> bool:
    index = facts.resources.index(resource)
    return facts.profiles[index] in ("", profile)


def _units(facts: PoolFacts, resource: str) -> str:
    return exact(resource, facts.available[resource])


@cache
def _suffix(resource: str, *, alone: bool) -> str:
    return "" if alone else f" ({resource})"


def _of_pool(what: str, facts: PoolFacts, resource: str) -> str:
    return f"{what} in pool {facts.name}{_suffix(resource, alone=_alone(facts, resource))}"


def _of_node(what: str, node: TeamNode, facts: PoolFacts, resource: str) -> str:
    who = f"team {node.name}" if node.name == node.team.name else node.name
    where = f" in pool {facts.name}" if len(node.guarantee) > 1 else ""
    return f"{what} of {who}{where}{_suffix(resource, alone=_alone(facts, resource))}"


def _alone(facts: PoolFacts, resource: str) -> bool:
    return resource not in HOST and len(facts.resources) == 1
