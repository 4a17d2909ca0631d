"""Edits of a text keep everything else unchanged; an edit that is not safe is refused."""

import json
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from policygen.core.finding import At, Edit, NewMapping, Verb
from policygen.documents import document
from policygen.documents.edit import rewrite
from policygen.documents.edit.apply import EditError, applied, same
from policygen.documents.edit.comments import comments
from policygen.documents.edit.splice import spliced
from policygen.documents.files import Source


def loaded(text, name="it.yaml"):
    found, problems = document.load(Source(name, text, None), kubernetes=True)
    assert document.with_faults(found, problems) == []
    return found


def rewritten(text, *edits, name="it.yaml"):
    """The text after the edits; checks that it parses to the edited data."""
    (before,) = loaded(text, name)
    (parts,) = rewrite.splices(before, [edits])
    if isinstance(parts, EditError):
        raise parts
    after = spliced(text, parts)
    (again,) = loaded(after, name)
    raw = {edit.at.path: before.raw(edit.at.path) for edit in edits if edit.verb is Verb.QUOTE}
    assert same(applied(before.data, edits, raw), again.data)
    assert Counter(comments(text)) == Counter(comments(after))
    return after


def at(*path):
    return At(0, path)


REWRITE, QUOTE, RENAME = Verb.REWRITE, Verb.QUOTE, Verb.RENAME
REMOVE, NEST, ADD = Verb.REMOVE, Verb.NEST, Verb.ADD
ITEM = NewMapping((("k", "v"), ("l", NewMapping(()))))
LAST = NewMapping((("t", "U"), ("z", "")))
NEW = NewMapping((("x", NewMapping((("w", 1),))), ("z", (ITEM,))))


