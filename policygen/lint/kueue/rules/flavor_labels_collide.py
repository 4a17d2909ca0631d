"""Flavors that one pod can get together want different values of the same node label."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.kueue import ResourceGroup
from policygen.lint.kueue.quotas import queues_alike
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Each group picks a flavor of its own, and their labels are merged in no fixed order.

    Groups with a resource in common are refused, and another rule's.
    The pod is charged on one pool and runs on another. Source: pkg/podset/podset.go,
    FromAssignment; issue 14409.
    """
    known = facts.cluster.flavors
    for same in facts.cluster.derive(queues_alike):
        seen: dict[str, tuple[int, str, str]] = {}
        for i, group in enumerate(same.groups):
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                for key, value in flavor.it.node_labels.items() if flavor else ():
                    first = seen.setdefault(key, (i, value, quotas.name))
                    if first[1] == value or _same(same.groups, first[0], i):
                        continue
                    for queue, at in same.at(i, "flavors", j, "name"):
                        yield Hit(
                            RULE,
                            f"{queue} has flavors {first[2]} and {quotas.name} in different "
                            f"groups, and they want {key} to be {first[1]} and {value}; put "
                            "their resources into one group",
                            at,
                        )


def _same(groups: tuple[ResourceGroup, ...], one: int, other: int) -> bool:
    """Whether two groups are one, or cover a resource both."""
    both = set(groups[one].covered_resources) & set(groups[other].covered_resources)
    return one == other or bool(both)


RULE = ObjectRule(
    "flavor-labels-collide",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
)
