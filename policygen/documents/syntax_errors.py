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

    Not a Hit: it has the parser's message, which `explain` replaces.
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
    """The message for an error of libyaml or PyYAML."""
    for explanation in (
        _tab,
        _no_space,
        _template,
        _unfinished,
        _glued,
        _dash,
        _mapping,
        _flow,
        _indicator,
        _escape,
        _rest,
    ):
        explained = explanation(error)
        if explained:
            return explained
    return f"this is not valid YAML: {error.problem}", error.at, error.at + 1


# Blanks that are not a space, at places where YAML needs one: in indentation, or after an indicator.
_NO_SPACE = re.compile(
    "(?:^[ \t]*|[:,-])([\xa0\u1680\u2000-\u200b\u202f\u205f\u3000])", re.MULTILINE
)
_KEY_EXPECTED = re.compile("expected key|expected <block end>")
_GLUED = re.compile(r"[ \t]*(?:- +)?([A-Za-z][\w./-]*)(:)(?!//)([^\s:#]+)[ \t]*(?:#.*)?\r?\n")
"""A line with a key and a value without a space between the two."""
_BELOW = (
    "this line cannot continue the document above; correct the indentation, "
    'or write a line "---" above this line'
)


def _tab(error: ParserError) -> Explained | None:
    indent = re.compile(r"[ \t]*").match(error.text, error.line_start)
    tab = error.text.find("\t", error.line_start, indent.end() if indent else 0)
    if error.json or (tab < 0 and error.char != "\t"):
        return None
    start = tab if tab >= 0 else error.at
    run = re.compile(r"\t+").match(error.text, start)
    return "a tab is used for indentation; write spaces", start, run.end() if run else start + 1


def _no_space(error: ParserError) -> Explained | None:
    above = line_start(error.text, max(error.line_start - 1, 0))
    lines = (
        [above, error.line_start] if error.context is None else [error.context, error.line_start]
    )
    found = (_NO_SPACE.search(error.text, *error.to_line_end(start)) for start in lines)
    match = next(filter(None, found), None)
    if match is None:
        return None
    code = f"U+{ord(match[1]):04X}"
    return (
        f"this character ({code}) looks like a space but is not a space; write a space",
        match.start(1),
        match.end(1),
    )


def _template(error: ParserError) -> Explained | None:
    start, end = error.to_line_end(error.line_start)
    brace = error.text.find("{{", start, end)
    if brace < 0:
        return None
    return placeholders.MESSAGE, brace, end


def _unfinished(error: ParserError) -> Explained | None:
    start = error.at if error.context is None else error.context
    if "unexpected end of stream" in error.problem or "unexpected document" in error.problem:
        quote = error.text[start : start + 1]
        message = f"this quote ({quote}) is never closed; write the closing quote"
        return message, *error.to_line_end(start)
    if "could not find expected ':'" in error.problem:
        return 'a ":" is missing; write "key: value"', *error.to_line_end(start)
    if "<document start>" in error.problem:
        here = error.to_line_end(error.at)
        if error.json:
            return 'a second document begins here; write a line "---" before it', *here
        return _BELOW, *here
    return None


def _glued(error: ParserError) -> Explained | None:
    """A key and its value without a space between the two, on the line before another key."""
    if "mapping values are not allowed" not in error.problem:
        return None
    found = _GLUED.match(error.text, line_start(error.text, max(error.line_start - 1, 0)))
    if found is None or found.end() != error.line_start:
        return None
    message = f'a space is missing after this ":"; write "{found[1]}: {found[3]}"'
    return message, found.start(2), found.end(2)


def _dash(error: ParserError) -> Explained | None:
    """A list item at the level of the keys of the list item above."""
    if error.context is None or error.char != "-" or not _KEY_EXPECTED.search(error.problem):
        return None
    before = error.text[line_start(error.text, error.context) : error.context]
    if before.strip(BLANKS) != "-" or len(before) != len(error.before):
        return None
    message = (
        "this line is at the level of the keys of the list item on line "
        f"{error.line(error.context)}; remove the dash, or begin the line where that item begins"
    )
    return message, *error.to_line_end(error.at)


