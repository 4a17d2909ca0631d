"""The steps of Containerfile install a program that runs without a writable file of the image."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests import programs

ROOT = Path(__file__).parents[1]
TEXT = (ROOT / "Containerfile").read_text("utf-8")
STEPS = re.findall(r"^([A-Z]+) (.*)$", TEXT, re.MULTILINE)
EXAMPLE = ROOT / "examples" / "kueue-team-tree" / "expected" / "manifests.yaml"


def values(word):
    return [text for name, text in STEPS if name == word]


@pytest.fixture(scope="module")
def image(tmp_path_factory):
    """A folder in place of the root of the image, after its RUN steps."""
    root = tmp_path_factory.mktemp("image")
    for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines():
        if line.startswith("!"):
            source = ROOT / line[1:]
            target = root / "src" / line[1:]
            if source.is_dir():
                shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__"))
            else:
                target.parent.mkdir(exist_ok=True)
                shutil.copy(source, target)
    environment = {
        **programs.offline(),
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
    }
    for step in values("RUN"):
        command = re.sub(r"/(src|opt)\b", rf"{root}/\1", step)
        done = subprocess.run(
            ["sh", "-ec", command],
            env=environment,
            cwd=root,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, f"{step}\n{done.stdout}{done.stderr}"
    return root, environment


def test_the_image_is_small_and_its_user_is_not_root():
    assert [it.partition(" ")[0] for it in values("FROM")] == ["python:3.13-slim"] * 2
    assert values("USER") == ["65532:65532"]
    assert values("ENTRYPOINT") == ['["policygen"]']
    last = TEXT.rpartition("\nFROM ")[2]
    assert [line for line in last.splitlines() if line.startswith(("COPY", "RUN", "ADD"))] == [
        "COPY --from=build /opt/policygen /opt/policygen"
    ]


def test_the_program_changes_no_file_of_the_image(image, tmp_path):
    root, environment = image
    installed = root / "opt" / "policygen"
    assert not list(installed.glob("lib/*/site-packages/pip"))

    def state():
        return {it: it.lstat().st_mtime_ns for it in installed.rglob("*")}

    before = state()
    (settings,) = values("ENV")
    names = dict(re.findall(r"(\w+)=(\S+)", settings))
    assert names["PATH"] == "/opt/policygen/bin:$PATH"
    done = subprocess.run(
        [installed / "bin" / "policygen", "lint", "--manifests", EXAMPLE, "--partial"],
        env={
            "PATH": os.environ["PATH"],
            "PYTHONPATH": environment["PYTHONPATH"],
            "PYTHONDONTWRITEBYTECODE": names["PYTHONDONTWRITEBYTECODE"],
            "HOME": "/nonexistent",
            "TMPDIR": "/nonexistent",
        },
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert state() == before
    assert list(tmp_path.iterdir()) == []
