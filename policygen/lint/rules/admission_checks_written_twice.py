"""A v1beta1 ClusterQueue has both admissionChecks and admissionChecksStrategy."""

from collections.abc import Iterator

from policygen.cluster.view import KUEUE
from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """On conversion the list replaces the strategy, and its onFlavors are lost.

    Source: apis/kueue/v1beta1/clusterqueue_conversion.go. Before 0.15 the webhook refuses it.
    """
    for it in facts.cluster.of(KUEUE, "ClusterQueue"):
        spec = it.data.get("spec")
        if it.version != "v1beta1" or not isinstance(spec, dict):
            continue
        if spec.get("admissionChecks") and spec.get("admissionChecksStrategy"):
            yield Claim(
                f"{it} has admissionChecks, which replace its admissionChecksStrategy and drop "
                "onFlavors; keep admissionChecksStrategy only",
                it.at.to("spec", "admissionChecks").on_key(),
            )


RULE = Rule(
    "admission-checks-written-twice",
    Severity.WARNING,
    Family.INERT,
    judges=("ClusterQueue",),
    check=check,
    since={"kueue": (0, 15)},
)
