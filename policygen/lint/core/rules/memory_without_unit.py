"""An amount of memory is only a few bytes, because its unit is missing, or is m instead of Mi."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.amounts import BYTES
from policygen.core.finding import At
from policygen.core.quantity import MEBIBYTE
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import containers
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, shared
from policygen.spec.rules import MEMORY_WITHOUT_UNIT

_PREFIXES = ("", "requests.", "limits.")
_RATIO = "maxLimitRequestRatio"
_MILLI = Fraction(1, 1000)
_LARGE = 128
"""From this number on, a missing unit is rather Mi than Gi."""


def check(facts: Facts) -> Hits:
    """An amount below 1Mi was meant in another unit: no container starts in it.

    kube-scheduler and Kueue count the bytes, so pods share memory that the node does not have.
    Source: apimachinery, resource.Quantity; pkg/api/pod/warnings.go of Kubernetes, which only warns.
    """
    for owner, places in _amounts(facts):
        yield from _hits(owner, places)


def _amounts(facts: Facts) -> Iterator[tuple[str, list[tuple[At, Mapping[str, Fraction]]]]]:
    """What has amounts, as in messages, and its amounts with their places."""
    cluster = facts.cluster
    for placed in containers(cluster):
        resources = placed.container.resources
        if _has_small(resources.requests) or _has_small(resources.limits):
            at = placed.at / "resources"
            found = (at / "requests", resources.requests), (at / "limits", resources.limits)
            yield str(placed), [*found]
    for quota in cluster.resource_quotas:
        yield str(quota), [(quota.at.to("spec", "hard"), quota.fields.hard)]
    for limits in cluster.limit_ranges:
        for i, item in enumerate(limits.fields.limits):
            fields = {name: it for name, it in item.by_field.items() if name not in ("min", _RATIO)}
            at = limits.at.to("spec", "limits", i)
            yield str(limits), [(at / name, it) for name, it in fields.items()]
    for queue in cluster.queues:
        at, own = queue.at / "spec", queue.fields
        yield (
            str(queue),
            [
                (at / "capability", own.capability),
                (at / "deserved", own.deserved),
                (at.to("guarantee", "resource"), own.guarantee.resource),
            ],
        )


def _has_small(amounts: Mapping[str, Fraction]) -> bool:
    # Integers are compared faster than Fractions.
    found = (amounts[name] for name in BYTES if name in amounts)
    return any(0 < it.numerator < MEBIBYTE * it.denominator for it in found)


def _hits(owner: str, places: list[tuple[At, Mapping[str, Fraction]]]) -> Hits:
    """One hit for each resource."""
    for name in BYTES:
        small = [
            (at / key, amounts[key])
            for at, amounts in places
            for key in (f"{prefix}{name}" for prefix in _PREFIXES)
            if 0 < amounts.get(key, 0) < MEBIBYTE
        ]
        if small:
            (first, amount), *others = small
            yield Hit(
                RULE,
                f"{owner} sets {name} to {_written(amount)}, which is {_bytes(amount)}; {_advice(amount)}",
                first,
                tuple(at for at, _ in others),
            )


def _written(amount: Fraction) -> str:
    return str(amount) if amount.denominator == 1 else f"{float(amount / _MILLI):g}m"


def _bytes(amount: Fraction) -> str:
    if amount.denominator != 1:
        return "less than a byte" if amount < 1 else f"{float(amount):g} bytes"
    return "1 byte" if amount == 1 else f"only {amount} bytes"


def _advice(amount: Fraction) -> str:
    if amount.denominator != 1:
        return f"write {float(amount / _MILLI):g}Mi"
    return f"write a unit, such as {amount}{'Mi' if amount >= _LARGE else 'Gi'}"


RULE = ObjectRule(
    *shared(MEMORY_WITHOUT_UNIT, Family.INERT),
    judges=(*KINDS, "LimitRange", "Queue", "ResourceQuota"),
    check=check,
)
