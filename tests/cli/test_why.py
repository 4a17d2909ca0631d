"""The commands why and fit: names, options, exit codes, and the output that docs/why.md shows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from tests.simulate.why.waiting import PLAIN, job, text

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "forty-jobs"
STATE = (str(EXAMPLE / "policy.yaml"), "--workloads", str(EXAMPLE / "jobs"))
TEXT = text(*PLAIN, job("a", pods=9), job("b", pods=2))


def run(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)], input=TEXT)


def test_the_example(update):
    """`pytest --update` writes the golden file."""
    done = run("why", "language/eval-nightly", *STATE)
    golden = EXAMPLE / "expected" / "why.txt"
    if update:
        golden.write_text(done.stdout, "utf-8")
    assert done.stdout == golden.read_text("utf-8")
    assert f"\n```\n{done.stdout}```\n" in (ROOT / "docs" / "why.md").read_text("utf-8")
    assert done.exit_code == 1


def test_all_pending_workloads():
    done = run("why", "--workloads", "-")
    assert done.exit_code == 1
    assert done.stdout.startswith("Job n/a waits: above-maximum\n")
    assert done.stdout.endswith("1 workload waiting.\n")


def test_a_workload_that_can_run_ends_with_0():
    done = run("why", "b", "--workloads", "-")
    assert (done.exit_code, done.stdout.splitlines()[0]) == (0, "Job n/b can run now: admissible")


def test_json():
    done = run("why", "-f", "json", "--workloads", "-")
    assert [it["name"] for it in json.loads(done.stdout)["workloads"]] == ["n/a"]


@pytest.mark.parametrize("gpus, code, word", [(6, 0, "Yes: "), (7, 1, "No: ")])
def test_fit(gpus, code, word):
    done = run("fit", "--team", "n", "--gpus", gpus, "--workloads", "-")
    assert (done.exit_code, done.stdout[: len(word)]) == (code, word)


def test_fit_knows_when_with_durations():
    options = ("--team", "n", "--gpus", 7, "--duration", "2h", "--workloads", "-")
    done = run("fit", *options)
    assert "It starts in 2h, when n/b has ended, if no other job arrives." in done.stdout
    data = json.loads(run("fit", *options, "-f", "json").stdout)
    assert (data["runs"], data["startsAfterSeconds"]) == (False, 7200.0)


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("why",), "the cluster is not named; add --context CONTEXT, --snapshot FILE, or a SPEC"),
        (("why", "--snapshot", "a", "--snapshot", "b"), "only one cluster can be read"),
        (("why", "-", "--workloads", "-"), "standard input can be read only once"),
        (("fit", "--gpus", "1", "--workloads", "-"), "Missing option '--team'"),
        (("fit", "--team", "n", "--gpus", "0", "--workloads", "-"), "0 is not in the range"),
        (
            ("fit", "--team", "n", "--gpus", "1", "--cpu", "x", "--workloads", "-"),
            "'x' is not a quantity",
        ),
        (
            ("fit", "--team", "n", "--gpus", "1", "--memory", "-5Gi", "--workloads", "-"),
            "'-5Gi' is not a quantity",
        ),
    ],
)
def test_wrong_usage(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2, done.output
    assert message in " ".join(done.stderr.split())
