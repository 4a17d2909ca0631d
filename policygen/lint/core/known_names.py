"""Names that are refused, and that resemble the name of an object."""

from collections.abc import Callable, Mapping

from policygen.core.finding import At, at_path
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.server_refusals import FoundRefusal

_KNOWN: Mapping[str, Callable[[Cluster], Names]] = {
    "clusterQueue": lambda cluster: cluster.cluster_queues.names(),
    "cohort": lambda cluster: cluster.cohorts.names(),
    "cohortName": lambda cluster: cluster.cohorts.names(),
    "parentName": lambda cluster: cluster.cohorts.names(),
    "parent": lambda cluster: cluster.queues.names(),
    "queue": lambda cluster: cluster.queues.names(),
    "priorityClassName": lambda cluster: cluster.priority_classes.names(),
    "flavor": lambda cluster: cluster.flavors.names(),
    "topologyName": lambda cluster: cluster.topologies.names(),
}
"""The names of existing objects, by the field that names one."""


def with_near_name(cluster: Cluster, refusal: FoundRefusal) -> str:
    """The message of a refusal. For an invalid name, it proposes the name of an object that resembles it."""
    at = refusal.at
    known = None if at.key or not at.path else _KNOWN.get(_field(at))
    if known is None:
        return refusal.message
    name = at_path(refusal.object.data, at.path[len(refusal.object.at.path) :])
    near = known(cluster).meant(name) if isinstance(name, str) else ""
    if not near:
        return refusal.message
    fault = refusal.message.rpartition("; ")[0] or refusal.message
    return f'{fault}; did you mean "{near}"?'


def _field(at: At) -> str:
    """The last field of a path; `flavor` for the name of a flavor in a quota."""
    return "flavor" if at.path[-1] == "name" and "flavors" in at.path else str(at.path[-1])
