"""A ClusterRole with just the permissions that reading a cluster takes."""

from collections.abc import Iterable

from policygen.cluster.permissions import Permission
from policygen.render.scalar import encode


def cluster_role(name: str, permissions: Iterable[Permission]) -> str:
    """The manifest. Resources of one group stand in one rule, those of some names in their own."""
    rules: dict[tuple[str, tuple[str, ...]], list[str]] = {}
    for it in permissions:
        rules.setdefault((it.group, it.names), []).append(it.resource)
    lines = [
        "---",
        "apiVersion: rbac.authorization.k8s.io/v1",
        "kind: ClusterRole",
        "metadata:",
        f"  name: {encode(name)}",
        "rules:",
    ]
    for (group, names), resources in sorted(rules.items()):
        lines += ["  - apiGroups:", f"      - {encode(group)}"]
        lines += ["    resources:", *(f"      - {encode(each)}" for each in sorted(resources))]
        if names:
            lines += ["    resourceNames:", *(f"      - {encode(each)}" for each in names)]
        lines += ["    verbs:", "      - list"]
    return "\n".join(lines) + "\n"
