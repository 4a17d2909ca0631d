"""Roles with exactly the permissions that policygen needs to read a cluster."""

from collections.abc import Iterable

from policygen.client.permissions import Permission
from policygen.render.scalar import encode


def roles(name: str, permissions: Iterable[Permission]) -> str:
    """The manifests: a ClusterRole, and a Role for each namespace in which objects are listed.

    Resources of one group are in one rule. Resources with names are in separate rules.
    """
    places: dict[str, dict[tuple[str, tuple[str, ...]], list[str]]] = {}
    for permission in permissions:
        rules = places.setdefault(permission.namespace, {})
        rules.setdefault((permission.group, permission.names), []).append(permission.resource)
    return "".join(_role(name, namespace, rules) for namespace, rules in sorted(places.items()))


def _role(name: str, namespace: str, rules: dict[tuple[str, tuple[str, ...]], list[str]]) -> str:
    lines = [
        "---",
        "apiVersion: rbac.authorization.k8s.io/v1",
        f"kind: {'Role' if namespace else 'ClusterRole'}",
        "metadata:",
        f"  name: {encode(name)}",
        *([f"  namespace: {encode(namespace)}"] if namespace else []),
        "rules:",
    ]
    for (group, names), resources in sorted(rules.items()):
        lines += ["  - apiGroups:", f"      - {encode(group)}"]
        lines += ["    resources:", *(f"      - {encode(each)}" for each in sorted(resources))]
        if names:
            lines += ["    resourceNames:", *(f"      - {encode(each)}" for each in names)]
        lines += ["    verbs:", "      - list"]
    return "\n".join(lines) + "\n"
