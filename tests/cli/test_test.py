"""`policygen test` as a team calls it."""

import json
import os
import shutil
from pathlib import Path

import pytest
from junitparser import JUnitXml

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "docs" / "policy-tests"
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: b}
spec: {clusterQueue: gone}
"""
LINE = "q.yaml:4: error: local-queue-without-cluster-queue: LocalQueue b/a spec.clusterQueue\n"


@pytest.fixture
def policygen(policygen):
    return lambda *arguments: policygen("test", *map(str, arguments))


@pytest.fixture
def case(tmp_path):
    def make(name, expects=LINE, **files):
        folder = tmp_path / "cases" / name
        folder.mkdir(parents=True)
        for file, text in (files or {"q": QUEUE}).items():
            (folder / f"{file}.yaml").write_text(text)
        if expects is not None:
            (folder / "findings.txt").write_text(expects)
        return folder

    return make


def test_the_example_of_the_docs(policygen):
    done = policygen(EXAMPLE)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[-1] == "3 cases, 0 failed"


def test_without_its_waiver_the_example_fails(policygen, tmp_path):
    copy = shutil.copytree(EXAMPLE, tmp_path / "copy")
    platform = copy / "platform.yaml"
    platform.write_text(platform.read_text().split("    waivers:")[0])
    done = policygen("copy")
    assert done.returncode == 1
    assert "FAIL  sandbox-is-waived" in done.stdout
    assert "unexpected  queue.yaml:8: error: local-queue-without-cluster-queue" in done.stdout
    assert done.stdout.splitlines()[-1] == "3 cases, 1 failed"


def test_missing_unexpected_and_moved(policygen, case):
    case("empty", "")
    case("gone", LINE + LINE.replace("spec.clusterQueue", "spec.other"))
    case("moved", LINE.replace(":4:", ":7:"))
    done = policygen("cases")
    assert done.returncode == 1
    assert done.stdout == (
        f"FAIL  empty  1 finding\n      unexpected  {LINE}"
        f"FAIL  gone  1 finding\n      missing     {LINE.replace('clusterQueue', 'other', 1)}"
        f"FAIL  moved  1 finding\n      moved       {LINE.replace(':4:', ':7:')}               to {LINE}"
        "3 cases, 3 failed\n"
    )


def test_junit_has_a_case_for_each(policygen, case, tmp_path):
    case("good")
    case("bad", "# <&\n")
    done = policygen("cases", "-f", "text", "-f", "junit=cases.xml")
    assert done.returncode == 1
    (suite,) = JUnitXml.fromfile(str(tmp_path / "cases.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (2, 1, 0)
    assert {each.name: [it.message for it in each.result] for each in suite} == {
        "bad": [f"unexpected  {LINE.strip()}"],
        "good": [],
    }


def test_update_writes_and_reports_the_findings(policygen, case):
    folder = case("new", None)
    old = case("old", "# why\n" + LINE.replace(":4:", ":7:") + "a.yaml:1: error: no-such-rule\n")
    done = policygen("cases", "--update")
    assert (done.returncode, done.stderr) == (0, "")
    assert f"+ new: {LINE}" in done.stdout
    assert done.stdout.splitlines()[-1] == "2 cases, 2 changed"
    assert (folder / "findings.txt").read_text() == LINE
    assert (old / "findings.txt").read_text() == "# why\n" + LINE
    assert policygen("cases").returncode == 0
    assert policygen("cases", "--update").stdout == "2 cases, none changed\n"


def test_an_update_reports_what_it_replaces(policygen, case):
    """A mistyped line, which is not a finding, is reported when it is replaced."""
    folder = case("one", LINE + "a.yaml 4 error\n")
    assert policygen("cases", "--update").stdout == "1 case, 1 changed\n"
    assert (folder / "findings.txt").read_text() == LINE


def test_one_folder_can_be_the_case(policygen, case):
    case("one")
    done = policygen("cases/one/")
    assert (done.returncode, done.stdout) == (0, "ok    one  1 finding\n1 case, 0 failed\n")


def test_invalid_yaml_and_a_refused_spec_can_be_expected(policygen, case):
    case("syntax", None, q="a: [\n")
    spec = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {nam: a}\n"
    case("refused", None, q=spec)
    assert policygen("cases", "--update").returncode == 0
    done = policygen("cases")
    assert (done.returncode, done.stderr) == (0, "")
    assert "2 cases, 0 failed" in done.stdout


def test_shared_specs_are_checked_once_and_are_not_cases(policygen, case, tmp_path):
    case("one")
    unused = {"rule": "flavor-missing", "reason": "nothing here"}
    platform = {
        "apiVersion": "policygen.dev/v1alpha1",
        "kind": "Platform",
        "metadata": {"name": "a"},
        "spec": {"lint": {"waivers": [unused]}},
    }
    (tmp_path / "spec.json").write_text(json.dumps(platform))
    assert policygen("cases", "spec.json").returncode == 0
    (tmp_path / "spec.json").write_text(json.dumps({**platform, "spec": {"lin": {}}}))
    done = policygen("cases", "spec.json")
    assert (done.returncode, done.stdout) == (2, "")
    assert 'unknown field "lin"' in done.stderr


def test_all_errors_are_reported_at_once(policygen, case, tmp_path):
    case("a-typo", "q.yaml:4: eror: x\n")
    case("b-unknown", "q.yaml:4: error: local-queue-without-cluster-queu\n")
    case("c-missing", None)
    case("d-empty", LINE, q="").joinpath("q.yaml").unlink()
    (case("e-nested") / "below").mkdir()
    (tmp_path / "cases/e-nested/below/findings.txt").write_text("")
    case("f-binary").joinpath("findings.txt").write_bytes(b"\x80")
    case("g-link").joinpath("z.yaml").symlink_to("nowhere")
    done = policygen("cases")
    assert (done.returncode, done.stdout) == (2, "")
    lines = [line for line in done.stderr.splitlines() if line.startswith("cases/")]
    told = [line.split(": error: ")[0] for line in lines]
    assert told == [
        "cases/a-typo/findings.txt:1:1",
        "cases/b-unknown/findings.txt:1:18",
        "cases/c-missing",
        "cases/d-empty",
        "cases/e-nested/below/findings.txt",
        "cases/f-binary/findings.txt:1:1",
        "cases/g-link/z.yaml",
    ]


@pytest.mark.skipif(os.geteuid() == 0, reason="root reads everything")
def test_an_unreadable_file_is_reported(policygen, case):
    case("locked").joinpath("q.yaml").chmod(0)
    done = policygen("cases")
    assert done.returncode == 2
    assert "you have no permission to read this file or folder" in done.stderr


@pytest.mark.parametrize("what", ["nothing", "empty", "file"])
def test_a_folder_without_cases_is_an_error(policygen, tmp_path, what):
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").write_text("")
    for update in ((), ("--update",)):
        done = policygen(what, *update)
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr.startswith(f"{what}: error: ")


def test_manifests_beside_the_cases_are_an_error(policygen, case, tmp_path):
    case("one")
    (tmp_path / "cases" / "stray.yaml").write_text(QUEUE)
    done = policygen("cases")
    assert done.returncode == 2
    assert "move the manifests into a case" in done.stderr


@pytest.mark.parametrize(
    "wrong", [("-f", "sarif"), ("--target", "kueue=9"), ("-f", "text=/nowhere/a")]
)
def test_usage(policygen, case, wrong):
    case("one")
    assert policygen("cases", *wrong).returncode == 2
