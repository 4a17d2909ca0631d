"""Findings about models that alone exceed the limit of their team."""

from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.plan import gang_sizes, model_limits, rules
from policygen.plan.amounts import HOST, Vector, amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.fit import warn
from policygen.plan.model_limits import held
from policygen.plan.remedies import Remedies
from policygen.plan.replicas import replicas
from policygen.plan.tree import TeamNode

_TRIED = 64
"""The most numbers of replicas that are tried for a remedy."""


def check(chosen: Assignment, remedies: Remedies) -> Iterator[Hit]:
    """A finding about a model that alone exceeds the limit of its team."""
    model, node, pieces = chosen.model, chosen.node, chosen.replicas
    if node is None:
        return
    resource = next(model_limits.exceeded(chosen), None)
    if resource is not None:
        yield _hit(chosen, node, resource, remedies)
    elif model_limits.exceeds(chosen):
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs '
            f"{amount_of(chosen.size.resource, pieces.piece[chosen.size.resource])} on one pool, "
            f'but team "{model.team}" has no such limit on a pool of {chosen.place}, so the model '
            "never runs; raise the limit on one pool",
            model,
        )


def _hit(chosen: Assignment, node: TeamNode, resource: str, remedies: Remedies) -> Hit:
    model, pieces = chosen.model, chosen.replicas
    bounds = model_limits.bounds(chosen)
    each, most = pieces.piece[resource], model_limits.most(chosen)
    limit = sum(it[resource] for it in bounds)
    whole = sum(node.limit[it.name][resource] for it in chosen.pools)
    count = len(node.team.namespaces)
    if limit < each <= whole:
        return warn(
            rules.MODEL_ABOVE_QUOTA,
            f'one replica of model "{model.name}" needs {amount_of(resource, each, limit)}, but '
            f"its team's limit of {amount_of(resource, whole)} is divided over {count} "
            f"namespaces, {amount_of(resource, limit, each)} for this one; raise the limit, or "
            "give the team fewer namespaces",
            model,
        )
    never = pieces.least * each > limit
    need = (pieces.least if never else most) * each
    where = f"the limit {amount_of(resource, limit, need)} on {chosen.place}"
    if limit < whole:
        where += f" in each of its {count} namespaces"
    fewer = pieces.least > 1 or not never
    advice = [_lower_replicas(chosen, remedies)] if fewer and each <= limit else []
    if resource in HOST and (above := model_limits.above_share(chosen)):
        advice = [model_limits.lower_requests(above)]
    if each > limit and model.gang is not None:
        advice = [_gang_remedy(chosen, bounds)]
    if raised := remedies.raised_for_model(chosen, resource):
        advice.append(raised)
    elif each > limit and model.gang is None and model.autoscaling is None:
        advice = [*_fewer_replicas(chosen, resource, remedies)]
    return warn(
        rules.MODEL_ABOVE_LIMIT,
        f'model "{model.name}" needs {"at least" if never else "up to"} '
        f'{amount_of(resource, need, limit)}, but team "{model.team}" has {where}'
        f"{', so the model never runs completely' if never else ''}; "
        f"{', or '.join(advice or ['place the model on a larger pool'])}",
        model,
    )


def _lower_replicas(chosen: Assignment, remedies: Remedies) -> str:
    """To how many replicas to lower, if a number leads to no other finding."""
    scaled = chosen.model.autoscaling if chosen.model.gang is None else None
    # With other least replicas, policygen can choose another pool.
    last = scaled.min_replicas if scaled else 1
    most = model_limits.fitting(chosen)
    for count in range(most, max(last - 1, most - _TRIED), -1):
        bounds = scaled and replace(scaled, max_replicas=count)
        model = replace(chosen.model, replicas=count, autoscaling=bounds)
        fewer = replicas(model, chosen.size)
        if remedies.has_room(replace(chosen, replicas=fewer)):
            return f"lower the model's {'maxReplicas' if scaled else 'replicas'} to {count}"
    return "lower the model's replicas"


def _fewer_replicas(chosen: Assignment, resource: str, remedies: Remedies) -> Iterator[str]:
    """The most replicas for which the limit can be raised without another finding, and how.

    The limit holds no replica, so fewer replicas alone are not enough.
    """
    first = chosen.replicas.least - 1
    for count in range(first, max(0, first - _TRIED), -1):
        fewer = replicas(replace(chosen.model, replicas=count, autoscaling=None), chosen.size)
        if raised := remedies.raised_for_model(replace(chosen, replicas=fewer), resource):
            yield f"write replicas: {count}, and {raised}"
            return


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
    if held(chosen, resource) and need > sum(
        node.guarantee[it.name].get(resource, 0) for it in chosen.pools
    ):
        raised = f", and raise the guarantee to {need}"
    return f"write gang.size: {size}, which needs {amount_of(resource, need)}{raised}"
