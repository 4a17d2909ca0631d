"""An object cannot be read, for a reason that no schema of ours knows."""

from collections.abc import Iterator

from policygen.core.finding import Severity
from policygen.lint.core.server_refusals import refused
from policygen.lint.core.unreadable_fields import worded
from policygen.lint.rule import Claim, Facts, Family, Rule


def check(facts: Facts) -> Iterator[Claim]:
    """One claim per field; what the server's own schema refuses is told by other rules."""
    known = facts.cluster.derive(refused).objects
    for it in facts.cluster.malformed:
        if it.object.at not in known:
            path, message = worded(it)
            yield Claim(f"{it.object}: {message}", it.object.at.to(*path))


RULE = Rule("malformed-object", Severity.ERROR, Family.INVALID, judges=(), check=check)
