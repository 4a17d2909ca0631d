"""Standard error has notes in groups, and no control sequences from the input."""

import fcntl
import io
import os
import pty
import re
import shlex
import struct
import subprocess
import sys
import termios

import pytest
import yaml

from policygen.cli import stderr
from policygen.plan.pods import PodField, PodFields
from tests.cli.commands import ARTICLES, SPEC


def test_quiet_hides_notes_and_keeps_warnings(run):
    _, _, loud = run("validate", *ARTICLES)
    _, _, quiet = run("validate", "-q", *ARTICLES)
    assert "info: " in loud
    assert "info: " not in quiet
    assert " warning: " in quiet


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_findings_and_notes_fit_a_terminal_and_yaml_stays_as_it_is(monkeypatch):
    screen = Terminal()
    monkeypatch.setenv("COLUMNS", "60")
    monkeypatch.setattr("sys.stderr", screen)
    stderr.say("note: " + "word " * 30)
    field = PodField("", "schedulerName", "a" * 90)
    pod = PodFields("m", "n", "nvidia.com/gpu", 1, (), (field,))
    stderr.show((), pods=[pod])
    lines = screen.getvalue().splitlines()
    assert [it for it in lines if len(it) > 60] == [f"  schedulerName: {'a' * 90}"]
    assert lines[1].startswith("  word")


def five_models(tmp_path):
    """Two pools, two teams, and five models, in a file."""
    pool = SPEC.split("---", maxsplit=1)[0]
    second = pool.replace("name: p", "name: q").replace("pool: p", "pool: q")
    quotas = "quotas:\n    - pool: p\n      guarantee: 20\n    - pool: q\n      guarantee: 20\n"
    team = SPEC.split("---")[1].partition("quotas:")[0] + quotas
    more = team.replace("name: a", "name: b")
    classes = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: set}\n"
        "spec:\n  priorities: [{name: high, value: 100}, {name: low, value: 10}]\n"
    )
    model = (
        "apiVersion: policygen.dev/v1alpha1\nkind: Model\nmetadata: {{name: m{number}}}\n"
        "spec:\n  team: {team}\n  workload: batch\n  priority: {priority}\n  family: llama\n  size: 8b\n"
        "  placement: {{pools: [{pool}]}}\n"
    )
    models = [
        model.format(number=number, team="ab"[number % 2], priority=priority, pool=pool)
        for number, (pool, priority) in enumerate(
            [("p", "high"), ("p", "high"), ("q", "low"), ("q", "high"), ("p", "low")]
        )
    ]
    path = tmp_path / "five.yaml"
    path.write_text("---\n".join([classes, pool, second, team, more, *models]))
    return path


def test_notes_of_five_models_fit_one_screen(run, tmp_path):
    code, out, err = run("validate", five_models(tmp_path))
    assert (code, out) == (0, "valid: 2 pools, 2 teams, 5 models, 17 objects\n")
    assert len(err.splitlines()) <= 36
    _, _, every = run("validate", "--all", tmp_path / "five.yaml")
    assert all(" need nvidia.com/gpu: 1; " in it for it in every.splitlines() if "[pods-m" in it)
    assert every.count("[pods-must-carry]") == 5


@pytest.mark.parametrize("command", ["render", "validate"])
def test_quiet_keeps_the_fields_that_pods_need(run, tmp_path, command):
    _, _, quiet = run(command, "-q", five_models(tmp_path))
    assert "info: " not in quiet
    for number in range(5):
        assert f"model m{number} in namespace" in quiet
    blocks = re.split(r"\n(?:# .*\n)+", quiet)[1:]
    fields = [yaml.safe_load(block) for block in blocks]
    assert {it["labels"]["kueue.x-k8s.io/queue-name"] for it in fields} == {"p", "q"}
    assert {it["labels"]["kueue.x-k8s.io/priority-class"] for it in fields} == {"high", "low"}
    assert len(fields) == 4


