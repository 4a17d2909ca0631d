"""Reads the pods of openb as jobs."""

from fractions import Fraction
from pathlib import Path

import pytest

from policygen.core.errors import InvalidInputError
from policygen.simulate.traces.openb_pods import jobs
from policygen.simulate.traces.table import TraceFaults

REAL = Path(__file__).parents[4] / "shared/data/openb/pods_default.csv"
HEADER = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,creation_time,deletion_time"


def read(*lines):
    faults = TraceFaults("o.csv")
    found = list(jobs(lines, faults))
    faults.check()
    return found


def test_pods():
    first, second = read(HEADER, "b,100,10,1,460,T4|A10,LS,9,12", "a,1,1,0,0,T4,BE,4,4")
    assert (first.name, first.at, first.duration) == ("a", 0, 0)
    assert (first.request.models, first.request.partial) == ((), False)
    assert (second.at, second.duration, second.team) == (5, 3, "")
    assert second.request.cpu == Fraction(1, 10)
    assert second.request.memory == 10 << 20
    assert (second.request.gpus, second.request.partial) == (1, True)
    assert second.request.models == ("T4", "A10")


def test_faults():
    with pytest.raises(InvalidInputError) as caught:
        read(HEADER, "b,x,10,1,460,,LS,9,", "a,1,1,0,0,,BE,4,2")
    assert [it.partition(";")[0] for it in caught.value.details] == [
        'o.csv:2:3: cpu_milli "x" is not valid',
        "o.csv:2:20: deletion_time is missing",
        'o.csv:3:17: deletion_time "2" is before creation_time',
    ]


@pytest.mark.skipif(not REAL.exists(), reason="the openb trace is not here")
def test_the_real_trace():
    with REAL.open() as lines:
        found = read(*lines)
    assert len(found) == 8152
    assert all(it.at >= 0 and it.duration >= 0 for it in found)
