"""An object is of a version that Kueue is about to drop."""

from collections.abc import Iterator

from policygen.cluster.view import KUEUE
from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule

_KINDS = (
    "AdmissionCheck",
    "ClusterQueue",
    "Cohort",
    "LocalQueue",
    "MultiKueueCluster",
    "MultiKueueConfig",
    "ProvisioningRequestConfig",
    "ResourceFlavor",
    "Topology",
    "WorkloadPriorityClass",
)


def check(facts: Facts) -> Iterator[Claim]:
    """Kueue stores v1beta2 since 0.16; read back as v1beta1, newer fields are missing.

    Source: config/components/crd/bases; issue 9281.
    """
    if facts.cluster.seen:
        return  # a server gives the version that it is asked for
    for kind in _KINDS:
        for it in facts.cluster.of(KUEUE, kind):
            if it.version == "v1beta1":
                yield Claim(
                    f"{it} is v1beta1, which is deprecated; write apiVersion: {KUEUE}/v1beta2",
                    it.at / "apiVersion",
                )


RULE = Rule(
    "kueue-version-outdated",
    Severity.INFO,
    Family.INERT,
    judges=_KINDS,
    check=check,
    since={"kueue": (0, 16)},
)
