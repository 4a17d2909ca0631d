"""An object is in a namespace that does not exist."""

from policygen.api_validation import schemas
from policygen.core.names import (
    KUEUE_NAMESPACE,
    MANAGED_BY,
    SYSTEM_NAMESPACES,
    TOOL,
    VOLCANO_NAMESPACE,
)
from policygen.core.quoting import counted
from policygen.core.suggest import suggest
from policygen.kubernetes.object import Object
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_ALWAYS = ("default", *SYSTEM_NAMESPACES)
_OF_CONTROLLERS = (KUEUE_NAMESPACE, "volcano-monitoring", VOLCANO_NAMESPACE)
"""Namespaces from the installation manifests of Kueue and Volcano."""


def check(facts: Facts) -> Hits:
    """One finding for each namespace. Rendered objects are skipped: other teams may create theirs.

    Source: the admission plugin NamespaceLifecycle.
    """
    known = {obj.name for obj in facts.cluster.of("", "Namespace")}
    teams = facts.spec.teams if facts.spec else ()
    of_teams = {namespace.name for team in teams for namespace in team.namespaces}
    running = settings(facts).entry
    existing = {
        *known,
        *of_teams,
        *_ALWAYS,
        *_OF_CONTROLLERS,
        running.fields.namespace if running else "",
    }
    unknown: dict[str, list[Object]] = {}
    for obj in facts.cluster.objects:
        if obj.namespace not in existing and obj.labels.get(MANAGED_BY) != TOOL and _in_one(obj):
            unknown.setdefault(obj.namespace, []).append(obj)
    for name, (first, *others) in unknown.items():
        refused = f"{first} and {counted(len(others), 'other object')}" if others else str(first)
        yield Hit(
            RULE,
            f'namespace "{name}" does not exist, so the API server refuses {refused}; '
            f"{suggest(name, known)}",
            first.at.to("metadata", "namespace"),
            tuple(obj.at.to("metadata", "namespace") for obj in others),
        )


def _in_one(obj: Object) -> bool:
    """Whether its kind is namespaced; true for unknown kinds."""
    served = schemas.served(obj.api_version, obj.kind)
    return bool(obj.namespace) and (served is None or served.namespaced)


RULE = ObjectRule(
    "namespace-missing",
    Severity.WARNING,
    Family.INVALID,
    __doc__,
    remedy="Correct the name, add the Namespace, or lint with --partial.",
    judges=(),
    check=check,
    needs=frozenset({Need.NAMESPACES, Need.WHOLE}),
    reads=("Configuration",),
)
