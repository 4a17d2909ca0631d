"""The real pre-commit installs the hooks of this repository, and runs them in a repository with a spec."""

import os
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import yaml

from tests import programs

ROOT = Path(__file__).parents[1]
HOOKS = ROOT / ".pre-commit-hooks.yaml"
PACKAGE = ("LICENSE", "README.md", "policygen", "pyproject.toml", "schemas", "templates")
"""What the installation of a hook needs."""
IDS = [it["id"] for it in yaml.safe_load(HOOKS.read_text("utf-8"))]
GIT = ("git", "-c", "user.name=a", "-c", "user.email=a@example.com")


def run(*command, at, environment=None, expected=0):
    done = subprocess.run(
        list(map(str, command)),
        cwd=at,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == expected, done.stdout + done.stderr
    return done.stdout


def committed(folder):
    run("git", "init", "-q", "-b", "main", at=folder)
    run("git", "add", ".", at=folder)
    run(*GIT, "commit", "-qm", "a", at=folder)


@pytest.fixture(scope="module")
def repository(tmp_path_factory):
    """A repository that uses all hooks; `pre_commit` runs them there, and expects an exit code."""
    if find_spec("pre_commit") is None:
        pytest.skip("pre-commit is not installed: pip install -e '.[test]'")
    folder = tmp_path_factory.mktemp("pre-commit")
    hooks, user = folder / "policygen", folder / "user"
    hooks.mkdir()
    for name in (*PACKAGE, HOOKS.name):
        copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
        copy(ROOT / name, hooks / name)
    committed(hooks)
    (user / "spec").mkdir(parents=True)
    shutil.copy(ROOT / "examples/forty-jobs/policy.yaml", user / "spec")
    hook = {"repo": str(hooks), "rev": run("git", "rev-parse", "HEAD", at=hooks).strip()}
    config = {"repos": [{**hook, "hooks": [{"id": it} for it in IDS]}]}
    (user / ".pre-commit-config.yaml").write_text(yaml.safe_dump(config))
    program = [sys.executable, "-m", "policygen"]
    at_root = {**os.environ, "PYTHONPATH": str(ROOT)}
    run(*program, "render", "-q", "spec", "-o", "manifests", at=user, environment=at_root)
    committed(user)
    environment = {**programs.offline(), "PRE_COMMIT_HOME": str(folder / "home")}

    def pre_commit(*arguments, expected=0):
        command = (sys.executable, "-m", "pre_commit", "run", "--all-files", *arguments)
        return run(*command, at=user, environment=environment, expected=expected)

    return user, pre_commit


def test_the_hooks_pass_and_find_what_is_wrong(repository):
    user, pre_commit = repository
    shown = pre_commit()
    assert shown.count("Passed") == len(IDS)
    assert list(user.parent.glob("home/*/py_env-*/lib/*/site-packages/policygen/__init__.py"))
    spec = user / "spec" / "policy.yaml"
    spec.write_text(spec.read_text("utf-8").replace("guarantee: 16", "guarantee: 15"))
    assert "-              nominalQuota" in pre_commit("policygen-render", expected=1)
    spec.write_text(spec.read_text("utf-8").replace("guarantee: 15", "guarante: 15"))
    assert 'unknown field "guarante"' in pre_commit("policygen-validate", expected=1)
    assert "[unknown-field]" in pre_commit("policygen-lint", expected=1)
    old = user / "manifests" / "mine.yaml"
    old.write_text("apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: a}\n")
    run("git", "add", old, at=user)
    assert "+apiVersion: kueue.x-k8s.io/v1beta2" in pre_commit("policygen-upgrade", expected=1)
