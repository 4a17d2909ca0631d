"""A release is reproducible, complete, and described by a valid SBOM."""

import json
import subprocess
import tarfile
import zipfile
from importlib.util import find_spec

import pytest

from policygen import __version__

if find_spec("cyclonedx") is None:
    pytest.skip("cyclonedx is not installed: pip install -e '.[test]'", allow_module_level=True)

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.release import CHECKSUMS, ROOT, release


@pytest.fixture(scope="module")
def folders(tmp_path_factory):
    """Two releases of one revision."""
    made = [tmp_path_factory.mktemp("release") / name for name in ("first", "second")]
    for folder in made:
        release(folder)
    return made


def test_two_runs_write_equal_bytes(folders):
    first, second = ({it.name: it.read_bytes() for it in folder.iterdir()} for folder in folders)
    assert first.keys() == {
        CHECKSUMS,
        f"policygen-{__version__}.cdx.json",
        f"policygen-{__version__}.tar.gz",
        f"policygen-{__version__}-py3-none-any.whl",
    }
    assert first == second


def test_the_checksums_are_right(folders):
    subprocess.run(["sha256sum", "-c", "--strict", CHECKSUMS], cwd=folders[0], check=True)


def test_wheel_and_sdist_have_the_committed_files(folders):
    (wheel,) = folders[0].glob("*.whl")
    (sdist,) = folders[0].glob("*.tar.gz")
    tracked = subprocess.run(
        ["git", "ls-tree", "-r", "--name-only", "HEAD"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    code = {it for it in tracked if it.startswith("policygen/")}
    names = set(zipfile.ZipFile(wheel).namelist())
    assert code <= names
    with tarfile.open(sdist) as archive:
        files = {it.partition("/")[2] for it in archive.getnames()}
    assert {*code, "pyproject.toml", "tests/release.py"} <= files


def test_the_sbom_is_valid_and_has_all_libraries(folders):
    (path,) = folders[0].glob("*.cdx.json")
    text = path.read_text("utf-8")
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(text) is None
    data = json.loads(text)
    assert data["metadata"]["component"]["purl"] == f"pkg:pypi/policygen@{__version__}"
    names = {it["name"] for it in data["components"]}
    assert {"click", "jinja2", "markupsafe", "kubernetes", "pyyaml"} <= names
    assert not names & {"pytest", "ruff", "pysocks"}
    links = {it["ref"]: it.get("dependsOn", []) for it in data["dependencies"]}
    (jinja,) = (it for it in links if it.startswith("pkg:pypi/jinja2@"))
    assert [it.partition("@")[0] for it in links[jinja]] == ["pkg:pypi/markupsafe"]
