"""A binding names a ServiceAccount that does not exist."""

from policygen.core.finding import At
from policygen.core.names import SYSTEM_NAMESPACES
from policygen.core.quoting import quoted, some
from policygen.core.suggest import is_near, suggest
from policygen.lint.core.missing_references import known_objects
from policygen.lint.core.role_bindings import ACCOUNT, bindings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The API server accepts the binding, and no pod has its rights.

    Checks namespaces for which the manifests have a ServiceAccount. In namespaces of the system, which
    have further ones, a name must look misspelled.
    Source: pkg/apis/rbac/validation/validation.go; plugin/pkg/auth/authorizer/rbac/rbac.go, appliesTo.
    """
    if facts.cluster.seen is not None:
        return
    known = facts.cluster.derive(known_objects)
    found: dict[tuple[str, str], list[tuple[str, At]]] = {}
    for it in facts.cluster.derive(bindings):
        for at, namespace, name in it.accounts:
            names = known.get((ACCOUNT, namespace), {})
            if names and name not in {*names, "default", ""}:
                found.setdefault((namespace, name), []).append((str(it.object), at))
    for (namespace, name), users in found.items():
        names = known[ACCOUNT, namespace]
        near = [each for each in names if is_near(name, each)]
        if near or namespace not in SYSTEM_NAMESPACES:
            who = [*dict.fromkeys(each for each, _ in users)]
            advice = f"did you mean {quoted(near[0])}?" if near else suggest(name, names)
            yield Hit(
                RULE,
                f"{some(who, 'other binding')} {'names' if len(who) == 1 else 'name'} ServiceAccount "
                f"{quoted(name)} of namespace {namespace}, which does not exist, so no pod has the rights; {advice}",
                users[0][1],
                tuple(at for _, at in users[1:]),
            )


RULE = ObjectRule(
    "binding-account-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of an existing ServiceAccount, or create it.",
    judges=(),
    check=check,
    needs=frozenset({Need.WHOLE, Need.BUILT}),
)
