"""A ProvisioningRequestConfig manages resources that its ClusterQueues do not cover."""

from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.lint.kueue.admission_checks import PROVISIONING, checks
from policygen.lint.kueue.coverage import covered
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No pod needs provisioning then: the check is Ready at once, and no node is added.

    Source: pkg/controller/admissionchecks/provisioning/controller.go, requiredPodSets.
    """
    used = facts.cluster.derive(_resources)
    for config in facts.cluster.provisioning_request_configs:
        known = used.get(config.name)
        managed = config.it.managed_resources
        if known and managed and not known & set(managed):
            yield Hit(
                RULE,
                f"{config} manages {', '.join(managed)}, which its queues do not cover, so it "
                f"never adds nodes; {suggest(managed[0], known)}",
                config.at.to("spec", "managedResources"),
            )


def _resources(cluster: Cluster) -> dict[str, set[str]]:
    """The resources that the queues of each ProvisioningRequestConfig cover, by its name."""
    found: dict[str, set[str]] = {}
    for queue in cluster.cluster_queues:
        for _, reference in checks(queue):
            entry = cluster.admission_checks.get(reference.name)
            if entry and entry.it.controller_name == PROVISIONING and entry.it.parameters:
                found.setdefault(entry.it.parameters.name, set()).update(covered(queue))
    return found


RULE = ObjectRule(
    "provisioning-matches-nothing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the resource that the jobs request in managedResources.",
    judges=("ProvisioningRequestConfig",),
    check=check,
    reads=("AdmissionCheck", "ClusterQueue"),
)
