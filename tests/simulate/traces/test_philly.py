"""Reads the Philly trace."""

import gzip
from pathlib import Path

import pytest

from policygen.core.errors import InvalidInputError
from policygen.simulate.traces.philly import jobs, split
from policygen.simulate.traces.table import TraceFaults

REAL = Path(__file__).parents[4] / "shared/data/philly/philly.csv.gz"
HEADER = "timestamp,duration,num_gpus,gpu_time,cluster"


def read(*lines):
    faults = TraceFaults("p.csv")
    found = list(jobs(lines, faults))
    faults.check()
    return found


def test_jobs_are_sorted_by_time():
    first, second = read(
        HEADER, "2017-10-09 07:01:55,66.0,1,66.0,a", "2017-10-09 06:01:55,5.5,16,88,b"
    )
    assert (first.at, first.duration, first.team, first.name) == (0, 5.5, "b", "job-3")
    assert (first.request.pods, first.request.gpus) == (2, 8)
    assert (second.at, second.team) == (3600, "a")


@pytest.mark.parametrize(
    ("gpus", "pods"), [(1, (1, 1)), (8, (1, 8)), (12, (2, 6)), (11, (11, 1)), (128, (16, 8))]
)
def test_a_job_is_split_into_the_fewest_equal_pods(gpus, pods):
    request = split(gpus, 8)
    assert (request.pods, request.gpus) == pods


def test_faults():
    with pytest.raises(InvalidInputError) as caught:
        read(HEADER, "yesterday,-3,0,0,")
    assert [it.partition(";")[0] for it in caught.value.details] == [
        'p.csv:2:1: timestamp "yesterday" is not a valid time',
        'p.csv:2:11: duration "-3" is negative',
        'p.csv:2:14: num_gpus "0" is not valid',
        "p.csv:2:18: cluster is missing",
    ]


def test_a_job_has_at_most_a_million_gpus():
    """Without a limit, to split so many GPUs takes hours."""
    with pytest.raises(InvalidInputError) as caught:
        read(HEADER, "0,1,99999999999999997,1,a")
    (found,) = caught.value.details
    assert found.endswith('num_gpus "99999999999999997" is too large; write at most 1,000,000')


@pytest.mark.skipif(not REAL.exists(), reason="the Philly trace is not here")
def test_the_real_trace():
    with gzip.open(REAL, "rt") as lines:
        found = read(*lines)
    assert len(found) == 82247
    assert len({it.team for it in found}) == 15
    hours = sum(it.duration * it.request.pods * it.request.gpus for it in found) / 3600
    assert round(hours) == 978078
