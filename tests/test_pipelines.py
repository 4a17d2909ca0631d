"""The steps of `examples/ci` run as they are written, in a repository with a change."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

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
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "policygen").write_text(
        f'#!/bin/sh\nPYTHONPATH={ROOT} exec {sys.executable} -m policygen "$@"\n'
    )
    (tools / "policygen").chmod(0o755)
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
