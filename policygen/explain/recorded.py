"""The steps to the numbers that the recording rules of `--with monitoring` record."""

from collections.abc import Callable, Mapping

from policygen.core.finding import Path
from policygen.explain import quotas
from policygen.explain.step import Step, Steps, joined
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.monitoring import facts
from policygen.plan.monitoring.facts import Leaf
from policygen.plan.monitoring.origin import rule_at


class RecordedSteps:
    """Finds the steps to the fields of the PrometheusRule of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._pools = {it.name: it for it in decided.pools}
        self._leaves = {(it.facts.name, it.node.team.name): it for it in facts.leaves(decided)}

    def of(self, item: Item, path: Path) -> Steps:
        """The steps to the query of a rule that records an amount; empty for all other fields."""
        rule = rule_at(item.fields, path)
        if rule is None or path[-1] != "expr":
            return []
        resource = rule.labels.get("resource", "")
        leaf = self._leaves.get((rule.labels.get("pool", ""), rule.labels.get("team", "")))
        if rule.record == facts.POOL_CAPACITY:
            steps = quotas.available(self._pools[rule.labels["pool"]], resource)
        elif leaf and (find := _OF_TEAM.get(rule.record)):
            steps = find(leaf, resource)
        else:
            return []
        return [*steps, Step("expr", rule.expr, note="a query that returns this number")]


def _guarantee(leaf: Leaf, resource: str) -> Steps:
    return quotas.guarantee(leaf.tree, leaf.node, leaf.facts, resource)


def _limit(leaf: Leaf, resource: str) -> Steps:
    """The smallest limit of the team and of the teams above it."""
    nodes = (*leaf.tree.ancestors(leaf.node), leaf.node)
    limits = [quotas.limit(leaf.tree, it, leaf.facts, resource) for it in nodes]
    values = dict.fromkeys(it[-1].value for it in limits)
    if len(values) == 1:
        return joined(*limits)
    formula = f"min({', '.join(values)})"
    return joined(*limits, [Step("the smallest limit", str(leaf.limit(resource)), formula)])


_OF_TEAM: Mapping[str, Callable[[Leaf, str], Steps]] = {
    facts.TEAM_GUARANTEE: _guarantee,
    facts.TEAM_LIMIT: _limit,
}
