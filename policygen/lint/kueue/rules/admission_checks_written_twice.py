"""A v1beta1 ClusterQueue has both admissionChecks and admissionChecksStrategy."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.untyped import mappings
from policygen.lint.rule import Facts, Family, Fix, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """On conversion the list replaces the strategy, and its onFlavors are lost.

    Source: apis/kueue/v1beta1/clusterqueue_conversion.go. Before 0.15 the webhook refuses it.
    """
    for it in facts.cluster.of(KUEUE, "ClusterQueue"):
        if it.version != "v1beta1":
            continue
        spec = it.data.get("spec")
        if not isinstance(spec, dict):
            continue
        if spec.get("admissionChecks") and spec.get("admissionChecksStrategy"):
            at = it.at.to("spec", "admissionChecks").on_key()
            yield Hit(
                RULE,
                f"{it} has admissionChecks, which replace its admissionChecksStrategy and drop "
                "onFlavors; keep admissionChecksStrategy only",
                at,
                edits=(Edit(Verb.REMOVE, at),) if _alike(spec) else (),
            )


def _alike(spec: Mapping[str, Any]) -> bool:
    """Whether both name the same checks, so that only onFlavors can differ."""
    checks = mappings(spec, "admissionChecksStrategy", "admissionChecks")
    names = [it.get("name") for it in checks]
    return bool(sorted(map(str, names)) == sorted(map(str, spec["admissionChecks"])))


RULE = ObjectRule(
    "admission-checks-written-twice",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    fix=Fix.UNSAFE,
    since={"kueue": (0, 15)},
)
