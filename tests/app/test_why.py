"""What why and fit do, from files to reports."""

import json

import pytest

from policygen.app import why
from policygen.app.requests import SimulateRequest
from policygen.core.errors import UsageError
from policygen.simulate.why.fit import FitRequest
from tests.simulate.why.waiting import PLAIN, job, text


@pytest.fixture
def request_(tmp_path):
    path = tmp_path / "objects.yaml"
    path.write_text(text(*PLAIN, job("large", pods=9), job("b")), "utf-8")
    return SimulateRequest(workloads=(str(path),), duration=0.0)


def test_a_name_without_a_workload_suggests_a_similar_one(request_):
    with pytest.raises(UsageError, match='did you mean "n/large"'):
        why.why(request_, ["n/lage"], "text")


def test_only_what_waits_is_listed(request_):
    found, waits = why.why(request_, [], "json")
    assert waits
    assert [it["name"] for it in json.loads(found)["workloads"]] == ["n/large"]


def test_fit_of_an_unknown_team(request_):
    with pytest.raises(UsageError, match="team x has no LocalQueue"):
        why.would_fit(request_, FitRequest("x", 1), "text")


def test_fit(request_):
    found, runs = why.would_fit(request_, FitRequest("n", 7), "text")
    assert runs
    assert found.startswith("Yes: 1 pod of 7 GPUs for team n")
