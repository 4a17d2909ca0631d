"""Kueue's Configuration as a spec needs it: the base file, or the values of Kueue's chart, with what the spec adds."""

from typing import Any

from policygen.core.finding import At
from policygen.kubernetes import kueue_settings
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.object import Object
from policygen.plan import kueue_configuration
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.kueue_configuration import KueueConfiguration


def item(decided: Decisions, base: dict[str, Any] | None) -> Item | None:
    """The Configuration to render; None without pools of Kueue. `base` has the settings to keep."""
    return kueue_configuration.decide(
        decided.platform, decided.pools, decided.trees, decided.workloads.assignments, base
    )


def configuration(decided: Decisions, base: dict[str, Any] | None, at: At) -> Object | None:
    """The Configuration as an object at a place; None without pools of Kueue."""
    made = item(decided, base)
    if made is None or not isinstance(made.fields, KueueConfiguration):
        return None
    return Object.read(made.fields.fields, at)


def settings(decided: Decisions, base: dict[str, Any] | None, at: At) -> Settings | None:
    """The effective settings of the Configuration; None without pools of Kueue."""
    made = configuration(decided, base, at)
    target = decided.platform.target.kueue
    return None if made is None else kueue_settings.first(Cluster((made,)), target)
