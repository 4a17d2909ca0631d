"""Sums over time."""

from policygen.simulate.usage import Meter, Meters, WorkMeter


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


def test_meters_are_made_when_they_are_needed():
    them = Meters()
    them.add(0, ("a100",), 8)
    them.add(5, ("a100",), 2)
    them.add(10, ("a100",), -8)
    assert them.of["a100",].until(20) == 8 * 5 + 10 * 5 + 2 * 10


def test_the_work_of_a_job():
    """Two GPUs from 10 on, six from 20 on, and a pod with one ends at 30, which began at 10."""
    it = WorkMeter()
    it.change(10, 2)
    it.change(20, 6)
    it.end_pod(30, 1, 10, lost=False)
    assert it.until(40) == 20 + 60 + 50
    it.begin_again(40)
    assert (it.ran, it.lost, it.gpus) == (130, 110, 0)


def test_the_work_of_an_evicted_pod_is_lost():
    it = WorkMeter()
    it.change(0, 8)
    it.end_pod(10, 2, 0, lost=True)
    assert (it.ran, it.lost, it.gpus) == (80, 20, 6)


def test_work_before_the_start_counts_only_if_it_is_lost():
    it = WorkMeter()
    it.change(-100, 2)
    assert it.until(50) == 100
    it.begin_again(50)
    assert (it.ran, it.lost) == (100, 300)
