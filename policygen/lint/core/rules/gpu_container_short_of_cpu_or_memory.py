"""A container with GPUs has very little cpu or memory, because the amount has another unit than meant."""

from fractions import Fraction

from policygen.core.amounts import written as canonical
from policygen.core.quantity import MEBIBYTE
from policygen.kubernetes.accelerators import has_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import PlacedContainer, amounts, containers, having
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_NONE = Fraction(0)
_RATIO = 1000
"""Of a core to its thousandth."""
_BINARY_RATIO = 1024
"""Of Gi to Mi."""
_GIBIBYTE = _BINARY_RATIO * MEBIBYTE
_PER_CORE = 64 * MEBIBYTE
"""The memory for each core below which an amount in Mi is probably meant in Gi."""


def check(facts: Facts) -> Hits:
    """A limit of 16m lets the container use 16 ms of a core in each second.

    Memory is compared with the cores, because a small process needs little of both; memory-without-unit
    reports less than 1Mi. Source: docs of Kubernetes on resource units.
    """
    for placed in _suspects(facts.cluster):
        if not has_one(placed.container):
            continue
        resources = placed.container.resources
        limit, requested = resources.limits.get("cpu", _NONE), resources.requests.get("cpu", _NONE)
        cpus = {"limits": limit, "requests": requested}
        small = [field for field, amount in cpus.items() if _is_small(amount)]
        if not small and _is_part(requested, limit, _RATIO):
            small = ["requests"]
        little = [] if small else _little_memory(placed, max(limit, requested))
        if not (small or little):
            continue
        at = placed.at / "resources"
        if small:
            amount = cpus[small[0]]
            milli = f"{float(amount * _RATIO):g}"
            yield Hit(
                RULE,
                f"{placed} sets cpu to {milli}m, which is {float(amount):g} cores; write {milli} if cores are meant",
                at.to(small[0], "cpu"),
                tuple(at.to(field, "cpu") for field in small[1:]),
            )
            continue
        memory = getattr(resources, little[0])["memory"]
        large = canonical("memory", memory * _BINARY_RATIO)
        places = [at.to(field, "memory") for field in little]
        yield Hit(
            RULE,
            f"{placed} sets memory to {canonical('memory', memory)}, which is little for a process that uses GPUs; "
            f"write {large} if this is meant",
            places[0],
            tuple(places[1:]),
            meant=tuple(edit for it in places for edit in written(it, large)),
        )


def _suspects(cluster: Cluster) -> list[PlacedContainer]:
    """The containers with little cpu or memory, or with an amount of which another one is a part."""
    known = amounts(cluster)
    cpus = {it for it, _ in known.get("cpu", ())}
    memory = {it for it, _ in known.get("memory", ())}
    of_cpu = having(cluster, ("cpu",), lambda it: _is_small(it) or _RATIO * it in cpus)
    of_memory = having(
        cluster, ("memory",), lambda it: it < _GIBIBYTE or _BINARY_RATIO * it in memory
    )
    chosen = {*of_cpu, *of_memory}
    return [it for it in containers(cluster) if it in chosen] if chosen else []


def _is_small(amount: Fraction) -> bool:
    # Integers are compared faster than Fractions.
    return 0 < 10 * amount.numerator < amount.denominator


def _is_part(requested: Fraction, limit: Fraction, ratio: int) -> bool:
    """Whether a request is this part of the limit."""
    scaled = ratio * requested.numerator * limit.denominator
    return 0 < scaled == limit.numerator * requested.denominator


def _little_memory(placed: PlacedContainer, cores: Fraction) -> list[str]:
    """The fields with an amount of memory that is far too small for this number of cores."""
    resources = placed.container.resources
    limit = resources.limits.get("memory", _NONE)
    requested = resources.requests.get("memory", _NONE)
    most = _PER_CORE * cores.numerator
    found = [
        field
        for field, amount in (("limits", limit), ("requests", requested))
        if MEBIBYTE <= amount.numerator < _GIBIBYTE and amount.numerator * cores.denominator < most
    ]
    return found or (["requests"] if _is_part(requested, limit, _BINARY_RATIO) else [])


RULE = ObjectRule(
    "gpu-container-short-of-cpu-or-memory",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the number of cores without the unit m, and memory in Gi.",
    judges=KINDS,
    check=check,
    aliases=("gpu-container-short-of-cpu",),
)
