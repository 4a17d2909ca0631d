"""Reads the trace of openb."""

from fractions import Fraction

import pytest

from policygen.core.names import GPU
from policygen.simulate.openb import TraceError, cluster_nodes, nodes, pods

NODES = "sn,cpu_milli,memory_mib,gpu,model"
PODS = "name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time"


def test_nodes():
    (first, second) = cluster_nodes(nodes([NODES, "a,64000,1024,2,P100", "b,8500,1,0,"]))
    assert first.labels["gpu-model"] == "P100"
    assert first.allocatable["memory"] == 1 << 30
    assert first.allocatable[GPU] == 2
    assert GPU not in second.allocatable
    assert second.allocatable["cpu"] == Fraction(17, 2)


def test_pods():
    found = list(pods([PODS, "a,100,10,1,460,T4|A10,0,12.5", "b,1,1,0,0,T4,,", "c,1,1,8,1000,,,"]))
    assert [(it.models, it.demand) for it in found] == [(("T4", "A10"), 460), ((), 0), ((), 8000)]
    assert [(it.created, it.ended) for it in found] == [(0, 12.5), (None, None), (None, None)]


def test_columns_after_the_fifth_may_be_missing():
    (found,) = pods(["name,cpu_milli,memory_mib,num_gpu,gpu_milli", "a,1,1,1,1000"])
    assert found.models == ()


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ("a,1.5,1,0,0,,,", 'line 2: cpu_milli must be a whole number, not "1.5"'),
        ("a,-1,1,0,0,,,", 'line 2: cpu_milli must be a whole number, not "-1"'),
        ("a,1,1,0,0,,inf,", 'line 2: creation_time must be a number of seconds, not "inf"'),
        ("a,1,1,0,0,,-3,", 'line 2: creation_time must be a number of seconds, not "-3"'),
        ("a,1,1", "line 2 has too few columns"),
    ],
)
def test_an_invalid_row_is_named(row, message):
    with pytest.raises(TraceError, match=f"^{message}$"):
        list(pods([PODS, row]))


def test_a_missing_column_is_named():
    with pytest.raises(TraceError, match="the first line has no column gpu; a trace needs sn,"):
        list(nodes(["sn,cpu_milli,memory_mib"]))
