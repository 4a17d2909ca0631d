"""An object has an apiVersion or kind that the target API server does not serve."""

from policygen.core.versions import KUEUE_V1BETA2
from policygen.kubernetes import autoscaler_upgrade
from policygen.kubernetes.cluster import KUEUE
from policygen.kubernetes.object import Object
from policygen.lint.core.api_versions import fault, is_of_kind, successor
from policygen.lint.core.kind_names import wrong_kind
from policygen.lint.kueue.version_upgrade import upgrade
from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """The API server answers 404. Source: what running servers serve, `schemas/cluster`."""
    known: dict[tuple[str, str], str | None] = {}  # by apiVersion and kind
    for obj in facts.cluster.objects:
        kind, wrong = (obj.api_version, obj.kind), wrong_kind(obj)
        if kind not in known:
            known[kind] = fault(obj, facts.target)
        message = wrong.message if wrong else known[kind]
        if message:
            at = obj.at / ("kind" if is_of_kind(obj) else "apiVersion")
            yield Hit(RULE, f"{obj}: {message}", at, edits=_edits(obj, facts))


def _edits(obj: Object, facts: Facts) -> tuple[Edit, ...]:
    """The edits that change the object to a version that the target serves; empty if unknown."""
    if obj.group == KUEUE and facts.target["kueue"].release >= KUEUE_V1BETA2:
        return upgrade(obj)
    if (obj.api_version, obj.kind) == (autoscaler_upgrade.VERSION, "HorizontalPodAutoscaler"):
        return autoscaler_upgrade.upgraded(obj)
    current = successor(obj, facts.target)
    return (Edit(Verb.REWRITE, obj.at / "apiVersion", current),) if current else ()


RULE = ObjectRule(
    "api-version-not-served",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the apiVersion or kind that the finding names.",
    judges=(),
    check=check,
    fix=Fix.SAFE,
)
