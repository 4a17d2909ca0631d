"""The admission checks of ClusterQueues, and the controllers that Kueue brings for them."""

from collections.abc import Iterator, Mapping

from policygen.core.finding import At
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import CheckRule, ClusterQueue
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import flavors

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"

CONFIGS: Mapping[str, str] = {
    MULTI_KUEUE: "MultiKueueConfig",
    PROVISIONING: "ProvisioningRequestConfig",
}
"""The kind that configures a check, by controller."""


def checked(cluster: Cluster) -> tuple[Entry[ClusterQueue], ...]:
    """The queues that have checks; use it with `cluster.derive`."""
    return tuple(
        queue
        for queue in cluster.cluster_queues
        if queue.it.admission_checks_strategy is not None
        and queue.it.admission_checks_strategy.admission_checks
    )


def checks(queue: Entry[ClusterQueue]) -> Iterator[tuple[At, CheckRule]]:
    """The checks of a queue, each with its place."""
    strategy = queue.it.admission_checks_strategy
    for i, each in enumerate(strategy.admission_checks if strategy else ()):
        yield queue.at.to("spec", "admissionChecksStrategy", "admissionChecks", i), each


def stray_flavors(queue: Entry[ClusterQueue]) -> Iterator[tuple[At, str, str]]:
    """Flavors that a check is for and that the queue does not have.

    Each with its place, the beginning of what is to be said, and the flavor that may be meant.
    """
    mine = tuple(checks(queue))
    used = {flavor.name for _, flavor in flavors(queue)} if mine else set()
    for at, each in mine:
        for i, name in enumerate(each.on_flavors):
            if name not in used:
                said = f'{queue} asks for check "{each.name}" on flavor "{name}", which it does not have'
                yield at.to("onFlavors", i), said, suggest(name, used)
