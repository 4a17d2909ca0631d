"""A kube-scheduler profile is meant to pack, but spreads pods or does not count GPUs."""

import re
from collections.abc import Iterable

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.scheduler.scoring import FIT, SPREAD, ScoredProfile, Scoring, profiles

_PACKING = re.compile(r"(^|[-_.])pack|bin[-_.]?pack|most[-_.]?allocated|consolidat|(^|[-_.])dense")
_SPREADING = re.compile(r"spread|least|balanc|scatter")
"""Of names, in lower case."""


def check(facts: Facts) -> Hits:
    """By default NodeResourcesFit prefers empty nodes, and counts only cpu and memory.

    Source: pkg/scheduler/apis/config/v1/defaults.go; noderesources/most_allocated.go.
    """
    for profile in profiles(facts.cluster):
        fit = profile.scoring
        at = fit.at or profile.at
        if fit.strategy is None:
            if fit.enabled_at is not None:
                yield Hit(
                    RULE,
                    f"profile {profile.name} enables {FIT} without a scoringStrategy, so the "
                    "profile prefers nodes with the most free cpu and memory; write a scoringStrategy of type "
                    "MostAllocated with nvidia.com/gpu in its resources",
                    fit.enabled_at,
                )
            elif _is_named_packing(profile.name):
                yield Hit(
                    RULE,
                    f"the name of profile {profile.name} suggests packing, but the profile has no "
                    f"scoringStrategy for {FIT}, so the profile spreads pods; write type MostAllocated with "
                    "nvidia.com/gpu in its resources",
                    at,
                )
        elif fit.strategy == "LeastAllocated":
            if _is_named_packing(profile.name):
                yield Hit(
                    RULE,
                    f"the name of profile {profile.name} suggests packing, but the profile spreads "
                    "pods with LeastAllocated; write MostAllocated",
                    at.to("type"),
                )
            elif why := _is_meant_to_pack(profile, profiles(facts.cluster)):
                yield Hit(
                    RULE,
                    f"profile {profile.name} spreads pods with LeastAllocated, but {why}; write MostAllocated, or "
                    "a schedulerName that contains spread if this is intended",
                    at.to("type"),
                )
        else:
            yield from _filling(profile.name, fit)


def _filling(name: str, fit: Scoring) -> Hits:
    at = fit.at
    if at is None:
        return
    if not fit.on:
        yield Hit(
            RULE,
            f"profile {name} disables the score of {FIT}, so the scoringStrategy has no effect; enable the score",
            at,
        )
    elif not fit.rises:
        yield Hit(
            RULE,
            f"profile {name} has a shape that does not give fuller nodes more points, so the profile does not pack pods; "
            "write shape: [{utilization: 0, score: 0}, {utilization: 100, score: 10}]",
            at.to("requestedToCapacityRatio", "shape"),
        )
    elif not fit.extended:
        yield Hit(
            RULE,
            f"profile {name} packs only by {' and '.join(fit.resources) or 'cpu and memory'}, so "
            "the profile spreads GPU pods; add {name: nvidia.com/gpu, weight: 20} to scoringStrategy.resources",
            at.to("resources"),
        )


def _is_named_packing(name: str) -> bool:
    return bool(_PACKING.search(name.lower()))


def _is_meant_to_pack(profile: ScoredProfile, every: Iterable[ScoredProfile]) -> str:
    """What shows that a profile that spreads pods should pack them; empty: nothing does."""
    devices = profile.scoring.extended
    if not devices or _SPREADING.search(profile.name.lower()):
        return ""
    for other in every:
        same = other.owner is profile.owner and other.scoring.extended == devices
        if same and other.scoring.packs:
            return f"profile {other.name} packs by the same GPUs with the same weights"
    others = (it for name, it in profile.scoring.resources.items() if name not in devices)
    heaviest = max(others, default=0)
    if SPREAD not in profile.opponents and min(devices.values()) > heaviest:
        return f"it weighs GPUs most and switches off {SPREAD}"
    return ""


RULE = ObjectRule(
    "profile-does-not-pack",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write a MostAllocated strategy with each GPU resource of the pool.",
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
