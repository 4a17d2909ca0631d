"""`findings.txt` is parsed, compared, and updated without losing comments."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.core.finding import Finding, Place
from policygen.core.rule import Severity
from policygen.documents.files import Source
from policygen.testing.expected import Expected, compare, expectation, read, text, updated
from tests.rules import rule

KNOWN = ("unknown-field", "yaml-syntax", "a", "waiver-unused")
A = Expected("q.yaml", 3, Severity.ERROR, "unknown-field", "Queue a spec.x")
B = Expected("q.yaml", 9, Severity.INFO, "a", "")
C = Expected("", 0, Severity.WARNING, "waiver-unused", "")
NAMES = st.text(st.characters(exclude_categories=["C", "Z"], exclude_characters=":#"), min_size=1)


def sheet(*lines):
    return read(Source("findings.txt", "".join(f"{line}\n" for line in lines), None), KNOWN)


def expected(*lines):
    found, faults = sheet(*lines)
    assert faults == []
    return [entry.expected for entry in found.entries]


@given(st.builds(Expected, NAMES, st.integers(1, 999), st.sampled_from(Severity),
                 st.sampled_from(KNOWN), NAMES))  # fmt: skip
def test_a_line_is_read_as_it_was_written(it):
    assert expected(str(it)) == [it]


@pytest.mark.parametrize("it", [A, B, C, Expected("a: b.yaml", 0, Severity.INFO, "a", "K n")])
def test_missing_parts_of_a_finding_are_omitted(it):
    assert expected(str(it)) == [it]
    assert expected(f"  {it}  ") == [it]


@pytest.mark.parametrize("line", ["q.yaml:3", "q.yaml:3: error", "error: A", "x: fatal: a", "\x00"])
def test_a_line_that_is_not_a_finding_is_reported_with_its_position(line):
    found, faults = sheet("# why", line, str(A))
    assert [entry.expected for entry in found.entries] == [A]
    (fault,) = faults
    assert (fault.rule.name, fault.place.line, fault.place.column) == ("bad-expectation", 2, 1)


def test_an_unknown_rule_is_reported_at_its_name():
    _, (fault,) = sheet("q.yaml:3: error: unknown-fiel: Queue a spec.x")
    assert fault.rule.name == "unknown-rule"
    assert 'did you mean "unknown-field"?' in fault.message
    assert (fault.place.column, fault.place.length) == (18, len("unknown-fiel"))


def test_a_former_name_of_a_rule_is_read_as_its_current_name():
    known = ("volcano-key-ignored",)
    source = Source("findings.txt", "q.yaml:3: error: volcano-word-unread: Queue a\n", None)
    found, faults = read(source, known)
    assert faults == []
    assert [entry.expected.rule for entry in found.entries] == ["volcano-key-ignored"]


def test_places_are_relative_to_the_folder_of_the_case():
    finding = Finding(
        rule("a", Severity.ERROR),
        "m",
        Place("dir/case/q.yaml", 3, 1),
        "Queue a\nb",
        "spec.x[0]",
        "spec.x.n",
    )
    assert str(expectation(finding, "dir/case/")) == "q.yaml:3: error: a: Queue a\\nb spec.x.n"


def test_differences():
    moved = Expected("q.yaml", 4, Severity.ERROR, "unknown-field", "Queue a spec.x")
    assert not compare([A, B, B], [B, A, B])
    one = compare([A, B], [moved, C])
    assert (one.missing, one.unexpected, one.moved) == ((B,), (C,), ((A, moved),))
    assert compare([B, B], [B]).missing == (B,)
    assert compare([B], [B, B]).unexpected == (B,)


def test_another_severity_is_a_difference():
    worse = Expected("q.yaml", 3, Severity.INFO, "unknown-field", "Queue a spec.x")
    assert compare([A], [worse]).moved == ((A, worse),)


def test_an_update_keeps_the_comments_of_what_stays():
    before, _ = sheet("# of all", "", "# why a", str(A), "# why b", str(B), "# end")
    moved = Expected("q.yaml", 40, Severity.ERROR, "unknown-field", "Queue a spec.x")
    assert text(updated(before, [C, moved])).splitlines() == [
        "# of all", "", str(C), "# why a", str(moved), "# end",
    ]  # fmt: skip
    assert text(updated(before, [A, B])) == text(before)
