"""No ClusterQueue of a ProvisioningRequestConfig covers any of its managedResources."""

from policygen.core.names import PROVISIONING_CONTROLLER
from policygen.core.suggest import suggest
from policygen.lint.kueue.admission_checks import users
from policygen.lint.kueue.coverage import covered
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No pod needs provisioning then: the check is Ready at once, and no node is added.

    Source: pkg/controller/admissionchecks/provisioning/controller.go, requiredPodSets.
    """
    queues = users(facts.cluster, PROVISIONING_CONTROLLER)
    for config in facts.cluster.provisioning_request_configs:
        known = set().union(*map(covered, queues.get(config.name, ())))
        managed = config.fields.managed_resources
        if known and managed and not known & set(managed):
            yield Hit(
                RULE,
                f"{config} has managedResources {', '.join(managed)}, but no ClusterQueue with "
                "this configuration covers any of these resources, so Kueue requests no nodes; "
                f"{suggest(managed[0], known)}",
                config.at.to("spec", "managedResources"),
            )


RULE = ObjectRule(
    "provisioning-matches-nothing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="In managedResources, write a resource that the jobs request.",
    judges=("ProvisioningRequestConfig",),
    check=check,
    reads=("AdmissionCheck", "ClusterQueue"),
)
