"""Decides the PrometheusRule, and the ConfigMap with the dashboard."""

from collections.abc import Iterator

from msgspec import Struct
from msgspec.structs import replace

from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.kubernetes import ConfigMap
from policygen.plan.monitoring import alerts, dashboard, facts, usage
from policygen.plan.monitoring.rule import MetricRule, RuleGroup
from policygen.spec import derived_names
from policygen.spec.types import Platform

DASHBOARD_KEY = "gpu-policy.json"


class PrometheusRule(Struct, frozen=True):
    """Recording rules and alerts of a spec."""

    meta: Meta
    groups: tuple[RuleGroup, ...]


def prometheus_rules(decided: Decisions) -> Iterator[PrometheusRule]:
    """One object with all rules; none for a spec without pools.

    All series have the label `set`, and rules use only those of their own set: two specs can be on one
    Prometheus.
    """
    if not decided.pools:
        return
    platform = decided.platform
    parts = {
        "spec": facts.rules(decided),
        "usage": usage.rules(decided),
        "alerts": alerts.rules(decided),
    }
    groups = (
        RuleGroup(
            f"policygen.{platform.name}.{name}", tuple(_labelled(it, platform.name) for it in rules)
        )
        for name, rules in parts.items()
    )
    yield PrometheusRule(meta(platform, dict(platform.monitoring.rule_labels)), tuple(groups))


def dashboards(decided: Decisions) -> Iterator[ConfigMap]:
    """The ConfigMap from which Grafana's sidecar loads the dashboard."""
    if decided.pools:
        named = meta(decided.platform, {"grafana_dashboard": "1"})
        yield ConfigMap(named, {DASHBOARD_KEY: dashboard.text(decided.platform)})


def meta(platform: Platform, labels: dict[str, str] | None = None) -> Meta:
    """The identity of the PrometheusRule and of the ConfigMap."""
    name = derived_names.component(platform, "gpu-policy")
    return Meta(name, platform.name, platform.monitoring.namespace, labels or {})


def _labelled(rule: MetricRule, name: str) -> MetricRule:
    return replace(rule, labels={"set": name, **rule.labels})


OBJECTS: Generators = {"PrometheusRule": prometheus_rules, "ConfigMap": dashboards}
