"""Models that alone exceed the limit of their team, or their share of a node."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.fit import warn
from policygen.plan.replicas import counted_resources, limit_of


def check(chosen: Assignment) -> Iterator[Hit]:
    """A finding about a model that alone exceeds the limit of its team."""
    model, node, facts, pieces = chosen.model, chosen.node, chosen.facts, chosen.replicas
    if node is None:
        return
    bounds = [limit_of(it, node, chosen.namespace) for it in chosen.pools]
    wholes = [node.limit[it.name] for it in chosen.pools]
    piece = pieces.piece[chosen.size.resource]
    parent = chosen.tree.by_team[node.parent] if node.parent is not None else None
    # Independent jobs above the limit wait, unless an autoscaler starts them.
    waits = model.workload == "batch" and (model.autoscaling is None or model.gang is not None)
    most = pieces.least if waits else pieces.most
    above = [parent.limit[it.name] if parent else it.available for it in chosen.pools]
    for resource in counted_resources(facts):
        each = pieces.piece.get(resource, 0)
        limit, whole = (sum(it[resource] for it in them) for them in (bounds, wholes))
        if most * each <= limit:
            continue
        count = len(node.team.namespaces)
        if limit < each <= whole:
            yield warn(
                rules.MODEL_ABOVE_QUOTA,
                f'one replica of model "{model.name}" needs {amount_of(resource, each, limit)}, but '
                f"its team's limit of {amount_of(resource, whole)} is divided over {count} "
                f"namespaces, {amount_of(resource, limit, each)} for this one; raise the limit, or "
                "give the team fewer namespaces",
                model,
            )
            return
        never = pieces.least * each > limit
        need = (pieces.least if never else most) * each
        where = f"the limit {amount_of(resource, limit, need)} on {chosen.place}"
        if limit < whole:
            where += f" in each of its {count} namespaces"
        remedies = ["lower the model's replicas"] if pieces.least > 1 or not never else []
        if each > limit and model.gang is not None:
            remedies = ["make the gang smaller"]
        if need <= sum(it[resource] for it in above):
            remedies.append("raise the limit")
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs {"at least" if never else "up to"} '
            f'{amount_of(resource, need, limit)}, but team "{model.team}" has {where}'
            f"{', so the model never runs completely' if never else ''}; {', or '.join(remedies or ['place the model on a larger pool'])}",
            model,
        )
        return
    if pieces.pieces(bounds, counted_resources(facts)) < pieces.least:
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs {amount_of(chosen.size.resource, piece)} on one pool, '
            f'but team "{model.team}" has no such limit on a pool of {chosen.place}, so the model '
            "never runs; raise the limit on one pool",
            model,
        )


def host_share(assignment: Assignment) -> Iterator[Hit]:
    """Notes if a replica requests more cpu or memory than the units that it takes."""
    model, size, facts = assignment.model, assignment.size, assignment.facts
    if assignment.node is None:
        return
    share = facts.vector({**dict.fromkeys(facts.resources, 0), size.resource: size.units})
    for name, amount in ((CPU, model.cpu_milli), (MEMORY, model.memory_bytes)):
        if amount is not None and amount > share[name]:
            yield Hit(
                rules.HOST_SHARE_EXCEEDED,
                f'one replica of model "{model.name}" requests {amount_of(name, amount, share[name])}, '
                f'but only {amount_of(name, share[name], amount)} on pool "{facts.name}" belong to its '
                f"{size.units} {size.resource}, so some GPUs stay idle; lower the request",
                model.field("resources"),
            )
