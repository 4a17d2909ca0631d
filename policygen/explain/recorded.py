"""The steps to the numbers that the recording rules of `--with monitoring` record."""

from collections.abc import Callable, Iterator, Mapping

from policygen.core.finding import Path
from policygen.explain import queues, quotas
from policygen.explain.step import Step, Steps, joined
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.monitoring import facts
from policygen.plan.monitoring.facts import Leaf
from policygen.plan.monitoring.origin import RuleOrigins, rule_at
from policygen.plan.monitoring.rule import MetricRule


class RecordedSteps:
    """Finds the steps to the fields of the PrometheusRule of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._origins = RuleOrigins(decided.spec)
        self._pools = {it.name: it for it in decided.pools}
        self._leaves = {(it.facts.name, it.node.team.name): it for it in facts.leaves(decided)}

    def of(self, item: Item, path: Path) -> Steps:
        """The steps to the query of a rule that is about a pool; empty for all other fields."""
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
            parts = list(self._parts(rule))
            own = Step("expr", rule.expr, at=self._origins.of(item, path))
            return [*parts, own] if parts else []
        return [*steps, Step("expr", rule.expr, note="a query that returns this number")]

    def _parts(self, rule: MetricRule) -> Iterator[Step]:
        """The names that a query contains."""
        pool = self._pools.get(rule.labels.get("pool", ""))
        if pool is None:
            return
        yield Step("pool", pool.name, at=pool.pool.at.to("metadata", "name"))
        if leaf := self._leaves.get((pool.name, rule.labels.get("team", ""))):
            team = leaf.node.team
            yield Step("team", team.name, at=team.at.to("metadata", "name"))
        only = rule.labels.get("resource")
        yield from (queues.resource_of(pool, it) for it in pool.resources if only in {None, it})


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
