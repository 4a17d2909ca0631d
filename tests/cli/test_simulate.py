"""The command simulate: options, exit codes, and the output that docs/simulate.md shows."""

from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.app import simulate as app_simulate
from policygen.cli.main import cli
from tests.simulate.scenes import NODES, QUEUES, job

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
def test_the_example(name, raised, update):
    """`pytest --update` writes the golden files."""
    more = ("--against", raised) if name == "against" else ()
    done = run(SPEC, *JOBS, *more)
    golden = EXAMPLE / "expected" / f"{name}.txt"
    if update:
        golden.write_text(done.stdout, "utf-8")
    assert done.stdout == golden.read_text("utf-8")


def test_a_simulation_without_unknown_features_ends_with_0():
    done = run("--workloads", "-", text=QUEUES + NODES + job("a", 8))
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout.startswith("1 job in 1h: 1 ended, 0 run and 0 wait at the end\n")


def test_an_unknown_feature_ends_with_3():
    text = QUEUES.replace("{nodeLabels", "{topologyName: racks, nodeLabels")
    done = run("--workloads", "-", text=text + job("a", 8))
    assert done.exit_code == 3
    assert "not modelled: topology-aware scheduling of Kueue (1 job)\n" in done.stdout


def test_ctrl_c_ends_with_130_and_a_partial_report(monkeypatch):
    def interrupted(_steps, _progress):
        raise KeyboardInterrupt

    monkeypatch.setattr(app_simulate, "_watch", interrupted)
    done = run("--workloads", "-", text=QUEUES + job("a", 8))
    assert done.exit_code == 130
    assert "interrupted, so the report is partial" in done.stdout


def test_the_report_goes_to_a_file(tmp_path):
    file = tmp_path / "jobs.csv"
    done = run("--workloads", "-", "-f", "csv", "-o", file, text=QUEUES + job("a", 8))
    assert done.stdout == ""
    assert file.read_text("utf-8").startswith("job,kind,team,")


@pytest.mark.parametrize(
    "option, value, ends",
    [("--duration", "2h", "2h"), ("--duration", "1d12h", "1d 12h"), ("--until", "30m", "30m")],
)
def test_durations(option, value, ends):
    done = run("--workloads", "-", option, value, text=QUEUES + job("a", 8))
    assert done.stdout.startswith(f"1 job in {ends}: ")


@pytest.mark.parametrize(
    "arguments, message",
    [
        (
            (),
            "nothing to simulate: name a SPEC with --workloads PATH, --snapshot FILE or --context CONTEXT",
        ),
        ((*JOBS, "--against", SPEC), "--against compares two specs; also name the first SPEC"),
        (
            ("--snapshot", "a", "--snapshot", "b"),
            "simulate reads only one cluster; name one snapshot or context",
        ),
        ((SPEC, "--workloads", "-", "--against", "-"), "standard input can be read only once"),
        (
            (SPEC, *JOBS, "--duration", "soon"),
            "'soon' is not a duration; write for example 90s, 1h30m or 7d",
        ),
        ((SPEC, *JOBS, "--until", "-5s"), "'-5s' is not a duration"),
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
