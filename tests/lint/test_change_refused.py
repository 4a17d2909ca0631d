"""Manifests beside the cluster to which they are applied."""

from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.client import snapshot_file as snapshots
from tests.client.looks import snapshot

TODAY = date(2026, 11, 21)
RULE = "change-refused"
JOB = """\
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: ml
  labels: {kueue.x-k8s.io/queue-name: a}
spec:
  completions: 2
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: image:1
        command: [run]
        resources: {limits: {cpu: 1, nvidia.com/gpu: 1}}
"""
STORED = JOB.replace("cpu: 1,", 'cpu: "1",').replace(
    "restartPolicy", "nodeSelector: {pool: a}\n      restartPolicy"
)
"""As a server stores it; Kueue has added the node selector."""
POD = """\
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: ml}
spec:
  containers:
  - {name: main, image: "image:1", command: [run], env: [{name: A, value: b}]}
"""


def run(tmp_path, held, text, *, only=(RULE,), **seen):
    file = tmp_path / "new.yaml"
    file.write_text(text, "utf-8")
    paths = []
    for number, each in enumerate([held] if isinstance(held, str) else held):
        paths.append(tmp_path / f"{number}.snapshot")
        snapshots.write(snapshot(each, **{"context": f"east-{number}"} | seen), paths[-1])
    clusters = ClusterRequest(snapshots=tuple(paths))
    request = LintRequest(manifests=(str(file),), clusters=clusters, only=only, partial=True)
    return lint.lint(request, today=TODAY)


def messages(report):
    return [it.message for it in report.findings if it.rule.name == RULE]


def test_the_message_has_both_values_and_the_remedy(tmp_path):
    report = run(tmp_path, STORED, JOB.replace("image:1", "image:2"))
    (finding,) = report.findings
    assert finding.message == (
        'Job ml/train on cluster "east-0" has spec.template.spec.containers[0].image "image:1", but '
        'the manifest has "image:2"; the server refuses this change, because the pod template of a '
        "Job is immutable; delete the object and create it again, or keep the old value"
    )
    assert (finding.place.file, finding.place.line) == (str(tmp_path / "new.yaml"), 14)


@pytest.mark.parametrize(
    ("held", "text"),
    [
        (STORED, JOB),
        (STORED, JOB.replace("[run]", "[walk]")),
        (STORED, JOB.replace("name: train", "name: other").replace("image:1", "image:2")),
        (STORED, JOB.replace("  completions: 2\n", "  backoffLimit: 3\n")),
        (STORED.replace("  name:", "  deletionTimestamp: x\n  name:"), JOB.replace(":1", ":2")),
        (POD, POD),
        (POD + '  - {name: sidecar, image: "a:1"}\n', POD),
        (POD, POD.replace("image:1", "image:2")),
        (JOB.replace("batch/v1", "v1"), JOB.replace("image:1", "image:2")),
    ],
)
def test_accepted(tmp_path, held, text):
    report = run(tmp_path, held, text)
    assert messages(report) == []
    assert [it.verdict for it in report.rules] == ["pass"]


def test_other_fields_are_counted(tmp_path):
    text = JOB.replace("image:1", "image:2").replace("gpu: 1", "gpu: 2")
    (message,) = messages(run(tmp_path, STORED, text))
    assert "(1 other field changed too)" in message


def test_the_label_of_a_running_job(tmp_path):
    (message,) = messages(run(tmp_path, STORED, JOB.replace("queue-name: a", "queue-name: b")))
    assert "only while the job is suspended; suspend the job first" in message
    suspended = STORED.replace("spec:\n  comp", "spec:\n  suspend: true\n  comp")
    assert messages(run(tmp_path, suspended, JOB.replace("queue-name: a", "queue-name: b"))) == []


def test_each_cluster_has_its_finding(tmp_path):
    found = messages(run(tmp_path, [STORED, STORED], JOB.replace("image:1", "image:2")))
    assert ['"east-0"' in found[0], '"east-1"' in found[1]] == [True, True]