def _mapping(error: ParserError) -> Explained | None:
    if "mapping values are not allowed" in error.problem:
        if re.search(r":(\s|$)", error.before):
            message = 'this line has a second ": "; put the value in quotes'
        else:
            message = 'a ":" is not allowed here; correct the indentation, or the line above'
        return message, error.at, error.at + 1
    if "expected '-' indicator" not in error.problem and not _KEY_EXPECTED.search(error.problem):
        return None
    if error.char in {"}", "]"}:
        message = f'the opening bracket for "{error.char}" is missing; put the text in quotes, or remove "{error.char}"'
        return message, error.at, error.at + 1
    if error.char == ":" and not error.before.strip(BLANKS):
        return 'a key is missing before ":"; write a key', error.at, error.at + 1
    if error.before.strip(BLANKS) not in {"", "-"}:
        message = "unexpected text after the value; put the whole value in one pair of quotes"
    elif error.context is not None and _column(error, error.context) == len(error.before):
        entry = error.char == "-"
        message = (
            "this list item is at the level of keys; indent the item, or write a key above it"
            if entry
            else 'this key is at the level of list items; write "- " before the key, or indent the key'
        )
    else:
        message = "this line is indented differently than its block; correct the indentation"
        if error.context is not None:
            line = error.line(error.context)
            message = (
                f"this line is indented differently than its block, which begins on line {line}; "
                "correct the indentation"
            )
    return message, *error.to_line_end(error.at)


def _column(error: ParserError, index: int) -> int:
    return index - line_start(error.text, index)


def _flow(error: ParserError) -> Explained | None:
    closing = re.search(r"expected ',' or '([]}])'", error.problem)
    if closing and error.context is not None:
        opening = error.text[error.context]
        if not error.char.strip(BLANKS) and not error.text[error.at :].strip(BLANKS):
            closed = f'this "{opening}" is never closed; write the closing bracket'
            return closed, error.context, error.context + 1
        line = error.line(error.context)
        message = (
            f'a "," or "{closing[1]}" is missing before this text; '
            f'the "{opening}" on line {line} is still open'
        )
        return message, error.at, error.at + 1
    if "node content" not in error.problem:
        return None
    if not error.text[error.at :].strip(BLANKS):
        last = len(error.text.rstrip(BLANKS))
        message = "the text ends before a bracket is closed; write the closing bracket"
        return message, max(last - 1, 0), last
    if error.char == "," and error.before.rstrip(BLANKS).endswith((",", "[", "{")):
        return 'a value is missing before ","; write a value', error.at, error.at + 1
    if error.char == ":" and error.text[error.at + 1 : error.at + 2] in {" ", ",", "}", "]"}:
        return 'a key is missing before ":"; write a key', error.at, error.at + 1
    message = f'text cannot begin with "{error.char}"; put the text in quotes'
    return message, *error.to_line_end(error.at)


_INDICATORS = {
    "sequence entries are not allowed": 'a list item cannot begin here; begin a new line with "- "',
    "mapping keys are not allowed": 'text cannot begin with "? "; put the text in quotes',
}


def _indicator(error: ParserError) -> Explained | None:
    for problem, message in _INDICATORS.items():
        if problem in error.problem:
            return message, error.at, error.at + 1
    if "cannot start any token" in error.problem:
        message = f'text cannot begin with "{error.char}"; put the text in quotes'
        return message, *error.to_line_end(error.at)
    start = error.at if error.context is None else error.context
    char = error.text[start : start + 1]
    if char == "%" or "YAML document" in error.problem:
        message = (
            "a line that begins with % is a directive; remove the line, or put the text in quotes"
        )
        return message, *error.to_line_end(start)
    if char in {"*", "&"} and "alphabetic or numeric" in error.problem:
        message = 'text that begins with "&" is an anchor; put the text in quotes'
        if char == "*":
            message = 'text that begins with "*" is an alias; put the text in quotes'
        return message, *error.to_line_end(start)
    if char == "!":
        return 'text that begins with "!" is a tag; put the text in quotes', *error.to_line_end(
            start
        )
    if char in {"|", ">"}:
        message = f'only a line break may follow "{char}"; put the text in quotes'
        return message, *error.to_line_end(start)
    return None


def _escape(error: ParserError) -> Explained | None:
    if not re.search("escape|hex[a]?decimal", error.problem):
        return None
    slash = error.text.rfind("\\", error.context or 0, error.at + 1)
    if slash < 0:
        return None
    if "Unicode" in error.problem:
        message = "this escape is half of a surrogate pair; write the character itself"
        return message, slash, slash + 6
    name = error.text[slash + 1 : slash + 2]
    digits = {"x": 2, "u": 4, "U": 8}.get(name)
    message = f'the escape "\\{name}" is unknown; write "\\\\", or use single quotes'
    if digits:
        message = (
            f'the escape "\\{name}" needs {digits} hexadecimal digits; write "\\\\", '
            "or use single quotes"
        )
    return message, slash, slash + 2


def _rest(error: ParserError) -> Explained | None:
    if "control characters" in error.problem or "special characters" in error.problem:
        return "YAML does not allow this character; remove the character", error.at, error.at + 1
    return None
