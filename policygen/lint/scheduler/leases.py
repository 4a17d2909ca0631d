"""The lease by which replicas of a kube-scheduler elect their leader."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import KUBE_SYSTEM
from policygen.kubernetes import controllers
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import SchedulerConfigurationView
from policygen.kubernetes.controllers import Controller
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import entries, mapping, mappings, text

MAIN = "kube-scheduler"
"""The name of the lease of the main scheduler, and the default."""
_FLAG = "--leader-elect"


class Lease(Struct, frozen=True, eq=False):
    """A lease that a configuration names."""

    name: str
    namespace: str
    at: At
    is_written: bool
    """Whether the configuration has its name; else it is the default."""
    is_election_written: bool
    """Whether the configuration turns the election on; else this is the default."""


def lease(entry: Entry[SchedulerConfigurationView]) -> Lease | None:
    """The lease of a configuration; None without election. Source: SetDefaults_KubeSchedulerConfiguration."""
    data = entry.object.data
    election = mapping(data, "leaderElection")
    if election.get("leaderElect") is False:
        return None
    name = text(election, "resourceName")
    steps = ("leaderElection", "resourceName") if name else ("leaderElection",) if election else ()
    namespace = text(election, "resourceNamespace") or KUBE_SYSTEM
    return Lease(
        name or MAIN,
        namespace,
        entry.at.to(*steps),
        is_written=bool(name),
        is_election_written=election.get("leaderElect") is True,
    )


def second_scheduler(cluster: Cluster) -> Controller | None:
    """The only Deployment that runs kube-scheduler, if its command line sets no election."""
    found = cluster.derive(_schedulers)
    is_only = len(found) == 1 == len(cluster.scheduler_configurations)
    return found[0] if is_only and not any(map(_sets_election, _words(found[0]))) else None


def runs_elsewhere(cluster: Cluster) -> bool:
    """Whether the input has no Deployment that runs kube-scheduler, and so no command line of one."""
    return cluster.seen is None and not cluster.derive(_schedulers)


def _schedulers(cluster: Cluster) -> tuple[Controller, ...]:
    found = controllers.controllers(cluster.of("apps", "Deployment"))
    return tuple(it for it in found if it.component == controllers.SCHEDULER)


def _sets_election(word: object) -> bool:
    return not isinstance(word, str) or word.startswith(_FLAG)


def _words(it: Controller) -> Iterator[object]:
    for container in mappings(it.object.data, "spec", "template", "spec", "containers"):
        for key in controllers.COMMAND_LINE:
            yield from entries(container, key)
