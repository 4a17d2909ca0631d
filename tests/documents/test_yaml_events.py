"""Anchors, aliases, merges and tags: their data, and the limit of their expansion."""

import pytest

from tests.counting import counted
from tests.documents.reading import only, read_text, summaries


@pytest.mark.usefixtures("parser")
def test_aliases_anchors_and_merges():
    document = only(
        "base: &base\n  x: 1\n  u: {z: [2]}\nmore: &more {w: 0, x: 9}\n"
        "own:\n  x: 3\n  <<: *base\nboth:\n  <<: [*base, *more]\nlist: &l [*base, 4]\n"
        "again: *l\nname: &n abc\nother: *n\nredefined: &n def\nlast: *n\n'<<': text\n"
        "inside: &i [&i 1]\ninner: *i\n"
    )
    base = {"x": 1, "u": {"z": [2]}}
    assert document.data == {
        "base": base,
        "more": {"w": 0, "x": 9},
        "own": {"x": 3, "u": {"z": [2]}},
        "both": {**base, "w": 0},
        "list": [base, 4],
        "again": [base, 4],
        "name": "abc",
        "other": "abc",
        "redefined": "def",
        "last": "def",
        "<<": "text",
        "inside": [1],
        "inner": 1,
    }
    # A tree: what changes one copy leaves the others alone.
    document.data["list"][0]["u"]["z"].append(5)
    assert document.data["base"] == base
    assert document.data["own"]["u"] == {"z": [2]}


@pytest.mark.usefixtures("parser")
def test_allowed_tags():
    assert only("a: !!str 1\nb: !!map {c: !!seq [d]}\ne: ! no\n").data == {
        "a": "1",
        "b": {"c": ["d"]},
        "e": "no",
    }


def laughs(levels, width):
    return "l0: &l0 lol\n" + "".join(
        f"l{level}: &l{level} [{', '.join([f'*l{level - 1}'] * width)}]\n"
        for level in range(1, levels)
    )


@pytest.mark.parametrize(
    "text",
    [
        laughs(10, 10),
        f"a: &a {list(range(1_000))}\nb: [{'*a, ' * 5_000}]\n",
        "m0: &m0 {a: 1}\n"
        + "".join(f"m{i}: &m{i} {{<<: *m{i - 1}, k{i}: 1}}\n" for i in range(1, 5_000)),
    ],
    ids=["billion laughs", "wide", "merges"],
)
def test_an_alias_bomb_is_refused_before_it_blows_up(text):
    work, (_, findings) = counted(lambda: read_text(text))
    assert work < 30 * (100_000 + len(text))  # its nodes would be up to 10^9
    assert {finding.rule.name for finding in findings} <= {"alias-bomb", "nesting-too-deep"}
    assert findings


def test_the_billion_laughs_are_one_finding():
    (document,), findings = read_text("kind: Team\n" + laughs(10, 10))
    ((line, column, under, rule, message),) = summaries(findings)
    assert (line, column, under, rule) == (7, 25, "*l4", "alias-bomb")
    assert (
        message
        == "aliases expand this document to an enormous size; replace the aliases by their values"
    )
    assert document.data is None
    assert document.header.kind == "Team"


def test_depth_counts_through_aliases():
    chain = "a0: &a0 [x]\n" + "".join(f"a{i}: &a{i} [*a{i - 1}]\n" for i in range(1, 99))
    assert only(chain).data["a98"]
    _, findings = read_text(chain + "a99: &a99 [*a98]\na100: *a99\n")
    assert [(f.rule.name, f.place.line) for f in findings] == [("nesting-too-deep", 100)]


def test_many_uses_of_one_anchor_are_allowed():
    block = "".join(f"  k{i}: v\n" for i in range(20))
    text = f"d: &d\n{block}" + "".join(f"m{i}:\n  <<: *d\n  own: 1\n" for i in range(5_000))
    assert only(text).data["m4999"] == {"own": 1, **{f"k{i}": "v" for i in range(20)}}
