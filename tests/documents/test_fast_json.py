"""The fast path reads JSON like the full parser, or falls back to it."""

import json
from datetime import date

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from policygen.app import lint
from policygen.documents import fast_json, kubectl_scalars
from policygen.documents.parse import compose
from policygen.documents.parsed import MAX_DEPTH, UNUSUAL


def by_hand(text):
    """The data that json.loads reads, with kubectl's numbers; None if the text has a fault."""

    def pairs(found):
        made = dict(found)
        if len(made) != len(found):
            raise ValueError("a key comes twice")
        return made

    def number(written):
        value = int(written) if "." not in written and "e" not in written.lower() else None
        if value is not None and -(1 << 63) <= value < 1 << 64:
            return value
        value = float(written)
        if value in {float("inf"), -float("inf")}:
            raise ValueError("no finite number")
        return kubectl_scalars.number(value)

    def word(written):
        raise ValueError(written)

    try:
        return json.loads(
            text, object_pairs_hook=pairs, parse_int=number, parse_float=number, parse_constant=word
        )
    except ValueError:
        return None


STRINGS = st.text(st.sampled_from('ab"\\/\u00e9\u2028\U0001f600{}[]:, 0'), max_size=5)
ESCAPED = st.lists(
    st.sampled_from(["a", "\\n", '\\"', "\\\\", "\\/", "\\u0022", "\\u003c", "\\ud83d", "\\ude00"]),
    max_size=4,
).map(lambda parts: f'"{"".join(parts)}"')
NUMBERS = st.sampled_from(
    [
        *(
            "0",
            "-0",
            "1",
            "-12",
            "1.0",
            "1.50",
            "-0.0",
            "1e3",
            "1E400",
            "-1e400",
            "1e-400",
            "2.5e1",
        ),
        *("9223372036854775807", "9223372036854775808", "18446744073709551615"),
        *("18446744073709551616", "-9223372036854775808", "-9223372036854775809", "1" * 30),
        *("1e20", "1e21", "123456789012345678901.5", "01", "+1", ".5", "1.", "NaN", "-Infinity"),
    ]
)
SCALARS = st.one_of(
    NUMBERS, STRINGS.map(json.dumps), ESCAPED, st.sampled_from(["true", "false", "null", "nul"])
)
KEYS = st.sampled_from(["spec", "metadata", "items", "kind", "a", "b", '\\"', "\\u0061", "\\u0022"])


def collections(inner):
    """Lists and mappings that may have duplicate keys."""
    pairs = st.lists(st.tuples(KEYS, inner), max_size=4)
    return st.one_of(
        st.lists(inner, max_size=4).map(lambda parts: f"[{', '.join(parts)}]"),
        pairs.map(lambda found: "{" + ",\n ".join(f'"{key}": {it}' for key, it in found) + "}"),
    )


@settings(max_examples=1500, deadline=None)
@given(text=st.recursive(SCALARS, collections, max_leaves=12))
@example(text='{"a": 1E400, "b": {"x": 1, "x": 2}}')
@example(text='{"a": "\\u0022", "b": {"x": 1, "x": 2}}')
@example(text='{"items": [{"spec": {"a": 1, "a": 1}}]}')
@example(text='{"items": [{"spec": {"a": 1}, "spec": {"a": 1}}], "items": []}')
@example(text='{"items": [{"spec": [1]}, 1, null]}')
@example(text='{"items": [{"spec": {"a": 1.0, "b": 18446744073709551616}}]}')
def test_it_reads_what_a_slow_reader_does(text):
    data = fast_json.read(text)
    if data is not UNUSUAL:
        slow = by_hand(text)
        assert json.dumps(data) == json.dumps(slow)
        (it,) = compose(f"\n# close\n{text}", json=False, line=int, kubernetes=True)
        assert (it.syntax, it.content) == ([], [])
        assert json.dumps(data) == json.dumps(it.data)


@settings(max_examples=300, deadline=None)
@given(
    data=st.recursive(
        st.one_of(
            st.integers(-9, 9), st.booleans(), st.none(), st.text(max_size=4), st.floats(0, 9)
        ),
        lambda it: st.lists(it, max_size=3) | st.dictionaries(st.sampled_from("abc"), it),
        max_leaves=10,
    )
)
def test_what_is_usual_is_read(data):
    whole = {"kind": "List", "items": [{"metadata": {"name": "a"}, "spec": data}, {"spec": data}]}
    text = json.dumps(whole, ensure_ascii=False)
    assert json.dumps(fast_json.read(text)) == json.dumps(by_hand(text))


@pytest.mark.parametrize("opened, closed", ["[]", ('{"a":', "}")])
@pytest.mark.parametrize("key", ["items", "spec", "a"])
def test_what_nests_too_deep_is_parsed_in_full(opened, closed, key):
    for depth, is_read in ((MAX_DEPTH - 3, True), (MAX_DEPTH - 2, False)):
        nested = f"{opened * depth}1{closed * depth}"
        text = f'{{"items": [{{"metadata": {{}}, "{key}": {nested}}}]}}'
        assert (fast_json.read(text) is not UNUSUAL) == is_read


def test_many_brackets_side_by_side_are_not_deep():
    text = json.dumps({"items": [{"spec": {"a": [[]] * 500}}]})
    assert fast_json.read(text) == json.loads(text)


def test_digits_in_a_text_are_not_a_number():
    text = '{"spec": {"a": "18446744073709551616", "b": 18446744073709551615}}'
    assert fast_json.read(text) == json.loads(text)


def test_a_duplicate_key_is_reported_at_its_position(tmp_path):
    file = tmp_path / "in.json"
    file.write_text(
        '{"apiVersion": "v1", "kind": "List", "items": [\n{"apiVersion": "v1", "kind": "Namespace",\n'
        '"metadata": {"name": "a"},\n"metadata": {"name": "b"}}]}',
        "utf-8",
    )
    report = lint.lint(lint.LintRequest(manifests=(str(file),)), today=date(2026, 11, 21))
    assert [(it.rule.name, it.place.line) for it in report.findings if it.severity == 2] == [
        ("duplicate-key", 4)
    ]
