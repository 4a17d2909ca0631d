"""An amount of cpu or devices has a unit of bytes, such as Gi."""

import re
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cache

from policygen.core.amounts import amount_of
from policygen.core.finding import At, at_path
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import amounts, having
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.quotas import amounts as quota_amounts
from policygen.lint.kueue.quotas import every_quota, owners
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb

_SMALLEST = 1024
"""1Ki. Smaller amounts have no such unit."""
_WITH_UNIT = re.compile(r"\+?([0-9.]+)([KMGTPE]i)")

_OF_BYTES = re.compile(r"mem(ory)?\b|\bepc\b|storage|capacity|bytes", re.IGNORECASE)
"""In names of extended resources that are bytes, such as koordinator.sh/gpu-memory and sgx.intel.com/epc."""


def check(facts: Facts) -> Hits:
    """No node has 1Ki cores or devices, so the amount was copied from one of memory.

    The API server accepts it, because all amounts have the same syntax.
    Source: apimachinery, resource.Quantity.
    """
    for owner, object_, places in _amounts(facts):
        by_name: dict[str, list[tuple[At, Fraction]]] = {}
        for name, at, amount in places:
            if _is_large(amount) and _is_counted(name):
                by_name.setdefault(_bare(name), []).append((at, amount))
        for name, found in by_name.items():
            yield from _hits(owner, object_, name, found)


def _hits(owner: str, object_: Object, name: str, found: list[tuple[At, Fraction]]) -> Hits:
    """One hit for a resource."""
    written = []
    for at, amount in found:
        text = str(at_path(object_.data, at.path[len(object_.at.path) :]))
        if match := _WITH_UNIT.fullmatch(text):
            written.append((at, amount, match))
    if written:
        (first, amount, match), *others = written
        yield Hit(
            RULE,
            f"{owner} sets {name} to {match[0]}, but {match[2]} is a unit of bytes, so this is "
            f"{amount_of(name, amount)}; write {match[1]}",
            first,
            tuple(at for at, _, _ in others),
            meant=tuple(Edit(Verb.REWRITE, at, it[1]) for at, _, it in written),
        )


_Places = Iterator[tuple[str, At, Fraction]]
"""Resources with the places of their amounts."""


def _amounts(facts: Facts) -> Iterator[tuple[str, Object, _Places]]:
    """What has amounts, as in messages, its object, and its amounts."""
    cluster = facts.cluster
    for placed in having(cluster, filter(_is_counted, amounts(cluster)), _is_large):
        own = placed.container.resources
        at = placed.at / "resources"
        fields = [(at / "requests", own.requests), (at / "limits", own.limits)]
        yield str(placed), placed.workload.object, _placed(fields)
    for quota in cluster.resource_quotas:
        yield str(quota), quota.object, _placed([(quota.at.to("spec", "hard"), quota.fields.hard)])
    for limits in cluster.limit_ranges:
        items = [
            (limits.at.to("spec", "limits", i, field), it)
            for i, item in enumerate(limits.fields.limits)
            for field, it in item.by_field.items()
        ]
        yield str(limits), limits.object, _placed(items)
    for queue in cluster.queues:
        at = queue.at / "spec"
        amounts_of_queue = [
            (at / "capability", queue.fields.capability),
            (at / "deserved", queue.fields.deserved),
            (at.to("guarantee", "resource"), queue.fields.guarantee.resource),
        ]
        yield str(queue), queue.object, _placed(amounts_of_queue)
    for cell in every_quota(owners(cluster)):
        each = (
            (cell.resource, cell.at / field, amount) for field, amount in quota_amounts(cell.quota)
        )
        yield str(cell.owner), cell.owner.object, each


def _placed(fields: Iterable[tuple[At, Mapping[str, Fraction]]]) -> _Places:
    for at, amounts_ in fields:
        for name, amount in amounts_.items():
            yield name, at / name, amount


def _bare(name: str) -> str:
    """The resource of a key of a ResourceQuota."""
    return name.removeprefix("requests.").removeprefix("limits.")


@cache  # few names, but each container has some
def _is_counted(name: str) -> bool:
    """Whether a resource is a number of cores or devices. Quotas of a StorageClass are bytes, too."""
    bare = _bare(name)
    return bare == "cpu" or (extended(bare) and not _OF_BYTES.search(bare))


def _is_large(amount: Fraction) -> bool:
    # Integers are compared faster than Fractions.
    return amount.numerator >= _SMALLEST * amount.denominator


RULE = ObjectRule(
    "unit-of-bytes-misused",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Write the number without the unit.",
    judges=(*KINDS, "ClusterQueue", "Cohort", "LimitRange", "Queue", "ResourceQuota"),
    check=check,
)
