"""The releases that `matrix` runs on, and its counts; no server needed."""

import re
import subprocess

import pytest

from policygen.core import versions
from tests.servers.matrix import Row, counted, pytest_to, table
from tests.servers.upstream import EVERY_KUBERNETES, KUBERNETES, control_plane

MIXED = """
import pytest

def test_passes(record_property): record_property("seconds", 1)

def test_fails(): assert False

@pytest.mark.skip(reason="here")
def test_skipped(): pass

@pytest.fixture
def broken(): raise OSError

def test_cannot_start(broken): pass

@pytest.fixture
def late():
    yield
    raise OSError

def test_cannot_end(late): pass

def test_fails_and_cannot_end(late): assert False
"""


@pytest.mark.parametrize("kubernetes", EVERY_KUBERNETES, ids=lambda each: each.minor)
def test_every_staging_module_is_of_the_same_release(kubernetes):
    text = (kubernetes.folder / "go.mod").read_text(encoding="utf-8")
    staging = kubernetes.version.replace("v1.", "v0.", 1)
    replaced = re.findall(r"^replace (\S+) => (\S+) (\S+)$", text, re.MULTILINE)
    assert len(replaced) > 25
    assert {(old, version) for old, _, version in replaced} == {
        (new, staging) for _, new, _ in replaced
    }
    sums = (kubernetes.folder / "go.sum").read_text(encoding="utf-8")
    assert f"k8s.io/kubernetes {kubernetes.version} h1:" in sums


def test_only_kubernetes_differs_between_releases():
    releases = [upstream.minor for upstream in EVERY_KUBERNETES]
    assert len({upstream.folder for upstream in EVERY_KUBERNETES}) == len(releases)
    for kubernetes in EVERY_KUBERNETES:
        others = set(control_plane(kubernetes.minor)) - {kubernetes}
        assert others == set(control_plane()) - {KUBERNETES}
    with pytest.raises(ValueError, match=re.escape(", ".join(releases))):
        control_plane("1.33")


def test_the_default_release_is_the_default_target():
    assert KUBERNETES.minor == str(versions.DEFAULT["kubernetes"])


def test_a_report_is_counted(tmp_path):
    tests, report = tmp_path / "test_mixed.py", tmp_path / "report.xml"
    tests.write_text(MIXED, encoding="utf-8")
    alone = [f"--rootdir={tmp_path}", "-c", "/dev/null", "-W", "error"]
    command = [*pytest_to(report), *alone, str(tests)]
    done = subprocess.run(command, check=False, capture_output=True, timeout=60)
    assert done.returncode == 1
    assert counted(report) == (1, 4, 1)
    assert counted(tmp_path / "missing.xml") == (0, 0, 0)


def test_the_table_names_a_release_that_did_not_get_to_its_tests():
    rows = [Row("1.34.4", 10, 2, 1, 61.4, 1), Row("1.35.4", 0, 0, 0, 3.0, 3)]
    assert list(table(rows)) == [
        "kubernetes    passed  failed  skipped  seconds",
        "1.34.4            10       2        1       61",
        "1.35.4             0       0        0        3",
        "1.35.4: pytest ended with 3",
    ]
