"""Messages about YAML syntax errors: the fault, and what to write instead."""

import re
from collections.abc import Callable

from msgspec import Struct

from policygen.documents import placeholders
from policygen.documents.outline import BLANKS
from policygen.documents.positions import line_start

_LINE_END = re.compile(r"[\r\n]|\Z")


class ParserError(Struct, frozen=True):
    """An error of a parser. `context` and `at` are offsets in `text`, in characters.

    Not a Hit: its message is the parser's, and `explain` makes one for users of it.
    """

    text: str
    problem: str
    at: int
    line: Callable[[int], int]
    """The line number of a character in the file, from 1."""
    context: int | None = None
    """The start of the invalid construct, if the parser knows it."""
    json: bool = False

    @property
    def char(self) -> str:
        """The character at fault; empty at the end of the text."""
        return self.text[self.at : self.at + 1]

    @property
    def line_start(self) -> int:
        """Where the line at fault begins."""
        return line_start(self.text, self.at)

    @property
    def before(self) -> str:
        """The part of the line before the fault."""
        return self.text[self.line_start : self.at]

    def to_line_end(self, start: int) -> tuple[int, int]:
        """The span from a character to the end of its line, without blanks there."""
        match = _LINE_END.search(self.text, start)
        end = match.start() if match else len(self.text)
        return start, start + len(self.text[start:end].rstrip(BLANKS))


Explained = tuple[str, int, int]
"""A message, and the span of the text that it is about."""


def explain(error: ParserError) -> Explained:
    """The message for a parser's error; it knows the texts of libyaml and of PyYAML."""
    for explanation in (
        _tab,
        _no_space,
        _template,
        _unfinished,
        _mapping,
        _flow,
        _indicator,
        _escape,
        _rest,
    ):
        explained = explanation(error)
        if explained:
            return explained
    return f"not valid YAML: {error.problem}", error.at, error.at + 1


# Blanks that look like a space where YAML needs one: first on the line, or after an indicator.
_NO_SPACE = re.compile(
    "(?:^[ \t]*|[:,-])([\xa0\u1680\u2000-\u200b\u202f\u205f\u3000])", re.MULTILINE
)
_BELOW = (
    "this does not belong to the document above; check the indentation, "
    'or begin a new document with a line "---"'
)


def _tab(it: ParserError) -> Explained | None:
    indent = re.compile(r"[ \t]*").match(it.text, it.line_start)
    tab = it.text.find("\t", it.line_start, indent.end() if indent else 0)
    if it.json or (tab < 0 and it.char != "\t"):
        return None
    start = tab if tab >= 0 else it.at
    run = re.compile(r"\t+").match(it.text, start)
    return "a tab is used for indentation; write spaces", start, run.end() if run else start + 1


def _no_space(it: ParserError) -> Explained | None:
    above = line_start(it.text, max(it.line_start - 1, 0))
    lines = [above, it.line_start] if it.context is None else [it.context, it.line_start]
    found = (_NO_SPACE.search(it.text, *it.to_line_end(start)) for start in lines)
    match = next(filter(None, found), None)
    if match is None:
        return None
    code = f"U+{ord(match[1]):04X}"
    return f"this blank ({code}) is not a space; write a space", match.start(1), match.end(1)


def _template(it: ParserError) -> Explained | None:
    start, end = it.to_line_end(it.line_start)
    brace = it.text.find("{{", start, end)
    if brace < 0:
        return None
    return placeholders.MESSAGE, brace, end


def _unfinished(it: ParserError) -> Explained | None:
    start = it.at if it.context is None else it.context
    if "unexpected end of stream" in it.problem or "unexpected document" in it.problem:
        return f"this quote ({it.text[start : start + 1]}) is never closed", *it.to_line_end(start)
    if "could not find expected ':'" in it.problem:
        return 'a ":" is missing; write "key: value"', *it.to_line_end(start)
    if "<document start>" in it.problem:
        here = it.to_line_end(it.at)
        if it.json:
            return 'a second document begins here; write a line "---" before it', *here
        return _BELOW, *here
    return None


