"""Hits become findings, in the order of the text."""

from policygen.core.finding import At, Finding, Hit, Related
from policygen.core.rule import Severity
from policygen.documents.document import load
from policygen.documents.files import Source
from policygen.documents.locate import locate, ordered
from tests.rules import rule


def test_hits_are_dressed_in_the_order_of_the_text():
    one = load(Source("b.yaml", "x: no\ny: {z: 1}\n3: w\n", None))[0]
    two = load(Source("a.yaml", "x: 1\n", None), first_index=1)[0]
    documents = [*two, *one]
    hits = [
        Hit(rule("r"), "of nothing"),
        Hit(rule("r"), "m2", At(0, ("y", "z"))),
        Hit(rule("r", Severity.WARNING), "m1", At(0, ("y", "z"))),
        Hit(rule("r", Severity.WARNING), "m1", At(0, ("y", "z"))),
        Hit(rule("r"), "of a", At(1, ("x",)).on_key()),
        Hit(rule("r"), "no document", At(9)),
        Hit(rule("r"), "already refused", At(0, ("x",))),
        Hit(rule("r"), "its key is not", At(0, ("x",)).on_key()),
        Hit(rule("r"), "already refused", At(0, ("3",)).on_key()),
        Hit(rule("r"), "missing below", At(0, ("x", "more"))),
    ]
    findings = locate(documents, hits)
    assert [(f.message, f.place and (f.place.file, f.place.line)) for f in findings] == [
        ("no document", None),
        ("of nothing", None),
        ("of a", ("a.yaml", 1)),
        ("its key is not", ("b.yaml", 1)),
        ("missing below", ("b.yaml", 1)),
        ("m1", ("b.yaml", 2)),
        ("m2", ("b.yaml", 2)),
    ]
    assert findings[5].severity is Severity.WARNING


def test_findings_are_ordered_and_reported_once():
    one, two = Finding(rule("r", Severity.ERROR), "a"), Finding(rule("r", Severity.ERROR), "b")
    assert ordered([two, one, two]) == [one, two]


def test_findings_that_differ_only_in_related_objects_keep_their_order():
    related = [(Related(f"Queue {index}"),) for index in range(20)]
    findings = [Finding(rule("r", Severity.ERROR), "a", related=it) for it in related]
    assert ordered(findings) == findings
