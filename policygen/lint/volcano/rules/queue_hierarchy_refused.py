"""The path of a Queue does not match its weights, or is above the path of another Queue."""

import math
import re

from policygen.core.finding import At
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_PATH = "volcano.sh/hierarchy"
_WEIGHTS = "volcano.sh/hierarchy-weights"


def check(facts: Facts) -> Hits:
    """Source: queues/validate/validate_queue.go, validateHierarchicalAttributes."""
    taken: dict[str, tuple[str, At]] = {}
    for queue in facts.cluster.queues:
        path = _rooted(queue.annotations.get(_PATH, ""), queue.annotations.get(_WEIGHTS, ""))
        parts = path.split("/")
        taken.update(
            {"/".join(parts[:i]): (str(queue), queue.at) for i in range(1, len(parts)) if path}
        )
    for queue in facts.cluster.queues:
        path = queue.annotations.get(_PATH, "")
        weights = queue.annotations.get(_WEIGHTS, "")
        at = queue.at.to("metadata", "annotations")
        if not path and not weights:
            continue
        if path.count("/") != weights.count("/"):
            yield Hit(
                RULE,
                f"{queue} has a path of {path.count('/') + 1} parts in {_PATH}, but "
                f"{weights.count('/') + 1} weights in {_WEIGHTS}, which Volcano refuses; write one "
                "weight for each part of the path",
                at / _WEIGHTS,
            )
        elif not all(_is_weight(weight) for weight in weights.split("/")):
            yield Hit(
                RULE,
                f"{queue} has a weight in {_WEIGHTS} that is not a number above 0, which Volcano "
                "refuses; write only numbers above 0",
                at / _WEIGHTS,
            )
        elif _rooted(path, weights) in taken:
            other, place = taken[_rooted(path, weights)]
            yield Hit(
                RULE,
                f"{queue} has {_PATH} {path}, but {other} has a path below this path, which Volcano "
                f"refuses; change the path of {queue} or of {other}",
                at / _PATH,
                (place.to("metadata", "annotations", _PATH),),
            )


def _rooted(path: str, weights: str) -> str:
    """The path as the mutating webhook writes it.

    Source: queues/mutate/mutate_queue.go, createQueuePatch.
    """
    return path if not path or not weights or path.startswith("root") else f"root/{path}"


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
