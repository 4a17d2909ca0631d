"""A role or binding says what RBAC cannot mean: of another group, of no one, of resources and URLs at once."""

from collections.abc import Iterator
from typing import Any

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import numbered
from policygen.lint.rule import Facts, Family, ObjectRule

RBAC = "rbac.authorization.k8s.io"
_ROLES = {"Role": False, "ClusterRole": True}
"""Whether a kind of role is of the whole cluster."""
_BINDINGS = {"RoleBinding": ("Role", "ClusterRole"), "ClusterRoleBinding": ("ClusterRole",)}
"""What a kind of binding can refer to."""
_GROUPS = {"ServiceAccount": "", "User": RBAC, "Group": RBAC}
"""The API group of a kind of subject."""


def check(facts: Facts) -> Iterator[Hit]:
    """What has another type than its field is refused already.

    Source: pkg/apis/rbac/validation/validation.go.
    """
    for kind, whole in _ROLES.items():
        for it in facts.cluster.of(RBAC, kind):
            yield from _rules(it, whole=whole)
            aggregation = it.data.get("aggregationRule")
            if not whole or not isinstance(aggregation, dict):
                continue
            if not aggregation.get("clusterRoleSelectors"):
                message = f"{it} aggregates roles that nothing selects; write clusterRoleSelectors"
                yield Hit(RULE, message, it.at / "aggregationRule")
    for kind, roles in _BINDINGS.items():
        for it in facts.cluster.of(RBAC, kind):
            yield from _role(it, roles)
            yield from _subjects(it, whole=kind == "ClusterRoleBinding")


def _rules(it: Object, *, whole: bool) -> Iterator[Hit]:
    for i, rule in numbered(it.data.get("rules")):
        at = it.at.to("rules", i)
        urls = rule.get("nonResourceURLs")
        if not isinstance(urls, list | None):
            continue
        if urls and not whole:
            yield Hit(
                RULE,
                f"{it} is of one namespace, and URLs are of none; write a ClusterRole",
                at / "nonResourceURLs",
            )
        elif urls and any(rule.get(key) for key in ("apiGroups", "resources", "resourceNames")):
            yield Hit(
                RULE,
                f"{it} names resources and URLs in one rule; write two rules",
                at / "nonResourceURLs",
            )
        elif not urls:
            for key in ("apiGroups", "resources"):
                if not rule.get(key):
                    yield Hit(RULE, f"{it} has a rule without {key}; write some", at)


def _role(it: Object, roles: tuple[str, ...]) -> Iterator[Hit]:
    of = it.data.get("roleRef")
    texts = _texts(of, "apiGroup", "kind", "name")
    if texts is None:
        return
    at = it.at / "roleRef"
    group, kind, name = texts
    if group not in {"", RBAC}:
        message = f"{it} refers to a role of {quoted(group)}; write apiGroup: {RBAC}"
        yield Hit(RULE, message, at / "apiGroup")
    if kind not in roles:
        yield Hit(
            RULE, f"{it} refers to {quoted(kind)}; write kind: {' or '.join(roles)}", at / "kind"
        )
    if name in {"", ".", ".."} or set("/%") & set(name):
        message = f"{it} refers to {quoted(name)}, which is no name of a role; write one"
        yield Hit(RULE, message, at / "name")


def _subjects(it: Object, *, whole: bool) -> Iterator[Hit]:
    for i, subject in numbered(it.data.get("subjects")):
        at = it.at.to("subjects", i)
        texts = _texts(subject, "kind", "apiGroup", "name", "namespace")
        if texts is None:
            continue
        kind, group, name, namespace = texts
        if not name:
            yield Hit(RULE, f"{it} has a subject without a name; write one", at)
        elif kind == "ServiceAccount" and not is_subdomain(name):
            message = f"{it} has a ServiceAccount {quoted(name)}, and none is called so"
            yield Hit(RULE, f"{message}; write its name", at / "name")
        if kind not in _GROUPS:
            message = f"{it} has a subject of kind {quoted(kind)}; write {', '.join(_GROUPS)}"
            yield Hit(RULE, message, at / "kind")
        elif group not in {"", _GROUPS[kind]}:
            message = f"{it} has a {kind} of {quoted(group)}; leave apiGroup out"
            yield Hit(RULE, message, at / "apiGroup")
        if kind == "ServiceAccount" and whole and not namespace:
            yield Hit(RULE, f"{it} has a ServiceAccount without a namespace; write it", at)


def _texts(data: Any, *keys: str) -> list[str] | None:
    """The texts under some keys, empty where there is none; None if any is of another type."""
    if not isinstance(data, dict):
        return None
    found = ["" if data.get(key) is None else data[key] for key in keys]
    return found if all(isinstance(each, str) for each in found) else None


RULE = ObjectRule(
    "binding-refused", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check
)
