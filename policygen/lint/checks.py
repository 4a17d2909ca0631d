"""The admission checks of ClusterQueues, and the controllers that Kueue brings for them."""

from collections.abc import Iterator, Mapping

from policygen.cluster.kueue import CheckRule, ClusterQueue
from policygen.cluster.table import Entry
from policygen.finding import At

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"
PROVISIONING = "kueue.x-k8s.io/provisioning-request"

CONFIGS: Mapping[str, str] = {
    MULTI_KUEUE: "MultiKueueConfig",
    PROVISIONING: "ProvisioningRequestConfig",
}
"""The kind that configures a check, by controller."""


def checks(queue: Entry[ClusterQueue]) -> Iterator[tuple[At, CheckRule]]:
    """The checks of a queue, each with its place."""
    strategy = queue.it.admission_checks_strategy
    for i, each in enumerate(strategy.admission_checks if strategy else ()):
        yield queue.at.to("spec", "admissionChecksStrategy", "admissionChecks", i), each
