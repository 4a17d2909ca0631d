import functools
import io
import json

import pytest
import yaml
import yamllint.config
import yamllint.linter
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jinja2 import DictLoader, Environment, StrictUndefined, Undefined, UndefinedError
from markupsafe import Markup
from ruamel.yaml import YAML

from policygen.render.environment import environment
from policygen.render.scalar import block, encode, finalize

LINT = yamllint.config.YamlLintConfig("extends: default")

PIECES = [
    *("on", "No", "y", "null", "~", "1e3", "0777", "12:30", "1_0", "0x1f", "-1", "=", "<<", "---"),
    *(": ", " #", "- ", "? ", "& *!", "{", "}", "[", "]", ",", "|", ">", "%", "@", "`", "'", '"'),
    *(
        "\\",
        "\\n",
        "\n",
        "\n\n",
        "\n\n\n\n",
        " ",
        "  ",
        "     ",
        "\t",
        "\r",
        "\r\n",
        "word",
        "a.b/c",
    ),
    *(
        "\x00",
        "\x1b",
        "\x7f",
        "\x85",
        "\xa0",
        "\u2028",
        "\u2029",
        "\ufeff",
        "\ufffe",
        "é",
        "日本",
        "😀",
    ),
    *("x" * 30, "long-" * 20, " " * 100, "lorem ipsum dolor sit amet " * 4),
]
TEXTS = st.one_of(
    st.lists(st.sampled_from(PIECES), max_size=12).map("".join),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=40),
    st.text("ab \n\"\\'#:-", max_size=200),
)
SCALARS = st.one_of(
    TEXTS,
    st.booleans(),
    st.none(),
    st.integers(),
    st.floats(allow_nan=False, allow_infinity=False),
)
NESTED = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=12,
)


@functools.cache
def readers():
    def ruamel(text):
        return YAML(typ="safe", pure=True).load(io.StringIO(text))

    return {
        "libyaml": functools.partial(yaml.load, Loader=yaml.CSafeLoader),
        "pyyaml": functools.partial(yaml.load, Loader=yaml.SafeLoader),
        "ruamel": ruamel,
    }


def typed(value):
    """A form of the value that distinguishes 1, 1.0 and True, and -0.0 from 0.0."""
    if isinstance(value, dict):
        return [(key, typed(each)) for key, each in value.items()]
    if isinstance(value, list | tuple):
        return [typed(each) for each in value]
    return (type(value).__name__, repr(value))


def assert_reads_back(text, value):
    for name, read in readers().items():
        assert typed(read(text)) == typed(value), name


def faults(text):
    return [str(fault) for fault in yamllint.linter.run(text, LINT)]


@settings(max_examples=500, deadline=None)
@given(NESTED, NESTED)
@example("x" * 200, "y " * 100)
@example({"k" * 2000: {"k " * 700: "v " * 100}}, [["a " * 50], [[]], {"x" * 90: "y" * 90}])
@example("  first\nsecond", [" first\nsecond\n", "\n\nfirst", {"x" * 90: "a\nb\n"}])
def test_whatever_is_written_reads_back_the_same_and_passes_yamllint(first, second):
    def printed(value, indent):
        return f" {block(value, indent)}".replace(" \n", "\n")

    blocks = (
        f"---\nfirst:{printed(first, 2)}\nnested:\n  - second:{printed(second, 6)}\n    end: 1\n"
    )
    assert faults(blocks) == []
    lines = [encode(first), encode({"inner": [second]})]
    assert not any("\n" in line for line in lines)
    assert_reads_back(
        f"{blocks}line: {lines[0]}\nlines:\n  - {lines[1]}\n",
        {
            "first": first,
            "nested": [{"second": second, "end": 1}],
            "line": first,
            "lines": [{"inner": [second]}],
        },
    )


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(TEXTS, NESTED, min_size=1, max_size=4))
def test_a_whole_document_can_be_one_block(value):
    text = f"---{block(value, 0)}\n"
    assert_reads_back(text, value)
    assert faults(text) == []


