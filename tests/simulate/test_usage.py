"""Sums over time."""

from policygen.simulate.usage import Meter, Meters


def test_a_meter_sums_its_amount_over_time():
    it = Meter()
    it.add(10, 4, 10)
    it.add(20, -1, 20)
    assert (it.until(30), it.most, it.amount) == (70, 4, 3)


def test_changes_behind_the_end_do_not_count():
    """Something held 4 until 20, but the simulation ended at 10. Then it is known to go on until 20."""
    it = Meter()
    it.add(0, 1, 0)
    it.add(5, 3, 5)
    it.add(20, -4, 5)
    assert (it.until(10), it.most, it.amount) == (5 + 20, 4, 0)
    other = Meter()
    other.add(5, 1, 0)
    other.add(20, -1, 0)
    other.add(30, 2, 30)
    assert (other.until(30), other.later) == (15, [])


def test_a_team_and_its_pool_are_counted():
    them = Meters()
    them.add_all(0, "nlp", {"a100": 8}, 1)
    them.add_all(5, "vision", {"a100": 2}, 1)
    them.add_all(10, "nlp", {"a100": 8}, -1)
    assert them.of["nlp", "a100"].until(20) == 80
    them.settled = 20
    assert them.of["a100",].until(20) == 110
    assert them.of["a100",].most == 10
