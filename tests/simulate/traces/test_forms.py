"""Chooses the reader of a trace."""

import pytest

from policygen.core.errors import InvalidInputError
from policygen.simulate.traces.forms import jobs

PHILLY = ["timestamp,duration,num_gpus,gpu_time,cluster", "2017-10-09 07:01:55,6.0,1,6.0,a"]
OPENB = [
    "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time",
    "p,1,1,0,0,,4,5",
]
OWN = ["time,duration,team", "0,7,a"]


@pytest.mark.parametrize(("lines", "duration"), [(PHILLY, 6), (OPENB, 1), (OWN, 7)])
def test_the_header_decides_the_form(lines, duration):
    (it,) = jobs(lines, "t.csv")
    assert it.duration == duration


def test_the_form_can_be_given():
    with pytest.raises(InvalidInputError) as caught:
        list(jobs(OWN, "t.csv", "philly"))
    assert "the header has no columns timestamp, num_gpus, cluster" in caught.value.details[0]


def test_an_empty_file():
    with pytest.raises(InvalidInputError) as caught:
        list(jobs([], "t.csv"))
    assert caught.value.details[0].startswith("t.csv:1:1: the first line is empty")


def test_a_default_duration_is_only_for_the_own_form():
    assert next(jobs(["time,team", "0,a"], "t.csv", default_duration=9.0)).duration == 9
