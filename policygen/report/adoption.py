"""Reports the differences of an adopted spec, and its guesses."""

from collections.abc import Iterator, Sequence

import msgspec
from msgspec import Struct

from policygen.adopt.compare import SpecDifference
from policygen.adopt.trees import Guess
from policygen.core.finding import dotted
from policygen.core.quoting import counted


class Adoption(Struct, frozen=True):
    """An adopted spec, and everything on which it and the objects differ."""

    files: tuple[tuple[str, str], ...]
    """The texts of the spec, by the names of their files."""
    guesses: tuple[Guess, ...]
    differences: tuple[SpecDifference, ...]
    unread: tuple[str, ...]
    """What could not be read."""

    @property
    def text(self) -> str:
        """The complete spec."""
        return "".join(text for _, text in self.files)


def lines(adoption: Adoption) -> Iterator[str]:
    """The list for people: one line a field."""
    for message in adoption.unread:
        yield f"not read: {message}"
    for it in adoption.differences:
        yield ": ".join(filter(None, (it.object, it.field, it.message)))
    differences = counted(len(adoption.differences), "difference")
    objects = counted(len({it.object for it in adoption.differences}), "object")
    guesses = counted(len(adoption.guesses), "guess", "guesses")
    if adoption.differences:
        yield f"{differences} in {objects}; the spec has {guesses} in its comments"
    else:
        yield f"the spec renders every object that was read, without differences; it has {guesses} in its comments"


def json(adoption: Adoption) -> str:
    """The spec and the list as one JSON document."""
    written = {
        "version": 1,
        "files": dict(adoption.files),
        "guesses": [_guess(it) for it in adoption.guesses],
        "differences": _objects(adoption.differences),
        "unread": list(adoption.unread),
    }
    return msgspec.json.format(msgspec.json.encode(written)).decode() + "\n"


def _guess(guess: Guess) -> dict[str, str]:
    return {
        "kind": guess.kind,
        "name": guess.name,
        "field": dotted(guess.path),
        "message": guess.text,
    }


def _objects(found: Sequence[SpecDifference]) -> list[dict[str, str]]:
    return [{"object": it.object, "field": it.field, "message": it.message} for it in found]
