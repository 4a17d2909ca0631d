"""Immutable fields: an object with a difference in such a field is deleted and created again.

Sources: the CRDs' rules about `oldSelf` (`api_validation.schemas`); pkg/apis/{apps,core,rbac,scheduling}/
validation of k8s.io/kubernetes 1.36.3.
"""

from typing import Any

from policygen.api_validation import schemas
from policygen.api_validation.structural import Schema, below
from policygen.core.finding import Path

_CODE: dict[tuple[str, str], tuple[Path, ...]] = {
    ("scheduling.k8s.io", "PriorityClass"): (("value",), ("preemptionPolicy",)),
    ("", "ResourceQuota"): (("spec", "scopes"), ("spec", "scopeSelector")),
    ("apps", "Deployment"): (("spec", "selector"),),
    ("rbac.authorization.k8s.io", "RoleBinding"): (("roleRef",),),
    ("rbac.authorization.k8s.io", "ClusterRoleBinding"): (("roleRef",),),
}

_FLAVOR = ("nodeLabels", "tolerations", "topologyName")
"""Immutable fields of a ResourceFlavor with a topology."""


def is_immutable(found: dict[str, Any], path: Path) -> bool:
    """Whether the server refuses to change this field of this object."""
    api_version, kind = str(found.get("apiVersion", "")), str(found.get("kind", ""))
    group = api_version.rpartition("/")[0]
    if any(path[: len(it)] == it for it in _CODE.get((group, kind), ())):
        return True
    if kind == "ConfigMap" and found.get("immutable") is True:
        return path[:1] != ("metadata",)
    spec = found.get("spec")
    if kind == "ResourceFlavor" and isinstance(spec, dict) and spec.get("topologyName"):
        return path[:1] == ("spec",) and len(path) > 1 and path[1] in _FLAVOR
    served = schemas.served(api_version, kind)
    return served is not None and _frozen(served.schema, path)


def _frozen(schema: Schema, path: Path) -> bool:
    """Whether a CEL rule on the path forbids changes."""
    for step in path:
        schema = below(schema, step)
        rules = schema.get("x-kubernetes-validations", ())
        if any(rule["rule"] == "self == oldSelf" for rule in rules):
            return True
    return False
