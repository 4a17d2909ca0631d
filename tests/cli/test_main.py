"""Properties of every command: streams, exit codes, help."""

import json
import re
import subprocess
import sys

import click
import pytest

from policygen import __version__
from policygen.cli.main import cli
from tests.cli.commands import SPEC


@pytest.mark.parametrize(
    "redirection, word",
    [(">&-", b"closed"), ("> /dev/full", b"cannot be written"), ("2>&-", b""), ("<&-", b"")],
)
def test_streams_that_are_closed_or_full(spec, redirection, word):
    command = f"'{sys.executable}' -m policygen render '{spec}' {redirection}"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr + done.stdout
    assert word in done.stderr
    assert done.returncode == (2 if word else 0)


@pytest.mark.parametrize(
    "command",
    [
        "lint '{}'",
        "rules",
        "explain limit-above-parent",
        "rbac",
        "--help",
        "--version",
        "baseline update --help",
    ],
)
def test_no_command_breaks_on_a_full_disk(spec, command):
    words = f"'{sys.executable}' -m policygen {command.format(spec)} > /dev/full"
    done = subprocess.run(words, shell=True, capture_output=True, check=False)
    assert b"Traceback" not in done.stderr
    assert b"standard output cannot be written: No space left on device" in done.stderr
    assert done.returncode == 2


def test_standard_input_that_is_closed():
    command = f"'{sys.executable}' -m policygen validate - <&-"
    done = subprocess.run(command, shell=True, capture_output=True, check=False)
    assert done.returncode == 2
    assert b"standard input is closed" in done.stderr


def test_a_closed_pipe_ends_quietly(spec):
    done = subprocess.run(
        f"'{sys.executable}' -m policygen render '{spec}' | true",
        shell=True,
        capture_output=True,
        check=False,
    )
    assert b"Traceback" not in done.stderr
    assert b"BrokenPipe" not in done.stderr


@pytest.mark.parametrize("command", ["rules", "rules -f json", "--help", "explain queue-stopped"])
def test_a_closed_pipe_is_no_finding(command):
    """Other tools end by SIGPIPE, which a shell reports as 141."""
    line = f"set -o pipefail; '{sys.executable}' -m policygen {command} | true"
    done = subprocess.run(["bash", "-c", line], capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (141, b"")


def test_schema(run):
    code, out, _ = run("schema")
    assert code == 0
    for name in out.split():
        code, text, _ = run("schema", name)
        assert code == 0
        assert json.loads(text)["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert run("schema", "resourcepool")[0] == 0
    code, out, err = run("schema", "ResourcePol")
    assert (code, out) == (2, "")
    assert "ResourcePool" in err


def test_version_and_help(run):
    assert run("--version")[:2] == (0, f"policygen {__version__}\n")
    for command in ("render", "validate", "schema", "completion"):
        assert run(command, "--help")[0] == 0
    assert run("--help")[0] == 0
    assert run("render")[0] == 2
    assert run("rendr")[0] == 2


def _commands(group, *before):
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from _commands(command, *before, name)
        else:
            yield " ".join((*before, name)), command


def test_each_command_has_examples_and_exit_codes():
    found = dict(_commands(cli))
    assert {"render", "krm", "baseline update"} <= found.keys()
    texts = {name: command.epilog or "" for name, command in found.items()}
    assert [
        name for name, it in texts.items() if not re.search(r"^Examples?\b", it, re.MULTILINE)
    ] == []
    assert [name for name, it in texts.items() if "\nExit codes: 0 " not in it] == []


def test_a_bug_is_exit_code_four(run, spec, monkeypatch):
    from policygen.app import render  # noqa: PLC0415 - only here

    monkeypatch.setattr(render, "validate", lambda *_, **__: 1 / 0)
    code, out, err = run("validate", spec)
    assert (code, out) == (4, "")
    assert "ZeroDivisionError" in err


def test_a_rule_that_there_is_not_is_refused_by_every_command(run, tmp_path):
    (tmp_path / "spec.yaml").write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec:\n  lint:\n    severities: {model-above-limi: info}\n" + "---\n" + SPEC
    )
    for command in ("render", "validate", "lint"):
        code, out, err = run(command, tmp_path / "spec.yaml")
        assert (code, out) == (2, "")
        assert 'did you mean "model-above-limit"?' in err
