"""A ClusterQueue or ResourceQuota allows GPUs, but not the cpu or memory for them."""

from collections.abc import Mapping
from fractions import Fraction
from typing import NamedTuple

from policygen.core.amounts import amount_of, readable
from policygen.core.quantity import MEBIBYTE
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import FlavorQuotas
from policygen.lint.kueue.cohorts import Cell, CohortNode, Forest, forest
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
    written,
)

_PREFIXES = ("requests.", "limits.", "")
_LEAST = {"cpu": Fraction(1), "memory": Fraction(1024 * MEBIBYTE)}


def check(facts: Facts) -> Hits:
    """A job needs all its resources in one flavor, so the GPUs stay idle.

    Either the queue can have no cpu (or memory), or only cpu of other queues, which it cannot reclaim,
    or it can borrow GPUs but no cpu, and has less cpu for each GPU than the rest of its cohort.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go, fitsResourceQuota.
    """
    trees, rules = facts.cluster.derive(forest), settings(facts)
    totals = _totals(trees)
    excluded = frozenset(filter(rules.excludes, ("cpu", "memory")))
    for queue in facts.cluster.cluster_queues:
        node = trees.queues[queue.name]
        if node.queue is not queue or node.cyclic:
            continue
        for i, group in enumerate(queue.fields.resource_groups):
            for j, flavor in enumerate(group.flavors):
                resources = groups_at(queue, i, "flavors", j, "resources")
                if tiny := _tiny(flavor, excluded):
                    at = resources / tiny.number
                    yield Hit(
                        RULE,
                        f"{queue} {tiny.message}",
                        at,
                        meant=written(at / "nominalQuota", tiny.meant),
                    )
                elif fault := _fault(node, flavor, totals, excluded):
                    at = resources / fault[0]
                    limited = flavor.resources[fault[0]].borrowing_limit is not None
                    meant = (Edit(Verb.REMOVE, at / "borrowingLimit"),) if limited else ()
                    yield Hit(RULE, f"{queue} {fault[1]}", at, meant=meant)
    yield from _of_namespaces(facts)


def _of_namespaces(facts: Facts) -> Hits:
    """The ResourceQuotas with too little for a single pod with GPUs."""
    for quota in facts.cluster.resource_quotas:
        hard = quota.fields.hard
        names = (it.removeprefix("requests.") for it in hard if hard[it] > 0)
        gpu = next(filter(is_one, names), None)
        for key in (f"{it}{name}" for it in _PREFIXES for name in _LEAST) if gpu else ():
            name = key.rpartition(".")[2]
            if found := _meant(name, hard.get(key, Fraction(0))):
                meant, wrong = found
                yield Hit(
                    RULE,
                    f"{quota} allows {gpu}, but only {amount_of(name, hard[key])}, less than one pod with GPUs "
                    f"needs; raise {key}, such as {meant} instead of {wrong}",
                    quota.at.to("spec", "hard", key),
                    meant=written(quota.at.to("spec", "hard", key), meant),
                )


def _totals(trees: Forest) -> Mapping[tuple[str, Cell], Fraction]:
    """The nominal quotas of each tree, by its root, flavor and resource."""
    found: dict[tuple[str, Cell], Fraction] = {}
    for node in (*trees.cohorts.values(), *trees.queues.values()):
        if node.cyclic or (node.queue and node.parent is None):
            continue
        root = node.root().name
        for cell, quota in node.quotas.items():
            found[root, cell] = found.get((root, cell), Fraction(0)) + quota.nominal_quota
    return found


class _Tiny(NamedTuple):
    """A quota that is tiny beside GPUs, probably because of its unit."""

    number: int
    """Its index in the flavor."""
    message: str
    meant: str
    """The amount that was probably meant."""


def _tiny(flavor: FlavorQuotas, without: frozenset[str]) -> _Tiny | None:
    """The first such quota of a flavor.

    Tiny is less than one core, or less than 1 GiB of memory written in Mi.
    """
    gpu = next((it for it in flavor.resources if is_one(it.name) and it.nominal_quota > 0), None)
    for k, quota in enumerate(flavor.resources if gpu else ()):
        name, own = quota.name, quota.nominal_quota
        found = _meant(name, own) if gpu and name not in without else None
        if gpu is None or found is None:
            continue
        meant, wrong = found
        return _Tiny(
            k,
            f"has quota for {gpu.name} of flavor {flavor.name}, but only {amount_of(name, own)}, less than one "
            f"job needs, so its GPUs can stay idle; raise nominalQuota of {name}, such as {meant} instead of {wrong}",
            meant,
        )
    return None


def _meant(name: str, own: Fraction) -> tuple[str, str] | None:
    """What a tiny amount probably means, and the amount; None: it is not tiny, or not cpu or memory in Mi."""
    if not 0 < own < _LEAST.get(name, 0):
        return None
    if name == "cpu":
        return f"{own * 1000}", f"{own * 1000}m"
    # memory-without-unit reports bytes
    return (f"{own / MEBIBYTE}Gi", f"{own / MEBIBYTE}Mi") if own % MEBIBYTE == 0 else None


def _fault(
    node: CohortNode,
    flavor: FlavorQuotas,
    totals: Mapping[tuple[str, Cell], Fraction],
    without: frozenset[str],
) -> tuple[int, str] | None:
    """The index of the first quota that is too small for the GPUs of its flavor, and a message."""
    name, root = flavor.name, node.root().name
    most = {it.name: node.ceiling((name, it.name)) for it in flavor.resources}
    gpu = next((it for it in flavor.resources if is_one(it.name) and most[it.name] > 0), None)
    if gpu is None:
        return None
    reach = most[gpu.name]
    others = totals.get((root, (name, gpu.name)), Fraction(0)) - gpu.nominal_quota
    none, borrowed, short = [], [], []
    pooled = node.root().quotas.get
    for k, quota in enumerate(flavor.resources):
        cell, own = (name, quota.name), quota.nominal_quota
        if quota.name not in ("cpu", "memory") or quota.name in without:
            continue
        if most[quota.name] == 0:
            none.append((k, quota.name))
        elif gpu.nominal_quota > 0 and node.parent and not node.owns(cell) and not pooled(cell):
            borrowed.append((k, quota.name))
        elif reach <= gpu.nominal_quota or most[quota.name] > own or not others:
            continue
        elif own < reach * (totals[root, cell] - own) / others:
            short.append((k, quota.name))
    up_to = f"{gpu.name} of flavor {name}, up to {readable(gpu.name, reach)}"
    more = "raise nominalQuota or borrowingLimit of {0}, or the lendingLimit of other queues"
    idle = "so its GPUs stay idle while other queues use the {0}; raise nominalQuota of {0}"
    for found, message in (
        (
            none,
            f"can have {up_to}, but no {{0}}, so GPU jobs that request {{0}} never start; {more}",
        ),
        (borrowed, f"has quota for {gpu.name} of flavor {name}, but can only borrow {{0}}, {idle}"),
        (short, f"can borrow {up_to}, but no {{0}}, so borrowed GPUs can stay idle; {more}"),
    ):
        if found:
            return found[0][0], message.format(" and ".join(resource for _, resource in found))
    return None


RULE = ObjectRule(
    "gpu-quota-without-cpu",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise the nominalQuota, borrowingLimit or lendingLimit of cpu and memory like that of GPUs.",
    judges=("ClusterQueue", "ResourceQuota"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort", "Configuration"),
)
