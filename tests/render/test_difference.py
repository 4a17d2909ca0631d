import random
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.render.difference import difference
from tests.counting import counted

LINES = st.lists(
    st.sampled_from(["---\n", "kind: A\n", "  name: a\n", "  name: b\n", "x\n", "y\n", "\n", "-\n"])
)
TEXTS = st.builds(lambda lines, end: "".join(lines) + end, LINES, st.sampled_from(["", "end"]))


def applied(patch, old):
    """The old text after the patch; checks every line of the patch against it."""
    lines = re.findall(r"[^\n]*\n|[^\n]+", old)
    new, at = [], 0
    patch = patch.replace("\n\\ No newline at end of file\n", "\0")
    for part in re.split(r"^@@ -", patch, flags=re.MULTILINE)[1:]:
        head, *body = re.findall(r"[^\n\0]*[\n\0]", part)
        start, count = re.match(r"(\d+)(?:,(\d+))?", head).groups("1")
        begin = int(start) - (count != "0")
        new += lines[at:begin]
        at = begin
        for line in body:
            text = line[1:].replace("\0", "")
            if line[0] in " -":
                assert lines[at] == text
                at += 1
            if line[0] in " +":
                new.append(text)
        assert at == begin + int(count)
    return "".join([*new, *lines[at:]])


@given(TEXTS, TEXTS)
def test_the_diff_turns_the_old_text_into_the_new(old, new):
    assert applied(difference("x", old.encode(), new), old) == new
    assert (difference("x", old.encode(), new) == "") == (old == new)


def test_documents_are_matched_by_who_they_are():
    def text(*names):
        return "".join(
            f"---\nkind: Q\nmetadata:\n  name: {name}\nspec:\n  a: 1\n" for name in names
        )

    patch = difference("all.yaml", text("a", "b", "d").encode(), text("a", "c", "d") + "# end\n")
    assert patch == (
        "--- a/all.yaml\n+++ b/all.yaml\n@@ -4,15 +4,16 @@\n   name: a\n spec:\n   a: 1\n"
        "----\n-kind: Q\n-metadata:\n-  name: b\n-spec:\n-  a: 1\n"
        "+---\n+kind: Q\n+metadata:\n+  name: c\n+spec:\n+  a: 1\n"
        " ---\n kind: Q\n metadata:\n   name: d\n spec:\n   a: 1\n+# end\n"
    )


@given(TEXTS, TEXTS)
def test_the_diff_of_an_edited_file_turns_the_old_text_into_the_new(old, new):
    assert applied(difference("x", old.encode(), new, edited=True), old) == new


def test_an_edited_document_is_compared_by_line_when_its_name_changes():
    old = "---\nkind: Q\nmetadata:\n  name: a\n---\nkind: Q\nmetadata:\n  name: n\nspec:\n  a: 1\n"
    new = old.replace("name: n", 'name: "n"') + "  b: 2\n"
    assert difference("x", old.encode(), new, edited=True) == (
        "--- a/x\n+++ b/x\n@@ -5,6 +5,7 @@\n ---\n kind: Q\n metadata:\n"
        '-  name: n\n+  name: "n"\n spec:\n   a: 1\n+  b: 2\n'
    )


def test_frequent_lines_do_not_make_the_diff_longer():
    drawn = random.Random(1)
    lines = [f"  a: {drawn.randrange(20)}\n" for _ in range(600)]
    edited = [*lines[:99], "  b: 1\n", *lines[100:300], "  b: 2\n", *lines[300:]]
    patch = difference("x", "".join(lines).encode(), "".join(edited), edited=True)
    changed = [line for line in patch.splitlines()[2:] if line[0] in "+-"]
    assert changed == [f"-{lines[99]}".rstrip(), "+  b: 1", "+  b: 2"]


FEW, MANY = 100, 1000
"""Of objects."""


def documents(version, count):
    return "".join(
        f"---\napiVersion: {version}\nkind: Q\nmetadata:\n  name: q{number}\nspec:\n"
        + "  same: 1\n" * 20
        + f"  cohort{version}: c\n"
        for number in range(count)
    )


def entries(version, count):
    return "".join(
        f"- apiVersion: {version}\n  name: q{number}\n  amount: 1\n" for number in range(count)
    )


@pytest.mark.parametrize("text", [documents, entries])
def test_ten_times_the_objects_are_ten_times_the_work(text):
    work = []
    for count in (FEW, MANY):
        old, new = text("v1", count), text("v2", count)
        lines, patch = counted(lambda old=old, new=new: difference("x", old.encode(), new))
        assert applied(patch, old) == new
        work.append(lines)
    assert work[1] / work[0] < 12


@given(st.lists(TEXTS, min_size=4, max_size=4), st.booleans())
def test_long_documents_are_compared_in_parts(texts, swapped):
    first, second, third, fourth = (text.replace("---\n", "") + "\n" for text in texts)
    filler = "- pad\n" * 1000
    once, twice = ("once\n", "again\n") if swapped else ("again\n", "once\n")
    old = f"{filler}{first}once\n{filler}{second}again\n"
    new = f"{filler}{third}{once}{filler}{fourth}{twice}"
    assert applied(difference("x", old.encode(), new), old) == new
