"""Finds the place in the spec from which a rule or an alert was derived."""

from collections.abc import Mapping, Sequence

from policygen.core.finding import At, Path
from policygen.plan.kind import Item
from policygen.plan.monitoring import facts
from policygen.plan.monitoring.objects import PrometheusRule
from policygen.plan.monitoring.rule import MetricRule
from policygen.spec.types import Spec

_THRESHOLDS = {
    "PolicygenGpusIdle": ("idleFor", "idleBelowPercent"),
    "PolicygenGuaranteeUnused": ("guaranteeUnusedFor", ""),
    "PolicygenQuotaSaturated": ("saturatedFor", ""),
    "PolicygenWorkloadsPending": ("pendingFor", "pendingFor"),
    "PolicygenPodsPending": ("pendingFor", "pendingFor"),
    "PolicygenPoolFragmented": ("fragmentedFor", ""),
    "PolicygenGpusStranded": ("fragmentedFor", ""),
    "PolicygenPoolTooSmall": ("fragmentedFor", ""),
    "PolicygenLintOutdated": ("", "driftCheckedEvery"),
}
"""The fields of `monitoring` for the duration and the query of alerts; empty if no field decides it."""

_OF_TEAM = {facts.TEAM_GUARANTEE: "guarantee", facts.TEAM_LIMIT: "limit"}


class RuleOrigins:
    """Finds the places for the objects of `--with monitoring`."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        self._pools = {it.name: it for it in spec.pools}
        self._teams = {it.name: it for it in spec.teams}

    def of(self, item: Item, path: Path) -> At | None:
        """The place for a field. The path of a rule has its position, since rules have no name."""
        platform = self._spec.platform
        if path[:2] == ("metadata", "namespace"):
            return platform.at and platform.at.to("spec", "monitoring", "namespace")
        if path[:2] == ("metadata", "labels"):
            return platform.at and platform.at.to("spec", "monitoring", "ruleLabels")
        rule = rule_at(item.fields, path)
        if rule is None:
            return None
        if rule.alert:
            return self._alert(rule, str(path[-1]))
        return self._record(rule.record, rule.labels)

    def _alert(self, rule: MetricRule, field: str) -> At | None:
        lasts, query = _THRESHOLDS.get(rule.alert, ("", ""))
        name = {"for": lasts, "expr": query}.get(field, "")
        at = self._spec.platform.at
        return at and at.to("spec", "monitoring", *filter(None, (name,)))

    def _record(self, record: str, labels: Mapping[str, str]) -> At | None:
        pool, team = (
            self._pools.get(labels.get("pool", "")),
            self._teams.get(labels.get("team", "")),
        )
        if team is not None:
            if record == facts.NAMESPACE_TEAM:
                return team.at.to("spec", "namespaces")
            return team.quota_at(labels["pool"], _OF_TEAM.get(record, "pool"))
        if pool is None:
            return None
        return pool.at.to("spec", "nodeSelector" if record == facts.NODE_POOL else "capacity")


def rule_at(fields: PrometheusRule, path: Sequence[str | int]) -> MetricRule | None:
    """The rule in which a field is; None if it is in none."""
    match path:
        case ("spec", "groups", group, "rules", int(index), *_):
            rules = next(
                (it.rules for i, it in enumerate(fields.groups) if group in (i, it.name)), ()
            )
            return rules[index] if index < len(rules) else None
    return None
