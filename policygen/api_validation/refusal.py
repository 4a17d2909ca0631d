"""A refusal of a server, and the place in an object that a check passes along."""

from enum import Enum
from typing import NamedTuple, TypeAlias

from policygen.core.finding import Path, Verb
from policygen.core.quoting import bare


class Reason(Enum):
    """Why a server refuses a value."""

    ANNOTATION = "annotation"
    CRD_RULE = "validation rule of a CRD"
    DUPLICATE_ENTRY = "duplicate entry"
    FORMAT = "format"
    LABEL = "label"
    LENGTH = "length"
    MISSING_FIELD = "missing field"
    NAME = "name"
    RANGE = "range"
    SERVER_SIDE_APPLY = "server-side apply"
    """Only server-side apply refuses the object; create accepts it."""
    TYPE = "type"
    UNKNOWN_FIELD = "unknown field"
    UPDATE = "update"
    """Only updates are refused, because a webhook corrects the value on create."""
    VALUE = "value"


class Refusal(NamedTuple):
    """One reason for which a server refuses an object.

    Not a Hit: specs and objects have different rules for one reason, and the rule is in a Hit.
    """

    path: Path
    reason: Reason
    message: str
    """The fault and what to write instead: one line without a final stop."""
    key: bool = False
    """The refusal is about the last key of the path, not its value."""
    meant: str = ""
    """What was probably meant: another field than an unknown one, or another value."""
    fix: tuple[Verb, str | int | bool] | None = None
    """The edit that fixes the value, if only one value can be meant."""


Spot: TypeAlias = "tuple[Spot, str | int] | None"
"""A path as a chain from its end: a step costs one pair, and only a refusal needs all steps."""


def counted(out: list[Refusal], before: int) -> bool:
    """Whether a server refuses to create the object, for one of the refusals since `before`."""
    return any(it.reason is not Reason.SERVER_SIDE_APPLY for it in out[before:])


def path_to(spot: Spot) -> Path:
    """The chain as a path from the root."""
    steps: list[str | int] = []
    while spot is not None:
        spot, step = spot
        steps.append(step)
    return tuple(reversed(steps))


def about(spot: Spot, text: str) -> str:
    """A message about a place: the field, then the text."""
    return f"{named(spot)} {text}".lstrip()


def named(spot: Spot) -> str:
    """The field of a place in a message: `levels`, `levels[2]`; empty for the object itself."""
    indexes = ""
    while spot is not None:
        spot, step = spot
        if isinstance(step, str):
            return bare(step) + indexes
        indexes = f"[{step}]{indexes}"
    return indexes
