"""Invalid fields are omitted, and each access to an object with one is recorded."""

from functools import cached_property

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.field_access import (
    AccessLog,
    invalid_field,
    outermost,
    watched,
    without,
)

ONE, OTHER = At(1), At(2)


class Inner(Struct, rename="camel", frozen=True):
    max_count: int = 0


class Outer(Struct, rename="camel", frozen=True):
    name: str = ""
    inner_parts: tuple[Inner, ...] = ()
    only: Inner = Inner()


def test_a_log_is_cleared_when_it_is_taken():
    log = AccessLog(frozenset({OTHER}))
    log.note(ONE)
    log.note(OTHER)
    assert log.take() == {ONE}
    assert log.take() == frozenset()


def test_a_call_is_recorded_and_can_be_repeated():
    log = AccessLog()
    log.note(ONE)
    made, read = log.recorded(lambda: log.note(OTHER) or "made")
    assert (made, read) == ("made", {OTHER})
    assert log.take() == {ONE, OTHER}
    log.repeat(read)
    assert log.take() == {OTHER}


def test_an_entry_of_a_list_is_never_omitted():
    assert invalid_field(("a", "b", 0, 1)) == ("a", "b")
    assert invalid_field((0,)) == ()
    assert outermost([("a", "b"), ("a",), ("c", 0, "d")]) == [("a",), ("c", 0, "d")]


def test_data_without_a_field_shares_the_rest():
    data = {"a": [{"b": 1, "c": 2}, {"b": 3}], "d": {}}
    left = without(data, ("a", 0, "b"))
    assert left == {"a": [{"c": 2}, {"b": 3}], "d": {}}
    assert left["a"][1] is data["a"][1]
    assert data["a"][0] == {"b": 1, "c": 2}


def test_only_the_field_itself_is_watched():
    noted = []
    it = watched(
        Outer("x", (Inner(1), Inner(2)), Inner(3)),
        ("innerParts", 1, "maxCount"),
        lambda: noted.append(1),
    )
    assert (it.name, it.only.max_count, it.inner_parts[0].max_count) == ("x", 3, 1)
    assert noted == []
    assert it.inner_parts[1].max_count == 2
    assert len(noted) == 1
    hash(it.inner_parts[1])
    assert len(noted) == 2


class Summed(Struct, frozen=True, dict=True):
    parts: tuple[int, ...] = ()

    @cached_property
    def total(self) -> int:
        return sum(self.parts)


def test_a_cached_property_reads_an_invalid_field_at_each_use():
    log = AccessLog()
    struct = watched(Summed((1, 2)), ("parts",), lambda: log.note(ONE))
    for _ in range(2):
        log.take()
        assert struct.total == 3
        assert log.take() == {ONE}
