"""Every kind of YAML syntax error: its position, and the remedy in its message."""

import pytest

from tests.documents.reading import read_text, summaries

# What is wrong with the text as such: line, column, underlined text, and pieces of the message.
SYNTAX = {
    "tab": ("a:\n\tb: 1\n", 2, 1, "\t", "a tab is used for indentation; write spaces"),
    "tab below a value": ("a:\n  b: 1\n\tc: 2\n", 3, 1, "\t", "a tab is used"),
    "tab after blanks": ("a:\n - b\n \t- c\n", 3, 2, "\t", "a tab is used"),
    "tab in a block": ("a: |\n\tb\n", 2, 1, "\t", "a tab is used"),
    "at": ("a: @x  # y\n", 1, 4, "@x  # y", 'text cannot begin with "@"; put the text in quotes'),
    "backtick": ("a: `x`\n", 1, 4, "`x`", 'cannot begin with "`"'),
    "percent": ("a: %x\n", 1, 4, "%x", 'cannot begin with "%"'),
    "comma": ("a: ,x\n", 1, 4, ",x", 'cannot begin with ","'),
    "two colons": ("a: b: c\n", 1, 5, ":", 'this line has a second ": "; put the value in quotes'),
    "deeper below a value": ("a: b\n  c: d\n", 2, 4, ":", "correct the indentation"),
    "no colon": ("a: 1\nbcd \nc: 2\n", 2, 1, "bcd", 'a ":" is missing; write "key: value"'),
    "no key": (": 1\n", 1, 1, ":", 'a key is missing before ":"'),
    "no key in braces": ("a: {: 1}\n", 1, 5, ":", 'a key is missing before ":"'),
    "byte-order mark": (
        "\ufeffa: 1\n",
        1,
        1,
        "\ufeff",
        "U+FEFF is not allowed; remove the character",
    ),
    "line separator": (
        "a: 'b\u2028'\n",
        1,
        6,
        "\u2028",
        "U+2028 is not allowed; remove the character",
    ),
    "next line": ("a: b\x85c\nd: 1", 1, 5, "\x85", "U+0085 is not allowed; remove the character"),
    "open quote": ('a: "x\nb: 1\n', 1, 4, '"x', 'this quote (") is never closed'),
    "open single quote": ("a: 'x\n", 1, 4, "'x", "this quote (') is never closed"),
    "after quote": ("a: 'it's'\n", 1, 8, "s'", "unexpected text after the value"),
    "less indented": (
        *("a:\n  b: 1\n c: 2\n", 3, 2, "c: 2"),
        "indented differently than its block, which begins on line 1",
    ),
    "item among keys": ("a: 1\n- b\n", 2, 1, "- b", "this list item is at the level of keys"),
    "item among keys of an item": (
        *("a:\n- b: 1\n  - c: 2\n", 3, 3, "- c: 2"),
        "the level of the keys of the list item on line 2; remove the dash",
    ),
    "no space after a colon": (
        *("a:\n  team:vision\n  b: 1\n", 2, 7, ":"),
        'a space is missing after this ":"; write "team: vision"',
    ),
    "key among items": ("- a\nb: 1\n", 2, 1, "b: 1", "this key is at the level of list items"),
    "item in a value": ("a: - b\n", 1, 4, "-", 'begin a new line with "- "'),
    "open bracket": ("a: [1, 2\n", 1, 4, "[", '"[" is never closed'),
    "open bracket, more": (
        *("a: [1, 2\nb: 3\n", 2, 2, ":"),
        'a "," or "]" is missing before this text; the "[" on line 1 is still open',
    ),
    "empty bracket": ("a: [", 1, 4, "[", "before a bracket is closed"),
    "no value": ("a: [1,,2]\n", 1, 7, ",", 'a value is missing before ","'),
    "closing": ("a: ]\n", 1, 4, "]", 'cannot begin with "]"'),
    "closing twice": ("a: {b: }}\n", 1, 9, "}", 'the opening bracket for "}" is missing'),
    "question": ("a: ? b\n", 1, 4, "?", 'cannot begin with "? "'),
    "asterisk": ("a: *.txt\n", 1, 4, "*.txt", 'text that begins with "*" is an alias'),
    "ampersand": ("a: & b\n", 1, 4, "& b", 'text that begins with "&" is an anchor'),
    "no anchor": ("a: *x\n", 1, 4, "*x", 'alias "*x" has no anchor "&x" above it'),
    "tag handle": ("a: !e!x 1\n", 1, 4, "!e!x 1", 'text that begins with "!" is a tag'),
    "greater": ("a: >= 3\n", 1, 4, ">= 3", 'only a line break may follow ">"'),
    "escape": ('a: "\\d"\n', 1, 5, "\\d", 'the escape "\\d" is unknown; write "\\\\"'),
    "windows path": ('a: "C:\\Users"\n', 1, 7, "\\U", 'escape "\\U" needs 8 hexadecimal digits'),
    "template": ("a: {{ .x }}/b\n", 1, 4, "{{ .x }}/b", "this looks like a template"),
    "directive": ("%x: 1\n", 1, 1, "%x: 1", "a line that begins with % is a directive"),
    "version": ("%YAML 3.0\n---\na: 1\n", 1, 1, "%YAML 3.0", "is a directive; remove the line"),
    "no-break space": (
        "a:\xa0b\nc: 1\n",
        1,
        3,
        "\xa0",
        "this character (U+00A0) looks like a space but is not",
    ),
    "no-break indentation": ("a: 1\n\xa0b: c: 1\n", 2, 1, "\xa0", "is not a space; write a"),
    "no separator": (" a: 1\nb: 2\n", 2, 1, "b: 2", 'write a line "---" above this line'),
    "control": ("a: x\x07y\x1b\n", 1, 5, "\x07", "U+0007 and 1 more in this file are not allowed"),
    "delete": (
        "a: b\n# \x7f\n",
        2,
        3,
        "\x7f",
        "character U+007F is not allowed; remove the character",
    ),
    "lone surrogate": ("a: \udcff\n", 1, 4, "\udcff", "character U+DCFF is not allowed"),
    "windows line ends": ("a: 1\r\nb: c: d\r\n", 2, 5, ":", 'a second ": "'),
}


