"""The wheel works: installed elsewhere, it renders an example."""

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "examples" / "kueue-team-tree"


@pytest.fixture(scope="module")
def wheel(tmp_path_factory):
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
        timeout=120,
    )
    return next(folder.glob("*.whl"))


def test_templates_schemas_and_data_are_inside(wheel):
    names = set(zipfile.ZipFile(wheel).namelist())
    for folder in ("templates", "schemas"):
        shipped = {
            f"policygen/_data/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
        }
        assert shipped
        assert shipped <= names
    assert "policygen/hardware/products.json" in names
    pages = {path.relative_to(ROOT).as_posix() for path in (ROOT / "policygen").rglob("*.md")}
    assert pages <= names
    tops = {name.split("/")[0] for name in names}
    assert {top for top in tops if not top.endswith(".dist-info")} == {"policygen"}


def test_it_has_a_program_and_a_plugin_of_kubectl(wheel):
    archive = zipfile.ZipFile(wheel)
    (name,) = (it for it in archive.namelist() if it.endswith("/entry_points.txt"))
    assert archive.read(name).decode().split("\n")[1:3] == [
        "kubectl-policygen = policygen.__main__:main",
        "policygen = policygen.__main__:main",
    ]


def test_renders_an_example_from_another_folder(wheel, tmp_path):
    site = tmp_path / "site"
    zipfile.ZipFile(wheel).extractall(site)
    environment = {"PATH": os.environ["PATH"], "PYTHONPATH": str(site)}
    where = subprocess.run(
        [sys.executable, "-c", "import policygen; print(policygen.__file__)"],
        cwd=tmp_path,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    assert where.stdout.startswith(str(site))
    done = subprocess.run(
        [sys.executable, "-m", "policygen", "render", *sorted(EXAMPLE.glob("*.yaml"))],
        cwd=tmp_path,
        env=environment,
        check=False,
        capture_output=True,
    )
    assert done.returncode == 0, done.stderr.decode()
    assert done.stdout == (EXAMPLE / "expected" / "manifests.yaml").read_bytes()
