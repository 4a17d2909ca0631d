"""Whose name a document has: a kind and name stand for one thing of the set."""

from policygen.core.finding import At, Hit
from policygen.core.quoting import bare, quoted
from policygen.documents.document import Document
from policygen.spec import forms
from policygen.spec.rules import OBJECT_DECLARED_TWICE


class Identities:
    """The kinds and names that were met, and where."""

    def __init__(self) -> None:
        self._claimed: dict[tuple[str, str], tuple[Document, At]] = {}

    def claim(self, kind: str, name: str, each: Document, at: At) -> Hit | None:
        """Take a name for what a document says at a place; what is said if it is taken."""
        there, place = self._claimed.setdefault((kind, name), (each, at))
        if place is at:
            return None
        before = there.place(place.path)
        where = f"line {before.line}"
        if before.file != each.source.name:
            where = f"{bare(before.file)}:{before.line}"
        words = f"{kind} {quoted(name)} is in {where} already; rename or remove one"
        if kind == forms.PLATFORM.kind:
            words = f"a set has one Platform, and there is one in {where}; remove one of them"
        elif kind == forms.ARTICLE_QUEUES.kind:
            words = f"{kind} {name} is in {where} already; put all queues into one"
        elif at.path[0] == "queues":
            words = f"a queue is a team, and Team {quoted(name)} is in {where} already; rename one"
        return Hit(OBJECT_DECLARED_TWICE, words, at)
