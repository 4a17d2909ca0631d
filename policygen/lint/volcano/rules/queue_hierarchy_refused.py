"""The path of a Queue does not match its weights, or is above the path of another Queue."""

from policygen.core.finding import At
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_PATH = "volcano.sh/hierarchy"
_WEIGHTS = "volcano.sh/hierarchy-weights"


def check(facts: Facts) -> Hits:
    """Source: queues/validate/validate_queue.go, validateHierarchicalAttributes."""
    taken: dict[str, tuple[str, At]] = {}
    for queue in facts.cluster.queues:
        path = _rooted(queue.annotations.get(_PATH, ""))
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
        elif _rooted(path) in taken:
            other, place = taken[_rooted(path)]
            yield Hit(
                RULE,
                f"{queue} has {_PATH} {path}, but {other} has a path below this path, which Volcano "
                f"refuses; change the path of {queue} or of {other}",
                at / _PATH,
                (place.to("metadata", "annotations", _PATH),),
            )


def _rooted(path: str) -> str:
    """The path as the mutating webhook writes it."""
    return path if not path or path == "root" or path.startswith("root/") else f"root/{path}"


def _is_weight(text: str) -> bool:
    try:
        return float(text) > 0
    except ValueError:
        return False


RULE = ObjectRule(
    "queue-hierarchy-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write one weight above 0 for each part of the path, and no path that is above the path of another queue.",
    judges=("Queue",),
    check=check,
)
