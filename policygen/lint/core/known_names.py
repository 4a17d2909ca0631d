"""Names that are refused, and that differ from the name of an object only in case."""

from collections.abc import Callable, Mapping

from policygen.core.finding import At, at_path
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.server_refusals import FoundRefusal

_KNOWN: Mapping[str, Callable[[Cluster, str], bool]] = {
    "clusterQueue": lambda cluster, name: cluster.cluster_queues.knows(name),
    "cohort": lambda cluster, name: cluster.cohorts.knows(name),
    "cohortName": lambda cluster, name: cluster.cohorts.knows(name),
    "parentName": lambda cluster, name: cluster.cohorts.knows(name),
    "parent": lambda cluster, name: cluster.queues.knows(name),
    "queue": lambda cluster, name: cluster.queues.knows(name),
    "priorityClassName": lambda cluster, name: cluster.priority_classes.knows(name),
    "topologyName": lambda cluster, name: cluster.topologies.knows(name),
}
"""Whether an object with a name exists, by the field that names it."""


def with_case(cluster: Cluster, refusal: FoundRefusal) -> str:
    """The message of a refusal. For a name in the wrong case, it proposes the right one."""
    known = _table(refusal.at)
    name = (
        at_path(refusal.object.data, refusal.at.path[len(refusal.object.at.path) :])
        if known
        else None
    )
    if not known or not isinstance(name, str) or name.islower() or not known(cluster, name.lower()):
        return refusal.message
    fault = refusal.message.rpartition("; ")[0] or refusal.message
    return f'{fault}; did you mean "{name.lower()}"?'


def _table(at: At) -> Callable[[Cluster, str], bool] | None:
    if at.key or not at.path:
        return None
    if at.path[-1] == "name" and "flavors" in at.path:
        return lambda cluster, name: cluster.flavors.knows(name)
    return _KNOWN.get(str(at.path[-1]))
