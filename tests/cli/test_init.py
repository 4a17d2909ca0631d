"""`policygen init`: flags, questions on a terminal, and values that no spec can have."""

import pytest
import yaml
from click.testing import CliRunner

from policygen.cli import init as init_module
from policygen.cli.main import cli


def kinds(text):
    return [it["kind"] for it in yaml.safe_load_all(text)]


def test_defaults_make_a_valid_spec(run, tmp_path):
    path = tmp_path / "spec" / "policy.yaml"
    code, out, err = run("init", "-o", path)
    assert (code, out) == (0, "")
    assert "policygen validate" in err
    assert run("validate", "--fail-on", "warning", path)[0] == 0
    assert run("init", "-o", path)[0] == 2  # never overwritten


def test_flags_are_used(run):
    code, out, _ = run(
        "init", "--pool", "l4", "--product", "l4", "--nodes", "3", "--scheduler", "volcano",
        "--team", "nlp", "--team", "vision", "--team", "speech",
    )  # fmt: skip
    documents = list(yaml.safe_load_all(out))
    assert (code, kinds(out)) == (0, ["Platform", "ResourcePool", "Team", "Team", "Team"])
    pool = documents[1]["spec"]
    assert (pool["capacity"]["nodes"], pool["scheduler"]) == (3, "volcano")
    assert [it["metadata"]["name"] for it in documents[2:]] == ["nlp", "speech", "vision"]


def test_questions_on_a_terminal(monkeypatch):
    asked = []

    def answer(question, default, **_):
        asked.append(question)
        return "one two three" if question.startswith("Teams") else default

    monkeypatch.setattr(init_module, "_is_terminal", lambda: True)
    monkeypatch.setattr(init_module.click, "prompt", answer)
    done = CliRunner().invoke(cli, ["init", "--product", "l4", "--nodes", "9"])
    assert done.exit_code == 0, done.output
    assert kinds(done.stdout).count("Team") == 3
    assert [it.split()[0] for it in asked] == ["Teams,", "Name", "Scheduler"]  # not what flags set


@pytest.mark.parametrize(
    ("flags", "message"),
    [
        (("--product", "h10000"), "unknown GPU product"),
        (("--team", "A B"), 'write "a-b"'),
        (("--team", "Ünï"), 'write "uni"'),
        (("--team", "X"), 'write "x"'),
        (("--team", ""), "write letters and digits"),
        (("--pool", "root", "--scheduler", "volcano"), "reserves"),
        (("--pool", "p" * 60, "--team", "nlp"), "shorten the name of the team or the pool"),
        (("--team", "a", "--team", "a"), "same name"),
        (("--product", "l4", "--nodes", "1", *(f"--team=t{i}" for i in range(9))), "more nodes"),
    ],
)
def test_values_that_no_spec_can_have(run, flags, message):
    code, out, err = run("init", *flags)
    assert (code, out) == (2, "")
    assert message in err
