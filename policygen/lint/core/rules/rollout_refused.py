"""A rolling update has a maxSurge or maxUnavailable that is not valid, or both are 0."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core import go_values
from policygen.core.finding import at_path
from policygen.core.quoting import quoted
from policygen.kubernetes.workloads import Workload
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_BOUNDS = ("maxSurge", "maxUnavailable")
_ALL = 100


def check(facts: Facts) -> Hits:
    """`count-negative` reports negative numbers.

    Source: pkg/apis/apps/validation/validation.go, ValidateRollingUpdateDeployment.
    """
    for workload in facts.cluster.workloads:
        if (workload.object.group, workload.kind) != ("apps", "Deployment"):
            continue
        bounds = at_path(workload.spec, ("strategy", "rollingUpdate"))
        if isinstance(bounds, dict):
            at = workload.at.to("spec", "strategy", "rollingUpdate")
            for message, key in _faults(workload, bounds):
                yield Hit(RULE, message, at / key if key else at)


def _faults(workload: Workload, bounds: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    for key in _BOUNDS:
        bound = bounds.get(key)
        if not isinstance(bound, str):
            continue
        percentage = go_values.percentage(bound)
        if percentage is None:
            yield (
                f'{workload} has {key} {quoted(bound)}, which is not valid; write an integer, or a percentage such as "25%"',
                key,
            )
        elif key == "maxUnavailable" and percentage > _ALL:
            yield f"{workload} has {key} {quoted(bound)}, which is refused; write at most 100%", key
    if all(bounds.get(key) in (0, "0%") for key in _BOUNDS):
        yield (
            f"{workload} has maxSurge 0 and maxUnavailable 0, which is refused; raise one of them",
            "",
        )


RULE = ObjectRule(
    "rollout-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write integers or percentages, at least one of them above 0.",
    judges=("Deployment",),
    check=check,
)
