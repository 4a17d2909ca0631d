"""A profile looks as if it packed GPUs, and spreads them or does not see them."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler.scoring import FIT, Scoring, profiles


def check(facts: Facts) -> Iterator[Hit]:
    """Unless told otherwise NodeResourcesFit favours empty nodes, and sees cpu and memory alone.

    Source: pkg/scheduler/apis/config/v1/defaults.go; noderesources/most_allocated.go.
    """
    for profile in profiles(facts.cluster):
        fit = profile.scoring
        at = fit.at or profile.at
        if fit.strategy is None:
            if fit.weighted_at is not None:
                yield Hit(
                    RULE,
                    f"profile {profile.name} gives {FIT} a weight and no scoringStrategy, so it "
                    "favours the emptiest nodes by cpu and memory; write scoringStrategy "
                    "{type: MostAllocated} with nvidia.com/gpu among its resources",
                    fit.weighted_at,
                )
            elif _says_so(profile.name):
                yield Hit(
                    RULE,
                    f"profile {profile.name} packs by its name and has no scoringStrategy for "
                    f"{FIT}, so it spreads; write MostAllocated with nvidia.com/gpu among its "
                    "resources",
                    at,
                )
        elif fit.strategy == "LeastAllocated":
            if _says_so(profile.name):
                yield Hit(
                    RULE,
                    f"profile {profile.name} packs by its name and spreads by LeastAllocated; "
                    "write MostAllocated",
                    at.to("type"),
                )
        else:
            yield from _filling(profile.name, fit)


def _filling(name: str, fit: Scoring) -> Iterator[Hit]:
    at = fit.at
    if at is None:
        return
    if not fit.on:
        yield Hit(
            RULE,
            f"profile {name} disables {FIT} among the scores, so its strategy counts for nothing; "
            "enable it",
            at,
        )
    elif not fit.rises:
        yield Hit(
            RULE,
            f"the shape of profile {name} gives fuller nodes fewer points, so it spreads; write "
            "{utilization: 0, score: 0} and {utilization: 100, score: 10}",
            at.to("requestedToCapacityRatio", "shape"),
        )
    elif not fit.extended:
        yield Hit(
            RULE,
            f"profile {name} packs by {' and '.join(fit.resources) or 'cpu and memory'}, so GPUs "
            "scatter; add {name: nvidia.com/gpu, weight: 20} to its resources",
            at.to("resources"),
        )


def _says_so(name: str) -> bool:
    return any(word in name.lower() for word in ("binpack", "bin-pack", "packing", "packed"))


RULE = ObjectRule(
    "profile-does-not-pack",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
)
