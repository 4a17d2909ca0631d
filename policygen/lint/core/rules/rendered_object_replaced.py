"""A manifest replaces an object that the spec renders, with other fields."""

from collections.abc import Iterator

from msgspec import UNSET

from policygen.core.finding import Path
from policygen.core.quoting import some
from policygen.kubernetes.object import Object
from policygen.lint.core.rules import change_refused
from policygen.lint.other_rules import is_inside, places
from policygen.lint.replaced_queues import rendered_too
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Both have the same name, so only the one that is applied last exists.

    Reports fields, not labels and annotations. Skips manifests with the label of rendered objects: `policygen render --check` compares these.
    Source: an apply replaces the fields of an object of the same name.
    """
    refused = [*places(facts, (change_refused.RULE,))]
    for obj, held in rendered_too(facts):
        if any(is_inside(it, obj.at) for it in refused):
            continue
        if fields := list(_differences(obj, held)):
            yield Hit(
                RULE,
                f"the spec renders {obj} too, with other fields: {some([text for text, _ in fields], 'other field', 2)}; "
                "only the object that is applied last takes effect; remove this one and set the values in the spec, or use "
                "another name",
                obj.at.to(*fields[0][1]),
            )


def _differences(obj: Object, held: Object) -> Iterator[tuple[str, Path]]:
    """The fields that differ, as in messages, with their places."""
    from policygen.drift.compare import differences
    from policygen.drift.drift import alike
    from policygen.drift.messages import subject, value

    expected, found = alike(held, obj)
    for it in differences(expected.data, found.data, lambda _: None):
        if it.path[0] == "metadata" or it.reordered:
            continue
        there, here = (
            "not set" if each is UNSET else value(each) for each in (it.expected, it.found)
        )
        yield f"{subject(it)} ({there} in the spec, {here} here)", it.path


RULE = ObjectRule(
    "rendered-object-replaced",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Remove the manifest and set its values in the spec, or use another name.",
    judges=(),
    check=check,
    needs=frozenset({Need.STATE}),
)
