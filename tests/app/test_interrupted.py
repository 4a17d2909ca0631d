"""Ctrl-C in why and fit: a real signal to a real process, at each stage, and one sentence about it."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from policygen.app.interrupted import AnswerInterrupted, stops

EXAMPLE = Path(__file__).parents[2] / "examples" / "forty-jobs"
STATE = (str(EXAMPLE / "policy.yaml"), "--workloads", str(EXAMPLE / "jobs"))
FIT = ("fit", "--team", "vision", "--gpus", "16", "--pool", "a100", *STATE)
CODE = """
import os, signal, sys
from policygen.app import simulation_input, why
from policygen.simulate.why import fit
from policygen.simulate.why.explainer import Explainer

def interrupted(owner, name, call):
    function, calls = getattr(owner, name), []
    def wrapped(*arguments, **options):
        calls.append(1)
        if len(calls) == call:
            os.kill(os.getpid(), signal.SIGINT)
        return function(*arguments, **options)
    setattr(owner, name, wrapped)

signal.signal(signal.SIGINT, signal.default_int_handler)
interrupted({owner}, {name!r}, {call})
from policygen.__main__ import main
sys.argv[1:] = {arguments!r}
main()
"""


def run(arguments, owner, name, call=1):
    """The process, which gets a signal at a call of a function."""
    code = CODE.format(owner=owner, name=name, call=call, arguments=[*arguments])
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=300)


@pytest.mark.parametrize(
    ("arguments", "at", "words"),
    [
        (("why", *STATE), ("simulation_input", "read"), "Ctrl-C came while policygen read the input"),
        (
            ("why", *STATE, "--at", "9h"),
            ("why._Watch", "see", 30),
            r"Ctrl-C ended the simulation at 3h 30m of 9h, when \d+ of 40 jobs were submitted and \d ended",
        ),
        (
            ("why", *STATE),
            ("why._Watch", "see", 9),
            r"Ctrl-C ended the simulation, when \d+ of 40 jobs were submitted",
        ),
        (
            ("why", *STATE, "--at", "9h"),
            ("why", "instant", 2),
            "Ctrl-C came while policygen simulated other random choices",
        ),
        (
            ("why", *STATE, "--at", "9h"),
            ("why", "_explained", 3),
            r"Ctrl-C came before policygen found changes; it explained 2 of 12 workloads: .+ and .+",
        ),
        (
            ("why", *STATE, "--at", "9h"),
            ("why", "_searched", 1),
            "Ctrl-C came before policygen found changes; it explained 12 of 12 workloads: .+ and 9 more",
        ),
        (
            (*FIT, "--at", "2h"),
            ("why._Watch", "see", 5),
            r"Ctrl-C ended the simulation at \d+m of 2h, when \d+ of 40 jobs were submitted and 0 ended",
        ),
        (
            (*FIT, "--at", "2h"),
            ("fit", "_answer"),
            "Ctrl-C came before policygen knew whether the job would run",
        ),
        (
            (*FIT, "--at", "2h"),
            ("fit", "_simulated"),
            "Ctrl-C came before all other random choices were tried; with the first ones, the job .+",
        ),
    ],
)  # fmt: skip
def test_one_sentence_says_what_was_stopped_and_what_is_known(arguments, at, words):
    done = run(arguments, *at)
    assert (done.returncode, done.stdout) == (130, "")
    what = "answer" if arguments[0] == "fit" else "report"
    assert re.fullmatch(f"policygen: {words}; there is no {what}\n", done.stderr), done.stderr


def test_a_partial_report_is_named_on_standard_error():
    done = run(("why", *STATE, "--at", "9h"), "why", "_searched", 3)
    assert done.returncode == 130
    assert "Interrupted, so the report is partial: " in done.stdout
    words = "policygen: interrupted, so the report is partial: it explains 2 of 12 workloads\n"
    assert done.stderr == words


def test_the_inner_words_are_kept():
    def interrupted():
        with stops(lambda: "inner"):
            raise KeyboardInterrupt

    with pytest.raises(AnswerInterrupted, match="inner"), stops(lambda: "outer"):
        interrupted()


def test_other_errors_pass():
    with pytest.raises(ZeroDivisionError), stops(lambda: "words"):
        raise ZeroDivisionError
