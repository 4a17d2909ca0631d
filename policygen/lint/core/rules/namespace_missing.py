"""An object is in a namespace that does not exist."""

from policygen.api_validation.metadata import is_namespace
from policygen.core.quoting import counted
from policygen.core.suggest import Names, suggest
from policygen.lint.core.missing_namespaces import missing_namespaces
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity, written


def check(facts: Facts) -> Hits:
    """One finding for each namespace. Rendered objects are skipped: other teams may create theirs.

    Source: the admission plugin NamespaceLifecycle.
    """
    known = Names(obj.name for obj in facts.cluster.of("", "Namespace"))
    for name, (first, *others) in facts.derive(missing_namespaces).items():
        if "invalid-name" in facts.run and not is_namespace(name):
            continue
        places = tuple(obj.at.to("metadata", "namespace") for obj in (first, *others))
        meant = known.meant(name)
        refused = f"{first} and {counted(len(others), 'other object')}" if others else str(first)
        yield Hit(
            RULE,
            f'namespace "{name}" does not exist, so the API server refuses {refused}; '
            f"{suggest(name, known)}",
            places[0],
            places[1:],
            meant=tuple(edit for at in places for edit in written(at, meant)),
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
