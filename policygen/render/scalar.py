"""YAML autoescaping: values in templates become text that every YAML parser reads equally."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache

from jinja2 import Undefined, UndefinedError, pass_eval_context
from jinja2.nodes import EvalContext
from markupsafe import Markup

from policygen.core.quoting import is_plain

WIDTH = 80
"""Length of a line, in columns, as in yamllint's default configuration."""

_STEP = 2
# Columns of indentation for nested content, as in every shipped template.

_KEY_ROOM = 40
# Columns reserved for a key that is unknown here: `key: {{ block(text, 4) }}`.

_SIMPLE_KEY = 1000
# YAML parsers refuse `key:` above 1,024 characters; `? key` has no such limit.

_INVISIBLE = (
    "\x00-\x09\x0b-\x1f\x7f-\xa0\xad\u061c\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f"
    "\u3000\ud800-\uf8ff\ufdd0-\ufdef\ufeff\ufff0-\uffff\U000e0000-\U0010ffff"
)
# Control characters, line breaks of YAML 1.1, unusual spaces, text directions, private use. The
# list is fixed, since str.isprintable depends on the Python version, and the output must not.
_HIDDEN = re.compile(f"[{_INVISIBLE}]")
_ESCAPED = re.compile(f'["\\\\\n{_INVISIBLE}]')
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t", "\b": "\\b", "\f": "\\f"}
_WORD_OR_SPACES = re.compile(r" +|[^ ]+")


def encode(value: object) -> str:
    """A value on one line: plain or in double quotes, lists and dicts in flow style.

    Accepts str, bool, int, float, None, and lists, tuples and mappings of them; keys are str.
    Raises TypeError for any other type. Raises ValueError for values that YAML cannot represent:
    a float that is not finite, a lone surrogate.
    """
    if isinstance(value, str):
        return _text(str.__str__(value))
    if isinstance(value, Mapping):
        return "{" + ", ".join(_flow_pairs(value)) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(encode(each) for each in value) + "]"
    return _atom(value)


def _flow_pairs(value: Mapping[object, object]) -> Iterator[str]:
    for key, entry in value.items():
        name = _key(key)
        mark = "? " if len(name) > _SIMPLE_KEY else ""
        yield f"{mark}{name}: {encode(entry)}"


def _atom(value: object) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return int.__repr__(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"a manifest cannot contain the number {value}")
        text = float.__repr__(value)
        # In YAML 1.1, 1e16 is a string: a float needs its decimal point.
        return text if "." in text else text.replace("e", ".0e")
    raise TypeError(f"a template cannot print a {type(value).__name__}; print its fields")


def _key(key: object) -> str:
    if not isinstance(key, str):
        raise TypeError(f"a mapping's key must be text, not a {type(key).__name__}")
    return _text(str.__str__(key))


@lru_cache(maxsize=1 << 14)
def _text(text: str) -> str:
    if is_plain(text):
        return text
    return f'"{_escaped(text)}"'


def _escaped(text: str) -> str:
    return _ESCAPED.sub(_escape, text)


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if char in _SHORT:
        return _SHORT[char]
    code = ord(char)
    if 0xD800 <= code <= 0xDFFF:
        raise ValueError("a manifest cannot contain a lone surrogate (half of a character)")
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def block(value: object, indent: int, width: int = WIDTH) -> Markup:
    """A value that may need several lines, below its key.

    A template uses it as `key: {{ block(it.labels, 4) }}`. `indent` is the column of the value's
    lines: the column of the key plus 2.

    - A dict or list becomes a newline and lines in block style, or `{}` or `[]` if it is empty.
      The engine removes the space between the colon and the newline.
    - Text of several lines becomes a literal block, if that is possible.
    - Other long text is folded inside double quotes. So no line is longer than `width`, if a break
      is possible. A file inside a ConfigMap is written 4 columns narrower, so that it fits there
      as a literal block.

    A literal block is not possible (or yamllint refuses it) for characters that are not printable,
    tabs, spaces at the end of a line, three empty lines, an empty line at the end, and lines longer
    than `width`. If the column of the parent is unknown, the first line must not begin with a space.

    Raises the errors of `encode`.
    """
    if indent < 1 and not isinstance(value, Mapping | list | tuple):
        return Markup(encode(value))  # noqa: S704 - YAML, and encode made it safe
    text = _below(value, indent, indent - _STEP + _KEY_ROOM, width, nested=False)
    return Markup(text.removeprefix(" "))  # noqa: S704 - likewise


def _below(value: object, indent: int, column: int, width: int, *, nested: bool = True) -> str:
    """The text after `key:`: a space and a scalar at `column`, or lines at `indent`."""
    if isinstance(value, Mapping) and value:
        return "".join(f"\n{' ' * indent}{pair}" for pair in _pairs(value, indent, width))
    if isinstance(value, list | tuple) and value:
        return "".join(f"\n{' ' * indent}-{_item(each, indent, width)}" for each in value)
    if isinstance(value, str) and column + len("|2-") <= width:
        literal = _literal(str.__str__(value), indent, width, nested=nested)
        if literal is not None:
            return f" {literal}"
    text = encode(value)
    if column + len(text) <= width:
        return f" {text}"
    return f"\n{' ' * indent}{_folded(value, text, indent, width)}"


