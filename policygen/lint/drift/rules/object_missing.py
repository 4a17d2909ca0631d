"""An object that the spec renders is not on the cluster, or is being deleted."""

from typing import TYPE_CHECKING

from policygen.core.quoting import counted
from policygen.drift.rule_names import MISSING
from policygen.kubernetes.snapshot import GroupKind
from policygen.lint.drift.needs import KINDS, NEEDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

if TYPE_CHECKING:  # imported only for live clusters
    from policygen.drift.drift import RenderedObject

_NAMESPACE = GroupKind("", "Namespace")
_PROGRAMS = {
    "jobset.x-k8s.io": "JobSet",
    "karpenter.sh": "Karpenter",
    "leaderworkerset.x-k8s.io": "LeaderWorkerSet",
    "monitoring.coreos.com": "Prometheus Operator",
}
"""The programs of kinds that policygen renders without a target version of their own, by API group."""


def check(facts: Facts) -> Hits:
    """Checks only kinds and namespaces that were read.

    Source: etcd keeps nothing of a deleted object, so the author is unknown.
    """
    from policygen.drift.drift import deleted_at

    if facts.rendered is None:
        return
    drift = facts.rendered.against(facts.cluster)
    seen = facts.cluster.seen
    missing = _missing_namespaces(facts)
    unserved: dict[str, list[RenderedObject]] = {}
    for expected in drift.missing:
        if seen and GroupKind(expected.object.group, expected.object.kind) in seen.unserved:
            unserved.setdefault(_program(expected), []).append(expected)
            continue
        origin = facts.rendered.origin(expected)
        place = expected.object.namespace
        advice = "apply the spec again"
        if place in missing:
            advice = (
                f"namespace {place} is missing too; create the namespace, then apply the spec again"
            )
        yield Hit(
            RULE,
            f"{expected.object} is not on the cluster, but the spec renders it: the object was deleted "
            f"or never applied; {advice}",
            expected.object.at,
            (origin,) if origin else (),
        )
    for program, these in unserved.items():
        names = sorted({expected.object.kind for expected in these})
        more = f" and {counted(len(names) - 3, 'more kind')}" if len(names) > 3 else ""
        yield Hit(
            RULE,
            f"the cluster does not serve {', '.join(names[:3])}{more}, so "
            f"{counted(len(these), 'object')} of the spec cannot be created: {program} is not "
            f"installed or is too old; install or upgrade {program}, or select another cluster",
            None,
        )
    for expected, found in drift.leaving:
        origin = facts.rendered.origin(expected)
        yield Hit(
            RULE,
            f"{found} was deleted at {deleted_at(found)} and disappears when its finalizers are "
            "removed; the deletion cannot be undone; wait, then apply the spec again",
            found.at,
            (origin,) if origin else (),
        )


def _program(expected: "RenderedObject") -> str:
    """The program whose kind an object has."""
    component = expected.item.kind.component
    return _PROGRAMS.get(expected.object.group, component.capitalize())


def _missing_namespaces(facts: Facts) -> set[str]:
    """Namespaces that are missing on the cluster and that the spec does not render."""
    seen, rendered = facts.cluster.seen, facts.rendered
    if rendered is None or seen is None or seen.namespaces or _NAMESPACE not in seen.read:
        return set()
    needed = {it.object.namespace for it in rendered.expected}
    made = {it.object.name for it in rendered.expected if it.object.kind == "Namespace"}
    existing = {it.name for it in facts.cluster.of(*_NAMESPACE)}
    return needed - made - existing - {""}


RULE = ObjectRule(
    MISSING,
    Severity.ERROR,
    Family.DRIFT,
    __doc__,
    remedy="Render and apply the spec again.",
    judges=KINDS,
    check=check,
    needs=NEEDS,
)
