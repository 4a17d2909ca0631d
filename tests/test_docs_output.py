"""Each output in the docs is what the command above it prints on a terminal with 100 columns.

A block of output has no language and follows the block of its command. A line `...` stands for lines that
are omitted. `pytest --update` replaces the blocks.
"""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner

from policygen.cli.main import cli
from policygen.report import tables

ROOT = Path(__file__).parents[1]
DOCS = [
    ROOT / "docs" / name
    for name in (
        "adopt.md",
        "explain.md",
        "patch.md",
        "show.md",
        "simulate.md",
        "why.md",
        "workloads.md",
    )
]
GOLDEN = {
    "policygen simulate examples/forty-jobs/policy.yaml --workloads examples/forty-jobs/jobs": "simulate",
    (
        "policygen simulate examples/forty-jobs/policy.yaml --against raised.yaml --workloads "
        "examples/forty-jobs/jobs"
    ): "against",
    (
        "policygen why language/embed-corpus examples/forty-jobs/policy.yaml --workloads "
        "examples/forty-jobs/jobs"
    ): "why",
}
"""Commands whose output tests/cli compares with a file of the example."""
_PAIR = re.compile(r"^```sh\n(policygen [^\n]*)\n```\n\n```\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_OMITTED = "\n...\n"


def output(command):
    """What a command prints."""
    if command in GOLDEN:
        name = f"{GOLDEN[command]}.txt"
        return (ROOT / "examples" / "forty-jobs" / "expected" / name).read_text("utf-8")
    done = CliRunner().invoke(cli, shlex.split(command)[1:])
    return done.stdout + done.stderr


def shortened(printed, shown):
    """The output, with `...` where the docs omit lines; all of it if a part of the docs is not in it."""
    body = shown.removesuffix(_OMITTED)
    lines, found, at = printed.splitlines(), [], 0
    for i, part in enumerate(body.split(_OMITTED)):
        them = part.splitlines()
        begin = lines.index(them[0], at) if them[0] in lines[at:] else 0
        at = begin + len(them)
        found += ["..."] * bool(i) + lines[begin:at]
    if body == shown and at < len(lines):
        return printed
    return "".join(f"{it}\n" for it in found) + "...\n" * (body != shown)


@pytest.mark.parametrize("path", DOCS, ids=lambda it: it.name)
def test_commands_print_what_the_docs_show(path, update, monkeypatch):
    monkeypatch.chdir(ROOT)
    monkeypatch.setattr(tables, "columns", lambda *_: 100)
    text = path.read_text("utf-8")
    new = _PAIR.sub(lambda it: it[0].replace(it[2], shortened(output(it[1]), it[2])), text)
    if update:
        path.write_text(new, "utf-8")
    assert path.read_text("utf-8") == new


@pytest.mark.parametrize("path", DOCS, ids=lambda it: it.name)
def test_each_block_of_output_follows_its_command(path):
    text = path.read_text("utf-8")
    plain = [it for it in re.findall(r"^```(\w*)$", text, re.MULTILINE)[::2] if not it]
    assert len(plain) == len(_PAIR.findall(text))
    outside = re.sub(r"^```.*?^```$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert "POOL  " not in outside
    assert "The scheduler reports:" not in outside


def test_omitted_lines_are_found_again():
    printed = "".join(f"{it}\n" for it in "abcdefgh")
    assert shortened(printed, "a\nb\n...\ng\nh\n") == "a\nb\n...\ng\nh\n"
    assert shortened(printed, "a\nx\n...\n") == "a\nb\n...\n"
    assert shortened(printed, "a\nb\n") == printed


def test_the_server_tests_that_docs_name_exist():
    named = set()
    for page in sorted((ROOT / "docs").glob("*.md")):
        named |= {*re.findall(r"`(test_\w+\.py)::(test_\w+)`", page.read_text("utf-8"))}
    assert named
    for file, name in sorted(named):
        text = (ROOT / "tests" / "servers" / file).read_text("utf-8")
        assert f"\ndef {name}(" in text, (file, name)