def _mapping(it: ParserError) -> Explained | None:
    if "mapping values are not allowed" in it.problem:
        if re.search(r":(\s|$)", it.before):
            message = 'a second ": " on this line; put the value in quotes'
        else:
            message = 'a ":" is not expected here; check the indentation, and the line above'
        return message, it.at, it.at + 1
    if "expected '-' indicator" not in it.problem and not re.search(
        "expected key|expected <block end>", it.problem
    ):
        return None
    if it.char in {"}", "]"}:
        return f'"{it.char}" closes nothing; put the text in quotes', it.at, it.at + 1
    if it.char == ":" and not it.before.strip(BLANKS):
        return 'a key is missing before ":"', it.at, it.at + 1
    if it.before.strip(BLANKS) not in {"", "-"}:
        message = "unexpected text after the value; put the whole value in one pair of quotes"
    elif it.context is not None and _column(it, it.context) == len(it.before):
        entry = it.char == "-"
        message = (
            "a list item is among keys; indent it, or write a key above it"
            if entry
            else 'a key is among list items; write "- " before it, or indent it'
        )
    else:
        above = "" if it.context is None else f" that begins on line {it.line(it.context)}"
        message = f"this line does not line up with the block{above}; check the indentation"
    return message, *it.to_line_end(it.at)


def _column(it: ParserError, index: int) -> int:
    return index - line_start(it.text, index)


def _flow(it: ParserError) -> Explained | None:
    closing = re.search(r"expected ',' or '([]}])'", it.problem)
    if closing and it.context is not None:
        opening = it.text[it.context]
        if not it.char.strip(BLANKS) and not it.text[it.at :].strip(BLANKS):
            return f'"{opening}" is never closed', it.context, it.context + 1
        line = it.line(it.context)
        message = (
            f'a "," or "{closing[1]}" is missing before this; '
            f'the "{opening}" on line {line} is still open'
        )
        return message, it.at, it.at + 1
    if "node content" not in it.problem:
        return None
    if not it.text[it.at :].strip(BLANKS):
        last = len(it.text.rstrip(BLANKS))
        return "the text ends too early: a bracket is never closed", max(last - 1, 0), last
    if it.char == "," and it.before.rstrip(BLANKS).endswith((",", "[", "{")):
        return 'a value is missing before ","', it.at, it.at + 1
    if it.char == ":" and it.text[it.at + 1 : it.at + 2] in {" ", ",", "}", "]"}:
        return 'a key is missing before ":"', it.at, it.at + 1
    message = f'text cannot begin with "{it.char}"; put it in quotes'
    return message, *it.to_line_end(it.at)


_INDICATORS = {
    "sequence entries are not allowed": 'a list item cannot begin here; write "- " on a line of its own',
    "mapping keys are not allowed": 'text cannot begin with "? "; put it in quotes',
}


def _indicator(it: ParserError) -> Explained | None:
    for problem, message in _INDICATORS.items():
        if problem in it.problem:
            return message, it.at, it.at + 1
    if "cannot start any token" in it.problem:
        message = f'text cannot begin with "{it.char}"; put it in quotes'
        return message, *it.to_line_end(it.at)
    start = it.at if it.context is None else it.context
    char = it.text[start : start + 1]
    if char == "%" or "YAML document" in it.problem:
        message = "a line that begins with % is a directive; remove it, or put the text in quotes"
        return message, *it.to_line_end(start)
    if char in {"*", "&"} and "alphabetic or numeric" in it.problem:
        what = "an alias" if char == "*" else "an anchor"
        message = f'text that begins with "{char}" is {what}; put it in quotes'
        return message, *it.to_line_end(start)
    if char == "!":
        return 'text that begins with "!" is a tag; put it in quotes', *it.to_line_end(start)
    if char in {"|", ">"}:
        message = f'nothing but a line break may follow "{char}"; put the text in quotes'
        return message, *it.to_line_end(start)
    return None


def _escape(it: ParserError) -> Explained | None:
    if not re.search("escape|hex[a]?decimal", it.problem):
        return None
    slash = it.text.rfind("\\", it.context or 0, it.at + 1)
    if slash < 0:
        return None
    if "Unicode" in it.problem:
        message = "this escape is only half of a character; write the character itself"
        return message, slash, slash + 6
    name = it.text[slash + 1 : slash + 2]
    digits = {"x": 2, "u": 4, "U": 8}.get(name)
    fault = f"needs {digits} hexadecimal digits" if digits else "is unknown"
    message = f'the escape "\\{name}" {fault}; write "\\\\", or use single quotes'
    return message, slash, slash + 2


def _rest(it: ParserError) -> Explained | None:
    if "control characters" in it.problem or "special characters" in it.problem:
        return "a character that YAML does not allow; remove it", it.at, it.at + 1
    return None
