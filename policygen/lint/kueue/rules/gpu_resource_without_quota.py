"""Nodes of a flavor have a GPU resource for which no ClusterQueue has quota."""

from policygen.core.quoting import listed
from policygen.kubernetes.accelerators import is_one
from policygen.lint.core.unlimited_gpus import READS, unlimited_gpus
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import PlacedQuota, every_quota
from policygen.lint.kueue.rules import request_not_covered
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue never admits a job that requests an uncovered resource, so these GPUs stay idle.

    Checks flavors with labels and a quota for another GPU resource that their nodes have. Reports a
    flavor once, at the first such quota. request-not-covered reports a resource that workloads request.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2; issue 4848.
    """
    unlimited = facts.derive(unlimited_gpus)
    if not unlimited or settings(facts).ignores_undeclared:
        return
    requested = {str(it.path[-1]) for it in places(facts, (request_not_covered.RULE,)) if it.path}
    first: dict[str, PlacedQuota] = {}
    for placed in every_quota(facts.cluster.cluster_queues):
        if is_one(placed.resource) and placed.quota.nominal_quota > 0:
            first.setdefault(placed.flavor, placed)
    for flavor in facts.cluster.flavors:
        total = facts.cluster.derive(nodes)[flavor.name].total if flavor.fields.node_labels else {}
        quota = first.get(flavor.name)
        names = sorted((unlimited.keys() & total.keys()) - requested)
        if quota is None or not names or not total.get(quota.resource):
            continue  # quota-exceeds-capacity reports nodes without the resource
        resources, them = listed(names, "and"), "it" if len(names) == 1 else "them"
        yield Hit(
            RULE,
            f"nodes of {flavor} offer {resources}, but no ClusterQueue covers {them}, so Kueue never admits jobs that "
            f"request {them}; add {resources} to coveredResources, and to the quotas of this flavor",
            quota.at,
            (flavor.at,),
        )


RULE = ObjectRule(
    "gpu-resource-without-quota",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the resource to coveredResources, and to the quotas of the flavor.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
    reads=tuple(
        dict.fromkeys(
            kind
            for kind in (*request_not_covered.RULE.reads, *request_not_covered.RULE.judges, *READS)
            if kind not in ("ClusterQueue", "Node")
        )
    ),
)
