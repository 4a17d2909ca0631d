"""An object is in a namespace that does not exist."""

from policygen.core.quoting import counted
from policygen.core.suggest import suggest
from policygen.lint.core.missing_namespaces import missing_namespaces
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """One finding for each namespace. Rendered objects are skipped: other teams may create theirs.

    Source: the admission plugin NamespaceLifecycle.
    """
    known = {obj.name for obj in facts.cluster.of("", "Namespace")}
    for name, (first, *others) in facts.derive(missing_namespaces).items():
        refused = f"{first} and {counted(len(others), 'other object')}" if others else str(first)
        yield Hit(
            RULE,
            f'namespace "{name}" does not exist, so the API server refuses {refused}; '
            f"{suggest(name, known)}",
            first.at.to("metadata", "namespace"),
            tuple(obj.at.to("metadata", "namespace") for obj in others),
        )


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
