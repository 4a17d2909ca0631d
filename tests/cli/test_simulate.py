"""The command simulate: options, exit codes, and the output that docs/simulate.md shows."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.app import simulate as app_simulate
from policygen.app import simulation_input
from policygen.cli.main import cli
from policygen.cli.simulate import FAIL_ON, STARVES
from policygen.core.errors import InvalidInputError, SpecError
from policygen.report import tables
from policygen.simulate.result import JobState
from tests.simulate.scenes import NODES, QUEUES, job
from tests.simulate.test_assumptions import CHECKED

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "forty-jobs"
SPEC = str(EXAMPLE / "policy.yaml")
JOBS = ("--workloads", str(EXAMPLE / "jobs"))


def run(*arguments, text=None):
    return CliRunner().invoke(cli, ["simulate", *map(str, arguments)], input=text)


@pytest.fixture
def raised(tmp_path):
    """The spec of the example, in which team speech has 8 guaranteed A100 GPUs instead of 4."""
    begin, end = (EXAMPLE / "policy.yaml").read_text("utf-8").split("  name: speech", 1)
    path = tmp_path / "raised.yaml"
    path.write_text(
        f"{begin}  name: speech{end.replace('guarantee: 4', 'guarantee: 8', 1)}", "utf-8"
    )
    return path


@pytest.mark.parametrize("name", ["simulate", "against"])
def test_the_example(name, raised, update, monkeypatch):
    """`pytest --update` writes the golden files, as on a terminal with 100 columns."""
    monkeypatch.setattr(tables, "columns", lambda *_: 100)
    more = ("--against", raised) if name == "against" else ()
    done = run(SPEC, *JOBS, *more)
    golden = EXAMPLE / "expected" / f"{name}.txt"
    if update:
        golden.write_text(done.stdout, "utf-8")
    assert done.stdout == golden.read_text("utf-8")


def test_a_simulation_without_unknown_features_ends_with_0():
    done = run("--workloads", "-", text=QUEUES + NODES + job("a", 8))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("1 job in 1h: 1 ended\n")


def test_an_unknown_feature_ends_with_3():
    text = QUEUES.replace("{nodeLabels", "{topologyName: racks, nodeLabels")
    done = run("--workloads", "-", text=text + job("a", 8))
    assert done.exit_code == 3
    assert (
        "not modelled: topology-aware scheduling of Kueue, because nodes are not known (1 job)\n"
        in done.stdout
    )


def test_ctrl_c_ends_with_130_and_a_partial_report(monkeypatch):
    def interrupted(_steps, _progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_watch", interrupted)
    done = run("--workloads", "-", text=QUEUES + job("a", 8))
    assert done.exit_code == 130
    assert "interrupted, so the report is partial" in done.stdout
    assert done.stderr == "policygen: interrupted, so the report is partial\n"


@pytest.mark.parametrize(
    "first, words",
    [
        (
            True,
            "Ctrl-C ended the first simulation, and {raised} was not simulated; nothing is compared",
        ),
        (
            False,
            "Ctrl-C ended the simulation of {raised}; this is the report of the first state alone",
        ),
    ],
)
def test_ctrl_c_in_a_comparison_shows_no_comparison(monkeypatch, raised, first, words):
    calls = []

    def interrupted(steps, _progress):
        calls.append(1)
        if first or len(calls) > 1:
            raise KeyboardInterrupt
        assert list(steps)

    monkeypatch.setattr(app_simulate, "_watch", interrupted)
    done = run(SPEC, *JOBS, "--against", raised)
    words = words.format(raised=raised)
    assert (done.exit_code, done.stderr) == (130, f"policygen: {words}\n")
    assert f"note: {words}\n" in done.stdout
    assert "before:" not in done.stdout


def test_durations_as_reports_print_them():
    text = QUEUES + NODES + job("a", 8, annotations="policygen.dev/runs-for: 7h 15m")
    assert run("--workloads", "-", text=text).stdout.startswith("1 job in 7h 15m: 1 ended\n")
    done = run("--workloads", "-", "--until", "1h 30m", text=text)
    assert done.stdout.startswith("1 job in 1h 30m: 0 ended and 1 runs at the end\n")
    done = run("--workloads", "-", "--until", "0", text=text)
    assert done.stdout.startswith("1 job in 0s: 0 ended and 1 runs at the end\n")


@pytest.mark.parametrize(
    "jobs, option, code",
    [
        ([8], "never-starts", 0),
        ([8, 8], "never-starts", 0),
        ([8, 8], "waiting", 1),
        ([13], "never-starts", 1),
        ([13], "waiting", 1),
    ],
)
def test_jobs_that_wait_fail_on_request(jobs, option, code):
    text = QUEUES + "".join(job(f"j{i}", it) for i, it in enumerate(jobs))
    arguments = ("--workloads", "-", "--until", "10m")
    assert run(*arguments, text=text).exit_code == 0
    assert run(*arguments, "--fail-on", option, text=text).exit_code == code


def test_the_states_that_fail_are_those_of_jobs():
    assert {*FAIL_ON} - {STARVES} < {it.value for it in JobState}


def test_starvation_fails_on_request(monkeypatch):
    """A job of 12 GPUs waits behind small ones that arrive every half hour, until the simulation ends."""
    text = QUEUES + NODES
    for i in range(12):
        times = f'policygen.dev/arrives-after: "{1800 * i}", policygen.dev/runs-for: 2h'
        text += job(f"s{i}", 4, annotations=times)
    times = 'policygen.dev/arrives-after: "2700", policygen.dev/runs-for: 1h'
    text += job("large", 6, 2, annotations=times)
    arguments = ("--workloads", "-", "--until", "6h", "--fail-on")
    assert run(*arguments, "never-starts", text=text).exit_code == 0
    done = run(*arguments, "starves", text=text)
    assert "starves: " in done.stdout
    assert done.exit_code == 1
    monkeypatch.setattr(app_simulate, "MOST_JOBS", 5)
    many = run(*arguments, "starves", text=text)
    assert (many.exit_code, many.stderr) == (
        3,
        "policygen: there are too many jobs to look for those that starve; use a shorter trace\n",
    )


def test_ctrl_c_while_the_input_is_read_is_reported(monkeypatch):
    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(simulation_input, "read", interrupted)
    done = run("--workloads", "-", text=QUEUES + job("a", 8))
    assert done.stdout == ""
    assert "interrupted, so there is no report" in done.stderr


@pytest.mark.parametrize("against", [(), ("--against", SPEC)])
def test_ctrl_c_while_other_choices_are_tried_ends_with_130(monkeypatch, against):
    """The report is complete, but a second state is not simulated."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_others", interrupted)
    done = run(SPEC, *JOBS, *against)
    assert done.exit_code == 130
    words = (
        f"Ctrl-C ended the first simulation, and {SPEC} was not simulated; nothing is compared"
        if against
        else "Ctrl-C came before all other random choices were tried; more jobs can depend on chance "
        "than the report marks"
    )
    assert done.stderr == f"policygen: {words}\n"
    assert f"note: {words}\n" in done.stdout
    assert "the report is partial" not in done.stdout


