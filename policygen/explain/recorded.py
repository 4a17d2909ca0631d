"""The steps to the numbers that the recording rules of `--with monitoring` record."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from policygen.core.finding import Path
from policygen.explain import queues, quotas
from policygen.explain.step import Step, Steps, joined
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.monitoring import facts
from policygen.plan.monitoring.facts import Leaf
from policygen.plan.monitoring.origin import RuleOrigins, rule_at
from policygen.plan.monitoring.rule import MetricRule, resource_label

_SERIES: Final = re.compile(r"policygen:\w+")
_NUMBER: Final = re.compile(r"vector\((\d+)\)")
_SHOWN: Final = 3
"""Pools and series that a query about all of them names."""


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
            own = Step("expr", rule.expr, at=self._origins.of(item, path))
            parts = [*(self._parts(rule) if "pool" in rule.labels else self._of_all(item, rule))]
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

    def _of_all(self, item: Item, rule: MetricRule) -> Iterator[Step]:
        """What a query about all pools or teams reads: the resources of pools, and recorded series."""
        resources = [
            (it, queues.resource_of(it, resource))
            for it in self._pools.values()
            for resource in it.resources
            if f'"{resource_label(resource)}"' in rule.expr
        ]
        yield from _first(
            [Step(f"{it.name} of pool {pool.name}", it.value, at=it.at) for pool, it in resources],
            "resources of pools",
        )
        for name in dict.fromkeys(_SERIES.findall(rule.expr)):
            recorded = [
                Step(_series(it), _NUMBER.sub(r"\1", it.expr), at=place)
                for it, at in _rules(item)
                if it.record == name and (place := self._origins.of(item, at))
            ]
            yield from _first(recorded, name)


def _rules(item: Item) -> Iterator[tuple[MetricRule, Path]]:
    """All rules of an object, each with its path."""
    for group in item.fields.groups:
        for index, rule in enumerate(group.rules):
            yield rule, ("spec", "groups", group.name, "rules", index, "expr")


def _series(rule: MetricRule) -> str:
    """The name of a recorded series, and what it is about."""
    about = [
        f"{key} {rule.labels[key]}" for key in ("team", "namespace", "pool") if key in rule.labels
    ]
    return " of ".join(filter(None, (rule.record, ", ".join(about))))


def _first(steps: Sequence[Step], name: str) -> Iterator[Step]:
    """The first steps, and how many others the spec has."""
    yield from steps[:_SHOWN]
    if others := steps[_SHOWN:]:
        yield Step(name, f"{len(others)} more", note="each from its own place in the spec")


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
