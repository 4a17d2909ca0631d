"""An object that the spec renders belongs to another tool, another spec or a controller."""

from typing import TYPE_CHECKING

from policygen.drift.rule_names import MANAGED_BY_ANOTHER
from policygen.lint.drift.needs import KINDS, NEEDS, kubectl_of
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

if TYPE_CHECKING:  # imported only for live clusters
    from policygen.drift.drift import Changed, Rendered


def check(facts: Facts) -> Hits:
    """Another name is in the labels of the set, or a controller owns the object.

    Source: apimachinery's ownerReferences; the labels of every rendered object.
    """
    if facts.rendered is None:
        return
    for changed in facts.rendered.against(facts.cluster).changed:
        yield from _hits(facts, facts.rendered, changed)


def _hits(facts: Facts, rendered: "Rendered", changed: "Changed") -> Hits:
    from policygen.drift.messages import author, value
    from policygen.drift.patches import patch_command

    expected, found = changed.expected, changed.found
    origin = rendered.origin(expected)
    related = (origin,) if origin else ()
    for difference in changed.labels:
        yield Hit(
            RULE,
            f"{found} has {difference.path[-1]}: {value(difference.found)}, but the spec renders "
            f"{value(difference.expected)}, so the object belongs to another tool or another spec; {author(found, difference.path)}",
            found.at.to(*difference.path),
            related,
            command=""
            if changed.older
            else patch_command(expected.object, found, difference, kubectl_of(facts)),
        )
    for path, owner in changed.controllers:
        yield Hit(
            RULE,
            f"{owner} owns {found}, so changes are overwritten, and {found} is deleted together "
            f"with {owner}; remove {found} from the source of {owner}, or from the spec; "
            f"{author(found, path)}",
            found.at.to(*path),
            related,
        )


RULE = ObjectRule(
    MANAGED_BY_ANOTHER,
    Severity.ERROR,
    Family.DRIFT,
    __doc__,
    remedy="Rename the object in one tool, or remove it from the other tool and apply the spec again.",
    judges=KINDS,
    check=check,
    needs=NEEDS,
    aliases=("object-taken-over",),
)
