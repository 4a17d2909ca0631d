"""No node has the labels of a ResourceFlavor."""

from policygen.core.suggest import Names, suggest
from policygen.lint.core.odd_labels import odd_labels
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.node_pools import flavors_with_more_nodes
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


def check(facts: Facts) -> Hits:
    """Workloads are admitted and use quota, but their pods stay Pending until such nodes exist.

    Skips flavors whose nodes are in other clusters, or are added by Karpenter or for a check.
    Source: concepts/resource_flavor.md of Kueue's documentation.
    """
    if not facts.cluster.nodes.any:
        message = "the cluster has no nodes, so no pod can run in any flavor; add nodes"
        yield Hit(RULE, message, None, tuple(flavor.at for flavor in facts.cluster.flavors)[:5])
        return
    found = facts.cluster.derive(nodes)
    growing = facts.cluster.derive(flavors_with_more_nodes)
    if all(found[flavor.name].nodes for flavor in facts.cluster.flavors):
        return
    values: dict[str, set[str]] = {}
    for node in facts.cluster.nodes:
        for key, value in node.labels.items():
            values.setdefault(key, set()).add(value)
    keys, names = Names(values), {key: Names(found) for key, found in values.items()}
    odd = facts.cluster.derive(odd_labels) if "node-label-misspelt" in facts.run else ()
    reported = {user.owner for it in odd for user in it.users}
    for flavor in facts.cluster.flavors:
        if found[flavor.name].nodes or flavor.name in growing or flavor in reported:
            continue
        message = (
            f"no node has all labels of {flavor}; change the labels of the flavor or of the nodes"
        )
        meant: tuple[Edit, ...] = ()
        for key, value in flavor.fields.node_labels.items():
            at = flavor.at.to("spec", "nodeLabels", key)
            if key not in values:
                right = keys.meant(key)
                meant = (*meant, *([Edit(Verb.RENAME, at, right)] if right else ()))
                message = f"no node has label {key}, which {flavor} requires; {suggest(key, keys, 'node label')}"
            elif value not in values[key]:
                meant = (*meant, *written(at, names[key].meant(value)))
                message = f"no node has label {key}: {value}, which {flavor} requires; {suggest(value, names[key])}"
        yield Hit(RULE, message, flavor.at.to("spec", "nodeLabels"), meant=meant)


RULE = ObjectRule(
    "flavor-matches-no-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Correct the labels of the flavor or of the nodes.",
    judges=("ResourceFlavor",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=("AdmissionCheck", "ClusterQueue", "NodePool", "ProvisioningRequestConfig"),
)
