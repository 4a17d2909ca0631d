"""A ProvisioningRequestConfig has a misspelled class, which no autoscaler handles."""

from policygen.core.suggest import Names, is_typo
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_KNOWN = (
    "best-effort-atomic-scale-up.autoscaling.x-k8s.io",
    "check-capacity.autoscaling.x-k8s.io",
    "queued-provisioning.gke.io",
)
"""The classes of Cluster Autoscaler and of GKE. Others can be those of another autoscaler."""


def check(facts: Facts) -> Hits:
    """Autoscalers skip requests of other classes, so the check of the workload never becomes ready.

    Up to 1.34, Cluster Autoscaler can also have a prefix for check-capacity.
    Source: cluster-autoscaler/provisioningrequest/supported_classes.go of kubernetes/autoscaler.
    """
    for config in facts.cluster.provisioning_request_configs:
        name = config.fields.provisioning_class_name
        near = Names(_KNOWN).meant(name)
        if (
            near
            and not name.endswith(near)
            and (is_typo(name, near, like=0.8) or _lacks(name, near))
        ):
            at = config.at.to("spec", "provisioningClassName")
            yield Hit(
                RULE,
                f'{config} has provisioningClassName "{name}", which no autoscaler handles, so Kueue waits forever for '
                f'nodes; did you mean "{near}"?',
                at,
                meant=written(at, near),
            )


def _lacks(name: str, known: str) -> bool:
    """Whether a name is a known one without its domain, or with another domain of Kubernetes."""
    first, _, domain = name.partition(".")
    of_kubernetes = domain == "k8s.io" or domain.endswith((".k8s.io", ".x-k8s.io"))
    return first == known.partition(".")[0] and (not domain or of_kubernetes)


RULE = ObjectRule(
    "provisioning-class-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the exact name of the class.",
    judges=("ProvisioningRequestConfig",),
    check=check,
)
