"""A ResourceFlavor names a Topology that does not exist, or a Topology has no spec."""

from collections.abc import Mapping

from policygen.api_validation.metadata import is_subdomain
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from policygen.lint.kueue.admission_checks import MULTI_KUEUE, known_checks
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import flavors
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

_WITHOUT_SPEC = frozenset({"apiVersion", "kind", "metadata", "status"})
"""The fields of an object without a spec; another rule reports fields at the wrong place."""
_PANICS = (0, 19)
"""The release of which it was tested that a Topology without levels ends the process."""


def check(facts: Facts) -> Hits:
    """Every queue with the flavor is inactive (TopologyNotFound), except those of MultiKueue.

    Without a spec, the queues are active, but Kueue 0.19 panics when it reads the last level, before each cycle.
    invalid-value reports names that no Topology can have. Source: pkg/cache/scheduler/clusterqueue.go, isTASViolated;
    pkg/cache/scheduler/snapshot.go, and IsLowestLevelHostname in pkg/util/tas.
    """
    cluster = facts.cluster
    known = cluster.topologies
    users = cluster.derive(_users)
    uses = (
        NameUse(it, it.fields.topology_name, it.at.to("spec", "topologyName"))
        for it in cluster.flavors
    )
    renamed = renamed_objects(uses, known)
    for it in renamed.values():
        yield from it.hits(facts, RULE)
    for flavor in cluster.flavors:
        name = flavor.fields.topology_name
        if not name or name in renamed or known.knows(name) or not is_subdomain(name):
            continue
        queues = users.get(flavor.name, [])
        if queues and all(_dispatches(cluster, queue) for queue in queues):
            continue
        at = flavor.at.to("spec", "topologyName")
        yield Hit(
            RULE,
            f'{flavor} names Topology "{name}", which does not exist; '
            f"{suggest(name, known.names(), 'Topology')}",
            at,
            meant=written(at, known.names().meant(name)) or (Edit(Verb.REMOVE, at),),
        )
    for topology in known:
        if topology.object.data.keys() <= _WITHOUT_SPEC:
            effect = "no workload that requests its levels is admitted"
            if _panics(facts):
                effect = "Kueue crashes as soon as a workload is queued, if a ResourceFlavor names this Topology"
            yield Hit(RULE, f"{topology} has no spec, so {effect}; write spec.levels", topology.at)


def _panics(facts: Facts) -> bool:
    """Whether Kueue reads the last level of each Topology that a flavor names."""
    on = settings(facts).gate
    is_known = facts.target["kueue"].release >= _PANICS
    return is_known and on("TopologyAwareScheduling") and on("TASHandleOverlappingFlavors")


def _users(cluster: Cluster) -> Mapping[str, list[Entry[ClusterQueueView]]]:
    found: dict[str, list[Entry[ClusterQueueView]]] = {}
    for queue in cluster.cluster_queues:
        for _, flavor in flavors(queue):
            found.setdefault(flavor.name, []).append(queue)
    return found


def _dispatches(cluster: Cluster, queue: Entry[ClusterQueueView]) -> bool:
    """Whether the queue's jobs run on other clusters, which have the topologies."""
    return any(check.controller_name == MULTI_KUEUE for _, _, check in known_checks(cluster, queue))


RULE = ObjectRule(
    "topology-missing",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Name an existing Topology, or create the missing one before the ResourceFlavor.",
    judges=("ResourceFlavor", "Topology"),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Topology", "ClusterQueue", "AdmissionCheck", "Configuration", "Deployment"),
)
