"""Shell completion in the supported shells."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from policygen.cli import completion

ROOT = Path(__file__).parents[2]


def completed(line):
    """What the shell scripts receive for a line: kind, value and help of each candidate."""
    done = subprocess.run(
        [sys.executable, "-m", "policygen"],
        env={**os.environ, "_POLICYGEN_COMPLETE": "bash_complete", "_POLICYGEN_LINE": line},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stderr == ""
    return [tuple(each.split("\t")) for each in done.stdout.splitlines()]


def test_the_script_of_another_release_gets_an_empty_answer():
    environ = {key: value for key, value in os.environ.items() if key != "_POLICYGEN_LINE"}
    done = subprocess.run(
        [sys.executable, "-m", "policygen"],
        env={**environ, "_POLICYGEN_COMPLETE": "bash_complete"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout + done.stderr == ""


@pytest.mark.parametrize(
    "line, values",
    [
        ("policygen val", {"validate"}),
        ("policygen render --ou", {"--output"}),
        ("policygen render --only cluster", {"ClusterQueue", "ClusterRoleBinding"}),
        ("policygen render --only=ClusterQ", {"ClusterQueue"}),
        ("policygen render spec --target volcano=1.1", {f"volcano=1.{n}" for n in range(12, 16)}),
        ("policygen render --target=kueue=0.19", {"kueue=0.19"}),
        ("policygen render --with v", {"volcano-config", "vpa"}),
        ("policygen validate --fail-on ", {"error", "warning", "info"}),
        ("policygen schema re", {"ResourcePool"}),
        ("policygen schema gpu.", {"gpu.example.com/ResourcePool"}),
        ("policygen completion ", {"bash", "fish", "zsh"}),
        ("policygen patch job.yaml --spec tests/patch/policy.yaml --model gang-l", {"gang-lws"}),
        ("policygen workload segmenter spec --as job", {"job", "jobset"}),
        ("policygen lint --rule queue-held --skip queue-st", {"queue-stopped"}),
    ],
)
def test_words_complete(line, values):
    assert {(kind, value) for kind, value, _ in completed(line)} == {("plain", v) for v in values}


@pytest.mark.parametrize(
    "line, value",
    [("policygen fit --gpus 2 --team v", "vision"), ("policygen fit --pool h", "h100")],
)
def test_names_of_the_spec_in_this_folder_complete(line, value, monkeypatch):
    monkeypatch.chdir(ROOT / "examples" / "ml-platform")
    assert [it[:2] for it in completed(line)] == [("plain", value)]


def test_contexts_of_the_named_kubeconfig_complete(tmp_path):
    file = tmp_path / "config"
    names = ("prod-east", "prod-west", "dev")
    contexts = [{"name": name, "context": {"cluster": "c", "user": "u"}} for name in names]
    file.write_text(json.dumps({"contexts": contexts, "current-context": "dev"}))
    for command in ("lint", "snapshot", "diff", "rbac"):
        found = completed(f"policygen {command} --kubeconfig {file} --context prod")
        assert [value for _, value, _ in found] == ["prod-east", "prod-west"]
    assert completed(f"policygen lint --kubeconfig {tmp_path} --context ") == [("",)]


@pytest.mark.parametrize(
    "line, kind",
    [
        ("policygen render ", "file"),
        ("policygen render sp", "file"),
        ("policygen render a.yaml b", "file"),
        ("policygen validate -q sp", "file"),
        ("policygen render -o sp", "file"),
        ("policygen render --templates sp", "dir"),
    ],
)
def test_paths_are_left_to_the_shell(line, kind):
    assert [found[0] for found in completed(line)] == [kind]


def test_candidates_have_their_complete_help_in_one_line():
    (found,) = completed("policygen render --output")
    assert found[2] == (
        "Write one file per object to this folder, or a single file if PATH ends in .yaml."
    )


BASH = """\
policygen() { '%s' -m policygen "$@"; }
compopt() { echo "compopt $*"; }
eval "$(policygen completion bash)"
complete -p policygen
COMP_LINE=$1 COMP_POINT=${#1}
_policygen policygen "$2" ""
printf '%%s\\n' "${COMPREPLY[@]}"
"""


@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash")
@pytest.mark.parametrize(
    "line, word, reply",
    [
        # readline takes what follows the last = for the word.
        ("policygen render --only=Cluster", "Cluster", "ClusterQueue ClusterRoleBinding"),
        ("policygen render --target kueue=0.19", "0.19", "0.19"),
        ("policygen render --target=kueue=0.19", "0.19", "0.19"),
        ("policygen render --target kueue=", "", " ".join(f"0.{n}" for n in range(13, 20))),
        ("policygen schema Re", "Re", "ResourcePool"),
        ("policygen render sp", "sp", "compopt -o default"),
        ("policygen render --templates=sp", "sp", "compopt -o dirnames"),
    ],
)
def test_bash_completes(line, word, reply):
    done = subprocess.run(
        ["bash", "-c", BASH % sys.executable, "bash", line, word],
        capture_output=True,
        text=True,
        check=True,
    )
    registered, *found = done.stdout.split("\n")
    assert registered == "complete -o nosort -F _policygen policygen"
    assert " ".join(found).strip() == reply
    assert done.stderr == ""


@pytest.mark.parametrize("shell", completion.SHELLS)
def test_a_shell_takes_its_completion_script(run, shell):
    code, out, _ = run("completion", shell)
    assert code == 0
    assert f"_POLICYGEN_COMPLETE={shell}_complete" in out
    if program := shutil.which(shell):
        syntax = [program, "--no-execute" if shell == "fish" else "-n"]
        subprocess.run(syntax, input=out, text=True, check=True)
