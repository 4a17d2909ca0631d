"""A text has another form than its field."""

import re
import warnings
from collections.abc import Iterator

from policygen.core.finding import Hit, at_path
from policygen.core.quoting import quoted
from policygen.core.rule import Severity
from policygen.kubernetes.untyped import entries
from policygen.lint.core.server_refusals import hits
from policygen.lint.rule import Facts, Family, ObjectRule

_PATTERN = ("selector", "regexMatch", "pattern")
_OPEN = ("unterminated character set", "unterminated subpattern", "unbalanced parenthesis")
"""What Python says of patterns that Go refuses as well."""


def check(facts: Facts) -> Iterator[Hit]:
    """Source: what running servers serve, `schemas/cluster`; hypernodes/validate of Volcano."""
    yield from hits(RULE, facts, "bad-format")
    for it in facts.cluster.of("topology.volcano.sh", "HyperNode"):
        for i, member in enumerate(entries(it.data, "spec", "members")):
            pattern = at_path(member, _PATTERN)
            if isinstance(pattern, str) and _is_open(pattern):
                yield Hit(
                    RULE,
                    f"{it}: {quoted(pattern)} is no regular expression, as a bracket in it is not "
                    "closed or opened; Volcano's webhook refuses it; write one",
                    it.at.to("spec", "members", i, *_PATTERN),
                )


def _is_open(pattern: str) -> bool:
    try:
        with warnings.catch_warnings(action="ignore"):  # of what a later Python may read otherwise
            re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        return any(words in str(error) for words in _OPEN)
    return False


RULE = ObjectRule(
    "value-form-refused", Severity.ERROR, Family.INVALID, __doc__, judges=(), check=check
)
