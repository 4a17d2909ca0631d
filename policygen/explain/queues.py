"""The steps to the values of queues, cohorts and pod groups."""

from collections.abc import Mapping, Sequence

from policygen.core.finding import Path
from policygen.explain import quotas
from policygen.explain.step import Step, Steps, exact, joined, minus, number, plus
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.kubernetes import priority_class_name
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.volcano import deserved_amounts, group_names
from policygen.spec.types import Platform


class Queues:
    """Finds the steps in the trees of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided
        self._trees = {tree.queue: tree for tree in decided.trees}
        self._nodes = {tree.name_of(it): (tree, it) for tree in decided.trees for it in tree.nodes}
        self._deserved: dict[str, dict[str, dict[str, int]]] = {}
        self._groups = {
            name: it
            for it in decided.workloads.assignments
            if it.model.gang is not None
            for name in group_names(it.model)
        }

    def of_kueue(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a ClusterQueue or Cohort."""
        tree, node = self._place(item.meta.name)
        match path:
            case (
                "spec",
                "resourceGroups",
                _,
                "flavors",
                str(pool),
                "resources",
                str(resource),
                str(field),
            ):
                facts = next(it for it in tree.pools if it.name == pool)
                if field == "name":
                    return [resource_of(facts, resource)]
                return _cell(tree, node, facts, resource, field)
            case ("spec", "resourceGroups", _, "flavors", str(pool), "name"):
                facts = next(it for it in tree.pools if it.name == pool)
                return [Step("pool", pool, at=facts.pool.at.to("metadata", "name"))]
            case ("spec", "resourceGroups", _, "coveredResources", int(index)):
                facts = tree.pools[0]
                return [resource_of(facts, facts.keys[index])]
            case ("spec", "flavorFungibility", "whenCanBorrow"):
                return [_when_can_borrow(self._decided.platform, tree, item)]
        return _common(tree, node, path)

    def of_volcano(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a Queue."""
        tree, node = self._place(item.meta.name)
        facts = tree.pools[0]
        match path:
            case ("spec", "deserved" | "capability" | "guarantee" as field, *_, str(resource)):
                if resource not in facts.keys:
                    note = f"pool {facts.name} has no such resource"
                    return [Step(resource, exact(resource, 0), note=note)]
                if node is None:
                    return _of_root(tree, facts, resource, reserved=field == "guarantee")
                if field == "deserved":
                    return deserved(tree, self._deserved_in(tree), node, facts, resource)
                of = quotas.limit if field == "capability" else quotas.guarantee
                return of(tree, node, facts, resource)
            case ("spec", "priority") if node is not None:
                written, at = node.team.queue_priority, node.team.at / "priority"
                read = Step(f"priority of team {node.name}", str(written), at=at)
                rank = str(item.fields.priority)
                if rank == read.value:
                    return [read]
                note = "the rank among all priorities, because Volcano refuses negative ones"
                return [read, Step("priority", rank, note=note)]
        return _common(tree, node, path)

    def of_local_queue(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a LocalQueue."""
        tree, node = self._nodes[item.fields.cluster_queue]
        match path:
            case ("spec", "clusterQueue"):
                return _name_of(tree, node, "clusterQueue")
            case ("metadata", "name") if item.meta.name == tree.queue:
                return [_queue(tree)]
            case ("metadata", "name"):
                return _name_of(tree, node, "metadata.name")
        return []

    def of_pod_group(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a PodGroup."""
        chosen = self._groups[item.meta.name]
        model, gang = chosen.model, chosen.model.gang
        size = Step(
            f"gang size of model {model.name}",
            number(gang.size if gang else 1),
            at=model.field("gang") / "size",
        )
        match path:
            case ("metadata", "name"):
                at = model.at.to("metadata", "name")
                name = Step("model", model.name, at=at)
                if item.meta.name == model.name:
                    return [name]
                note = "<model>.<number of the gang>"
                return [name, Step("metadata.name", item.meta.name, note=note)]
            case ("spec", "queue") if chosen.node is not None:
                return _name_of(chosen.tree, chosen.node, "queue")
            case ("spec", "minMember"):
                return [size]
            case ("spec", "minResources", str(resource)):
                units = {CPU: model.cpu_milli, MEMORY: model.memory_bytes}.get(
                    resource, chosen.size.units
                ) or 0
                key = resource if resource in HOST else "gpus"
                one = Step(
                    f"{resource} of one pod",
                    exact(resource, units),
                    at=model.field("resources") / key,
                    note="" if resource in HOST else f"policygen explain model {model.name}",
                )
                least = exact(resource, units * int(size.value))
                return [one, size, Step(resource, least, f"{one.value} × {size.value}")]
            case ("spec", "priorityClassName") if model.priority:
                made = priority_class_name(
                    self._decided.spec, self._decided.pools, model.priority, chosen.facts
                )
                read = Step("priority of the model", model.priority, at=model.field("priority"))
                if made == model.priority:
                    return [read]
                note = "the class with which pods on this pool may preempt"
                return [read, Step("priorityClassName", made, note=note)]
        return []

    def _deserved_in(self, tree: Tree) -> dict[str, dict[str, int]]:
        if tree.queue not in self._deserved:
            self._deserved[tree.queue] = deserved_amounts(tree)
        return self._deserved[tree.queue]

    def _place(self, name: str) -> tuple[Tree, TeamNode | None]:
        return self._nodes.get(name) or (self._trees[name], None)


def _common(tree: Tree, node: TeamNode | None, path: Path) -> Steps:
    """The steps to the fields that the queues of Kueue and Volcano have."""
    match path:
        case ("metadata", "name"):
            return _name_of(tree, node, "metadata.name") if node else [_queue(tree)]
        case ("spec", "cohort" | "cohortName" | "parentName" | "parent" as field) if node:
            above = tree.parent(node)
            if above is not None:
                at = None if node.name != node.team.name else node.team.at.to("spec", "parent")
                return [
                    Step("parent team", above.name, at=at),
                    *_name_of(tree, above, field),
                ]
            return [Step(f"queue of {tree.queue}", tree.queue, at=_queue(tree).at)]
        case ("spec", "fairSharing", "weight") if node:
            step = quotas.weight(node, tree.pools[0])
            return [step]
        case ("spec", "namespaceSelector", "matchExpressions", _, "values", int(index)) if node:
            name = node.team.namespaces[index].name
            at = node.team.at.to("spec", "namespaces", index, "name")
            return [Step(f"namespace of team {node.team.name}", name, at=at)]
    return []


def _cell(tree: Tree, node: TeamNode | None, facts: PoolFacts, resource: str, field: str) -> Steps:
    """The steps to an amount of a queue of Kueue."""
    if node is None:
        return quotas.rest(tree, facts, resource)
    pool = facts.name
    guarantee, limit = node.guarantee[pool][resource], node.limit[pool][resource]
    own = quotas.guarantee(tree, node, facts, resource)
    if field == "borrowingLimit":
        most = quotas.limit(tree, node, facts, resource)
        value = exact(resource, limit - guarantee)
        formula = minus(resource, limit, [guarantee])
        return joined(own, most, [Step(field, value, formula)])
    children = tree.by_parent.get(node.name, ())
    if field != "nominalQuota" or not children:
        return own if field == "nominalQuota" else []
    amounts = [it.guarantee[pool][resource] for it in children]
    return joined(
        own,
        *(quotas.guarantee(tree, it, facts, resource) for it in children),
        [
            Step(
                field,
                exact(resource, guarantee - sum(amounts)),
                minus(resource, guarantee, amounts),
            )
        ],
    )


def _of_root(tree: Tree, facts: PoolFacts, resource: str, *, reserved: bool) -> Steps:
    """The steps to an amount of the root of a Volcano tree."""
    if not reserved:
        return quotas.available(facts, resource)
    roots = tree.by_parent.get(None, ())
    amounts = [it.guarantee[facts.name][resource] for it in roots]
    if not roots:
        return [Step("guaranteed", exact(resource, 0), note="the pool has no team")]
    return joined(
        quotas.available(facts, resource) if resource in HOST else [],
        *(quotas.guarantee(tree, it, facts, resource) for it in roots),
        [Step("guaranteed", exact(resource, sum(amounts)), plus(resource, amounts))],
    )


def deserved(
    tree: Tree,
    amounts: Mapping[str, Vector],
    node: TeamNode,
    facts: PoolFacts,
    resource: str,
) -> Steps:
    """The steps to the deserved amount of a Queue: its guarantee, and its share of the rest."""
    pool = facts.name
    siblings = tree.by_parent[node.parent]
    whole = facts.available if node.parent is None else amounts[node.parent]
    floors = [it.guarantee[pool][resource] for it in siblings]
    mine, limit = node.guarantee[pool][resource], node.limit[pool][resource]
    above = (
        quotas.available(facts, resource)
        if node.parent is None
        else deserved(tree, amounts, tree.by_team[node.parent], facts, resource)
    )
    if node.own and resource in HOST:
        others = [it for it in siblings if it is not node]
        formula = minus(resource, whole[resource], [amounts[it.name][resource] for it in others])
        return [
            *joined(
                above,
                *(deserved(tree, amounts, it, facts, resource) for it in others),
            ),
            Step(
                f"deserved of {node.name} ({resource})",
                exact(resource, amounts[node.name][resource]),
                formula,
                note="all that the child teams leave",
            ),
        ]
    guarantees = (quotas.guarantee(tree, it, facts, resource) for it in siblings)
    left = Step(
        "not guaranteed to any child" if node.parent else "not guaranteed to any team",
        exact(resource, whole[resource] - sum(floors)),
        minus(resource, whole[resource], floors),
    )
    amount = amounts[node.name][resource]
    before = joined(
        above,
        *guarantees,
        quotas.guarantee(tree, node, facts, resource),
        [left],
        [quotas.weight(it, facts) for it in siblings],
    )
    own = exact(resource, mine)
    if resource not in HOST:
        ceilings = [it.limit[pool][resource] - it.guarantee[pool][resource] for it in siblings]
        divided = whole[resource] - sum(floors)
        inputs = divided, [it.weight for it in siblings], [0] * len(siblings), ceilings
        share = quotas.by_weight(
            "share by weight",
            amount - mine,
            inputs,
            siblings.index(node),
            "all that its limit allows",
        )
        full = [siblings[it] for it in quotas.bounded(inputs)]
        return [
            *before,
            *_up_to_limit(tree, full, facts, resource, divided, others=node not in full),
            share,
            Step(f"deserved of {node.name}", str(amount), f"{own} + {share.value}"),
        ]
    extras = [_extra(facts, amounts, it) for it in siblings]
    mine_of, together = extras[siblings.index(node)], sum(extras)
    part = "0" if not together else f"floor({left.value} × {mine_of} / {together})"
    note = "in proportion to the GPUs by weight; at most the limit"
    formula = f"min({own} + {part}, {exact(resource, limit)})"
    return [
        *joined(before, quotas.limit(tree, node, facts, resource)),
        Step(f"deserved of {node.name} ({resource})", exact(resource, amount), formula, note=note),
    ]


def _up_to_limit(  # noqa: PLR0913 - what is divided, and who divides it
    tree: Tree,
    full: Sequence[TeamNode],
    facts: PoolFacts,
    resource: str,
    divided: int,
    *,
    others: bool,
) -> Steps:
    """The steps to what teams take that have reached their limits, and with `others` to what they leave."""
    if not full:
        return []
    taken = [it.limit[facts.name][resource] - it.guarantee[facts.name][resource] for it in full]
    shares = [
        Step(
            f"share of {it.name}",
            exact(resource, count),
            minus(resource, it.limit[facts.name][resource], [it.guarantee[facts.name][resource]]),
            note="all that its limit allows",
        )
        for it, count in zip(full, taken, strict=True)
    ]
    left = Step(
        "left for the other teams",
        exact(resource, divided - sum(taken)),
        minus(resource, divided, taken),
    )
    limits = (quotas.limit(tree, it, facts, resource) for it in full)
    return joined(*limits, *([shares, [left]] if others else []))


def _extra(facts: PoolFacts, amounts: Mapping[str, Vector], node: TeamNode) -> int:
    """What a queue has by weight, in slices."""
    return sum(
        (amounts[node.name][it] - node.guarantee[facts.name][it]) * facts.slices[it]
        for it in facts.resources
    )


def resource_of(facts: PoolFacts, resource: str) -> Step:
    """The name of a resource of a pool."""
    if resource in HOST:
        return Step("resource", resource, note="every queue counts the cpu and memory of its nodes")
    spec = facts.pool.at / "spec"
    profile = facts.profiles[facts.resources.index(resource)]
    if profile:
        at = spec.to("gpu", "mig", "instances", profile)
        return Step(f"resource of MIG profile {profile}", resource, at=at)
    return Step("resource of the GPUs", resource, at=spec.to("gpu", "resource"))


def _when_can_borrow(platform: Platform, tree: Tree, item: Item) -> Step:
    value = item.fields.when_can_borrow
    if len(tree.pools) == 1:
        note = "the queue has only one pool, so Kueue has no other flavor to try"
        return Step("whenCanBorrow", value, note=note)
    shared = next(it for it in platform.shared_queues if it.name == tree.queue)
    note = "the queue has several pools: Kueue tries all of them before it borrows"
    return Step("whenCanBorrow", value, at=shared.at / "pools", note=note)


def _queue(tree: Tree) -> Step:
    """The name of the pool or shared queue."""
    first = tree.pools[0]
    at = first.pool.at.to("metadata", "name")
    return Step("pool" if tree.queue == first.name else "shared queue", tree.queue, at=at)


def _name_of(tree: Tree, node: TeamNode, field: str) -> Steps:
    team = Step("team", node.team.name, at=node.team.at.to("metadata", "name"))
    form = "<team>.<pool>" if node.name == node.team.name else "<team>.own.<pool>"
    return [team, _queue(tree), Step(field, tree.name_of(node), note=form)]
