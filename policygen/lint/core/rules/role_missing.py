"""A binding names a Role or ClusterRole that does not exist."""

from collections.abc import Mapping

from policygen.core.quoting import quoted
from policygen.core.suggest import is_near, suggest
from policygen.kubernetes.object import Object
from policygen.lint.core.role_bindings import RoleBinding, bindings, bootstrap_roles, roles
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The API server accepts the binding, and grants nothing.

    A ClusterRole is reported only if its name looks misspelled, because most ClusterRoles come with
    installed programs; a Role, if the manifests have another Role in its namespace.
    Source: plugin/pkg/auth/authorizer/rbac/rbac.go, VisitRulesFor.
    """
    if facts.cluster.seen is not None:
        return
    for it in facts.cluster.derive(bindings):
        known = roles(facts.cluster, it.kind, it.namespace)
        if advice := _advice(it, known):
            yield Hit(
                RULE,
                f"{it.object} names {it.kind} {quoted(it.role)}, which does not exist, so it grants no rights; {advice}",
                it.object.at.to("roleRef", "name"),
            )


def _advice(it: RoleBinding, known: Mapping[str, Object]) -> str:
    """How to fix the name; empty if the role exists, or can exist on the cluster."""
    bootstrap = bootstrap_roles(it.kind, it.namespace)
    if (
        not it.role
        or it.role in known
        or it.role in bootstrap
        or it.kind not in {"Role", "ClusterRole"}
    ):
        return ""
    near = [each for each in (*known, *sorted(bootstrap)) if is_near(it.role, each)]
    if near:
        return f"did you mean {quoted(near[0])}?"
    is_certain = it.kind == "Role" and known and not it.role.startswith(("kubeadm:", "system:"))
    return suggest(it.role, known) if is_certain else ""


RULE = ObjectRule(
    "role-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing role, or create the role.",
    judges=(),
    check=check,
    needs=frozenset({Need.WHOLE, Need.BUILT}),
)
