"""Bytes to text, with one clear reason if they are not text."""

import codecs
import re

_UTF16 = 'this file is UTF-16; save the file as "UTF-8"'
_UTF32 = 'this file is UTF-32; save the file as "UTF-8"'
# UTF-32 first: its little-endian mark begins with that of UTF-16.
_MARKS = (
    (codecs.BOM_UTF32_LE, _UTF32),
    (codecs.BOM_UTF32_BE, _UTF32),
    (codecs.BOM_UTF16_LE, _UTF16),
    (codecs.BOM_UTF16_BE, _UTF16),
    (
        codecs.BOM_UTF8,
        'this file begins with a byte-order mark; save the file as "UTF-8 without BOM"',
    ),
)
_SAMPLE = 4096
_MIN_SAMPLE = 8
_LINE_END = re.compile(rb"\r\n|\n|\r")


class NotTextError(Exception):
    """Why bytes are not text; with a line if a single byte is at fault."""

    def __init__(
        self, message: str, *, line: int = 0, column: int = 0, length: int = 0, text: str = ""
    ) -> None:
        super().__init__(message)
        self.line = line
        self.column = column
        self.length = length
        self.text = text


def decode(data: bytes) -> str:
    """The text of UTF-8 bytes.

    Raises NotTextError for anything else, for a byte-order mark, and for NUL.
    """
    for mark, message in _MARKS:
        if data.startswith(mark):
            raise NotTextError(message)
    nul = data.find(b"\0")
    if nul >= 0:
        wide = _wide(data[:_SAMPLE])
        raise (
            NotTextError(wide)
            if wide
            else _at(
                data,
                nul,
                'this file contains a NUL byte, so it is not text; save the file as "UTF-8"',
            )
        )
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        message = f'byte 0x{data[error.start]:02x} is not UTF-8; save the file as "UTF-8"'
        raise _at(data, error.start, message) from None


def _wide(sample: bytes) -> str | None:
    """The fault of text without a mark that has NULs as UTF-16 or UTF-32 of ASCII has them."""
    if len(sample) < _MIN_SAMPLE:
        return None
    for width, message in ((4, _UTF32), (2, _UTF16)):
        units = len(sample) // width
        empty = [sample[place::width][:units].count(0) for place in range(width)]
        for filled in (0, width - 1):
            others = [empty[place] for place in range(width) if place != filled]
            if min(others) > units * 3 // 4 and empty[filled] < units // 4 + 1:
                return message
    return None


def _at(data: bytes, index: int, message: str) -> NotTextError:
    line, start = 1, 0
    for match in _LINE_END.finditer(data, 0, index):
        line, start = line + 1, match.end()
    end = _LINE_END.search(data, index)
    before = data[start:index].decode(errors="backslashreplace")
    bad = data[index : index + 1].decode(errors="backslashreplace")
    after = data[index + 1 : end.start() if end else len(data)].decode(errors="backslashreplace")
    return NotTextError(
        message, line=line, column=len(before) + 1, length=len(bad), text=before + bad + after
    )
