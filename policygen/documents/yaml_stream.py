"""Reads the documents of a YAML stream from parser events, and continues after invalid ones."""

import re
from collections.abc import Callable, Generator, Iterator
from functools import partial
from itertools import chain
from typing import Any

import yaml

from policygen.documents import fast_yaml
from policygen.documents.kubectl_scalars import KubernetesPlains
from policygen.documents.outline import BLANKS, NodeKind, Outline
from policygen.documents.parsed import MAX_DEPTH, UNUSUAL, Composed, FastDocument, TextHit
from policygen.documents.positions import line_start
from policygen.documents.rules import NESTING_TOO_DEEP, YAML_SYNTAX
from policygen.documents.scalars import Plains
from policygen.documents.surrogates import has_escapes, masked
from policygen.documents.syntax_errors import ParserError, explain
from policygen.documents.yaml_events import Builder, TooDeepError

_LOADER: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""libyaml if it is available, else PyYAML's own parser; only events are used."""

_BOUNDARY = re.compile(r"(?:(?<=[\r\n])|\A)---(?=[ \t\r\n]|\Z)")


def fast_documents(text: str) -> list[FastDocument] | None:
    """The documents of a text as kubectl reads them; None if one of them needs the full parse.

    The text must not have forbidden characters, and must not be JSON.
    """
    stream = _Stream(text, json=False, line=lambda _: 0, kubernetes=True)
    if not stream.fast:
        return None
    found = []
    try:
        loader = _LOADER(text)
        while (event := loader.get_event()) is not None:
            if event.__class__ is yaml.DocumentStartEvent:
                document = stream.fast_document(event, loader.get_event, [])
                if document is None:
                    return None
                found.append(document)
    except (yaml.MarkedYAMLError, yaml.reader.ReaderError):
        return None
    return found


def documents(
    text: str, *, json: bool, line: Callable[[int], int], kubernetes: bool
) -> Iterator[Composed]:
    """The documents of a text without forbidden characters, see `compose`."""
    stream = _Stream(text, json=json, line=line, kubernetes=kubernetes)
    resume = yield from stream.documents(0, len(text))
    if resume is not None:
        starts = [match.start() for match in _BOUNDARY.finditer(text, resume)]
        for start, end in zip(starts, [*starts[1:], len(text)], strict=False):
            yield from stream.documents(start, end)


def outline(text: str, start: int, end: int, *, json: bool) -> Outline:
    """The outline of the one document in a part of a text, which needed no full parse."""
    loader = _LOADER(_parsable(text, start, end, json=json))
    while loader.get_event().__class__ is not yaml.DocumentStartEvent:
        pass
    return fast_yaml.outline(loader.get_event, start)


def _parsable(text: str, start: int, end: int, *, json: bool) -> str:
    """A part of the text for the parser, of the same length."""
    whole = start == 0 and end >= len(text)
    text = text if whole else text[start:end]
    if not json:
        return text
    text = masked(text)
    if _LOADER is yaml.SafeLoader:  # unlike libyaml, it refuses tabs between tokens
        return text.replace("\t", " ")
    body = text.strip(BLANKS)
    begin = text.find(body)
    around = text[:begin].replace("\t", " "), text[begin + len(body) :].replace("\t", " ")
    return body.join(around)


_LIMIT = "maximum nesting depth"
"""In the error of libyaml since PyYAML 6.0.4, which reads ahead, so that it can find its own limit first."""


def _too_deep(at: int) -> TextHit:
    message = f"this document is nested more than {MAX_DEPTH} levels deep; reduce the nesting"
    return TextHit(NESTING_TOO_DEEP, message, at, at + 1)


class _Stream:
    """Runs the parser over a text and its parts."""

    def __init__(
        self,
        text: str,
        *,
        json: bool,
        line: Callable[[int], int],
        kubernetes: bool,
    ) -> None:
        self.text = text
        self.json = json
        self.line = line
        self.kubernetes = kubernetes
        plains = KubernetesPlains() if kubernetes else Plains()
        escapes = has_escapes(text)
        self.builder = Builder(text, json=json, line=line, plains=plains, escapes=escapes)
        self.fast = not escapes

    def documents(self, start: int, end: int) -> Generator[Composed, None, int | None]:
        """The documents of text[start:end]; returns where the first invalid one has its error."""
        text = _parsable(self.text, start, end, json=self.json)
        self.builder.begin(start)
        try:
            loader = _LOADER(text)
            while (event := loader.get_event()) is not None:
                if event.__class__ is yaml.DocumentStartEvent:
                    yield self._document(event, loader.get_event, start)
                    self.builder.begin(start)
        except TooDeepError as deep:
            problem = _too_deep(deep.at)
        except yaml.MarkedYAMLError as error:
            problem = self._syntax_error(error, text, start)
        except yaml.reader.ReaderError as error:
            at = start + error.position
            problem = TextHit(YAML_SYNTAX, f"this is not valid YAML: {error.reason}", at, at + 1)
        else:
            return None
        yield Composed(syntax=[*self.builder.composed.syntax, problem], parsed=False)
        return problem.start

    def _syntax_error(self, error: yaml.MarkedYAMLError, text: str, offset: int) -> TextHit:
        at = error.problem_mark.index if error.problem_mark else 0
        if _LIMIT in (error.problem or ""):
            return _too_deep(offset + at)
        located = ParserError(
            text=text,
            problem=error.problem or "",
            at=min(at, len(text)),
            line=lambda index: self.line(offset + index),
            context=error.context_mark.index if error.context_mark else None,
            json=self.json,
        )
        message, start, end = explain(located)
        return TextHit(YAML_SYNTAX, message, offset + start, offset + end)

    def _document(self, first: Any, next_event: Callable[[], Any], offset: int) -> Composed:
        seen: list[Any] = []
        fast = self.fast_document(first, next_event, seen, offset) if self.fast else None
        if fast is not None:
            return Composed(fast.data, make_outline=self._outline_later(fast.start, fast.end))
        self._build(chain(seen, iter(next_event, None)))
        return self.builder.finished()

    def fast_document(
        self, first: Any, next_event: Callable[[], Any], seen: list[Any], offset: int = 0
    ) -> FastDocument | None:
        """The document after its first event; None if it needs the full parse."""
        data = fast_yaml.read(next_event, seen, self.builder.plains)
        if data is UNUSUAL:
            return None
        # Without the indentation of its first line, a block would be read differently.
        start = line_start(self.text, offset + first.start_mark.index)
        return FastDocument(data, start, offset + seen[-1].end_mark.index)

    def _outline_later(self, start: int, end: int) -> Callable[[], Outline]:
        """A function that makes the outline of the one document in text[start:end]."""
        return partial(outline, self.text, start, end, json=self.json)

    def _build(self, events: Iterator[Any]) -> None:
        scalar_event, alias_event = yaml.ScalarEvent, yaml.AliasEvent
        mapping_event, sequence_event = yaml.MappingStartEvent, yaml.SequenceStartEvent
        builder, document_end_event = self.builder, yaml.DocumentEndEvent
        for event in events:
            kind = event.__class__
            if kind is scalar_event:
                builder.scalar(event)
            elif kind is mapping_event:
                builder.open(event, NodeKind.MAPPING, {})
            elif kind is sequence_event:
                builder.open(event, NodeKind.SEQUENCE, [])
            elif kind is alias_event:
                builder.alias(event)
            elif kind is document_end_event:
                return
            else:
                builder.close(event)