def _pairs(value: Mapping[object, object], indent: int, width: int) -> Iterator[str]:
    for key, entry in value.items():
        name = _key(key)
        long = indent + len(name) + 1 > width and " " in name
        if not long and len(name) <= _SIMPLE_KEY:
            below = _below(entry, indent + _STEP, indent + len(name) + 2, width)
            yield f"{name}:{below}"
        else:
            lead = f"\n{' ' * (indent + _STEP)}"
            below = _below(entry, indent + _STEP, indent + _STEP, width)
            folded = _folded(key, name, indent + _STEP, width)
            yield f"?{lead}{folded}\n{' ' * indent}:{below}"


def _item(value: object, indent: int, width: int) -> str:
    """The text after the dash of a list item."""
    inner = indent + _STEP
    if isinstance(value, Mapping) and value:
        return " " + f"\n{' ' * inner}".join(_pairs(value, inner, width))
    below = _below(value, inner, inner, width)
    # A long scalar starts next to the dash: on the next line it would have the same column.
    if below.startswith("\n") and not isinstance(value, list | tuple):
        return f" {below.lstrip()}"
    return below


def _literal(text: str, indent: int, width: int, *, nested: bool) -> str | None:
    """The text as a literal block, or None if that is not possible."""
    body = text.removesuffix("\n")
    if "\n" not in text or not body.strip("\n") or body.endswith("\n"):
        return None
    if "\n\n\n\n" in f"\n{body}" or " \n" in text or body.endswith(" ") or _HIDDEN.search(text):
        return None
    lines = body.split("\n")
    if any(indent + len(line) > width and " " in line.lstrip() for line in lines):
        return None
    indicator = ""
    if body.lstrip("\n").startswith(" "):
        if not nested:
            return None
        indicator = f"{_STEP}"
    chomp = "" if text.endswith("\n") else "-"
    pad = " " * indent
    return f"|{indicator}{chomp}" + "".join(f"\n{pad}{line}" if line else "\n" for line in lines)


def _folded(value: object, text: str, indent: int, width: int) -> str:
    """An encoded scalar on several lines at `indent`; only a quoted scalar can be folded."""
    if not isinstance(value, str) or not text.startswith('"'):
        return text
    fold = _Fold(width - indent - len('\\n"'))
    for number, line in enumerate(str.__str__(value).split("\n")):
        if number:
            fold.line += "\\n"
            if line or number < value.count("\n"):
                fold.hard()
        fold.add(_escaped(line))
    return f"\n{' ' * indent}".join((*fold.lines, f'{fold.line}"'))


class _Fold:
    """Builds the lines of a double-quoted scalar; `room` is the length of a line in columns."""

    def __init__(self, room: int) -> None:
        self.lines: list[str] = []
        self.line = '"'
        self.room = room

    def add(self, text: str) -> None:
        """Add escaped text, with line breaks at its spaces."""
        spaces = ""
        for part in _WORD_OR_SPACES.findall(text):
            if part[0] == " ":
                spaces = part
                continue
            if len(spaces) == 1 and self._begun and not self._fits(spaces + part):
                self.lines.append(self.line)  # parsers read this break as one space
                self.line = ""
            else:
                self._space(spaces)
            if self._begun and not self._fits(part):
                self.hard()
            self.line += part
            spaces = ""
        self._space(spaces)

    def hard(self) -> None:
        """Break the line with an escaped break, which parsers do not read as a space."""
        self.lines.append(f"{self.line}\\")
        self.line = ""

    @property
    def _begun(self) -> bool:
        return self.line not in ("", '"')

    def _fits(self, text: str) -> bool:
        return len(self.line) + len(text) <= self.room

    def _space(self, spaces: str) -> None:
        while spaces:
            if not self._fits("  "):
                self.hard()
            if not self.line:
                self.line = "\\"  # a space at the start of a line must be escaped
            free = self.room - len(self.line)
            self.line += spaces[:free]
            spaces = spaces[free:]


@pass_eval_context  # prevents Jinja from evaluating constants without this function
def finalize(_: EvalContext, value: object) -> str:
    """The text of an expression in a template: Markup unchanged, other values by `encode`.

    Raises jinja2.UndefinedError for an undefined value, and the errors of `encode`.
    """
    if type(value) is str:
        return _text(value)
    if isinstance(value, Markup):
        return value
    if isinstance(value, Undefined):
        str(value)  # StrictUndefined raises an error with the missing name
        raise UndefinedError("an undefined value cannot be printed")
    return encode(value)
