"""A field has the wrong type, and policygen has no schema for the object."""

from policygen.lint.core.server_refusals import refused
from policygen.lint.core.unreadable_fields import described
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """One finding for each field. Other rules report what a known schema refuses."""
    refused_objects = facts.cluster.derive(refused).objects
    for malformed in facts.cluster.malformed:
        if malformed.object.at not in refused_objects:
            path, message = described(malformed)
            yield Hit(RULE, f"{malformed.object}: {message}", malformed.object.at.to(*path))


RULE = ObjectRule(
    "malformed-object",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write the type that the finding names.",
    judges=(),
    check=check,
)
