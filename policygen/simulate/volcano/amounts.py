"""Amounts of resources as Volcano's scheduler compares them.

Cpu and most other resources are counted in thousandths, memory in bytes, and pods in whole numbers. Cpu and
memory are always present; whether another resource is present makes a difference to some functions. Source:
pkg/scheduler/api/resource_info.go of Volcano 1.14.1.
"""

import math
from collections.abc import Iterable, Mapping
from fractions import Fraction

Amounts = dict[str, float]

CPU, MEMORY, PODS = "cpu", "memory", "pods"
LEAST = 0.1
"""Smaller amounts and differences do not count (minResource)."""
_WHOLE = (MEMORY, PODS)


def empty() -> Amounts:
    """No resources."""
    return {CPU: 0, MEMORY: 0}


def counted(amounts: Mapping[str, Fraction]) -> Amounts:
    """Quantities in Volcano's units. Names that are not resources of Volcano are dropped."""
    found = empty()
    for name, amount in amounts.items():
        if is_counted(name):
            found[name] = math.ceil(amount if name in _WHOLE else amount * 1000)
    return found


def is_counted(name: str) -> bool:
    """Whether Volcano counts a resource with this name."""
    if name in (CPU, MEMORY, PODS, "ephemeral-storage"):
        return True
    if name.startswith(("count/", "requests.")):
        return False
    return "/" in name or name.startswith(("hugepages-", "attachable-volumes-"))


def total(many: Iterable[Amounts]) -> Amounts:
    """The sum."""
    found = empty()
    for it in many:
        add(found, it)
    return found


def add(to: Amounts, more: Amounts) -> Amounts:
    """Increase amounts in place."""
    for name, amount in more.items():
        to[name] = to.get(name, 0) + amount
    return to


def subtract(of: Amounts, less: Amounts) -> Amounts:
    """Decrease amounts in place."""
    for name, amount in less.items():
        of[name] = of.get(name, 0) - amount
    return of


def is_empty(amounts: Amounts) -> bool:
    """Whether nothing but pods is there."""
    return all(it < LEAST for name, it in amounts.items() if name != PODS)


def names(amounts: Amounts) -> list[str]:
    """The resources of which there is any."""
    return [name for name, it in amounts.items() if it >= LEAST]


def shortages(wanted: Amounts, have: Amounts) -> list[str]:
    """The resources of which less is there than wanted. A resource that is missing is 0."""
    return [name for name, it in wanted.items() if it - have.get(name, 0) >= LEAST]


def fits(wanted: Amounts, have: Amounts) -> bool:
    """Whether no resource is short."""
    return all(it - have.get(name, 0) < LEAST for name, it in wanted.items())


def excesses(used: Amounts, limit: Amounts, request: Amounts) -> list[str]:
    """The requested resources of which more is used than the limit allows."""
    return [
        name
        for name, it in request.items()
        if it > 0 and name != PODS and used.get(name, 0) > limit.get(name, 0)
    ]


def within_partly(used: Amounts, limit: Amounts, request: Amounts) -> bool:
    """Whether a requested resource is within its limit. Resources that are neither used nor limited do not count."""
    for name, it in request.items():
        mine, most = used.get(name, 0), limit.get(name, 0)
        counts = it > 0 and name != PODS and not (mine < LEAST and most < LEAST)
        if counts and mine - most < LEAST:
            return True
    return False


def above_partly(used: Amounts, limit: Amounts, request: Amounts) -> bool:
    """Whether more of a requested resource is used than its limit. A resource without a limit does not count."""
    for name, it in request.items():
        limited = limit[name] >= LEAST if name in (CPU, MEMORY) else name in limit
        if it > 0 and name != PODS and limited and used.get(name, 0) > limit[name]:
            return True
    return False


def excess(left: Amounts, right: Amounts) -> Amounts:
    """By how much the left amounts exceed the right ones."""
    found = empty()
    for name, it in left.items():
        if it > right.get(name, 0):
            found[name] = it - right.get(name, 0)
    return found


def differences(left: Amounts, right: Amounts) -> tuple[Amounts, Amounts]:
    """By how much the left amounts exceed the right ones, and the reverse."""
    return excess(left, right), excess(right, left)


def clip(amounts: Amounts, limit: Amounts, *, unlimited: bool = True) -> Amounts:
    """Reduce amounts to a limit in place. A resource that the limit does not name is unlimited, or becomes 0."""
    for name, it in amounts.items():
        if name in limit:
            amounts[name] = min(it, limit[name])
        elif not unlimited:
            amounts[name] = 0
    return amounts


def largest(left: Amounts, right: Amounts) -> Amounts:
    """The larger amount of each resource."""
    found = dict(left)
    for name, it in right.items():
        found[name] = max(it, found.get(name, 0))
    return found


def share(used: float, limit: float) -> float:
    """The part of a limit that is used."""
    if limit == 0:
        return 0 if used == 0 else 1
    return used / limit


def common(left: Amounts, right: Amounts) -> bool:
    """Whether both have some of the same resource, pods excluded."""
    return any(
        it >= LEAST and right.get(name, 0) >= LEAST for name, it in left.items() if name != PODS
    )