def test_ctrl_c_while_starving_jobs_are_examined_names_them(monkeypatch):
    """All random choices were tried before."""

    def interrupted(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "starving", interrupted)
    done = run(SPEC, *JOBS)
    words = "Ctrl-C came before policygen had examined all jobs that can starve"
    assert (done.exit_code, done.stderr) == (130, f"policygen: {words}\n")
    assert f"note: {words}\n" in done.stdout


def test_ctrl_c_while_other_choices_of_a_second_state_are_tried(monkeypatch, raised):
    first = []

    def interrupted(*_):
        if first:
            raise KeyboardInterrupt
        first.append(1)
        return []

    monkeypatch.setattr(app_simulate, "_others", interrupted)
    done = run(SPEC, *JOBS, "--against", raised)
    assert done.exit_code == 130
    assert "before: " in done.stdout
    assert "note: Ctrl-C came before all other random choices were tried" in done.stdout


def test_the_report_goes_to_a_file(tmp_path):
    file = tmp_path / "jobs.csv"
    done = run("--workloads", "-", "-f", "csv", "-o", file, text=QUEUES + job("a", 8))
    assert done.stdout == ""
    assert file.read_text("utf-8").startswith("job,kind,team,")


@pytest.mark.parametrize(
    "form, begin", [("csv-teams", "team,jobs,"), ("csv-pools", "pool,gpus,jobs,")]
)
def test_sums_as_csv(form, begin):
    done = run("--workloads", "-", "-f", form, text=QUEUES + job("a", 8))
    assert done.stdout.startswith(begin)
    assert done.stdout.count("\n") == 2


