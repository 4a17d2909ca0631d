"""The path of a Queue does not match its weights, or is above the path of another Queue."""

import math
import re

from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import hierarchy
from policygen.lint.volcano.hierarchy import PATH, WEIGHTS


def check(facts: Facts) -> Hits:
    """Source: queues/validate/validate_queue.go, validateHierarchicalAttributes."""
    for queue in facts.cluster.queues:
        path, weights = queue.annotations.get(PATH, ""), queue.annotations.get(WEIGHTS, "")
        at = queue.at.to("metadata", "annotations", WEIGHTS)
        if not path and not weights:
            continue
        if path.count("/") != weights.count("/"):
            yield Hit(
                RULE,
                f"{queue} has a path of {path.count('/') + 1} parts in {PATH}, but "
                f"{weights.count('/') + 1} weights in {WEIGHTS}, which Volcano refuses; write one "
                "weight for each part of the path",
                at,
            )
        elif not all(_is_weight(weight) for weight in weights.split("/")):
            yield Hit(
                RULE,
                f"{queue} has a weight in {WEIGHTS} that is not a number above 0, which Volcano "
                "refuses; write only numbers above 0",
                at,
            )
    for conflict in facts.cluster.derive(hierarchy.conflicts):
        queue, other = conflict.queue, conflict.below
        if conflict.on_create:
            yield Hit(
                RULE,
                f"{queue} has {PATH} {queue.annotations[PATH]}, but {other} has a path below this path, "
                f"which Volcano refuses; change the path of {queue} or of {other}",
                queue.at.to("metadata", "annotations", PATH),
                (other.at.to("metadata", "annotations", PATH),),
            )


_DIGITS = r"[0-9](?:_?[0-9])*"
_DECIMAL = rf"(?:{_DIGITS}\.?(?:{_DIGITS})?|\.{_DIGITS})(?:[eE][+-]?{_DIGITS})?"
_HEXADECIMAL = r"0[xX](?:[0-9a-fA-F]+\.?[0-9a-fA-F]*|\.[0-9a-fA-F]+)[pP][+-]?[0-9]+"
_NUMBER = re.compile(rf"\+?({_DECIMAL}|{_HEXADECIMAL})", re.ASCII)
_WORDS = re.compile(r"\+?inf(?:inity)?|nan", re.IGNORECASE | re.ASCII)


def _is_weight(text: str) -> bool:
    """Whether strconv.ParseFloat of Go reads a text as more than 0, or as NaN."""
    if _WORDS.fullmatch(text):
        return True
    found = _NUMBER.fullmatch(text)
    if found is None:
        return False
    try:
        number = float.fromhex(text) if "x" in text.lower() else float(text)
    except OverflowError:
        return False
    return 0 < number < math.inf


RULE = ObjectRule(
    "queue-hierarchy-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write one weight above 0 for each part of the path, and no path that is above the path of another queue.",
    judges=("Queue",),
    check=check,
)
