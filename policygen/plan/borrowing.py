"""Models that need more than no other team can reclaim: the guarantee; on Volcano, what is deserved."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.plan import gang_sizes, rules
from policygen.plan.amounts import amount_of
from policygen.plan.assignment import place_of
from policygen.plan.contributions import Contribution, shown
from policygen.plan.fit import warn
from policygen.plan.guarantees import short_gangs
from policygen.plan.model_limits import fitting
from policygen.plan.remedies import Remedies
from policygen.plan.resource_sum import ResourceSum


def gangs(one: ResourceSum, remedies: Remedies) -> Iterator[Hit]:
    """Gangs of Volcano that reclaim can evict in part."""
    for chosen, node, need, has in short_gangs(one.tree, one):
        model, resource = chosen.model, one.resource
        more = need - node.guarantee[chosen.facts.name][resource]
        raised = remedies.raised_guarantee(one, node, more)
        if not raised:
            raised = f"lower the guarantees of other teams, and raise this one to {amount_of(resource, need)}"
        smaller = gang_sizes.fitting(chosen, [{**node.limit[chosen.facts.name], resource: has}])
        if smaller is not None:
            raised += f", or write gang.size: {smaller[0]}, which needs {smaller[1]}"
        yield warn(
            rules.GANG_ON_BORROWED_GPUS,
            f'a gang of model "{model.name}" needs {amount_of(resource, need, has)}, but team '
            f'"{model.team}" deserves only {amount_of(resource, has, need)} on '
            f"{chosen.place}, so other teams can reclaim some of its pods while the others "
            f"keep their GPUs; {raised}. A policy of the job with event PodEvicted and action "
            "RestartJob frees these GPUs, but this warning stays",
            model,
        )


def serving(one: ResourceSum, remedies: Remedies) -> Iterator[tuple[str, Hit]]:
    """The leaves whose serving models need more than other teams can reclaim, with a finding each.

    Volcano reclaims only what a queue uses above `deserved`, so a smaller guarantee can be enough.
    """
    tree, pools, resource = one.tree, one.pools, one.resource
    if not one.lends:
        return
    for node in tree.leaves:
        parts = [it for it in one.of_leaf(node) if it.always]
        always = sum(it.always for it in parts)
        guarantee = sum(node.guarantee[it.name][resource] for it in pools)
        has = one.claim(node)
        # Models above the limit borrow up to the limit; their excess is another finding.
        if not has < min(always, one.limit(node)):
            continue
        if len(parts) == 1 and parts[0].least_always(resource) <= has and _are_above(parts[0]):
            continue  # model-above-limit proposes replicas that the guarantee has room for
        raised = remedies.raised_guarantee(one, node, always - guarantee)
        # With one replica of each model, the guarantee must have room for the others, too.
        least = sum(it.least_always(resource) for it in parts)
        otherwise = ""
        if least > has:
            to = amount_of(resource, always)
            more = always - one.limit(node)
            free = more > 0 and remedies.raised_guarantee(one, node, always - guarantee, more)
            raise_ = (
                f"raise limit and guarantee to {to}"
                if free and tree.parent(node) is None
                else f"lower the guarantees of other teams, and raise this one to {to}"
            )
            otherwise = f"{raise_}, or make the replicas smaller"
        remedy = remedies.of_guarantee(raised, parts, one, always - has, otherwise=otherwise)
        where, team = place_of(pools), node.team
        volcano = tree.scheduler == "volcano"
        if len(parts) == 1:
            bound = f"deserves only {has}" if volcano else f"has the guarantee {has}"
            hit = warn(
                rules.SERVING_ON_BORROWED_GPUS,
                f'serving model "{parts[0].name}" needs at least {always} {resource}, but team '
                f'"{team.name}" {bound} on {where}, so other teams can reclaim the rest at any '
                f"time; {remedy}",
                parts[0].models[0].model,
            )
        else:
            bound = f"the team deserves only {has}" if volcano else f"the guarantee is {has}"
            hit = Hit(
                rules.SERVING_ON_BORROWED_GPUS,
                f'the serving models of team "{team.name}" on {where} need at least '
                f"{amount_of(resource, always, has)} together "
                f"({shown([it.always_text for it in parts])}), but {bound}, so other teams can "
                f"reclaim the rest at any time; {remedy}",
                team.quota_at(pools[0].name, "guarantee"),
                tuple(it.models[0].model.at / "metadata" / "name" for it in parts),
            )
        yield node.name, hit


def _are_above(part: Contribution) -> bool:
    """Whether the limit has room for some replicas, but not for all that always run."""
    return all(it.replicas.least > fitting(it) > 0 for it in part.models)
