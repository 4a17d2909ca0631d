"""A flavor without nodeLabels is listed before other flavors, so it also accepts their jobs."""

from typing import NamedTuple

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.kueue import ClusterQueueView, ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.flavor_nodes import needs_labels
from policygen.lint.kueue.quotas import groups_at
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


class _Use(NamedTuple):
    """A queue that lists a flavor without labels before another one."""

    queue: Entry[ClusterQueueView]
    at: At
    flavor: Entry[ResourceFlavorView]
    later: Entry[ResourceFlavorView]


def check(facts: Facts) -> Hits:
    """It accepts every job, even one that selects its nodes, and its quota is used first. One hit for each flavor.

    crd-rule-broken reports a flavor that needs labels for its topology.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, flavorSelector; issue 15136.
    """
    known, refused = facts.cluster.flavors, "crd-rule-broken" in facts.run
    found: dict[At, list[_Use]] = {}
    for queue in facts.cluster.cluster_queues:
        for i, group in enumerate(queue.fields.resource_groups):
            bare: tuple[int, Entry[ResourceFlavorView]] | None = None
            for j, quotas in enumerate(group.flavors):
                flavor = known.get(quotas.name)
                if flavor is None or (refused and needs_labels(flavor.fields)):
                    continue
                if flavor.fields.node_labels and bare:
                    at = groups_at(queue, i, "flavors", bare[0], "name")
                    found.setdefault(bare[1].at, []).append(_Use(queue, at, bare[1], flavor))
                    break
                if not flavor.fields.node_labels and bare is None:
                    bare = (j, flavor)
    for uses in found.values():
        queues, first = some([str(it.queue) for it in uses], "other queue"), uses[0]
        name = first.flavor.name
        later = {it.later.name for it in uses}
        yield Hit(
            RULE,
            f"{queues} {'lists' if len(uses) == 1 else 'list'} flavor {name}, which has no nodeLabels, before "
            f"{first.later.name if len(later) == 1 else 'other flavors'}, so {name} also accepts jobs for later flavors; add nodeLabels to {name}, or list this "
            "flavor last",
            first.at,
            related=(first.flavor.at, first.later.at, *(it.at for it in uses[1:])),
        )


RULE = ObjectRule(
    "flavor-without-labels-first",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add nodeLabels to every flavor, or put the flavor without labels last.",
    judges=("ClusterQueue",),
    check=check,
    reads=("ResourceFlavor",),
    aliases=("unlabelled-flavor-first",),
)