def test_a_quiet_check_prints_nothing_unless_something_differs(run, tmp_path):
    """It renders nothing, so no pod needs new fields."""
    given = ["render", five_models(tmp_path), "-o", tmp_path / "out"]
    assert "schedulerName" in run(*given)[2]
    assert "schedulerName" in run(*given, "--check")[2]
    assert run(*given, "--check", "-q") == (0, "", "")
    next((tmp_path / "out").rglob("*.yaml")).unlink()
    code, diff, err = run(*given, "--check", "-q")
    assert code == 1
    assert re.fullmatch(
        r"the files in \S+ differ; to write them, run `policygen render .* -q`\n", err
    )
    assert diff.startswith("---")
    command = shlex.split(err.partition("run `policygen ")[2].removesuffix("`\n"))
    assert run(*command)[0] == 0
    assert run(*given, "--check", "-q") == (0, "", "")


def test_control_characters_never_reach_the_terminal(run, spec):
    (spec / "bad.yaml").write_text('apiVersion: "policygen.dev/\\e[31m"\nkind: "\\e]0;x\\a"\n')
    code, _, err = run("validate", spec)
    assert code == 2
    assert "\x1b" not in err
    assert "\x07" not in err


def test_colours_only_when_asked_or_on_a_terminal(run, spec, monkeypatch):
    monkeypatch.delenv("NO_COLOR", raising=False)
    (spec / "policy.yaml").write_text(SPEC.replace("product", "prodcut"))
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert "\x1b[" in run("validate", spec)[2]
    monkeypatch.delenv("FORCE_COLOR")
    assert "\x1b[" not in run("validate", spec)[2]


def test_foreign_documents_are_counted(run, spec):
    (spec / "deployment.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {}\n")
    for option in ([], ["--all"]):
        code, _, err = run("validate", *option, spec)
        assert code == 0
        assert "info: policygen skipped 1 document of other API groups [foreign-documents]" in err


@pytest.mark.parametrize("command", ["render", "validate"])
def test_the_number_of_notes_that_need_no_action_is_that_of_the_spec(run, spec, command):
    """Whether its folder is named, with other files in it, or each file of the spec."""
    (spec / "deployment.yaml").write_text("apiVersion: apps/v1\nkind: Deployment\nmetadata: {}\n")
    for given in (spec, spec / "policy.yaml"):
        assert "1 more note needs no action; --all shows it" in run(command, given)[2]


def test_quiet_hides_the_notes_of_a_refused_spec_too(run, tmp_path):
    assumed = SPEC.replace("    nodeType: a2-ultragpu-8g\n", "")
    (tmp_path / "spec.yaml").write_text(assumed.replace("guarantee: 20", "guarantee: 2000"))
    for command in ("render", "validate"):
        code, _, loud = run(command, tmp_path / "spec.yaml")
        assert code == 2
        assert "info: " in loud
        code, _, quiet = run(command, "-q", tmp_path / "spec.yaml")
        assert code == 2
        assert "info: " not in quiet
        assert "[guarantees-above-available]" in quiet


@pytest.mark.parametrize(
    "term, columns, shown",
    [
        ("xterm", 20, b"\r\x1b[Kbench: ClusterQueue"[:23]),
        ("xterm", 0, b"\r\x1b[Kbench: ClusterQueue (3 of 20)"),
        ("dumb", 80, b""),
    ],
)
def test_progress_fits_into_its_line(term, columns, shown):
    """A wrapped line could not be erased completely. On a dumb terminal there is no progress line."""
    master, slave = pty.openpty()
    fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    code = "from policygen.cli.stderr import progress; progress('bench: ClusterQueue (3 of 20)')"
    subprocess.run(
        [sys.executable, "-c", code], stderr=slave, env={"TERM": term}, check=True, timeout=60
    )
    os.write(slave, b"|")
    got = b""
    while not got.endswith(b"|"):
        got += os.read(master, 1000)
    assert got == shown + b"|"
    os.close(slave)
    os.close(master)
