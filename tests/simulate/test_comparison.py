"""What differs between two simulations."""

import pytest

from policygen.simulate.comparison import Comparison
from tests.simulate.results import job, result, team, waiting


def test_a_job_that_waits_longer_and_one_that_is_equal():
    before = result(job("n/a"), job("n/b"))
    after = result(job("n/a", waited=60.0, preempted=1), job("n/b"))
    first, second = Comparison(before, after).jobs
    assert (first.waited, first.preempted, first.differs) == (60, 1, True)
    assert not second.differs


def test_a_job_that_starts_only_in_one():
    (found,) = Comparison(result(waiting("n/a", never=True)), result(job("n/a"))).jobs
    assert (found.starts, found.waited, found.differs) == (1, None, True)
    (found,) = Comparison(result(job("n/a")), result(waiting("n/a"))).jobs
    assert found.starts == -1


def test_a_team_waits_as_long_as_its_jobs_that_start_in_both_on_average():
    before = result(job("n/a"), job("n/b"), job("n/c"))
    after = result(job("n/a", waited=60.0), job("n/b"), waiting("n/c", never=True))
    (found,) = Comparison(before, after).teams
    assert found.waited == 30


def test_jobs_of_the_same_name_differ_by_kind():
    (found,) = Comparison(result(job(kind="JobSet"), job()), result(job())).jobs
    assert found.before.kind == "Job"


def test_a_team_gains_useful_hours_and_loses_others():
    before = result(teams=(team("n"),))
    after = result(teams=(team("n", gpu_seconds=40000.0, lost_gpu_seconds=1200.0), team("m")))
    new, found = Comparison(before, after).teams
    assert (found.name, found.useful, found.lost) == ("n", 10000, 1200)
    assert (new.name, new.before.jobs, new.after.jobs) == ("m", 0, 1)


def test_a_job_that_ends_earlier_differs_although_it_waits_as_long():
    before, after = result(job("n/a", ended=5000.0)), result(job("n/a"))
    (found,) = Comparison(before, after).jobs
    assert (found.waited, found.ended, found.differs) == (0, -1400, True)


def test_a_team_without_jobs_that_start_in_both_has_no_mean():
    them = result(waiting("n/a", never=True)), result(waiting("n/a", never=True))
    assert [it.waited for it in Comparison(*them).teams] == [None]


def test_a_team_of_which_only_some_jobs_have_another_team_is_not_renamed():
    before = result(job("n/a", team="n"), job("n/b", team="n"), teams=(team("n"),))
    after = result(job("n/a", team="m"), job("n/b", team="k"), teams=(team("m"), team("k")))
    assert [(it.name, it.renamed) for it in Comparison(before, after).teams] == [
        ("k", ""), ("m", ""), ("n", ""),
    ]  # fmt: skip


def test_a_tie_in_one_simulation_is_one_of_the_comparison():
    (found,) = Comparison(result(job("n/a", either=True)), result(job("n/a"))).jobs
    assert found.either


@pytest.mark.parametrize(
    ("before", "after", "shift"),
    [
        (0.0, 59.0, 0.0),
        (0.0, 60.0, 60.0),
        (36000.0, 36359.0, 0.0),
        (36000.0, 35000.0, -1000.0),
    ],
)
def test_less_than_a_minute_or_one_percent_is_no_change(before, after, shift):
    them = result(job("n/a", waited=before)), result(job("n/a", waited=after))
    (found,) = Comparison(*them).jobs
    assert (found.shift, found.differs, found.matters) == (shift, True, bool(shift))


def test_an_end_that_is_little_later_is_no_change():
    them = result(job("n/a")), result(job("n/a", ended=3630.0))
    (found,) = Comparison(*them).jobs
    assert (found.delay, found.matters) == (0, False)
    them = result(job("n/a")), result(job("n/a", ended=3720.0))
    (found,) = Comparison(*them).jobs
    assert (found.delay, found.matters) == (120, True)
    (found,) = Comparison(result(job("n/a")), result(job("n/a", ended=None, running=True))).jobs
    assert (found.delay, found.matters) == (0, True)
