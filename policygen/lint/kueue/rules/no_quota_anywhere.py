"""A ClusterQueue has no quota and cannot borrow any."""

from collections.abc import Iterator

from policygen.kubernetes.kueue import ResourceGroup
from policygen.lint.kueue.admission_checks import checked, sets_quotas_of
from policygen.lint.kueue.cohorts import CohortNode, forest
from policygen.lint.kueue.probable_quotas import probable_quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No workload is ever admitted (ExceedsMaxQuota, or the resource is unavailable).

    A quota of 0 for one resource may be intended; a group in which all are 0 is a fault.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go, fitsResourceQuota.
    """
    trees = facts.cluster.derive(forest)
    automated = {it for it in facts.cluster.derive(checked) if sets_quotas_of(facts.cluster, it)}
    for queue in facts.cluster.cluster_queues:
        node = trees.queues[queue.name]
        if node.queue is not queue or node.cyclic or queue in automated:
            continue
        groups = queue.fields.resource_groups
        if not groups:
            yield Hit(
                RULE,
                f"{queue} covers no resource, so it never admits a workload with requests; write "
                "resourceGroups",
                queue.at / "spec",
                meant=facts.cluster.derive(probable_quotas).get(queue.at, ()),
            )
        for i in _without_quota(node, groups):
            yield Hit(
                RULE,
                f"{queue} has no quota for {', '.join(groups[i].covered_resources)} and cannot "
                "borrow any, so it admits nothing; write nominalQuota, or put the queue into a "
                "cohort that lends quota",
                queue.at.to("spec", "resourceGroups", i, "flavors"),
            )


def _without_quota(node: CohortNode, groups: tuple[ResourceGroup, ...]) -> Iterator[int]:
    """Indexes of the groups for which a queue has no quota and cannot borrow any."""
    for i, group in enumerate(groups):
        cells = [
            (flavor.name, quota.name) for flavor in group.flavors for quota in flavor.resources
        ]
        if cells and not any(node.ceiling(cell) > 0 for cell in cells):
            yield i


RULE = ObjectRule(
    "no-quota-anywhere",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set nominalQuota, or put the queue into a cohort that lends quota.",
    judges=("ClusterQueue",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(
        "ClusterQueue",
        "Cohort",
        "AdmissionCheck",
        "MultiKueueConfig",
        "ResourceFlavor",
        "Node",
    ),
)
