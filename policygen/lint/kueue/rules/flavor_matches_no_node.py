"""A flavor's labels are on no node."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.core.suggest import Names, suggest
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.rule import Facts, Family, Need, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """Workloads are admitted, take quota, and their pods stay Pending; unless nodes come later.

    Source: concepts/resource_flavor.md of Kueue's documentation.
    """
    if not facts.cluster.nodes.any:
        message = "the cluster has no nodes, so nothing can run in any flavor; add nodes"
        yield Hit(RULE, message, None, tuple(flavor.at for flavor in facts.cluster.flavors)[:5])
        return
    found = facts.cluster.derive(nodes)
    if all(found[flavor.name].nodes for flavor in facts.cluster.flavors):
        return
    values: dict[str, set[str]] = {}
    for node in facts.cluster.nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    keys, names = Names(values), {key: Names(found) for key, found in values.items()}
    for flavor in facts.cluster.flavors:
        if found[flavor.name].nodes:
            continue
        hint = "change its labels, or the nodes'"
        for key, value in flavor.it.node_labels.items():
            if key not in values:
                hint = f"no node has {key}; {suggest(key, keys)}"
            elif value not in values[key]:
                hint = f"no node has {key} {value}; {suggest(value, names[key])}"
        yield Hit(RULE, f"{flavor} is for no node: {hint}", flavor.at.to("spec", "nodeLabels"))


RULE = ObjectRule(
    "flavor-matches-no-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("Node",),
)
