"""The namespaces of objects in the input that do not exist."""

from collections.abc import Mapping, Sequence

from policygen.api_validation import schemas
from policygen.core.names import (
    KUEUE_NAMESPACE,
    MANAGED_BY,
    SYSTEM_NAMESPACES,
    TOOL,
    VOLCANO_NAMESPACE,
)
from policygen.kubernetes.object import Object
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Need

_ALWAYS = ("default", *SYSTEM_NAMESPACES)
_OF_CONTROLLERS = (KUEUE_NAMESPACE, "volcano-monitoring", VOLCANO_NAMESPACE)
"""Namespaces from the installation manifests of Kueue and Volcano."""


def existing_namespaces(facts: Facts) -> frozenset[str]:
    """The names of namespaces that the input has, or that its system has; use it with `facts.derive`."""
    teams = facts.spec.teams if facts.spec else ()
    running = settings(facts).entry
    return frozenset(
        {
            *(obj.name for obj in facts.cluster.of("", "Namespace")),
            *(namespace.name for team in teams for namespace in team.namespaces),
            *_ALWAYS,
            *_OF_CONTROLLERS,
            running.fields.namespace if running else "",
        }
    )


def missing_namespaces(facts: Facts) -> Mapping[str, Sequence[Object]]:
    """The objects of each; empty if the input has no Namespace. Use it with `facts.derive`.

    Rendered objects are skipped: other teams may create theirs.
    """
    nameless = any(not it.name for it in facts.cluster.of("", "Namespace"))  # any may be meant
    if Need.NAMESPACES not in facts.given or nameless:
        return {}
    existing = facts.derive(existing_namespaces)
    missing: dict[str, list[Object]] = {}
    for obj in facts.cluster.objects:
        if obj.namespace not in existing and obj.labels.get(MANAGED_BY) != TOOL and _in_one(obj):
            missing.setdefault(obj.namespace, []).append(obj)
    return missing


def _in_one(obj: Object) -> bool:
    """Whether its kind is namespaced; true for unknown kinds."""
    served = schemas.served(obj.api_version, obj.kind)
    return bool(obj.namespace) and (served is None or served.namespaced)
