"""Parses the documents of a text, YAML or JSON, without its forbidden characters."""

import re
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from policygen.documents import fast_json, line_places, yaml_lines
from policygen.documents.forbidden_characters import Without
from policygen.documents.json_positions import places
from policygen.documents.outline import Outline
from policygen.documents.parsed import UNUSUAL, Composed, FastDocument, TextHit
from policygen.documents.rules import YAML_SYNTAX

# Without the characters that YAML does not allow or that its readers disagree about: U+0085, U+2028
# and U+2029 end a line in YAML 1.1 but not in 1.2; U+FEFF is ignored or text.
_ALLOWED = "\t\n\r -~\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff"
_ASCII = b"\t\n\r" + bytes(range(ord(" "), ord("~") + 1))
_JSON = re.compile(r"[ \t\r\n]*[\[{]")


def looks_like_json(text: str) -> bool:
    """Whether the first character of a text is that of a JSON object or array."""
    return _JSON.match(text) is not None


def is_json(name: str, text: str) -> bool:
    """Whether a file should be JSON, by its name or its first character."""
    return name.lower().endswith(".json") or looks_like_json(text)


def fast_documents(text: str, *, json: bool) -> list[FastDocument] | None:
    """The documents of a text, as kubectl reads them; None if one needs the full parse."""
    if json:
        data = _fast_json(text)
        return None if data is UNUSUAL else [FastDocument(data, 0, len(text))]
    if _forbidden_in(text):
        return None
    found = yaml_lines.documents(text)
    if found is not None:
        return found
    from policygen.documents import yaml_stream  # noqa: PLC0415 - most input needs no YAML parser

    return yaml_stream.fast_documents(text)


def composed(text: str, document: FastDocument, *, json: bool) -> Composed:
    """A document of `fast_documents` as `compose` returns it."""
    if json:
        return Composed(document.data, make_outline=partial(places, text))
    made = Composed(document.data, make_outline=partial(_outline, text, document))
    if document.by_line:
        made.make_places = partial(line_places.places, text, document.start, document.end)
    return made


def _fast_json(text: str) -> Any:
    usual = _is_plain(text) or not _forbidden_in(text)
    return fast_json.read(text) if usual else UNUSUAL


def _outline(text: str, document: FastDocument) -> Outline:
    from policygen.documents import yaml_stream  # noqa: PLC0415 - likewise

    return yaml_stream.outline(text, document.start, document.end, json=False)


def compose(
    text: str, *, json: bool, line: Callable[[int], int], kubernetes: bool = False
) -> Iterator[Composed]:
    """The documents of a stream, including empty ones.

    `json`: the text should be JSON. `line` returns the line of a character, for messages. With
    `kubernetes`, scalars are read as kubectl reads them, and refused only if it refuses them.
    Forbidden characters are one error and are removed. After a document that is not valid YAML,
    parsing continues at the next line "---".
    """
    if json and kubernetes:
        data = _fast_json(text)
        if data is not UNUSUAL:
            yield Composed(data, make_outline=partial(places, text))
            return
    forbidden = _forbidden_in(text)
    if not forbidden:
        usual = kubernetes and not json
        fast = yaml_lines.documents(text) if usual else None
        if fast is None:
            yield from _parsed(text, json=json, line=line, kubernetes=kubernetes)
        else:
            yield from (composed(text, it, json=False) for it in fast)
        return
    yield Composed(syntax=[_forbidden(text, forbidden)], parsed=False)
    left = Without(text, forbidden)
    json = json or looks_like_json(left.text)
    for one in _parsed(
        left.text, json=json, line=lambda at: line(left.at(at)), kubernetes=kubernetes
    ):
        yield left.put_back(one)


def mapping(text: str) -> dict[str, Any] | None:
    """The mapping in a YAML text, as kubectl reads it; None if it is not a valid mapping."""
    documents = list(compose(text, json=False, line=lambda _: 0, kubernetes=True))
    sound = [it.data for it in documents if not it.syntax and not it.content]
    if len(documents) != 1 or len(sound) != 1 or not isinstance(sound[0], dict):
        return None
    return sound[0]


def _parsed(
    text: str, *, json: bool, line: Callable[[int], int], kubernetes: bool
) -> Iterator[Composed]:
    from policygen.documents import yaml_stream  # noqa: PLC0415 - likewise

    return yaml_stream.documents(text, json=json, line=line, kubernetes=kubernetes)


def _is_plain(text: str) -> bool:
    """Whether a text, if it is valid JSON, has no forbidden character. In ASCII, JSON allows only U+007F."""
    return text.isascii() and "\x7f" not in text


def _forbidden_in(text: str) -> list[int]:
    """Where forbidden characters are in a text."""
    if text.isascii() and not text.encode().translate(None, _ASCII):
        return []
    # The complete set takes longer to compile than a small spec to check, and few texts need it.
    return [match.start() for match in re.finditer(f"[^{_ALLOWED}]", text)]


def _forbidden(text: str, where: list[int]) -> TextHit:
    first, more = where[0], len(where) - 1
    code = f"U+{ord(text[first]):04X}"
    message = f"character {code} is not allowed; remove the character"
    if more:
        message = f"character {code} and {more} more in this file are not allowed; remove them"
    return TextHit(YAML_SYNTAX, message, first, first + 1)
