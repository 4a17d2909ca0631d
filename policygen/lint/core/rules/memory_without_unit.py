"""An amount of memory is only a few bytes, because its unit is missing, or is m instead of Mi."""

import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core import quantity
from policygen.core.amounts import BYTES
from policygen.core.finding import At
from policygen.core.quantity import MEBIBYTE
from policygen.kubernetes.accelerators import has_one
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.containers import having
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Verb, shared
from policygen.spec.rules import MEMORY_WITHOUT_UNIT

_PREFIXES = ("", "requests.", "limits.")
_RATIO = "maxLimitRequestRatio"
_MILLI = Fraction(1, 1000)
_LARGE, _LARGEST = 128, 4096
"""From this number on, a missing unit is rather Mi than Gi: for a container, and for one with GPUs or for many."""
_UNITLESS = re.compile(r"[0-9]+m?")


_Places = list[tuple[At, Mapping[str, Fraction]]]
"""Amounts with their places."""


def check(facts: Facts) -> Hits:
    """An amount below 1Mi was meant in another unit: no container starts in it.

    kube-scheduler and Kueue count the bytes, so pods share memory that the node does not have.
    Source: apimachinery, resource.Quantity; pkg/api/pod/warnings.go of Kubernetes, which only warns.
    """
    for owner, places, large in _amounts(facts):
        yield from _hits(owner, places, large)
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            yield from _volumes(workload, template)


def _amounts(facts: Facts) -> Iterator[tuple[str, _Places, int]]:
    """What has amounts, as in messages, its amounts with their places, and from which number on Mi is meant."""
    cluster = facts.cluster
    for placed in having(cluster, BYTES, _is_small):
        resources, at = placed.container.resources, placed.at / "resources"
        found = (at / "requests", resources.requests), (at / "limits", resources.limits)
        yield str(placed), [*found], _LARGEST if has_one(placed.container) else _LARGE
    for quota in cluster.resource_quotas:
        yield str(quota), [(quota.at.to("spec", "hard"), quota.fields.hard)], _LARGEST
    for limits in cluster.limit_ranges:
        for i, item in enumerate(limits.fields.limits):
            fields = {name: it for name, it in item.by_field.items() if name not in ("min", _RATIO)}
            at = limits.at.to("spec", "limits", i)
            yield str(limits), [(at / name, it) for name, it in fields.items()], _LARGE
    for queue in cluster.queues:
        at, own = queue.at / "spec", queue.fields
        places: _Places = [
            (at / "capability", own.capability),
            (at / "deserved", own.deserved),
            (at.to("guarantee", "resource"), own.guarantee.resource),
        ]
        yield str(queue), places, _LARGEST


def _volumes(workload: Workload, template: PodTemplate) -> Hits:
    """The sizes of emptyDir volumes without a unit: the kubelet evicts the pod as soon as it writes more.

    In memory, it is the size of the file system. Source: docs of Kubernetes on local ephemeral storage.
    """
    for i, volume in enumerate(template.spec.volumes):
        if "emptyDir" not in volume or "sizeLimit" not in mapping(volume, "emptyDir"):
            continue
        written = str(mapping(volume, "emptyDir")["sizeLimit"])
        amount = quantity.parse(written).value if _UNITLESS.fullmatch(written) else Fraction(0)
        if 0 < amount < MEBIBYTE:
            yield Hit(
                RULE,
                f"volume {volume.get('name')} of {workload} sets sizeLimit to {written}, which is "
                f"{_bytes(amount)}; {_advice(amount, _LARGE)}",
                template.at.to("spec", "volumes", i, "emptyDir", "sizeLimit"),
            )


def _is_small(amount: Fraction) -> bool:
    # Integers are compared faster than Fractions.
    return 0 < amount.numerator < MEBIBYTE * amount.denominator


def _hits(owner: str, places: _Places, large: int) -> Hits:
    """One hit for each resource."""
    for name in BYTES:
        small = [
            (at / key, amounts[key])
            for at, amounts in places
            for key in (f"{prefix}{name}" for prefix in _PREFIXES)
            if key in amounts and _is_small(amounts[key])
        ]
        if small:
            (first, amount), *others = small
            yield Hit(
                RULE,
                f"{owner} sets {name} to {_written(amount)}, which is {_bytes(amount)}; {_advice(amount, large)}",
                first,
                tuple(at for at, _ in others),
                meant=tuple(Edit(Verb.REWRITE, at, _meant(it, large)) for at, it in small),
            )


def _written(amount: Fraction) -> str:
    return str(amount) if amount.denominator == 1 else f"{float(amount / _MILLI):g}m"


def _bytes(amount: Fraction) -> str:
    if amount.denominator != 1:
        return "less than a byte" if amount < 1 else f"{float(amount):g} bytes"
    return "1 byte" if amount == 1 else f"only {amount} bytes"


def _advice(amount: Fraction, large: int) -> str:
    unit = "" if amount.denominator != 1 else "a unit, such as "
    return f"write {unit}{_meant(amount, large)}"


def _meant(amount: Fraction, large: int) -> str:
    """The amount with the unit that is probably meant: few Mi are too little for what has GPUs, also if m is written."""
    milli = amount.denominator != 1
    number = amount / _MILLI if milli else amount
    unit = "Gi" if number < large and not (milli and large == _LARGE) else "Mi"
    return f"{float(number):g}{unit}"


RULE = ObjectRule(
    *shared(MEMORY_WITHOUT_UNIT, Family.INERT),
    judges=(*KINDS, "LimitRange", "Queue", "ResourceQuota"),
    check=check,
)
