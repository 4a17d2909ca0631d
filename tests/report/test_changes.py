"""The changes between two snapshots, for people and for programs."""

import io
import json
from datetime import UTC, datetime
from pathlib import Path

from jsonschema import Draft202012Validator

from policygen.core.finding import At, Finding
from policygen.drift.changes import Change, What
from policygen.drift.incomparable import Incomparable
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Seen
from policygen.report import changes
from tests.rules import rule

ROOT = Path(__file__).parents[2]
QUEUE = Object(At(0), "kueue.x-k8s.io/v1beta2", "LocalQueue", "a", "n", {})
LOOKS = [Seen("east", datetime(2026, 11, day, 3, tzinfo=UTC), "") for day in (20, 21)]
CHANGES = [
    Change(What.ADDED, QUEUE, "", "is new"),
    Change(What.CHANGED, QUEUE, "spec.x", "was 1 and is \x1b[31m2"),
]
FINDINGS = ([Finding(rule("new-one"), "wrong", object="LocalQueue n/a", cluster="east")], [])


def written(write, looks=LOOKS, changed=CHANGES, findings=FINDINGS, incomparable=()):
    out = io.StringIO()
    write(looks, changed, findings, incomparable, out)
    return out.getvalue()


def test_a_line_for_each_change_and_finding():
    lines = written(changes.text).splitlines()
    assert lines == [
        "east 2026-11-20T03:00:00Z -> east 2026-11-21T03:00:00Z",
        "+ LocalQueue n/a: is new",
        "~ LocalQueue n/a: spec.x: was 1 and is \\x1b[31m2",
        "new: east: LocalQueue n/a: error: wrong [new-one]",
        "2 changes; findings: 1 new, 0 gone; 0 not comparable",
    ]


def test_what_is_not_comparable_is_one_line_for_each_reason():
    several = [Incomparable(f"kind{n}", "not read", "why") for n in range(changes.MAX_NAMES + 2)]
    several.append(Incomparable("other", "not asked"))
    lines = written(changes.text, changed=[], findings=([], []), incomparable=several).splitlines()
    assert lines[1].startswith("not comparable, not read: kind0, kind1")
    assert lines[1].endswith("and 2 more (why)")
    assert lines[2] == "not comparable, not asked: other"
    assert lines[3].endswith("0 gone; 15 not comparable")


def test_details_that_differ_are_those_of_the_first():
    two = [Incomparable("a", "not read", "x"), Incomparable("b", "not read", "y")]
    text = written(changes.text, changed=[], findings=([], []), incomparable=two)
    assert "not comparable, not read: a and b (a: x)" in text


def test_json_keeps_its_schema():
    schema = json.loads((ROOT / "schemas" / "diff.schema.json").read_text("utf-8"))
    data = json.loads(written(changes.json, incomparable=[Incomparable("a", "not read")]))
    Draft202012Validator(schema).validate(data)
    assert [it["path"] for it in data["changes"]] == [None, "spec.x"]
    assert data["findings"]["new"][0]["rule"] == "new-one"
    assert data["notComparable"] == ["a: not read"]


def test_markdown_begins_with_the_counts_that_end_the_text():
    text, page = written(changes.text), written(changes.markdown)
    assert text.splitlines()[-1] == "2 changes; findings: 1 new, 0 gone; 0 not comparable"
    assert (
        text.splitlines()[-1].replace(":", r"\:").split(";")[0]
        == page.splitlines()[2].split(";")[0]
    )
