"""The admission checks of ClusterQueues, and the controllers that Kueue has for them."""

from collections.abc import Iterator, Mapping

from policygen.core.finding import At
from policygen.core.names import PROVISIONING_CONTROLLER
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import (
    AdmissionCheckView,
    CheckRule,
    ClusterQueueView,
    MultiKueueConfigView,
)
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.quotas import flavors

MULTI_KUEUE = "kueue.x-k8s.io/multikueue"

_CHECK_CAPACITY = "check-capacity.autoscaling.x-k8s.io"
"""The class whose requests add no nodes."""

CONFIGS: Mapping[str, str] = {
    MULTI_KUEUE: "MultiKueueConfig",
    PROVISIONING_CONTROLLER: "ProvisioningRequestConfig",
}
"""The kind that configures a check, by controller."""


def checked(cluster: Cluster) -> tuple[Entry[ClusterQueueView], ...]:
    """The queues that have checks; use it with `cluster.derive`."""
    return tuple(
        queue
        for queue in cluster.cluster_queues
        if queue.fields.admission_checks_strategy is not None
        and queue.fields.admission_checks_strategy.admission_checks
    )


def checks(queue: Entry[ClusterQueueView]) -> Iterator[tuple[At, CheckRule]]:
    """The checks of a queue, each with its place."""
    strategy = queue.fields.admission_checks_strategy
    for i, check in enumerate(strategy.admission_checks if strategy else ()):
        yield queue.at.to("spec", "admissionChecksStrategy", "admissionChecks", i), check


def known_checks(
    cluster: Cluster, queue: Entry[ClusterQueueView]
) -> Iterator[tuple[At, CheckRule, AdmissionCheckView]]:
    """The checks of a queue whose AdmissionCheck is in the input, each with its place."""
    for at, check in checks(queue):
        entry = cluster.admission_checks.get(check.name)
        if entry is not None:
            yield at, check, entry.fields


def flavors_of_other_nodes(cluster: Cluster) -> frozenset[str]:
    """The flavors whose pods can run in other clusters, or on nodes that a check asks an autoscaler for; for `derive`.

    Source: https://kueue.sigs.k8s.io/docs/concepts/admission_check/provisioning_request/.
    """
    return frozenset(
        flavor.name
        for queue in checked(cluster)
        for _, rule, check in known_checks(cluster, queue)
        if check.controller_name == MULTI_KUEUE or _adds_nodes(cluster, check)
        for _, flavor in flavors(queue)
        if not rule.on_flavors or flavor.name in rule.on_flavors
    )


def _adds_nodes(cluster: Cluster, check: AdmissionCheckView) -> bool:
    if check.controller_name != PROVISIONING_CONTROLLER or check.parameters is None:
        return False
    config = cluster.provisioning_request_configs.get(check.parameters.name)
    return config is None or config.fields.provisioning_class_name != _CHECK_CAPACITY


def users(cluster: Cluster, controller: str) -> Mapping[str, list[Entry[ClusterQueueView]]]:
    """The queues with checks of a controller, by the name of the checks' configuration."""
    found: dict[str, list[Entry[ClusterQueueView]]] = {}
    for queue in cluster.cluster_queues:
        for _, _, check in known_checks(cluster, queue):
            if check.controller_name == controller and check.parameters:
                found.setdefault(check.parameters.name, []).append(queue)
    return found


def quotas_are_automated(cluster: Cluster) -> bool:
    """Whether Kueue itself may set quotas of some queue, which others can then borrow, from those of worker clusters."""
    return any(map(_sets_quotas, cluster.multi_kueue_configs))


def sets_quotas_of(cluster: Cluster, queue: Entry[ClusterQueueView]) -> bool:
    """Whether Kueue itself sets the quotas of a queue, by the configurations of its checks."""
    configs = (
        cluster.multi_kueue_configs.get(check.parameters.name)
        for _, _, check in known_checks(cluster, queue)
        if check.parameters
    )
    return any(config is not None and _sets_quotas(config) for config in configs)


def _sets_quotas(config: Entry[MultiKueueConfigView]) -> bool:
    return config.fields.quota_management == "Automated"


def stray_flavors(queue: Entry[ClusterQueueView]) -> Iterator[tuple[At, str, str, str]]:
    """Flavors in onFlavors that the queue does not have.

    Yields the place of each, the names of the check and the flavor, and a suggestion of a flavor.
    """
    used_checks = tuple(checks(queue))
    known = {flavor.name for _, flavor in flavors(queue)} if used_checks else set()
    for at, check in used_checks:
        for i, name in enumerate(check.on_flavors):
            if name not in known:
                yield at.to("onFlavors", i), check.name, name, suggest(name, known, "flavor")
