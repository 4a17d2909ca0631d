"""The command `policygen upgrade`."""

import json

import pytest

OLD = "apiVersion: kueue.x-k8s.io/v1beta1\nkind: Cohort\nmetadata: {name: a}  # ours\n"
NEW = OLD.replace("v1beta1", "v1beta2")
AUTOSCALER = """\
---
apiVersion: autoscaling/v2beta1
kind: HorizontalPodAutoscaler
metadata: {name: a, namespace: b}
spec: {maxReplicas: 3, scaleTargetRef: {kind: Deployment, name: x}, behavior: {}}
"""


@pytest.fixture
def queue(tmp_path):
    file = tmp_path / "queue.yaml"
    file.write_text(OLD)
    return file


def test_it_shows_a_diff_and_changes_files_only_with_write(policygen, queue):
    done = policygen("upgrade", "--to", "kueue=0.19", "queue.yaml")
    assert done.returncode == 0
    assert f"+{NEW.splitlines()[0]}" in done.stdout.splitlines()
    assert done.stderr == "policygen: 1 file would change\n"
    assert queue.read_text() == OLD
    done = policygen("upgrade", "--write", "queue.yaml")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "policygen: upgraded 1 file\n")
    assert queue.read_text() == NEW
    done = policygen("upgrade", "--check", "queue.yaml")
    assert (done.returncode, done.stderr) == (0, "policygen: nothing to upgrade\n")


def test_a_check_fails_if_files_would_change(policygen, queue):
    done = policygen("upgrade", "--check", "queue.yaml")
    assert (done.returncode, queue.read_text()) == (1, OLD)
    command = done.stderr.splitlines()[-1].partition("run `policygen ")[2].removesuffix("`")
    assert command == "upgrade --write queue.yaml"
    done = policygen("upgrade", "--check", "queue.yaml", "-f", "markdown")
    line = "1 file would change; to change the files, run `policygen upgrade --write queue.yaml -f markdown`"
    assert line in done.stdout.splitlines()
    assert policygen(*command.split()).returncode == 0
    assert queue.read_text() == NEW


def test_standard_input_is_printed_also_if_nothing_changes(policygen):
    for given in (OLD, NEW):
        done = policygen("upgrade", "-", given=given)
        assert (done.returncode, done.stdout) == (0, NEW)


def test_what_is_left_is_named(policygen, queue):
    queue.write_text(OLD + AUTOSCALER)
    done = policygen("upgrade", "queue.yaml")
    assert done.returncode == 3
    assert policygen("upgrade", "--check", "queue.yaml").returncode == 3
    assert "queue.yaml:5:13: error: HorizontalPodAutoscaler b/a" in done.stderr
    assert done.stderr.endswith("policygen: 1 file would change; 1 change to make by hand\n")


def test_what_cannot_be_read_is_not_printed(policygen):
    done = policygen("upgrade", "-", given=f"{OLD}---\na: [\n")
    assert (done.returncode, done.stdout) == (3, "")
    assert "policygen: nothing is printed, because some input could not be read" in done.stderr
    assert policygen("upgrade", "-", given="").returncode == 3


def test_files_that_were_changed_are_counted_although_others_cannot_be_read(policygen, queue):
    queue.with_name("broken.yaml").write_text("a: [\n")
    done = policygen("upgrade", "queue.yaml", "broken.yaml")
    assert (done.returncode, "policygen: 1 file would change" in done.stderr) == (3, True)
    done = policygen("upgrade", "--write", "queue.yaml", "broken.yaml")
    assert (done.returncode, "policygen: upgraded 1 file" in done.stderr) == (3, True)
    assert queue.read_text() == NEW


@pytest.mark.usefixtures("queue")
def test_wrong_usage(policygen):
    for words in (
        ("--write", "--check", "queue.yaml"),
        ("--write", "-"),
        ("-", "queue.yaml"),
        ("--to", "kueue=0.2", "queue.yaml"),
        (),
    ):
        assert policygen("upgrade", *words, given=OLD).returncode == 2


def test_an_unknown_version_names_the_option(policygen, queue):
    done = policygen("upgrade", "--to", "kueue=9", queue.name)
    assert done.returncode == 2
    assert "policygen: --to: kueue '9' is not a valid version" in done.stderr


def test_a_file_of_another_tool_is_no_change_by_hand(policygen, queue):
    queue.with_name("config.yaml").write_text("repos: []\n")
    done = policygen("upgrade", "config.yaml", "queue.yaml")
    assert (done.returncode, done.stderr) == (0, "policygen: 1 file would change\n")


def test_a_report_has_the_diff_and_what_is_left(policygen, queue):
    queue.write_text(OLD + AUTOSCALER)
    done = policygen("upgrade", "queue.yaml", "-f", "json")
    found = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (3, "")
    assert f"+{NEW.splitlines()[0]}" in found["diff"].splitlines()
    assert [it["rule"] for it in found["findings"]] == ["api-version-not-served"]
    done = policygen("upgrade", "-", "-f", "markdown", given=OLD + AUTOSCALER)
    assert done.stdout.startswith(
        "## policygen upgrade: 1 error\n\n1 file would change; 1 change to make by hand\n"
    )
    assert f"\n+{NEW.splitlines()[0]}\n" in done.stdout.partition("```diff\n")[2]
    assert queue.read_text() == OLD + AUTOSCALER
