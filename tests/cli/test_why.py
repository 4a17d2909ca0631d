"""The commands why and fit: names, options, exit codes, and the output that docs/why.md shows."""

import json
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.core.errors import UsageError
from policygen.report import tables
from tests.simulate.why.waiting import PLAIN, job, node, text

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "forty-jobs"
STATE = (str(EXAMPLE / "policy.yaml"), "--workloads", str(EXAMPLE / "jobs"))
TEXT = text(*PLAIN, job("a", pods=9), job("b", pods=2))


def run(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments)], input=TEXT)


def test_the_example(update, monkeypatch):
    """`pytest --update` writes the golden file, as on a terminal with 100 columns."""
    monkeypatch.setattr(tables, "columns", lambda *_: 100)
    done = run("why", "language/embed-corpus", *STATE)
    golden = EXAMPLE / "expected" / "why.txt"
    if update:
        golden.write_text(done.stdout, "utf-8")
    assert done.stdout == golden.read_text("utf-8")
    assert done.exit_code == 1


def test_all_pending_workloads():
    done = run("why", "--workloads", "-")
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "At the start, in a simulation: 1 job runs and 1 waits.\n\nJob n/a waits: it requests more than its queue can ever use\n"
    )
    assert done.stdout.endswith("1 workload waiting.\n")


def test_a_workload_that_runs_ends_with_0():
    done = run("why", "b", "--workloads", "-")
    assert (done.exit_code, done.stdout.splitlines()[2]) == (0, "Job n/b runs")


@pytest.mark.parametrize("names", [(), ("b",)])
def test_without_a_waiting_workload_what_is_not_modelled_ends_with_3(tmp_path, names):
    """simulate ends with 3, too."""
    path = tmp_path / "cron.yaml"
    cron = {**job("c"), "kind": "CronJob"}
    cron["spec"] = {"schedule": "0 0 * * *", "jobTemplate": {"spec": cron["spec"]}}
    path.write_text(text(*PLAIN, job("b"), cron), "utf-8")
    done = run("why", *names, "--workloads", path)
    assert done.exit_code == run("simulate", "--workloads", path).exit_code == 3
    assert "\nNot modelled: CronJob: " in done.stdout


def test_a_job_that_fits_ends_with_3_if_what_affects_it_is_not_modelled(tmp_path):
    path, kueue = tmp_path / "objects.yaml", tmp_path / "kueue.yaml"
    path.write_text(text(*PLAIN), "utf-8")
    kueue.write_text(
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "waitForPodsReady: {blockAdmission: true}\n",
        "utf-8",
    )
    done = run("fit", "--team", "n", "--gpus", 1, "--workloads", path, "--workloads", kueue)
    assert (done.exit_code, done.stdout.splitlines()[1][:4]) == (3, "Yes:")
    assert "Not modelled: waitForPodsReady.blockAdmission of Kueue (1 workload)." in done.stdout


def test_json():
    done = run("why", "-f", "json", "--workloads", "-")
    assert [it["name"] for it in json.loads(done.stdout)["workloads"]] == ["n/a"]


@pytest.mark.parametrize("gpus, code, word", [(6, 0, "Yes: "), (7, 1, "No: ")])
def test_fit(gpus, code, word):
    done = run("fit", "--team", "n", "--gpus", gpus, "--workloads", "-")
    assert (done.exit_code, done.stdout.splitlines()[1][: len(word)]) == (code, word)


def test_fit_knows_when_with_durations():
    options = ("--team", "n", "--gpus", 7, "--duration", "2h", "--workloads", "-")
    done = run("fit", *options)
    assert "It starts in 2h, when n/b has ended, if no other job arrives." in done.stdout
    data = json.loads(run("fit", *options, "-f", "json").stdout)
    assert (data["runs"], data["startsAfterSeconds"]) == (False, 7200.0)


LATER = text(*PLAIN, job("b", pods=5), job("a", pods=6, after="10m"), job("c", after="20m"))


def run_later(*arguments):
    return CliRunner().invoke(cli, [*map(str, arguments), "--workloads", "-"], input=LATER)


