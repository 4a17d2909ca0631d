"""The command `policygen patch`."""

import json
import shlex
from pathlib import Path

import pytest
import yaml

from tests.app.test_patch import JOB, PATCHED, POLICY
from tests.drift.jsonpatch import applied

SPEC = ("--spec", str(POLICY))
TWO = JOB.replace("vision\n", "vision\n  labels: {kueue.x-k8s.io/queue-name: other}\n")


@pytest.fixture
def job(tmp_path):
    file = tmp_path / "job.yaml"
    file.write_text(JOB)
    return file


def test_it_shows_a_diff_and_changes_files_only_with_write(policygen, job):
    done = policygen("patch", "job.yaml", *SPEC)
    assert (done.returncode, done.stderr) == (0, "policygen: 1 object in 1 file would change\n")
    assert "+      schedulerName: platform.binpack" in done.stdout.splitlines()
    assert job.read_text() == JOB
    done = policygen("patch", "--check", "job.yaml", *SPEC)
    assert (done.returncode, job.read_text()) == (1, JOB)
    command = done.stderr.splitlines()[-1].partition("run `policygen ")[2].removesuffix("`")
    assert command == f"patch --write job.yaml {shlex.join(SPEC)}"
    done = policygen("patch", "--write", "job.yaml", *SPEC)
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == "policygen: patched 1 object in 1 file\n"
    assert job.read_text() == PATCHED
    done = policygen("patch", "--check", "job.yaml", *SPEC)
    assert (done.returncode, done.stderr) == (0, "policygen: nothing to patch\n")
    done = policygen("patch", "-q", "--check", "job.yaml", *SPEC)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def test_standard_input_is_printed_with_the_fields_or_not_at_all(policygen):
    for given in (JOB, PATCHED):
        done = policygen("patch", "-", *SPEC, given=given)
        assert (done.returncode, done.stdout) == (0, PATCHED)
    done = policygen("patch", "-", *SPEC, given=TWO)
    assert (done.returncode, done.stdout) == (3, "")
    assert "<stdin>:6:39: error: Job vision/plain is not patched: " in done.stderr
    assert done.stderr.endswith(
        "policygen: nothing is printed, because not all objects could be patched\n"
        "policygen: 1 object cannot be patched\n"
    )


def test_check_tells_a_refused_object_from_a_file_that_would_change(policygen, job):
    job.write_text(f"{TWO}---\n{JOB}")
    done = policygen("patch", "--check", "job.yaml", *SPEC)
    assert (done.returncode, "+    policygen.dev/model: plain" in done.stdout) == (3, True)
    assert "1 object in 1 file would change; 1 object cannot be patched\n" in done.stderr
    assert policygen("patch", "--write", "job.yaml", *SPEC).returncode == 3
    assert job.read_text() == f"{TWO}---\n{PATCHED}"
    done = policygen("patch", "--check", "job.yaml", *SPEC)
    assert done.returncode == 3
    assert done.stderr.endswith("policygen: 1 object cannot be patched\n")


def test_a_file_that_cannot_be_read_stays_incomplete(policygen, job):
    job.with_name("bad.yaml").write_text("a: [\n")
    done = policygen("patch", "job.yaml", "bad.yaml", "--write", *SPEC)
    assert done.returncode == 3
    assert "bad.yaml:" in done.stderr
    assert job.read_text() == PATCHED


@pytest.mark.parametrize(
    ("files", "code", "words"),
    [
        ({"a.yaml": ""}, 0, "policygen: the input contains no workload"),
        ({"a.yaml": "image: x\n"}, 0, "policygen: the input contains no workload"),
        ({"a.yaml": PATCHED}, 0, "policygen: nothing to patch"),
        ({"a.yaml": "a: [\n"}, 3, "policygen: some input could not be read"),
        ({}, 3, "policygen: some input could not be read"),
    ],
)
def test_the_summary_tells_why_nothing_is_patched(policygen, tmp_path, files, code, words):
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    done = policygen("patch", "a.yaml", *SPEC)
    assert (done.returncode, done.stdout, done.stderr.splitlines()[-1]) == (code, "", words)


def test_files_that_a_kustomization_does_not_list_are_named(policygen, job):
    build = "apiVersion: kustomize.config.k8s.io/v1beta1\nkind: Kustomization\nresources: [other.yaml]\n"
    job.with_name("kustomization.yaml").write_text(build)
    done = policygen("patch", ".", *SPEC)
    assert (done.returncode, done.stdout) == (0, "")
    first, second = done.stderr.splitlines()
    assert "it skipped files that the field resources does not list" in first
    assert "run kustomize build . | policygen patch - [kustomization-not-built]" in first
    assert second == "policygen: the input contains no workload"
    assert policygen("patch", "-q", ".", *SPEC).stderr == ""


@pytest.mark.usefixtures("job")
def test_patches_are_printed_for_kubectl_and_kustomize(policygen):
    done = policygen("patch", "job.yaml", *SPEC, "-f", "json-patch")
    ((one),) = json.loads(done.stdout)
    assert one["target"] == {
        "group": "batch", "version": "v1", "kind": "Job", "name": "plain", "namespace": "vision"
    }  # fmt: skip
    assert applied(yaml.safe_load(JOB), one["patch"]) == yaml.safe_load(PATCHED)
    component = yaml.safe_load(policygen("patch", "job.yaml", *SPEC, "-f", "kustomize").stdout)
    assert component["kind"] == "Component"
    ((patch),) = component["patches"]
    assert patch["target"] == one["target"]
    assert yaml.safe_load(patch["patch"]) == one["patch"]


def test_kustomize_gets_no_patch_for_a_generated_name(policygen, job):
    job.write_text(JOB.replace("name: plain", "generateName: run-"))
    done = policygen("patch", "job.yaml", *SPEC, "--model", "plain", "-f", "kustomize")
    assert (done.returncode, done.stdout) == (2, "")
    assert (
        "Job vision/run-* has a generated name, but kustomize accepts only objects" in done.stderr
    )


def test_reports_have_the_diff_and_what_is_refused(policygen, job):
    Path(job.parent, "two.yaml").write_text(TWO)
    done = policygen("patch", ".", *SPEC, "-f", "json")
    found = json.loads(done.stdout)
    assert done.returncode == 3
    assert [it["rule"] for it in found["findings"]] == ["manifest-not-patched"]
    assert "+++ b/./job.yaml" in found["diff"]
    text = policygen("patch", ".", *SPEC, "-f", "markdown").stdout
    assert "1 object in 1 file would change; 1 object cannot be patched" in text


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--write", "--check", "job.yaml"), "--write does not work with --check"),
        (("--write", "-f", "kustomize", "job.yaml"), "--write does not work with -f"),
        (("--write", "-"), "--write does not work with standard input"),
        (("-", "job.yaml"), "write - without other files"),
        (("-", "--spec", "-"), "standard input can be read only once"),
        (("job.yaml", "--model", "plane"), 'model "plane" does not exist; did you mean "plain"'),
    ],
)
def test_wrong_usage_is_named(policygen, job, options, words):
    done = policygen("patch", *options, *SPEC)
    assert (done.returncode, done.stdout) == (2, "")
    assert words in done.stderr
    assert job.read_text() == JOB
