"""A role or binding has rules, a roleRef or subjects that RBAC refuses."""

from typing import Any

from policygen.api_validation.metadata import is_subdomain
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import numbered
from policygen.lint.core import selectors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

RBAC = "rbac.authorization.k8s.io"
_ROLES = {"Role": False, "ClusterRole": True}
"""Whether a kind of role is for all namespaces."""
_BINDINGS = {"RoleBinding": ("Role", "ClusterRole"), "ClusterRoleBinding": ("ClusterRole",)}
"""The kinds of role that a kind of binding can refer to."""
_GROUPS = {"ServiceAccount": "", "User": RBAC, "Group": RBAC}
"""The API group of a kind of subject."""


def check(facts: Facts) -> Hits:
    """Skips fields of a wrong type, which `wrong-type` reports.

    Source: pkg/apis/rbac/validation/validation.go.
    """
    for kind, cluster_wide in _ROLES.items():
        for obj in facts.cluster.of(RBAC, kind):
            yield from _rules(obj, cluster_wide=cluster_wide)
            aggregation = obj.data.get("aggregationRule")
            if not cluster_wide or not isinstance(aggregation, dict):
                continue
            if not aggregation.get("clusterRoleSelectors"):
                message = f"{obj} has an aggregationRule without clusterRoleSelectors, which is refused; write clusterRoleSelectors"
                yield Hit(RULE, message, obj.at / "aggregationRule")
            for i, selector in numbered(aggregation, "clusterRoleSelectors"):
                read = selectors.of_data(selector)
                for path, fault in selectors.faults(read) if read else ():
                    at = obj.at.to("aggregationRule", "clusterRoleSelectors", i, *path)
                    yield Hit(RULE, f"{obj}: {fault}", at)
    for kind, roles in _BINDINGS.items():
        for obj in facts.cluster.of(RBAC, kind):
            yield from _role(obj, roles)
            yield from _subjects(obj, cluster_wide=kind == "ClusterRoleBinding")


def _rules(obj: Object, *, cluster_wide: bool) -> Hits:
    for i, rule in numbered(obj.data.get("rules")):
        at = obj.at.to("rules", i)
        if rule.get("verbs") == []:
            yield Hit(
                RULE,
                f"{obj} has a rule without verbs, which is refused; write at least one entry in verbs",
                at / "verbs",
            )
        urls = rule.get("nonResourceURLs")
        if not isinstance(urls, list | None):
            continue
        if urls and not cluster_wide:
            yield Hit(
                RULE,
                f"{obj} has nonResourceURLs, which only a ClusterRole can have; use a ClusterRole instead",
                at / "nonResourceURLs",
            )
        elif urls and any(rule.get(key) for key in ("apiGroups", "resources", "resourceNames")):
            yield Hit(
                RULE,
                f"{obj} has resources and URLs in one rule, which is refused; write one rule for resources and one for URLs",
                at / "nonResourceURLs",
            )
        elif not urls:
            for key in ("apiGroups", "resources"):
                if rule.get(key) in (None, []):
                    yield Hit(
                        RULE,
                        f"{obj} has a rule without {key}, which is refused; write at least one entry in {key}",
                        at,
                    )


def _role(obj: Object, roles: tuple[str, ...]) -> Hits:
    reference = obj.data.get("roleRef")
    texts = _texts(reference, "apiGroup", "kind", "name")
    if texts is None:
        return
    at = obj.at / "roleRef"
    group, kind, name = texts
    if group not in {"", RBAC}:
        message = (
            f"{obj} has a roleRef with apiGroup {quoted(group)}, which is refused; write {RBAC}"
        )
        yield Hit(RULE, message, at / "apiGroup")
    if kind not in roles:
        message = f"{obj} has a roleRef of kind {quoted(kind)}, which is refused; write {' or '.join(roles)}"
        yield Hit(RULE, message, at / "kind")
    if name in {"", ".", ".."} or set("/%") & set(name):
        message = f"{obj} has a roleRef with name {quoted(name)}, which is not valid; write the name of a role"
        yield Hit(RULE, message, at / "name")


def _subjects(obj: Object, *, cluster_wide: bool) -> Hits:
    for i, subject in numbered(obj.data.get("subjects")):
        at = obj.at.to("subjects", i)
        texts = _texts(subject, "kind", "apiGroup", "name", "namespace")
        if texts is None:
            continue
        kind, group, name, namespace = texts
        if not name:
            yield Hit(
                RULE,
                f"{obj} has a subject without a name, which is refused; write the name of the subject",
                at,
            )
        elif kind == "ServiceAccount" and not is_subdomain(name):
            message = f"{obj} has a ServiceAccount as subject with the invalid name {quoted(name)}; correct the name"
            yield Hit(RULE, message, at / "name")
        if kind not in _GROUPS:
            message = f"{obj} has a subject of kind {quoted(kind)}, which is refused; write {listed([*_GROUPS])}"
            yield Hit(RULE, message, at / "kind")
        elif group not in {"", _GROUPS[kind]}:
            message = f"{obj} has a {kind} as subject with apiGroup {quoted(group)}, which is refused; omit apiGroup"
            yield Hit(RULE, message, at / "apiGroup")
        if kind == "ServiceAccount" and cluster_wide and not namespace:
            yield Hit(
                RULE,
                f"{obj} has a ServiceAccount as subject without a namespace, which is refused; write its namespace",
                at,
            )


def _texts(data: Any, *keys: str) -> list[str] | None:
    """The strings under some keys, empty if missing; None if any has another type."""
    if not isinstance(data, dict):
        return None
    found = ["" if data.get(key) is None else data[key] for key in keys]
    return found if all(isinstance(each, str) for each in found) else None


RULE = ObjectRule(
    "binding-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Correct the rule, roleRef or subject that the finding names.",
    judges=(),
    check=check,
)