def test_a_time_of_the_simulation():
    """b runs for 30 minutes. a is submitted after 10 minutes, and waits for it."""
    done = run_later("why", "n/a", "--at", "15m", "--duration", "30m")
    assert done.exit_code == 1
    assert done.stdout.startswith(
        "15m after the start, in a simulation: 1 job runs, 1 waits and 1 is submitted later.\n\n"
        "Job n/a waits: other workloads use the quota\n"
    )
    assert "Without a change, it starts when n/b ends.\n" in done.stdout
    done = run_later("why", "n/a", "--at", "30m1s", "--duration", "30m")
    assert (done.exit_code, done.stdout.splitlines()[2]) == (0, "Job n/a runs")
    data = json.loads(run_later("why", "--at", "0", "-f", "json").stdout)
    assert (data["time"]["at"], data["workloads"]) == (0, [])


def test_a_job_of_a_trace(tmp_path):
    path = tmp_path / "jobs.csv"
    path.write_text("time,duration,team,gpus,pods\n0,1h,vision,8,3\n5m,2h,vision,8,1\n", "utf-8")
    arguments = ("vision/job-3", STATE[0], "--trace", path)
    done = run("why", *arguments, "--at", "30m")
    assert done.exit_code == 1
    assert (
        "It requests 8 GPUs of flavor a100, and 0 are free for ClusterQueue vision.a100."
        in done.stdout
    )
    assert done.stdout.splitlines()[0].startswith(
        "30m after the start, in a simulation: 1 job runs, 1 "
    )
    done = run("simulate", STATE[0], "--trace", path, "--until", "30m")
    assert "note: `policygen why JOB --at 1800s`, with the same input, finds" in done.stdout
    refused = run("why", *arguments)
    assert (refused.exit_code, refused.stderr.splitlines()[-1]) == (
        2,
        "Error: the jobs of a trace have times; add --at TIME",
    )


def test_without_a_time_all_jobs_count_as_submitted():
    done = run_later("why")
    assert done.stdout.startswith(
        "At the start, as if all 3 jobs were submitted in their order and no job had ended: 2 jobs run and "
        "1 waits. --at TIME"
    )


def test_without_a_time_nodes_have_the_pods_of_the_other_jobs():
    """The quota is 8 GPUs, and the only node has 4. a was submitted first."""
    objects = text(*PLAIN, node("m", 4), job("a", pods=3), job("b", pods=2, after="1m"))
    done = CliRunner().invoke(cli, ["why", "b", "--workloads", "-"], input=objects)
    assert done.exit_code == 1
    assert "Job n/b waits: no node has room for all its pods\n" in done.stdout
    done = CliRunner().invoke(
        cli, ["fit", "--team", "n", "--gpus", "3", "--workloads", "-"], input=objects
    )
    assert "would wait: no node has room for all its pods." in done.stdout


def test_fit_at_a_time():
    options = ("fit", "--team", "n", "--gpus", 4)
    assert run_later(*options, "--at", "5m").exit_code == 1
    done = run_later(*options, "--at", "5m", "--duration", "30m")
    assert "It starts in 25m, when n/b has ended, if no other job arrives." in done.stdout


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("n/c", "--at", "1m"), "n/c is submitted only after 20m; write a later --at"),
        (("b", "--at", "2h"), "n/b ended after 1h; write an earlier --at"),
        (("aa",), 'no workload has the name aa, and no file or folder has it; did you mean "a"?'),
        (("n/bb",), 'no workload has the name n/bb, and no file or folder has it; did you mean "n/b"?'),
    ],
)  # fmt: skip
def test_names_that_are_not_there(arguments, message):
    done = run_later("why", *arguments)
    assert isinstance(done.exception, UsageError)
    assert str(done.exception) == message


def completed(command, *arguments, incomplete):
    return [
        it.value
        for it in ShellComplete(command, {}, "policygen", "X").get_completions(
            [*map(str, arguments)], incomplete
        )
    ]


def test_names_of_workloads_complete(tmp_path):
    jobs = tmp_path / "jobs.yaml"
    jobs.write_text(TEXT, "utf-8")
    assert completed(cli, "why", "--workloads", jobs, incomplete="n/") == ["n/a", "n/b", "n/"]
    assert completed(cli, "why", "--workloads", jobs, incomplete="b") == ["n/b", "b"]
    assert completed(cli, "why", jobs, incomplete="n/b") == ["n/b", "n/b"]
    assert completed(cli, "why", incomplete="n/") == ["n/"]
    jobs.write_text("kind: [", "utf-8")
    assert completed(cli, "why", "--workloads", jobs, incomplete="n/") == ["n/"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (("why",), "the cluster is not named; add --context CONTEXT, --snapshot FILE, or a SPEC"),
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
