"""Streams of documents, including broken and deeply nested ones."""

import pytest

from tests.counting import growth
from tests.documents.reading import only, read_text, summaries


@pytest.mark.usefixtures("parser")
def test_a_broken_document_hides_no_other():
    documents, findings = read_text(
        "a: 1\n---\nb: 'x\n---\nc: no\n---\nd: [1,\n---\ne: 5\n--- \nf: @\n---\n---\ng: 7\n"
        "--- @h\n---\ni: 9\n"
    )
    assert [(d.index, d.data, d.line) for d in documents] == [
        (0, {"a": 1}, 1),
        (1, {"c": "no"}, 5),
        (2, {"e": 5}, 9),
        (3, {"g": 7}, 14),
        (4, {"i": 9}, 17),
    ]
    assert [(f.place.line, f.rule.name) for f in findings] == [
        (3, "yaml-syntax"),
        (5, "ambiguous-yaml-value"),
        (7, "yaml-syntax"),
        (11, "yaml-syntax"),
        (15, "yaml-syntax"),
    ]


@pytest.mark.usefixtures("parser")
def test_empty_documents_are_skipped():
    for text in ("", "\n", "# only\n", "---\n---\n", "--- null\n", "---\n# x\n...\n"):
        assert read_text(text) == ([], [])


DEEP = {
    "brackets": lambda n: "[" * n,
    "closed brackets": lambda n: "a: " + "[" * n + "]" * n,
    "braces": lambda n: "{a: " * n,
    "dashes": lambda n: "- " * n,
    "questions": lambda n: "? " * n,
    "anchored": lambda n: "".join(f"&a{i} [" for i in range(n)),
    "lines": lambda n: "\n".join("[" for _ in range(n)),
    "blocks": lambda n: "".join(f"{' ' * i}a:\n" for i in range(n // 30)),
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
def test_deep_nesting_is_refused_where_it_is_too_deep(text):
    assert growth(lambda: read_text(text(9_000)), lambda: read_text(text(90_000))) < 12
    documents, findings = read_text(text(90_000))
    assert documents == []
    ((line, column, _, rule, message),) = summaries(findings)
    assert rule == "nesting-too-deep"
    assert message == "this document is nested more than 100 levels deep; reduce the nesting"
    assert (line, column) != (1, 1)


@pytest.mark.usefixtures("parser")
def test_a_hundred_collections_are_not_too_deep():
    nested = "x"
    for _ in range(99):
        nested = [nested]
    assert only(f"a: {'[' * 99}x{']' * 99}\n").data == {"a": nested}
    _, findings = read_text(f"a: 1\n---\na: {'[' * 100}x{']' * 100}\n---\nb: 1\n")
    assert summaries(findings) == [
        (
            3,
            103,
            "[",
            "nesting-too-deep",
            "this document is nested more than 100 levels deep; reduce the nesting",
        )
    ]


def many_documents(count):
    return "".join(
        f"kind: Model\nmetadata:\n  name: m{i}\nspec:\n  team: t{i % 9}\n  cpu: {i}\n"
        f"  pools: [a, b]\n  limits:\n    memory: 16Gi\n---\n"
        for i in range(count)
    )


def test_the_work_of_many_documents_grows_no_faster_than_they_do():
    few, many = many_documents(300), many_documents(3_000)
    assert growth(lambda: read_text(few), lambda: read_text(many)) < 12
    documents, findings = read_text(many)
    assert (len(documents), findings) == (3_000, [])
    assert documents[-1].place(("spec", "cpu")).line == 29_996
