"""What a server would refuse, and the place in an object that a check carries along."""

from typing import NamedTuple, TypeAlias

from policygen.core.finding import Path, Verb


class Refusal(NamedTuple):
    """One reason for which a server refuses an object."""

    path: Path
    rule: str
    """A slug that names the fault: `unknown-field`."""
    message: str
    """What is wrong and what to write instead, one line, no final stop."""
    key: bool = False
    """The key that ends the path is meant, not its value."""
    meant: str = ""
    """The field that an unknown one is taken for."""
    mend: tuple[Verb, str | int | bool] | None = None
    """What an Edit of the value does, where there is one value that can be meant."""


Spot: TypeAlias = "tuple[Spot, str | int] | None"
"""A path as a chain from its end: a step costs one pair, and only a refusal needs the whole."""


def path_to(spot: Spot) -> Path:
    """The chain as a path from the root."""
    steps: list[str | int] = []
    while spot is not None:
        spot, step = spot
        steps.append(step)
    return tuple(reversed(steps))
