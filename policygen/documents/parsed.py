"""A document of a stream: its data, its outline, and its problems."""

from collections.abc import Callable
from typing import Any, Final

from msgspec import Struct, field

from policygen.core.rule import Rule
from policygen.documents.outline import Outline

MAX_DEPTH: Final = 100
"""The deepest allowed nesting: far above that of any policy object, far below the limit of the stack."""

UNUSUAL: Final = object()
"""A fast path returns this instead of data if a document needs the full parse."""


class TextHit(Struct, frozen=True):
    """A fault of text[start:end].

    Not a Hit: a parser knows offsets, and text that cannot be parsed has no paths.
    """

    rule: Rule
    message: str
    start: int
    end: int


class Composed(Struct, eq=False):
    """One document of a stream."""

    data: Any = None
    syntax: list[TextHit] = field(default_factory=list)
    """Errors for every reader."""
    content: list[TextHit] = field(default_factory=list)
    """Faults of YAML that is valid but not allowed in a spec."""
    flawed: set[int] = field(default_factory=set)
    """The nodes that `content` is about."""
    parsed: bool = True
    """False: the document could not be read to its end."""
    bombed: bool = False
    """True: its aliases make it too large, and `data` is incomplete."""
    make_outline: Callable[[], Outline] = Outline
    make_places: Callable[[], Outline | None] = lambda: None
    """A faster outline, for the places of single nodes; its collections end anywhere."""
    _outline: Outline | None = None
    _places: Outline | None = None

    @property
    def outline(self) -> Outline:
        """The places of its nodes; made on demand, because most documents do not need it."""
        if self._outline is None:
            self._outline = self.make_outline()
        return self._outline

    @property
    def places(self) -> Outline:
        """The outline, or a faster one if only places of single nodes are needed."""
        if self._places is None:
            self._places = self.make_places() or self.outline
        return self._places


class FastDocument(Struct, frozen=True, array_like=True):
    """A document that needs no full parse: its data, and where it is in the text."""

    data: Any
    start: int
    end: int
    by_line: bool = False
    """Whether each of its lines can be read by itself."""
