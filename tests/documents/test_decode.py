"""Bytes are decoded to text, or the error is reported."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.documents.decode import NotTextError, decode
from tests.documents.reading import read_text


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_crash_it(data):
    try:
        text = decode(data)
    except NotTextError:
        return
    read_text(text)


@pytest.mark.parametrize(
    ("data", "fault", "line", "column", "text"),
    [
        (b"a: 1\r\nb: \xc3\xa9\xe9 x\nc", "byte 0xe9 is not UTF-8", 2, 5, "b: é\\xe9 x"),
        (b"a\rb\0c", "a NUL byte", 2, 2, "b\0c"),
        ("kind: T\u00e9am\n".encode("utf-16-be"), "this file is UTF-16", 0, 0, ""),
        ("kind: Team\n".encode("utf-32-be"), "this file is UTF-32", 0, 0, ""),
        ("a".encode("utf-32"), "this file is UTF-32", 0, 0, ""),
        (b"\xef\xbb\xbfa", "byte-order mark", 0, 0, ""),
    ],
)
def test_invalid_text_has_its_position(data, fault, line, column, text):
    with pytest.raises(NotTextError, match=fault) as error:
        decode(data)
    it = error.value
    assert (it.line, it.column, it.text) == (line, column, text)


def test_utf_8_is_text():
    assert decode("é\u2028\U0001f600\r\n".encode()) == "é\u2028\U0001f600\r\n"
    assert decode(b"") == ""