def test_the_release_of_the_cluster_decides(tmp_path):
    held = STORED.replace("spec:\n  comp", "spec:\n  suspend: true\n  comp")
    text = JOB.replace("gpu: 1", "gpu: 2")
    assert messages(run(tmp_path, held, text)) == []
    assert len(messages(run(tmp_path, held, text, server="v1.35.4"))) == 1


def test_older_api_versions_are_the_same_object(tmp_path):
    held = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: ml}
spec: {clusterQueue: b}
"""
    text = held.replace("v1beta2", "v1beta1").replace(": b}", ": c}")
    assert len(messages(run(tmp_path, held, text))) == 1


@pytest.mark.parametrize(
    "junk", ["spec: 5", "spec: {template: []}", "metadata: {name: train, namespace: ml, labels: 1}"]
)
def test_junk_is_no_crash(tmp_path, junk):
    text = f"apiVersion: batch/v1\nkind: Job\nmetadata: {{name: train, namespace: ml}}\n{junk}\n"
    text = text.replace("metadata: {name: train, namespace: ml}\nmetadata", "metadata")
    report = run(tmp_path, STORED, text)
    assert "crashed" not in [it.verdict for it in report.rules]


def test_a_name_of_a_wrong_type_is_no_crash(tmp_path):
    report = run(tmp_path, POD, POD.replace("name: main", "name: [main]"))
    assert "crashed" not in [it.verdict for it in report.rules]


VCJOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ml}
spec:
  minAvailable: 2
  tasks:
  - name: worker
    replicas: 2
    maxRetry: 3
    template: {spec: {hostNetwork: true, dnsPolicy: Default, containers: [{name: a, image: b}]}}
"""


@pytest.mark.parametrize(
    ("old", "new", "remedy"),
    [
        ("    maxRetry: 3\n", "", "write maxRetry: 3"),
        ("maxRetry: 3", "maxRetry: 0", "write maxRetry: 3"),
        ("dnsPolicy: Default, ", "", 'write dnsPolicy: "Default"'),
        ("- name: worker\n    r", "- r", 'write name: "worker"'),
        (
            "- name: worker\n    replicas: 2\n    maxRetry: 3\n",
            "- replicas: 4\n",
            'write the values that the cluster has, such as name: "worker"',
        ),
        ("maxRetry: 3", "maxRetry: 4", "delete the object and create it again"),
        ("name: worker", "name: other", "delete the object and create it again"),
        ("  tasks:\n", "  tasks:\n  - {name: a, replicas: 2}\n", "delete the object and create it"),
    ],
)
def test_what_volcano_sets_in_tasks_on_create_is_lost_by_an_apply(tmp_path, old, new, remedy):
    (message,) = messages(run(tmp_path, VCJOB, VCJOB.replace(old, new)))
    assert f"; {remedy}" in message
    assert messages(run(tmp_path, VCJOB, VCJOB.replace("replicas: 2", "replicas: 4"))) == []


def test_without_a_cluster_it_is_not_evaluated(tmp_path):
    report = run(tmp_path, [], JOB)
    assert [it.verdict for it in report.rules] == ["not evaluated"]
    assert "to which the manifests are applied" in report.rules[0].reason


def test_a_redacted_snapshot_has_no_names(tmp_path):
    report = run(tmp_path, STORED, JOB.replace("image:1", "image:2"), redacted=True)
    assert messages(report) == []
    assert [it.verdict for it in report.rules] == ["not evaluated"]


def test_a_manifest_without_a_namespace_changes_the_object_in_default(tmp_path):
    held = STORED.replace("namespace: ml", "namespace: default")
    text = JOB.replace("  namespace: ml\n", "").replace("image:1", "image:2")
    (message,) = messages(run(tmp_path, held, text))
    assert message.startswith('Job train in namespace default on cluster "east-0" has spec.')


def test_a_manifest_without_a_namespace_is_not_that_of_another_namespace(tmp_path):
    text = JOB.replace("  namespace: ml\n", "").replace("image:1", "image:2")
    assert messages(run(tmp_path, STORED, text)) == []