@pytest.mark.parametrize(
    "value, text",
    [
        ("team-a.h100/x_1", "team-a.h100/x_1"),
        ("on", '"on"'),
        ("No", '"No"'),
        ("Y", '"Y"'),
        ("null", '"null"'),
        ("", '""'),
        ("1500m", '"1500m"'),
        ("1e3", '"1e3"'),
        ("a: b", '"a: b"'),
        ("a<b&c", '"a<b&c"'),
        ('say "hi"\\', '"say \\"hi\\"\\\\"'),
        ("é 日本 😀", '"é 日本 😀"'),
        ("a\nb\t\x1b\x85\u2028\U000e0001", '"a\\nb\\t\\u001b\\u0085\\u2028\\U000e0001"'),
        (True, "true"),
        (None, "null"),
        (-7, "-7"),
        (10**30, "1" + "0" * 30),
        (0.5, "0.5"),
        (1e16, "1.0e+16"),
        (1.5e-7, "1.5e-07"),
        ([], "[]"),
        ({}, "{}"),
        (("a", 1, {"on": ["b c", None]}), '[a, 1, {"on": ["b c", null]}]'),
        (Markup("<b>"), '"<b>"'),
    ],
)
def test_how_values_are_written(value, text):
    assert encode(value) == text


def test_equal_values_of_other_types_keep_their_own_text():
    assert [encode(value) for value in (1, True, 1.0, "1")] == ["1", "true", "1.0", '"1"']


@pytest.mark.parametrize(
    "value, error, message",
    [
        (float("nan"), ValueError, "a manifest cannot contain the number"),
        (float("-inf"), ValueError, "a manifest cannot contain the number"),
        ("\ud800", ValueError, "lone surrogate"),
        ({1: "a"}, TypeError, "key must be text, not a int"),
        (object(), TypeError, "cannot print a object"),
        ({"a", "b"}, TypeError, "cannot print a set"),
        (b"x", TypeError, "cannot print a bytes"),
    ],
)
def test_what_no_manifest_can_hold_is_refused(value, error, message):
    with pytest.raises(error, match=message):
        encode(value)
    with pytest.raises(error, match=message):
        block([value], 2)


@pytest.mark.parametrize(
    "value, text",
    [
        ({}, "{}"),
        ([], "[]"),
        ("short", "short"),
        ({"a": "b", "c": {}}, "\n  a: b\n  c: {}"),
        (["a", {"b": 1, "c": [2]}], "\n  - a\n  - b: 1\n    c:\n      - 2"),
        ("one\ntwo\n", "|\n  one\n  two"),
        ("one\n\ntwo", "|-\n  one\n\n  two"),
        ("one\n\n", '"one\\n\\n"'),
        (" one\ntwo", '" one\\ntwo"'),
        ("one \ntwo", '"one \\ntwo"'),
        ("one\ttwo\n", '"one\\ttwo\\n"'),
        ({"a": " one\ntwo"}, "\n  a: |2-\n     one\n    two"),
        ("word " * 20, '\n  "' + "word " * 14 + "word\n  " + "word " * 5 + '"'),
        ("x" * 90, f"\n  {'x' * 90}"),
        ("one\n" + "x y " * 20, '\n  "one\\n\\\n  ' + "x y " * 18 + 'x y\n  x y "'),
    ],
)
def test_how_blocks_are_written(value, text):
    assert block(value, 2) == text


def test_a_narrow_block_stays_readable_inside_a_config_map():
    inner = str(block({"args": {"message": "word " * 30}}, 0, 76)).lstrip("\n") + "\n"
    text = f"---\ndata:{block({'config.yaml': inner}, 2)}\n"
    assert "config.yaml: |\n" in text
    assert faults(text) == []


def test_jinja_prints_through_it():
    env = environment(DictLoader({}))
    template = env.from_string(
        "{% macro pair(k, v) %}{{ k }}: {{ v }}{% endmacro %}"
        '{{ "a<b" }} {{ x }} {{ pair("on", none) }} {{ block(["&"], 2) }} {{ {"q": 1.0} }}'
    )
    assert template.render(x="yes") == '"a<b" "yes" "on": null \n  - "&" {q: 1.0}'


@pytest.mark.parametrize("undefined", [Undefined, StrictUndefined])
def test_what_is_not_defined_is_never_printed(undefined):
    env = Environment(autoescape=True, finalize=finalize, undefined=undefined)
    with pytest.raises(UndefinedError):
        env.from_string("{{ nothing }}").render()


def test_encoded_text_is_json_if_json_can_express_it():
    assert json.loads(encode('a "b"\n\\ \x1b')) == 'a "b"\n\\ \x1b'
