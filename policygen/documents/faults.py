"""Faults of a document: invalid YAML, and YAML that a spec does not allow."""

from collections.abc import Callable
from typing import Any, Final

from policygen.core.quoting import counted
from policygen.core.rule import Rule
from policygen.documents import placeholders, rules
from policygen.documents.outline import BLANKS, NodeKind
from policygen.documents.parsed import Composed, TextHit
from policygen.documents.scalars import shorten

MAX_PROBLEMS: Final = 1_000
"""The most problems of a document that are reported; the others are counted."""

_TAGS = {
    NodeKind.SCALAR: ("!", "tag:yaml.org,2002:str"),
    NodeKind.MAPPING: ("!", "tag:yaml.org,2002:map"),
    NodeKind.SEQUENCE: ("!", "tag:yaml.org,2002:seq"),
}


class Faults:
    """Adds the problems of one document to it; each is about a node of its outline."""

    def __init__(self, composed: Composed, text: str, line: Callable[[int], int]) -> None:
        self._composed = composed
        self._outline = composed.outline
        self._text = text
        self._line = line
        self._duplicates: dict[int, list[tuple[int, str]]] = {}
        """The duplicate keys and their texts, by mapping."""
        self._unreported = 0

    def raw(self, node: int) -> str:
        """The text of a node as it is written."""
        start, end = self._outline.span(node, self._text)
        return self._text[start:end]

    def syntax(self, node: int, message: str) -> None:
        """Report a syntax error."""
        start, end = self._outline.span(node, self._text)
        self._composed.syntax.append(TextHit(rules.YAML_SYNTAX, message, start, end))

    def report(
        self, node: int, rule: Rule, message: str, span: tuple[int, int] | None = None
    ) -> None:
        """Report YAML that a spec does not allow; `span` replaces the node's place."""
        self._composed.flawed.add(node)
        if len(self._composed.content) < MAX_PROBLEMS:
            start, end = span or self._outline.span(node, self._text)
            self._composed.content.append(TextHit(rule, message, start, end))
        else:
            self._unreported += 1

    def tag(self, node: int, tag: str) -> None:
        """Check the tag of a node; a tag that changes nothing is ignored."""
        if tag in _TAGS[NodeKind(self._outline.shape[node])]:
            return
        name = shorten(tag.replace("tag:yaml.org,2002:", "!!"))
        begin, (start, _) = self._outline.start[node], self._outline.span(node, self._text)
        properties = self._text[begin:start].rstrip(BLANKS)
        span = (begin, begin + len(properties)) if properties else None
        self.report(
            node, rules.YAML_TAG, f"tag {name} is not supported; write the value without it", span
        )

    def key(self, node: int, value: Any, mapping: int) -> str | None:
        """The text of a key that is not a string, such as a number; None if it cannot be a key."""
        start, _ = self._outline.span(node, self._text)
        if isinstance(value, dict | list):
            message = "a key must be text, not a mapping or a list; put the key in quotes"
            if self._text[start - 1 : start + 1] == "{{":
                message = placeholders.MESSAGE
                self._composed.flawed.add(mapping)  # further findings about it would not help
            self.report(node, rules.KEY_NOT_A_STRING, message)
            return None
        raw = self.raw(node)
        if node in self._composed.flawed:
            return None
        message = f'a key must be text; write "{shorten(raw)}" in quotes'
        if not raw:
            message = 'a key is missing before ":"; write a key'
        self.report(node, rules.KEY_NOT_A_STRING, message)
        return raw or None

    def duplicate_key(self, mapping: int, node: int, text: str) -> None:
        """Report, in the end, a key that its mapping has twice."""
        self._duplicates.setdefault(mapping, []).append((node, text))

    def finish(self) -> None:
        """Report faults that need the complete outline."""
        for mapping, duplicates in self._duplicates.items():
            if mapping == 0 and self._is_separator_missing(duplicates):
                continue
            first = self._outline.steps(mapping)
            for node, text in duplicates:
                key = first[text].key
                line = self._line(self._outline.start[node if key is None else key])
                message = f'key "{shorten(text)}" is set twice, first on line {line}; remove one of the two'
                self.report(node, rules.DUPLICATE_KEY, message)
        if self._unreported:
            root = self._outline.start[0]
            message = f"this document has {counted(self._unreported, 'more error')}; fix the errors above first"
            self._composed.content.append(TextHit(rules.MORE_PROBLEMS, message, root, root + 1))

    def _is_separator_missing(self, duplicates: list[tuple[int, str]]) -> bool:
        """Whether several objects follow each other without `---`; if so, reported as one error."""
        headers = [(node, key) for node, key in duplicates if key in {"apiVersion", "kind"}]
        if len({key for _, key in headers}) < 2 or self.raw(0).startswith("{"):
            return False
        self._composed.flawed.update(node for node, _ in duplicates)
        node, key = min(headers)
        message = (
            f'key "{key}" and other keys are set twice, because the separator of documents is '
            "missing; write --- on a line before this line"
        )
        self.report(node, rules.DUPLICATE_KEY, message)
        return True
