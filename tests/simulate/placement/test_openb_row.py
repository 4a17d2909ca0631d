"""The policies of the FGD paper reach the published allocation. `benchmarks/openb_policies.py` runs ten seeds."""

import sys
from pathlib import Path

import pytest

from policygen.simulate import openb

ROOT = Path(__file__).parents[3]
TRACE = ROOT.parent / "shared/data/openb"

if not TRACE.is_dir():
    pytest.skip("the trace of openb is not there", allow_module_level=True)


@pytest.fixture(scope="module")
def policies():
    sys.path.insert(0, str(ROOT / "benchmarks"))
    import openb_policies  # noqa: PLC0415 - benchmarks are no package

    sys.path.pop(0)
    return openb_policies


@pytest.fixture(scope="module")
def trace():
    with (TRACE / "nodes.csv").open(newline="") as lines:
        nodes = list(openb.nodes(lines))
    with (TRACE / "pods_default.csv").open(newline="") as lines:
        return nodes, list(openb.pods(lines))


def test_the_trace_is_complete(trace):
    nodes, pods = trace
    assert (len(nodes), sum(it.gpus for it in nodes)) == (1213, 6212)
    assert (len(pods), sum(it.demand for it in pods) / 1000) == (
        8152,
        pytest.approx(6086.8, abs=0.1),
    )


@pytest.mark.parametrize(
    "policy", ["Random", "DotProd", "GpuClustering", "GpuPacking", "BestFit", "FGD"]
)
def test_one_seed_is_near_the_mean_of_ten(policies, trace, policy):
    found = policies.replay(policy, *trace, policies.FIRST_SEED)
    assert found == pytest.approx(policies.PUBLISHED[policy], abs=1.5)  # two standard deviations
