"""Paths and places of findings."""

from policygen.core.finding import At, Finding, at_path, dotted, named
from policygen.core.rule import Severity
from tests.rules import rule

DATA = {
    "spec": {
        "flavors": [{"name": "a", "quota": 0}, {"schedulerName": "b"}, {"name": 3}],
        "labels": {"a.b/c": "d"},
    }
}


def test_a_path_as_text():
    assert dotted(()) == ""
    assert dotted(("spec", "resource-groups", 0, "flavors")) == "spec.resource-groups[0].flavors"
    assert dotted(("labels", "a.b/c", "")) == 'labels["a.b/c"][""]'
    assert dotted((3, "a")) == "[3].a"


def test_the_value_at_a_path():
    assert at_path(DATA, ("spec", "flavors", 0, "quota")) == 0
    assert at_path(DATA, ()) is DATA
    for path in [
        ("spec", "x"),
        ("spec", "flavors", 3),
        ("spec", "flavors", "0"),
        ("spec", "labels", 0),
    ]:
        assert at_path(DATA, path) is None


def test_list_entries_by_name():
    assert named(DATA, ("spec", "flavors", 0, "quota")) == ("spec", "flavors", "a", "quota")
    assert named(DATA, ("spec", "flavors", 1)) == ("spec", "flavors", "b")
    assert named(DATA, ("spec", "flavors", 2)) == ("spec", "flavors", 2)
    assert named(DATA, ("spec", "flavors", 7, "x")) == ("spec", "flavors", 7, "x")


def test_places_below_a_place():
    at = At(3, ("spec",))
    assert at / "a" / 0 == at.to("a", 0) == At(3, ("spec", "a", 0))
    assert (at / "a").on_key() == At(3, ("spec", "a"), key=True)
    assert at.on_key() / "a" == At(3, ("spec", "a"))


def test_the_severity_of_the_spec_replaces_that_of_the_rule():
    finding = Finding(rule("r", Severity.ERROR), "m")
    assert finding.severity is Severity.ERROR
    assert finding._replace(configured=Severity.INFO).severity is Severity.INFO
