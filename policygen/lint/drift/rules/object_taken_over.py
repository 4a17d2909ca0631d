"""An object that the spec renders says that it belongs to somebody else."""

from collections.abc import Iterator
from typing import TYPE_CHECKING

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.drift.rule_names import TAKEN
from policygen.lint.drift.needs import KINDS, NEEDS, kubectl_of
from policygen.lint.rule import Facts, Family, ObjectRule

if TYPE_CHECKING:
    from policygen.drift.drift import Changed, Rendered


def check(facts: Facts) -> Iterator[Hit]:
    """Another name stands in our labels, or a controller owns it: who writes last wins, each time.

    Source: apimachinery's ownerReferences; the labels of every rendered object.
    """
    if facts.rendered is None:
        return
    for changed in facts.rendered.against(facts.cluster).changed:
        yield from _claims(facts, facts.rendered, changed)


def _claims(facts: Facts, rendered: "Rendered", changed: "Changed") -> Iterator[Hit]:
    from policygen.drift.messages import author, value
    from policygen.drift.patches import patch_command

    wanted, found = changed.wanted, changed.found
    origin = rendered.origin(wanted)
    related = (origin,) if origin else ()
    for it in changed.labels:
        yield Hit(
            RULE,
            f"{found} has {it.path[-1]}: {value(it.found)}, and the spec renders "
            f"{value(it.wanted)}: it belongs to another tool or set; {author(found, it.path)}",
            found.at.to(*it.path),
            related,
            command=""
            if changed.older
            else patch_command(wanted.object, found, it, kubectl_of(facts)),
        )
    for path, owner in changed.controllers:
        yield Hit(
            RULE,
            f"{found} is controlled by {owner}, which writes it and deletes it with itself; take it "
            f"out of what makes that, or out of the spec; {author(found, path)}",
            found.at.to(*path),
            related,
        )


RULE = ObjectRule(
    TAKEN, Severity.ERROR, Family.DRIFT, __doc__, judges=KINDS, check=check, needs=NEEDS
)