@pytest.mark.parametrize(
    "text, edit, wanted",
    [
        ("a: 1000m # x\n", Edit(REWRITE, at("a"), "1"), 'a: "1" # x\n'),
        ('a: "1000m"\n', Edit(REWRITE, at("a"), "1"), 'a: "1"\n'),
        ("a: '1000m'\n", Edit(REWRITE, at("a"), "1"), "a: '1'\n"),
        ("a: b\n", Edit(REWRITE, at("a"), "1"), 'a: "1"\n'),
        ("a: b\n", Edit(REWRITE, at("a"), "yes"), 'a: "yes"\n'),
        ("a: b\n", Edit(REWRITE, at("a"), "it's: # so"), 'a: "it\'s: # so"\n'),
        ("a: 'b'\n", Edit(REWRITE, at("a"), "it's"), "a: 'it''s'\n"),
        ('a: "1"\n', Edit(REWRITE, at("a"), 1), "a: 1\n"),
        ('a: "true"\n', Edit(REWRITE, at("a"), to=True), "a: true\n"),
        ("a: &b 1000m\n", Edit(REWRITE, at("a"), "1"), 'a: &b "1"\n'),
        ("a: 1.10\n", Edit(QUOTE, at("a")), 'a: "1.10"\n'),
        ("- 1\n- a: yes\n".replace("- 1\n- ", ""), Edit(QUOTE, at("a")), 'a: "yes"\n'),
        ("a: {b: 1, c: 2}\n", Edit(RENAME, at("a", "b"), "x/y"), "a: {x/y: 1, c: 2}\n"),
        ('"a" : 1\n', Edit(RENAME, at("a"), "b"), '"b" : 1\n'),
        ("a:\n- b\n- c # d\n", Edit(NEST, at("a", 1), "z"), "a:\n- b\n- z: c # d\n"),
        ("a:\n  - &x b\n", Edit(NEST, at("a", 0), "z"), "a:\n  - z: &x b\n"),
        ("a: [b, c]\n", Edit(NEST, at("a", 0), "z"), "a: [{z: b}, c]\n"),
        ("a: [b, c]\n", Edit(NEST, at("a"), "z"), "a: {z: [b, c]}\n"),
        ("a: b # c\n", Edit(NEST, at("a"), "z"), "a: {z: b} # c\n"),
        ("a: b # c\n", Edit(NEST, at("a"), LAST), "a: {t: U, z: b} # c\n"),
        ("a: [b, c]\n", Edit(NEST, at("a", 0), LAST), "a: [{t: U, z: b}, c]\n"),
        ("a:\n- b # c\n", Edit(NEST, at("a", 0), LAST), "a:\n- {t: U, z: b} # c\n"),
        ("a:\n  c: 1\nd: 2\n", Edit(NEST, at("a"), LAST), "a:\n  t: U\n  z:\n    c: 1\nd: 2\n"),
        ("a: # b\n\n  c: 1\nd: 2\n", Edit(NEST, at("a"), "z"), "a: # b\n  z:\n\n    c: 1\nd: 2\n"),
        (
            "a:\n- b: |\n    c\n\n    d\n# e\n",
            Edit(NEST, at("a"), "z"),
            "a:\n  z:\n  - b: |\n      c\n\n      d\n# e\n",
        ),
        ("a: 1\nb: 2\n", Edit(REMOVE, at("a")), "b: 2\n"),
        ("a: 1\nb: 2 # c", Edit(REMOVE, at("b")), "a: 1\n# c"),
        ("a: 1\nb: |\n  x\n\n  y\nc: 3\n", Edit(REMOVE, at("b")), "a: 1\nc: 3\n"),
        ("a:\n  b: 1\nc: 2\n", Edit(REMOVE, at("a", "b")), "a: {}\nc: 2\n"),
        ("a: # x\n  b: 1\nc: 2\n", Edit(REMOVE, at("a", "b")), "a: # x\n  {}\nc: 2\n"),
        ("a:\n- b: 1\n  c: 2\n", Edit(REMOVE, at("a", 0, "b")), "a:\n- c: 2\n"),
        (
            "a:\n- b: 1 # x\n  # y\n  c: 2\n",
            Edit(REMOVE, at("a", 0, "b")),
            "a:\n- # x\n  # y\n  c: 2\n",
        ),
        ("a:\n- b\n- c # d\n- e\n", Edit(REMOVE, at("a", 1)), "a:\n- b\n# d\n- e\n"),
        ("a: [b, c, d]\n", Edit(REMOVE, at("a", 1)), "a: [b, d]\n"),
        ("a: [b, c, d]\n", Edit(REMOVE, at("a", 2)), "a: [b, c]\n"),
        ("a: {b: 1, c: 2}\n", Edit(REMOVE, at("a", "b")), "a: {c: 2}\n"),
        ("a: {b: 1}\n", Edit(REMOVE, at("a", "b")), "a: {}\n"),
        ("a:\n  b: 1\n# c\n", Edit(ADD, at("a", "d"), "2"), 'a:\n  b: 1\n  d: "2"\n# c\n'),
        ("a:\n  b: 1", Edit(ADD, at("a", "c"), 2), "a:\n  b: 1\n  c: 2"),
        ("a:\n  b:\n    c: 1\n    # d: 2\n  # e: 3\n", Edit(ADD, at("a", "f"), 4), "a:\n  b:\n    c: 1\n    # d: 2\n  f: 4\n  # e: 3\n"),
        ("a:\n  b:\n  - c: 1\n\n  # - c: 2\n  #   d: 3", Edit(ADD, at("a", "f"), 4), "a:\n  b:\n  - c: 1\n\n  # - c: 2\n  #   d: 3\n  f: 4"),
        ("a:\n- b: 1\n  # c: 2\n# d\n", Edit(ADD, at("a", 1), "e"), "a:\n- b: 1\n  # c: 2\n- e\n# d\n"),
        ("a:\n- b: 1\n", Edit(ADD, at("a", 0, "c", "d"), 2), "a:\n- b: 1\n  c:\n    d: 2\n"),
        ("a: {}\n", Edit(ADD, at("a", "b", "c"), 2), "a: {b: {c: 2}}\n"),
        ("a: {b: 1}\n", Edit(ADD, at("a", "c"), 2), "a: {b: 1, c: 2}\n"),
        ("{a: {b: 1}}\n", Edit(ADD, at("a", "c"), "d"), "{a: {b: 1, c: d}}\n"),
        ("a: 1\r\nb: 2\r\n", Edit(ADD, at("c"), 3), "a: 1\r\nb: 2\r\nc: 3\r\n"),
        ("a:\r\n- b\r\n- c\r\n", Edit(NEST, at("a"), "z"), "a:\r\n  z:\r\n  - b\r\n  - c\r\n"),
        ("a: &x {b: 1}\nc: *x\n", Edit(REMOVE, at("c")), "a: &x {b: 1}\n"),
        ("a:\n", Edit(REWRITE, at("a"), "c"), "a: c\n"),
        ("a: ~ # b", Edit(REWRITE, at("a"), "c"), "a: c # b"),
        ("a: {} # b\n# c\n", Edit(REWRITE, at("a"), NEW), "a: # b\n  x:\n    w: 1\n  z:\n    - k: v\n      l: {}\n# c\n"),
        ("a:\n    b: null", Edit(REWRITE, at("a", "b"), NEW), "a:\n    b:\n        x:\n            w: 1\n        z:\n          - k: v\n            l: {}"),
        ("a: {b: {}}\n", Edit(REWRITE, at("a", "b"), NEW), "a: {b: {x: {w: 1}, z: [{k: v, l: {}}]}}\n"),
        ("a: []\n", Edit(REWRITE, at("a"), ("b", "1")), 'a: [b, "1"]\n'),
        ("a: []\n", Edit(REWRITE, at("a"), (ITEM,)), "a:\n  - k: v\n    l: {}\n"),
        ("a:\n- b: 1\n", Edit(ADD, at("a", 0, "c"), NEW), "a:\n- b: 1\n  c:\n    x:\n      w: 1\n    z:\n    - k: v\n      l: {}\n"),
        ("a:\n  - b: 1 # c\n  # d\ne: 1\n", Edit(ADD, at("a", 1), ITEM), "a:\n  - b: 1 # c\n  - k: v\n    l: {}\n  # d\ne: 1\n"),
        ("a:\n-\n  b: 1", Edit(ADD, at("a", 1), "c"), "a:\n-\n  b: 1\n- c"),
        ("a: [b]\n", Edit(ADD, at("a", 1), ITEM), "a: [b, {k: v, l: {}}]\n"),
        ("a: []\n", Edit(ADD, at("a", 0), "b"), "a: [b]\n"),
    ],
)  # fmt: skip
def test_an_edit_changes_what_it_names(text, edit, wanted):
    assert rewritten(text, edit) == wanted


