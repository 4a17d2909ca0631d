"""Manifests are read as kubectl reads them; the expected values come from kubectl's parser."""

import json
from pathlib import Path

import pytest

from policygen.documents.kubectl_scalars import number, read
from policygen.documents.parse import compose
from policygen.documents.scalars import AmbiguousScalar

TABLE = [
    tuple(line.split("\t"))
    for line in (Path(__file__).parents[1] / "data" / "scalars.tsv").read_text("utf-8").splitlines()
    if not line.startswith("#")
]


def composed(text, json=False):
    (it,) = compose(text, json=json, line=int, kubernetes=True)
    return it


def as_json(text):
    """The value of a scalar as kubectl sends it, or "error" if it is refused."""
    it = composed(f"a: {text}\n")
    if it.content:
        assert [each.rule.name for each in it.content] == ["ambiguous-yaml-value"]
        assert "objects cannot contain" in it.content[0].message
        return "error"
    return json.dumps(it.data["a"])


def test_a_scalar_is_what_it_is_to_kubectl():
    differing = [
        (text, wanted, as_json(text))
        for text, wanted in TABLE
        if as_json(text) != (wanted if wanted == "error" else json.dumps(json.loads(wanted)))
    ]
    assert differing == []


def test_the_table_has_every_kind_of_value():
    kinds = {type(json.loads(wanted)) for _, wanted in TABLE if wanted != "error"}
    assert kinds == {type(None), bool, int, float, str}
    assert "error" in dict(TABLE).values()


@pytest.mark.parametrize(
    "text, data",
    [
        ("yes: 1\nOff: 2\n0x10: 3\n-7: 4\n", {"true": 1, "false": 2, "16": 3, "-7": 4}),
        ("12:30: a\n2026-01-01: b\n'on': c\n", {"12:30": "a", "2026-01-01": "b", "on": "c"}),
        ("a: <<\n'<<': 1\n", {"a": "<<", "<<": 1}),
        ("a: 1\n<<: {a: 2, b: 3}\nb: 4\n", {"a": 2, "b": 4}),
        ("a: 1\n<<: [{a: 2}, {a: 3, b: 5}]\n", {"a": 2, "b": 5}),
        ("- !!str 0644\n- ! 1e3\n", ["0644", "1e3"]),
    ],
)
def test_keys_and_merges_are_what_they_are_to_kubectl(text, data):
    it = composed(text)
    assert (it.data, it.content) == (data, [])


@pytest.mark.parametrize(
    "text, rule",
    [
        ("~: 1\n", "key-not-a-string"),
        ("? [a]\n: 1\n", "key-not-a-string"),
        ("1.5: 1\n", "key-not-a-string"),  # kubectl takes it for text, in 32 bits
        ("<<: 1\n", "merge-not-a-mapping"),
        ("1: a\n'1': b\n", "duplicate-key"),
    ],
)
def test_an_invalid_key_is_reported(text, rule):
    assert [each.rule.name for each in composed(text).content] == [rule]


def test_a_spec_keeps_values_above_a_merge():
    (it,) = compose("a: 1\n<<: {a: 2}\n", json=False, line=int)
    assert it.data == {"a": 1}


def test_numbers_of_any_length_are_read_quickly():
    assert read("1" * 5000) == "1" * 5000
    assert read(f"0x{'f' * 5000}") == f"0x{'f' * 5000}"
    assert read("1" * 30) == float("1" * 30)
    assert read(f"{'0' * 5000}7") == 7
    assert isinstance(read("-.Inf"), AmbiguousScalar)


def test_a_float_without_a_fraction_comes_back_from_json_as_an_integer():
    assert [repr(number(it)) for it in (1.0, -0.0, 1e20, 1e21, 0.5)] == [
        *("1", "0", "100000000000000000000", "1e+21", "0.5")
    ]


@pytest.mark.parametrize("text", ['{"a": 1.0, "b": [2.5e1, -0]}', '{"a": 1, "b": [25, 0]}'])
def test_numbers_of_json_are_those_of_yaml(text):
    quick, slow = composed(text, json=True), composed(f"# one\n{text}")
    assert json.dumps(quick.data) == json.dumps(slow.data) == '{"a": 1, "b": [25, 0]}'


def test_json_may_nest_as_deep_as_yaml():
    deep = '{"a": ' * 100 + "1" + "}" * 100
    it = composed(deep, json=True)
    assert it.parsed
    step, length = it.outline.find(("a",) * 100)
    assert (deep[slice(*it.outline.span(step.node, deep))], length) == ("1", 100)
    it = composed(f"[{deep}]", json=True)
    assert [each.rule.name for each in it.syntax] == ["nesting-too-deep"]
