"""Documents by kind and name, which must be unique in a spec."""

from policygen.core.finding import At, Hit
from policygen.core.quoting import bare, quoted
from policygen.documents.document import Document
from policygen.spec import forms
from policygen.spec.rules import OBJECT_DECLARED_TWICE


class Identities:
    """The kinds and names that are in use, and where."""

    def __init__(self) -> None:
        self._claimed: dict[tuple[str, str], tuple[Document, At]] = {}

    def claim(self, kind: str, name: str, document: Document, at: At) -> Hit | None:
        """Register a name; returns a Hit if the spec has it already."""
        there, place = self._claimed.setdefault((kind, name), (document, at))
        if place is at:
            return None
        before = there.place(place.path)
        where = f"line {before.line}"
        if before.file != document.source.name:
            where = f"{bare(before.file)}:{before.line}"
        message = (
            f"{kind} {quoted(name)} is already declared in {where}; rename or remove one of the two"
        )
        if kind == forms.PLATFORM.kind:
            message = f"a spec can have only one Platform, but another Platform is in {where}; remove one of them"
        elif kind == forms.ARTICLE_QUEUES.kind:
            message = f"{kind} {name} is already declared in {where}; put all queues into one of the two ConfigMaps"
        elif at.path[0] == "queues":
            message = (
                f"policygen makes a Team of the same name from queue {quoted(name)}, but {where} already contains "
                f"Team {quoted(name)}; rename the queue or the Team"
            )
        return Hit(OBJECT_DECLARED_TWICE, message, at)
