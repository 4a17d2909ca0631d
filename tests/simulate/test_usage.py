"""Sums over time."""

from policygen.simulate.usage import Meter, Meters


def test_a_meter_sums_its_amount_over_time():
    it = Meter()
    it.add(10, 4)
    it.add(20, -1)
    assert (it.until(30), it.most, it.amount) == (70, 4, 3)


def test_a_team_and_its_pool_are_counted():
    them = Meters()
    them.add_all(0, "nlp", {"a100": 8}, 1)
    them.add_all(5, "vision", {"a100": 2}, 1)
    them.add_all(10, "nlp", {"a100": 8}, -1)
    assert them.of["nlp", "a100"].until(20) == 80
    assert them.of["a100",].until(20) == 110
    assert them.of["a100",].most == 10