@pytest.mark.parametrize(
    "text, edit, wanted",
    [
        ('{"a": "1000m"}', Edit(REWRITE, at("a"), "1"), '{"a": "1"}'),
        ('{"a": 1}', Edit(QUOTE, at("a")), '{"a": "1"}'),
        ('{"a": 1}', Edit(RENAME, at("a"), "b"), '{"b": 1}'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', Edit(REMOVE, at("a")), '{\n  "b": 2\n}\n'),
        ('{\n  "a": 1,\n  "b": 2\n}\n', Edit(REMOVE, at("b")), '{\n  "a": 1\n}\n'),
        ('{\n\t"a": 1\n}\n', Edit(ADD, at("b"), "c"), '{\n\t"a": 1,\n\t"b": "c"\n}\n'),
        ('{"a": ["b"]}', Edit(NEST, at("a", 0), "z"), '{"a": [{"z": "b"}]}'),
        ('{"a": ["b"]}', Edit(NEST, at("a"), "z"), '{"a": {"z": ["b"]}}'),
        ('{"a": {}}', Edit(REWRITE, at("a"), ITEM), '{"a": {"k": "v", "l": {}}}'),
        ('{"a": null}', Edit(REWRITE, at("a"), (ITEM,)), '{"a": [{"k": "v", "l": {}}]}'),
        (
            '{"a": [\n  1\n]}',
            Edit(ADD, at("a", 1), ITEM),
            '{"a": [\n  1,\n  {"k": "v", "l": {}}\n]}',
        ),
    ],
)
def test_json_stays_json(text, edit, wanted):
    assert rewritten(text, edit, name="it.json") == wanted


@pytest.mark.parametrize(
    "text, edit",
    [
        ("a: |\n  b\n", Edit(REWRITE, at("a"), "c")),
        ("a: b\n  c\n", Edit(REWRITE, at("a"), "c")),
        ("a: [{}]\n", Edit(REWRITE, at("a", 0, "b"), "c")),
        ("a:\n- \n", Edit(REWRITE, at("a", 0), "c")),
        ("a:\n  {}\n", Edit(REWRITE, at("a"), "c")),
        ("a: &x {}\n", Edit(REWRITE, at("a"), "c")),
        ("a: &x\nb: 1\n", Edit(REWRITE, at("a"), "c")),
        ("x: &x {}\na: *x\n", Edit(REWRITE, at("a"), "c")),
        ("a: {b: , c: 1}\n", Edit(REWRITE, at("a", "b"), "c")),
        ("a: [1]\n", Edit(ADD, at("a", 0), 2)),
        ("a:\n-\n  b: 1\n- - 1\n", Edit(ADD, at("a", 1, "b"), 2)),
        ("a: [b]\n", Edit(REWRITE, at("a"), "c")),
        ("? a\n: b\n", Edit(RENAME, at("a"), "c")),
        ("&x a: b\n", Edit(RENAME, at("a"), "c")),
        ("x: &x {a: 1}\nb:\n  <<: *x\n", Edit(REWRITE, at("b", "a"), 2)),
        ("x: &x {a: 1}\nb:\n  <<: *x\n", Edit(REWRITE, at("x", "a"), 2)),
        ("x: &x {a: {c: 1}}\nb:\n  <<: *x\n", Edit(ADD, at("b", "a", "d"), 2)),
        ("x: &x {a: 1}\nb: *x\n", Edit(REWRITE, at("b", "a"), 2)),
        ("x: &x {a: 1}\nb: *x\n", Edit(ADD, at("b", "c"), 2)),
        ("x: &x {a: 1}\nb: *x\n", Edit(REMOVE, at("x"))),
        ("a: [b: 1, c: 2]\n", Edit(REMOVE, at("a", 0, "b"))),
        ("a:\n- - b\n  - c\n", Edit(REMOVE, at("a", 0, 0))),
        ("a:\n- b\n", Edit(REMOVE, at("a", 0))),
        ("a: |\n  b\n", Edit(NEST, at("a"), "c")),
        ("a: &x\n  b: 1\n", Edit(NEST, at("a"), "c")),
        ("a:\n", Edit(NEST, at("a"), "c")),
        ("a: {b: 1}\n", Edit(ADD, at("a", "b"), 2)),
        ("a: 1\n", Edit(ADD, at("a", "b"), 2)),
        ("a: [1]\n", Edit(ADD, at("a", "b"), 2)),
    ],
)
def test_what_is_not_certain_is_refused(text, edit):
    (before,) = loaded(text)
    (parts,) = rewrite.splices(before, [[edit]])
    assert isinstance(parts, EditError)


@pytest.mark.parametrize(
    "gone, wanted",
    [("ab", "{c: 3}"), ("ac", "{b: 2}"), ("bc", "{a: 1}"), ("cb", "{a: 1}"), ("abc", "{}")],
)
def test_entries_between_brackets_are_removed_together(gone, wanted):
    text = "x: {a: 1, b: 2, c: 3}\n"
    (before,) = loaded(text)
    (parts,) = rewrite.splices(before, [[Edit(REMOVE, at("x", key)) for key in gone]])
    assert spliced(text, parts) == f"x: {wanted}\n"


def test_all_lines_of_a_mapping_are_removed_together():
    text = "x:\n  a: 1\n  b: 2\ny: 3\n"
    (before,) = loaded(text)
    (parts,) = rewrite.splices(before, [[Edit(REMOVE, at("x", key)) for key in "ab"]])
    assert spliced(text, parts) == "x: {}\ny: 3\n"


def test_a_shared_node_changes_if_all_its_uses_need_the_same():
    text = "x: &x {a: 1}\nb: [*x, *x]\n"
    (before,) = loaded(text)
    fixes = [[Edit(REWRITE, at(*path, "a"), 2)] for path in [("x",), ("b", 0), ("b", 1)]]
    made = rewrite.splices(before, fixes)
    assert spliced(text, [part for parts in made for part in parts]) == (
        "x: &x {a: 2}\nb: [*x, *x]\n"
    )
    assert all(isinstance(parts, EditError) for parts in rewrite.splices(before, fixes[:2]))


KEYS = st.sampled_from(["a", "b", "nvidia.com/gpu", "on", "x y", "é"])
TEXTS = st.sampled_from(["1000m", "yes", "b", "it's", "a: b", "# no", "", "1.10", "ü"])

DATA = st.recursive(
    TEXTS | st.integers(0, 9) | st.booleans() | st.none(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


@st.composite
def layouts(draw, data, indent=0, flow=False):
    """A text for the data in one of many YAML layouts, without the final line break."""
    comment = draw(st.sampled_from(["", "", "  # note", "\n" + " " * indent + "# above"]))
    if isinstance(data, dict | list) and data and not flow and draw(st.integers(0, 3)):
        lines = []
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            lead = f"{draw(quoted(key))}:" if isinstance(data, dict) else "-"
            block = isinstance(value, dict | list) and value
            step = draw(st.sampled_from([1, 2, 4])) if block else 2
            text = draw(layouts(value, indent + step))
            on_its_own = block and not text.startswith(("{", "["))
            if on_its_own:
                above = comment if comment.startswith("  #") else ""
                lines.append(f"{lead}{above}\n{' ' * (indent + step)}{text}")
            else:
                lines.append(f"{lead} {text}")
            if draw(st.integers(0, 4)) == 0:
                lines[-1] += draw(st.sampled_from(["\n", f"\n{' ' * indent}# between"]))
        return ("\n" + " " * indent).join(lines)
    if isinstance(data, dict):
        pairs = [
            f"{draw(quoted(key))}: {draw(layouts(value, indent, flow=True))}"
            for key, value in data.items()
        ]
        return "{" + ", ".join(pairs) + "}" + ("" if flow else comment)
    if isinstance(data, list):
        items = [draw(layouts(value, indent, flow=True)) for value in data]
        return "[" + ", ".join(items) + "]" + ("" if flow else comment)
    tail = "" if flow else draw(st.sampled_from(["", " # note"]))
    if isinstance(data, str):
        return draw(quoted(data)) + tail
    return json.dumps(data) + tail


@st.composite
def quoted(draw, text):
    plain = text in {"a", "b", "nvidia.com/gpu", "1000m", "x y", "é", "ü"}
    style = draw(st.sampled_from(["plain", "single", "double"] if plain else ["single", "double"]))
    if style == "plain":
        return text
    return "'{}'".format(text.replace("'", "''")) if style == "single" else f'"{text}"'


@st.composite
def cases(draw):
    data = draw(st.dictionaries(KEYS, DATA, min_size=1, max_size=3))
    text = draw(layouts(data))
    if not text.startswith("{") and draw(st.booleans()):
        shared = draw(st.sampled_from(["1000m", {"b": "1000m"}, [True, "b"]]))
        anchored = draw(layouts(shared, flow=True))
        text = f"first: &s {anchored}\n{text}\nlast: *s  # the same"
        data = {"first": shared, **data, "last": shared}
    text += draw(st.sampled_from(["", "\n", "\n# end\n"]))
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return data, text


def places(data, path=()):
    yield path, data
    if isinstance(data, dict | list):
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            yield from places(value, (*path, key))


@settings(max_examples=400, deadline=None)
@given(cases(), st.data())
def test_any_layout_survives_any_edit(case, draw):
    """An edit is refused, or the text parses to the edited data and keeps all other comments.

    The checks that `fixing` runs for each file are not tested here, only what an edit refuses.
    """
    data, text = case
    (before,) = loaded(text)
    assert same(data, before.data), text
    path, value = draw.draw(st.sampled_from(list(places(data))[1:]))
    verbs = [REMOVE, NEST]
    if isinstance(path[-1], str):
        verbs.append(RENAME)
    if isinstance(value, str):
        verbs.append(REWRITE)
    if isinstance(value, int):
        verbs.append(QUOTE)
    if isinstance(value, dict | list):
        verbs += [ADD, ADD]
    if value in (None, {}, []):
        verbs += [REWRITE, REWRITE]
    verb = draw.draw(st.sampled_from(verbs))
    to = "new"
    if verb is ADD:
        path = (*path, "new", "er") if isinstance(value, dict) else (*path, len(value))
    if verb is ADD or not value:
        to = draw.draw(st.sampled_from(["new", NEW, ("new", 1), (ITEM, "1"), ITEM]))
    edit = Edit(verb, At(0, path), to if verb in {ADD, REWRITE} else "new")
    (parts,) = rewrite.splices(before, [[edit]])
    if isinstance(parts, EditError):
        return
    after = spliced(text, parts)
    assert ("\r\n" in text) == ("\r\n" in after) or "\n" not in after
    wanted = applied(data, [edit], {path: before.raw(path)} if verb is QUOTE else {})
    found = loaded(after)
    assert len(found) == 1, after
    assert same(wanted, found[0].data), (text, after)
    assert Counter(comments(text)) == Counter(comments(after)), (text, after)
