"""Standard output: complete and in UTF-8, or one error."""

import subprocess
import sys
from pathlib import Path

import pytest

from policygen.cli.main import cli
from policygen.core.errors import UsageError

EXAMPLE = str(Path(__file__).parents[2] / "examples" / "kueue-team-tree")
CODE = "from policygen.app.stdout import out; out({!r})"


@pytest.mark.parametrize(("text", "data"), [("é\n", "é\n".encode()), (b"\xff", b"\xff")])
def test_bytes_do_not_depend_on_the_locale(text, data):
    command = [sys.executable, "-c", CODE.format(text)]
    done = subprocess.run(
        command,
        capture_output=True,
        check=True,
        env={"LC_ALL": "C", "PYTHONPATH": ":".join(sys.path)},
    )
    assert done.stdout == data


@pytest.mark.parametrize(
    ("where", "words"),
    [(">&-", "is closed; write the output to a file"), ("> /dev/full", "No space left")],
)
def test_what_cannot_be_written_is_one_error(where, words):
    command = f'"{sys.executable}" -c "{CODE.format("x")}" {where}'
    done = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert done.stderr.count("policygen.core.errors.UsageError: standard output") == 1
    assert words in done.stderr


@pytest.mark.parametrize(
    "command",
    [
        ["show", EXAMPLE],
        ["explain", "team", "vision", EXAMPLE],
        ["explain", "Cohort/a100", "metadata.name", EXAMPLE],
        ["explain", "Team.spec"],
        ["diff", EXAMPLE, EXAMPLE],
    ],
)
def test_closed_output_is_an_error(monkeypatch, command):
    monkeypatch.setattr(sys, "stdout", None)
    with pytest.raises(UsageError, match="standard output is closed"):
        cli.main(command, standalone_mode=False)
