"""A v1beta1 ClusterQueue has both admissionChecks and admissionChecksStrategy."""

from collections.abc import Mapping
from typing import Any

from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.untyped import mappings
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """When Kueue converts the queue, the list replaces the strategy, and onFlavors is lost.

    Source: apis/kueue/v1beta1/clusterqueue_conversion.go. Before 0.15 the webhook refuses both.
    """
    for queue in facts.cluster.of(KUEUE, "ClusterQueue"):
        if queue.version != "v1beta1":
            continue
        spec = queue.data.get("spec")
        if not isinstance(spec, dict):
            continue
        if spec.get("admissionChecks") and spec.get("admissionChecksStrategy"):
            at = queue.at.to("spec", "admissionChecks").on_key()
            yield Hit(
                RULE,
                f"admissionChecks of {queue} replaces its admissionChecksStrategy, so onFlavors "
                "is lost; remove admissionChecks and keep admissionChecksStrategy",
                at,
                edits=(Edit(Verb.REMOVE, at),) if _same_checks(spec) else (),
            )


def _same_checks(spec: Mapping[str, Any]) -> bool:
    """True if both fields name the same checks, so that they can differ only in onFlavors."""
    checks = mappings(spec, "admissionChecksStrategy", "admissionChecks")
    names = [used.get("name") for used in checks]
    return bool(sorted(map(str, names)) == sorted(map(str, spec["admissionChecks"])))


RULE = ObjectRule(
    "admission-checks-set-twice",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove admissionChecks and keep admissionChecksStrategy.",
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.UNSAFE,
    since={"kueue": (0, 15)},
    aliases=("admission-checks-written-twice",),
)
