"""A pod asks for more than any node of its queue's flavors has."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.amounts import shown
from policygen.lint.kueue.coverage import Asked, asked
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """The quota of the pool suffices, so it is admitted; its pods stay Pending.

    Judged where nodes of every flavor are known. Source: docs on topology-aware scheduling;
    Kueue compares sums, but for topologies.
    """
    found = facts.cluster.derive(nodes)
    for each in asked(facts):
        names = _flavors(each)
        pools = [found[name].sizes if name in found else () for name in names]
        if not names or not all(pools):
            continue
        wanted = each.template.spec.requests
        zero = Fraction(0)
        best: dict[str, Fraction] = {}
        for have in (have for pool in pools for have in pool):
            if all(have.get(name, zero) >= amount for name, amount in wanted.items()):
                break
            best = {name: max(best.get(name, zero), have.get(name, zero)) for name in wanted}
        else:
            short = [name for name in sorted(wanted) if wanted[name] > best[name]]
            what = (
                f"{shown(short[0], wanted[short[0]])} {short[0]}, and the largest node of its "
                f"flavors has {shown(short[0], best[short[0]])}"
                if short
                else "more at once than any single node of its flavors has"
            )
            yield Hit(
                RULE,
                f"a pod of {each.by.workload} asks for {what}; ask for less, or add larger nodes",
                each.template.at.to("spec", "containers"),
                related=(each.queue.at.to("spec", "resourceGroups"),),
            )


def _flavors(each: Asked) -> list[str]:
    """The flavors that may be chosen for what it asks."""
    return [
        flavor.name
        for group in each.queue.it.resource_groups
        if set(group.covered_resources) & each.counted.keys()
        for flavor in group.flavors
    ]


RULE = ObjectRule(
    "queued-pod-fits-no-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=KINDS,
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node", "LocalQueue", "ClusterQueue", "ResourceFlavor", "Configuration", "LimitRange"),
)