@pytest.mark.usefixtures("parser")
@pytest.mark.parametrize("text, line, column, under, message", SYNTAX.values(), ids=SYNTAX)
def test_broken_syntax(text, line, column, under, message):
    _, findings = read_text(text)
    ((*where, rule, said),) = summaries(findings)
    assert (*where, rule) == (line, column, under, "yaml-syntax")
    assert message in said


@pytest.mark.parametrize(
    "text, line, column, under, message",
    [
        ('{"a": 1\n "b": 2}', 2, 5, ":", 'a "," or "}" is missing before this'),
        ('{"a": 1}\n{"b": 2}\n', 2, 1, '{"b": 2}', "a second document begins here"),
        ('{"a": "\\ud83d"}', 1, 8, "\\ud83d", "write the character itself"),
        ('{"a": 1, "a": 2}', 1, 10, '"a"', 'key "a" is set twice, first on line 1'),
        ('{"a": 1e3}', 1, 7, "1e3", 'write 1000, or "1e3" in quotes'),
        ('[{"a": 1}]', 1, 1, '[{"a": 1}]', "must be a mapping"),
        ("{a: \\ud83d\\ude00}", 1, 5, "\\ud83d\\ude00", "write the character itself"),
        ("\t\t{,}", 1, 4, ",", "a value is missing"),
    ],
)
def test_broken_json(text, line, column, under, message):
    _, findings = read_text(text, "a.json")
    ((*where, _, said),) = summaries(findings)
    assert where == [line, column, under]
    assert message in said
