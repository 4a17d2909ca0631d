"""An object cannot be read, for a reason that no schema of ours knows."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.lint.core.server_refusals import refused
from policygen.lint.core.unreadable_fields import worded
from policygen.lint.rule import Facts, Family, ObjectRule


def check(facts: Facts) -> Iterator[Hit]:
    """One claim per field; what the server's own schema refuses is told by other rules."""
    known = facts.cluster.derive(refused).objects
    for it in facts.cluster.malformed:
        if it.object.at not in known:
            path, message = worded(it)
            yield Hit(RULE, f"{it.object}: {message}", it.object.at.to(*path))


RULE = ObjectRule(
    "malformed-object", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check
)
