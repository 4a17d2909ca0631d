"""The positions of a document's nodes, also through aliases and merges."""

from policygen.documents.outline import NodeKind
from policygen.documents.parse import compose

TEXT = """\
base: &base !!map {a: 1, b: [x, y]}
own:
  <<: *base
  c: *base
both: {<<: [*base, {d: 2}]}
"""


def outline(text=TEXT):
    (it,) = compose(text, json=False, line=lambda _: 0)
    return it.outline


def written(it, *path):
    """The text of the node at a path, and how much of the path exists."""
    step, length = it.find(path)
    start, end = it.span(step.node, TEXT)
    return TEXT[start:end], length


def test_a_path_leads_through_aliases_and_merges():
    it = outline()
    assert written(it, "base", "a") == ("1", 2)
    assert written(it, "own", "b", 1) == ("y", 3)
    assert written(it, "own", "c", "a") == ("1", 3)
    assert written(it, "both", "d") == ("2", 2)
    assert written(it, "own", "c") == ("*base", 2)


def test_a_path_that_does_not_exist_ends_at_its_longest_part():
    it = outline()
    assert written(it, "base", "b", 2) == ("[x, y]", 2)
    assert written(it, "base", "a", "x")[1] == 2
    assert it.find(("nope",))[1] == 0


def test_a_node_is_shown_without_its_anchor_and_tag():
    it = outline()
    step, _ = it.find(("base",))
    assert TEXT[it.start[step.node] :].startswith("&base !!map {a")
    assert written(it, "base")[0] == "{a: 1, b: [x, y]}"
    assert it.shape[step.node] == NodeKind.MAPPING


def test_what_is_directly_inside():
    it = outline()
    step, _ = it.find(("base",))
    assert [TEXT[it.start[node] : it.end[node]] for node in it.below(step.node)] == [
        *("a", "1", "b", "[x, y]")
    ]
    merged, _ = it.find(("own",))
    assert len(it.below(merged.node)) == 4
    assert list(it.steps(merged.node)) == ["c"]


def test_the_height_counts_through_aliases():
    assert outline("a: b\n").height(0) == 2
    assert outline().height(0) == 6
    assert outline("- [[x]]\n- y\n").height(0) == 4
