"""Models that alone exceed the limit of their team, or their share of a node."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.plan import gang_sizes, rules
from policygen.plan.amounts import CPU, MEMORY, Vector, amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.fit import warn
from policygen.plan.replicas import counted_resources, limit_of


def check(chosen: Assignment, beside: Sequence[Assignment] = ()) -> Iterator[Hit]:
    """A finding about a model that alone exceeds the limit of its team.

    `beside`: the models of its team in the same queue.
    """
    model, node, facts, pieces = chosen.model, chosen.node, chosen.facts, chosen.replicas
    if node is None:
        return
    bounds = [limit_of(it, node, chosen.namespace) for it in chosen.pools]
    wholes = [node.limit[it.name] for it in chosen.pools]
    piece = pieces.piece[chosen.size.resource]
    parent = chosen.tree.parent(node)
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
            remedies = [_gang_remedy(chosen, bounds)]
        others = (it.replicas for it in beside if it is not chosen)
        running = sum(it.always * it.piece.get(resource, 0) for it in others)
        room = sum(it[resource] for it in above) - running
        if need <= room:
            raised = "raise the limit"
            if len(chosen.pools) == 1 and limit == whole:
                target = most * each if most * each <= room else need
                raised = _raised_limit(chosen, resource, target, running)
            remedies += [raised] if raised else []
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


def _gang_remedy(chosen: Assignment, bounds: Sequence[Vector]) -> str:
    """A gang size that the limit holds, or that there is none."""
    resource, node = chosen.size.resource, chosen.node
    fitting = gang_sizes.fitting(chosen, bounds)
    if fitting is None or node is None:
        why = gang_sizes.least_memory(chosen, sum(it[resource] for it in bounds))
        reason = f": {why}" if why else ""
        return f"place the model on a larger pool, because no gang size fits the limit{reason}"
    size, need = fitting
    raised = ""
    if _held(chosen, resource) and need > sum(
        node.guarantee[it.name].get(resource, 0) for it in chosen.pools
    ):
        raised = f", and raise the guarantee to {need}"
    return f"write gang.size: {size}, which needs {amount_of(resource, need)}{raised}"


def _held(chosen: Assignment, resource: str) -> int:
    """What a guarantee must cover, so that other teams reclaim nothing of it."""
    pieces = chosen.replicas
    if not chosen.facts.lends(resource):
        return 0
    whole = chosen.tree.scheduler == "volcano" and chosen.model.gang is not None
    return max(pieces.always, int(whole)) * pieces.piece.get(resource, 0)


def _raised_limit(chosen: Assignment, resource: str, need: int, running: int) -> str:
    """To what to raise the limit, and the guarantee if other teams could reclaim the GPUs then.

    Empty if the guarantee cannot be raised, and no finding shows yet that the model borrows.
    `running`: what the other serving models of the team need.
    """
    node, held = chosen.node, _held(chosen, resource)
    has = node.guarantee[chosen.facts.name].get(resource, 0) if node else 0
    raised = amount_of(resource, need + running)
    if node is None or not held or held + running <= has:
        return f"raise the limit to {raised}"
    pool, more = chosen.facts.name, held + running - has
    parents = [*chosen.tree.ancestors(node)]
    if more > chosen.tree.spare(parents, pool, resource):
        return f"raise the limit to {raised}" if has < node.limit[pool][resource] else ""
    above = f", and the guarantees of its parents by {more}" if parents else ""
    if held == need:
        return f"raise limit and guarantee to {raised}{above}"
    guarantee = amount_of(resource, held + running)
    return f"raise the limit to {raised}, and the guarantee to {guarantee}{above}"


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
