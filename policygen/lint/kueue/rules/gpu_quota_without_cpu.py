"""A ClusterQueue can use GPUs, but not the cpu or memory for them."""

from collections.abc import Mapping
from fractions import Fraction

from policygen.core.amounts import readable
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import FlavorQuotas
from policygen.lint.kueue.cohorts import Cell, CohortNode, Forest, forest
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


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
                if fault := _fault(node, flavor, totals, excluded):
                    at = groups_at(queue, i, "flavors", j, "resources", fault[0])
                    yield Hit(RULE, f"{queue} {fault[1]}", at)


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
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ClusterQueue", "Cohort", "Configuration"),
)
