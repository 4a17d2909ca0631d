"""Reports about waiting workloads, as text and JSON."""

import io
import json
from pathlib import Path

import jsonschema_rs
import pytest
from msgspec.structs import replace

from policygen.report import why
from policygen.report.tables import TablePage
from policygen.report.why import AnswerTime, FitReport, WhyReport
from policygen.simulate.result import Unmodelled
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.fit import fit
from policygen.simulate.why.fit_jobs import FitRequest
from policygen.simulate.why.history import Preempted
from tests.simulate.why.gangs import QUEUES, configuration, vcjob
from tests.simulate.why.waiting import PLAIN, SHARED, explain, job, node, scene

SCHEMAS = Path(__file__).parent.parent.parent / "schemas"


def written(write, *arguments, **more):
    out = io.StringIO()
    is_text = write in (why.text, why.fit_text)
    write(*arguments, TablePage(out, **more) if is_text else out)
    return out.getvalue()


def valid(text, name):
    data = json.loads(text)
    schema = json.loads((SCHEMAS / f"{name}.schema.json").read_text("utf-8"))
    jsonschema_rs.validate(schema, data)
    return data


def test_text_has_the_cause_and_the_remedies_with_their_cost():
    found = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7))
    it = WhyReport((found,), (Unmodelled("x", 1),), every=True)
    assert written(why.text, it) == (
        "At the start.\n"
        "\n"
        "Job n/a waits: other workloads use the quota\n"
        "  It requests 7 GPUs of flavor f, and 5 are free for ClusterQueue q.\n"
        "  The quota of ClusterQueue q is 8, and it uses 3.\n"
        "  In ClusterQueue q, the largest workload is n/b.\n"
        "  The scheduler reports: couldn't assign flavors to pod set main: insufficient unused quota for "
        "nvidia.com/gpu in flavor f, 2 more needed\n"
        "  Each of these changes lets Kueue admit it now (policygen tried each):\n"
        '  1. Set kueue.x-k8s.io/job-min-parallelism: "5", so that it can run with 5 of its 7 pods.\n'
        "     No other workload must leave, and no other start is delayed now.\n"
        "  2. Raise nominalQuota of nvidia.com/gpu in flavor f in ClusterQueue q from 8 to 10.\n"
        "     No other workload must leave, and no other start is delayed now.\n"
        "  Without a change, it starts when n/b ends.\n"
        "\n"
        "1 workload waiting.\n"
        "Not modelled: x (1 workload).\n"
    )


@pytest.mark.parametrize(
    "things",
    [
        (*PLAIN, job("a", pods=9)),
        (*PLAIN, job("a", to="z")),
        (*SHARED, job("b", pods=14, to="r"), job("a", pods=3, after="1m")),
        (node("x"), job("a", gpus=9, to="")),
        (*QUEUES, configuration("capacity"), vcjob("a", 4, namespace="n")),
    ],
)
def test_json_is_as_its_schema_says(things):
    found = explain("n/a", *things)
    data = valid(written(why.json, WhyReport((found,), (Unmodelled("x", 1),))), "why")
    (one,) = data["workloads"]
    assert one["waits"]
    assert one["cause"]["kind"] == found.cause.kind.value
    assert len(one["remedies"]) == len(found.remedies)


def test_fit_answers_yes_or_no():
    made = scene(*PLAIN, job("b", pods=3))
    yes = FitReport(fit(made, arrivals(made), FitRequest("n", 5)))
    assert written(why.fit_text, yes) == (
        "At the start.\n"
        "Yes: 1 pod of 5 GPUs for team n in LocalQueue n/q would run in flavor f.\n"
        "  No other workload must leave, and no other start is delayed now.\n"
    )
    no = FitReport(fit(made, arrivals(made), FitRequest("n", 6)))
    text = written(why.fit_text, no)
    assert text.splitlines()[1] == (
        "No: 1 pod of 6 GPUs for team n in LocalQueue n/q would wait: other workloads use the quota."
    )
    assert "Give --duration" in text
    assert valid(written(why.fit_json, yes), "fit")["runs"] is True
    assert valid(written(why.fit_json, no), "fit")["runs"] is False


@pytest.mark.parametrize(
    ("time", "text"),
    [
        (AnswerTime(), "At the start."),
        (AnswerTime(taken="noon"), "At the state of noon."),
        (AnswerTime(jobs=3, running=1), "At the start, in a simulation: 1 job runs and 2 wait."),
        (
            AnswerTime(jobs=3, later=2),
            "At the start, as if all 3 jobs were submitted in their order and no job had ended: 0 jobs run and 3 wait. --at TIME simulates until a time after it.",
        ),
        (
            AnswerTime(jobs=1, later=1),
            "At the start, as if the only job was submitted: 0 jobs run and 1 waits. --at TIME simulates until a time after it.",
        ),
        (
            AnswerTime(7200.0, jobs=3, running=1, later=1),
            "2h after the start, in a simulation: 1 job runs, 2 wait and 1 is submitted later.",
        ),
        (
            AnswerTime(60.0, "noon", 3, 2),
            "1m after the state of noon, in a simulation: 2 jobs run, 1 waits and none are submitted later.",
        ),
    ],
)  # fmt: skip
def test_an_answer_names_its_instant_first(time, text):
    found = explain("n/a", *PLAIN, job("a"))
    assert written(why.text, WhyReport((found,), time=time)).splitlines()[0] == text
    assert valid(written(why.json, WhyReport((found,), time=time)), "why")["time"]["text"] == text


def test_text_has_the_last_preemptions():
    found = explain("n/a", *PLAIN, job("a"))
    past = tuple(Preempted("n/b", "InClusterQueue", "m", f"{it}h") for it in range(5))
    lines = written(why.text, WhyReport((replace(found, preempted=past),))).splitlines()
    assert lines[4] == "  It was preempted 5 times. These are the last ones:"
    assert [it.split(" at ")[1][:2] for it in lines[5:]] == ["2h", "3h", "4h"]


def test_text_fits_a_narrow_terminal():
    found = explain("n/a", *PLAIN, job("b", pods=3), job("a", pods=7))
    text = written(why.text, WhyReport((found,)), wide=60)
    assert max(map(len, text.splitlines())) <= 60
    assert "\x1b[1mJob n/a waits" in written(why.text, WhyReport((found,)), colour=True)


def test_a_tie_that_lets_a_workload_run_is_named():
    found = replace(explain("n/a", *PLAIN, job("a")), either=True)
    assert "  Kueue may decide otherwise, because a tie decides.\n" in written(
        why.text, WhyReport((found,))
    )
