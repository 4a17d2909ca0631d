"""Objects of one kind by name; each access to objects that could not be read is recorded."""

from policygen.core.finding import At
from policygen.kubernetes.field_access import AccessLog
from policygen.kubernetes.object import Object
from policygen.kubernetes.table import Entry, Table


def made(name, document, namespace="n"):
    return Object(At(document), "v1", "Thing", name, namespace, {})


def table():
    log = AccessLog()
    entries = [Entry(made("a", 0), 1), Entry(made("b", 1), 2), Entry(made("a", 2, "m"), 2)]
    return Table(entries, [made("broken", 3)], log), log


def value(entry):
    return entry.fields


def test_objects_are_found_by_name_and_namespace():
    found, log = table()
    assert found.get("a", "n").fields == 1
    assert found.get("a", "m").fields == 2
    assert found.get("a") is None
    assert found.get("gone", "n") is None
    assert log.take() == frozenset()


def test_an_unreadable_object_has_its_name_only():
    found, log = table()
    assert found.get("broken", "n") is None
    assert log.take() == {At(3)}
    assert found.knows("broken", "n")
    assert not found.knows("broken")
    assert log.take() == frozenset()
    assert Table((), [made("broken", 3)]).any
    assert not Table().any


def test_who_goes_through_all_misses_the_unreadable_ones():
    for look in (len, list, lambda it: it[0], lambda it: it.by_namespace):
        found, log = table()
        look(found)
        assert log.take() == {At(3)}


def test_an_index_is_made_once_and_each_access_is_recorded():
    found, log = table()
    assert {key: len(these) for key, these in found.by(value).items()} == {1: 1, 2: 2}
    log.take()
    assert found.by(value) is found.by(value)
    assert log.take() == {At(3)}
    assert list(found.by_namespace) == ["n", "m"]
