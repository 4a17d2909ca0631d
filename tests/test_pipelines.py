"""The steps of `examples/ci` run as they are written, in a repository with a change."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest
import yaml

from tests import programs

ROOT = Path(__file__).parents[1]
CI = ROOT / "examples" / "ci"
INSTALL = "pip install policygen"


def steps(platform):
    """The shell commands of an example, without the installation."""
    data = yaml.safe_load((CI / f"{platform}.yml").read_text())
    if platform == "github":
        found = [step["run"] for step in data["jobs"]["policy"]["steps"] if "run" in step]
    else:
        found = [*data["gpu-policy"]["before_script"], *data["gpu-policy"]["script"]]
    assert INSTALL in found
    return [step for step in found if step != INSTALL]


@pytest.fixture
def repository(tmp_path):
    """A clone with a branch; `run` runs a command in it."""
    tools = programs.policygen(tmp_path / "bin")
    origin, clone = tmp_path / "origin", tmp_path / "clone"
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "GITHUB_BASE_REF": "main",
        "GITHUB_STEP_SUMMARY": str(tmp_path / "summary.md"),
        "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
    }

    def run(command, at=clone):
        return subprocess.run(
            ["bash", "-eo", "pipefail", "-c", command],
            cwd=at,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )

    (origin / "spec").mkdir(parents=True)
    shutil.copy(ROOT / "examples/forty-jobs/policy.yaml", origin / "spec")
    git = "git -c user.name=a -c user.email=a@example.com"
    made = run(
        f"git init -q -b main && policygen render -q spec -o manifests && git add . && "
        f"{git} commit -qm spec && git clone -q . {clone}",
        origin,
    )
    assert made.returncode == 0, made.stderr
    spec = clone / "spec" / "policy.yaml"
    spec.write_text(spec.read_text().replace("guarantee: 16", "guarantee: 15"))
    return run


@pytest.mark.parametrize("platform", ["github", "gitlab"])
def test_the_steps_accept_a_change_and_show_what_it_does(platform, repository, tmp_path):
    assert repository("policygen render -q spec -o manifests").returncode == 0
    for step in steps(platform):
        done = repository(step)
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
    file = "summary.md" if platform == "github" else "clone/change.md"
    assert "guaranteed 16 → 15 nvidia.com/gpu" in (tmp_path / file).read_text()
    report = "lint.sarif" if platform == "github" else "findings.json"
    assert (tmp_path / "clone" / report).stat().st_size


@pytest.mark.parametrize("platform", ["github", "gitlab"])
def test_a_step_fails_for_manifests_that_were_not_rendered_again(platform, repository):
    failed = [step for step in steps(platform) if repository(step).returncode]
    assert failed[0] == "policygen render -q spec/ -o manifests/ --check"


@pytest.fixture
def plugin(tmp_path):
    """Run a command of the plugin of Argo CD in the folder of a spec, as Argo CD does."""
    spec = yaml.safe_load((ROOT / "examples/gitops/argo-cd/plugin.yaml").read_text())["spec"]
    path = f"{programs.policygen(tmp_path / 'bin')}:{os.environ['PATH']}"
    folder = tmp_path / "spec"
    folder.mkdir()

    def run(command, **environment):
        return subprocess.run(
            [*command["command"], *command["args"]],
            cwd=folder,
            env={"PATH": path, **environment},
            capture_output=True,
            text=True,
            check=False,
        )

    return spec, folder, run


def test_the_plugin_of_argo_cd_renders_the_spec(plugin, run):
    spec, folder, call = plugin
    find, generate = spec["discover"]["find"], spec["generate"]
    assert call(find).stdout == ""
    shutil.copy(ROOT / "examples/volcano-training/policy.yaml", folder)
    assert call(find).stdout == "./policy.yaml\n"
    first, second = (call(generate, PYTHONHASHSEED=seed) for seed in "12")
    assert first.returncode == 0, first.stderr
    assert first.stdout == second.stdout == run("render", "-q", folder)[1]
    chosen = call(generate, PARAM_VOLCANO="1.13", PARAM_WITH_0="volcano-config")
    options = ("--target", "volcano=1.13", "--with", "volcano-config")
    assert chosen.stdout == run("render", "-q", folder, *options)[1] != first.stdout


def test_the_plugin_renders_one_of_several_clusters(plugin, run):
    """An Application for each cluster has the parameter `cluster`."""
    spec, folder, call = plugin
    for file in (ROOT / "examples/rings").glob("*.yaml"):
        shutil.copy(file, folder)
    done = call(spec["generate"])
    assert (done.returncode, done.stdout) == (2, "")
    assert "staging and production" in done.stderr
    made = call(spec["generate"], PARAM_CLUSTER="staging")
    assert made.returncode == 0, made.stderr
    assert made.stdout == run("render", "-q", folder, "--cluster", "staging")[1]
    wrong = call(spec["generate"], PARAM_CLUSTER="stagin")
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert 'did you mean "staging"' in wrong.stderr
    assert {it["name"] for it in spec["parameters"]["static"]} >= {"cluster", "kueue", "with"}


@pytest.mark.parametrize(
    "text, environment, words",
    [
        ("apiVersion: policygen.dev/v1alpha1\nkind: Team\n", {}, "error"),
        ("", {}, "contains no spec document"),
        (None, {}, "contains no"),
        ("SPEC", {"PARAM_KUEUE": "0.19; touch here"}, "is not a valid version"),
        ("SPEC", {"PARAM_WITH_0": "* --check"}, "--with"),
    ],
)
def test_the_plugin_prints_nothing_but_errors_if_it_fails(plugin, text, environment, words):
    """Argo CD deletes objects that the output does not have, so it must never be empty."""
    spec, folder, call = plugin
    if text == "SPEC":
        text = (ROOT / "examples/volcano-training/policy.yaml").read_text()
    if text is not None:
        (folder / "policy.yaml").write_text(text)
    done = call(spec["generate"], **environment)
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert words in done.stderr
    assert not (folder / "here").exists()
