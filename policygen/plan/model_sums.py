"""What models need together, compared with the limits and guarantees of their teams, and with the pool."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import At, Hit
from policygen.plan import borrowing, model_nodes, single_models
from policygen.plan.amounts import HOST, amount_of
from policygen.plan.assignment import ModelPlacement, place_of
from policygen.plan.contributions import shown
from policygen.plan.pool import PoolFacts
from policygen.plan.remedies import Remedies
from policygen.plan.resource_sum import Excess, ResourceSum
from policygen.plan.rules import MODELS_EXCEED_LIMIT
from policygen.plan.tree import TeamNode, Tree


def check(trees: Sequence[Tree], placements: Sequence[ModelPlacement]) -> Iterator[Hit]:
    """Findings about models that cannot run together, or only on borrowed GPUs."""
    remedies = Remedies(placements)
    for tree in trees:
        by_leaf = remedies.by_leaf(tree)
        if by_leaf:
            for mine in by_leaf.values():
                for chosen in mine:
                    yield from single_models.check(chosen, remedies)
            short: set[str | None] = set()
            yield from _sums(tree, remedies, short)
            yield from model_nodes.check(tree, by_leaf, short)


def _sums(tree: Tree, remedies: Remedies, short: set[str | None]) -> Iterator[Hit]:
    """The sums of a queue: of one place, cpu, memory and single pools only if nothing else exceeds.

    Adds the places to `short` at which models cannot all run.
    """
    reported: set[str | None] = set()
    borrowing_leaves: set[str] = set()
    for one in remedies.sums(tree):
        yield from borrowing.gangs(one, remedies)
        minor = one.resource in HOST or len(one.pools) < len(tree.pools)
        for found in one.excesses():
            name = found.node.name if found.node else None
            if found.rule is MODELS_EXCEED_LIMIT:
                short.add(name)
            if not minor or name not in reported:
                reported.add(name)
                yield _hit(found, one, remedies.of_excess(found, one))
        for leaf, hit in borrowing.serving(one, remedies):
            if leaf not in borrowing_leaves:
                borrowing_leaves.add(leaf)
                yield hit


def _hit(found: Excess, one: ResourceSum, remedy: str) -> Hit:
    node, resource, where = found.node, one.resource, place_of(one.pools)
    parts = [*found.parts]
    effect = "they never all run at once"
    if found.rule is MODELS_EXCEED_LIMIT:
        least = "at least"
        texts = [it.always_text for it in parts]
        if found.waiting:
            starting = found.waiting[0]
            start = amount_of(resource, starting.start)
            texts.append(f"and {starting.starter} {start} to start")
            parts.append(starting)
            if found.total - starting.start <= found.bound:
                waiting = shown([it.starter for it in found.waiting])
                effect = f"{waiting} cannot start beside the serving models"
    else:
        least = "up to"
        texts = [it.most_text for it in parts]
    if node is None:
        whose, limit, at = "all teams", "its capacity", one.pools[0].pool.at / "metadata" / "name"
    else:
        children = "" if node.leaf else " and its child teams"
        whose, limit = f'team "{node.team.name}"{children}', f'the limit of team "{node.team.name}"'
        at = _limit_at(node, one.pools[0], resource)
    if found.namespace is not None:
        limit = f'the part of namespace "{found.namespace}" in {limit}'
    return Hit(
        found.rule,
        f"the models of {whose} on {where} need {least} "
        f"{amount_of(resource, found.total, found.bound)} together ({shown(texts)}), but {limit} is "
        f"{amount_of(resource, found.bound, found.total)}, "
        f"{amount_of(resource, found.total - found.bound)} too few, so {effect}; {remedy}",
        at,
        tuple(model.model.at / "metadata" / "name" for it in parts for model in it.models),
    )


def _limit_at(node: TeamNode, facts: PoolFacts, resource: str) -> At:
    """The place of the limit of a team."""
    if resource in HOST:
        return node.team.quota_at(facts.name, resource)
    at = node.team.quota_at(facts.name, "limit")
    profile = facts.profiles[facts.resources.index(resource)]
    return at / profile if profile else at