@pytest.mark.parametrize(
    "option, value, ends",
    [
        ("--duration", "2h", "2h"),
        ("--duration", "1d12h", "1d 12h"),
        ("--until", "30m", "30m"),
        ("--until", "90", "1m 30s"),
    ],
)
def test_durations(option, value, ends):
    done = run("--workloads", "-", option, value, text=QUEUES + job("a", 8))
    assert done.stdout.startswith(f"1 job in {ends}: ")


@pytest.mark.parametrize("more", [(), ("--against", SPEC)])
def test_an_empty_spec_has_no_warnings_about_options(tmp_path, more):
    """policygen itself renders all configurations, so no user asked for them."""
    path = tmp_path / "empty.yaml"
    path.write_text("---\n", "utf-8")
    done = run(str(path), *more)
    assert isinstance(done.exception, SpecError)
    assert [it.rule.name for it in done.exception.findings] == ["nothing-to-check"]


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            (),
            (
                "nothing to simulate: name a SPEC (alone, or with --workloads PATH or --trace FILE), --snapshot FILE, or "
                "--context CONTEXT"
            ),
        ),
        ((*JOBS, "--against", SPEC), "--against compares two states; also name the first one"),
        ((SPEC, "--workloads", "-", "--against", "-"), "standard input can be read only once"),
        (
            (SPEC, *JOBS, "--duration", "soon"),
            "'soon' is not a duration; write for example 90, 90s, 1h30m or 7d",
        ),
        ((SPEC, *JOBS, "--until", "-5s"), "'-5s' is negative"),
        ((SPEC, *JOBS, "--seed", "x"), "'x' is not a valid integer"),
    ],
)
def test_wrong_usage(arguments, message):
    done = run(*arguments)
    assert done.exit_code == 2
    assert message in " ".join(done.stderr.split())


def test_help_has_examples():
    done = run("--help")
    assert "policygen simulate spec/ --against new-spec/ --workloads jobs/" in done.stdout


def trace(folder, text):
    path = folder / "jobs.csv"
    path.write_text(text, "utf-8")
    return path


def test_a_trace(tmp_path):
    path = trace(tmp_path, "time,duration,team,gpus\n0,60,nlp,8\n10,60,x,8\n")
    done = run("--workloads", "-", "--trace", path, "--trace-team", "x=nlp", text=QUEUES + NODES)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("2 jobs in 2m 1s: 2 ended\n")


def test_a_team_that_is_not_known_is_noted(tmp_path):
    path = trace(tmp_path, "time,duration,team,gpus\n0,60,nlp,8\n10,60,x,8\n")
    done = run("--workloads", "-", "--trace", path, text=QUEUES + NODES)
    assert done.stdout.startswith("1 job in 1m: 1 ended")
    assert (
        "no team or queue with the name x (1 job), so this job of the trace was not" in done.stdout
    )


def test_an_invalid_trace(tmp_path):
    path = trace(tmp_path, "time,duration,team\n0,-60,nlp\n")
    done = run("--workloads", "-", "--trace", path, text=QUEUES)
    assert isinstance(done.exception, InvalidInputError)
    assert done.exception.exit_code == 2
    (detail,) = done.exception.details
    assert detail.startswith(f'{path}:2:3: duration "-60" is negative; write for example 90')


@pytest.mark.parametrize(
    ("values", "words"),
    [
        (["x"], "'x' is not valid; write NAME=TEAM"),
        (["x=a", "x=b"], "x has two teams; write only one"),
    ],
)
def test_invalid_teams_of_a_trace(tmp_path, values, words):
    path = trace(tmp_path, "time,duration,team\n0,60,nlp\n")
    more = [it for value in values for it in ("--trace-team", value)]
    done = run("--trace", path, *more)
    assert done.exit_code == 2
    assert words in done.stderr


def test_assumptions_about_admission_checks(tmp_path):
    """Two checks: what is not stated is named, and policygen exits with 3."""
    path = tmp_path / "all.yaml"
    path.write_text(CHECKED + NODES + job("a", 8), "utf-8")
    stated = ("--assume", "check/c=Ready:5m", "--assume", "check/d=Ready")
    done = run("--workloads", path, "-f", "json", *stated)
    assert done.exit_code == 0
    (one,) = json.loads(done.stdout)["jobs"]
    assert one["started"] == 300
    assert run("--workloads", path, *stated[:2]).exit_code == 3
    refused = run("--workloads", path, "--assume", "check/c=Soon")
    assert "has no known state" in str(refused.exception)
