"""Workloads of Volcano whose queue is not the one of their team."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest

SPEC = "examples/volcano-training/policy.yaml"
"""Team robotics has queue robotics.h100; team foundation has the child teams speech and text."""
LEAF = "robotics.h100"
CONTAINERS = (
    "containers: [{name: a, image: 'a:1', resources: "
    "{requests: {cpu: 1, memory: 1Gi}, limits: {nvidia.com/gpu: 1}}}]"
)
QUEUE = """\
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{reclaimable: true, capability: {{cpu: 8, memory: 8Gi, {gpu}}}}}
"""
VOLCANO_JOB = f"""\
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: train, namespace: robotics}}
spec:
  QUEUE
  tasks: [{{name: rank, replicas: 1, template: {{spec: {{restartPolicy: Never, {CONTAINERS}}}}}}}]
"""
POD = f"""\
---
apiVersion: v1
kind: Pod
metadata: {{name: one, namespace: robotics, annotations: {{ANNOTATIONS}}}}
spec: {{schedulerName: volcano, {CONTAINERS}}}
"""
DEPLOYMENT = f"""\
---
apiVersion: apps/v1
kind: Deployment
metadata: {{name: serve, namespace: robotics, annotations: {{scheduling.volcano.sh/queue-name: {LEAF}}}}}
spec:
  selector: {{matchLabels: {{app: serve}}}}
  template:
    metadata: {{labels: {{app: serve}}}}
    spec: {{schedulerName: volcano, {CONTAINERS}}}
"""
OPERATOR = f"""\
---
apiVersion: ray.io/v1
kind: RayCluster
metadata: {{name: ray, namespace: robotics, labels: {{volcano.sh/queue-name: {LEAF}}}}}
spec:
  headGroupSpec: {{rayStartParams: {{}}, template: {{spec: {{schedulerName: volcano, {CONTAINERS}}}}}}}
"""
DEFAULT, OTHER = "workload-in-default-queue", "queue-of-another-team"


@pytest.fixture
def findings(tmp_path):
    """Paths and messages of the findings of a rule."""

    def run(rule, *texts, spec=True):
        file = tmp_path / "one.yaml"
        file.write_text("".join(texts), "utf-8")
        request = LintRequest((SPEC,) if spec else (), manifests=(str(file),), only=(rule,))
        found = app_lint.lint(request, today=date(2026, 11, 21)).findings
        return [(it.path, it.message) for it in found if it.rule.name == rule]

    return run


@pytest.mark.parametrize(
    "metadata",
    [
        f"annotations: {{volcano.sh/queue-name: {LEAF}}}",
        f"labels: {{scheduling.volcano.sh/queue-name: {LEAF}}}",
    ],
)
def test_a_key_that_volcano_does_not_read_names_no_queue(findings, metadata):
    [(_, message)] = findings(DEFAULT, POD.replace("annotations: {ANNOTATIONS}", metadata))
    assert ", which has no effect. Volcano then uses queue default" in message
    assert message.endswith(f" to {LEAF}")


def test_a_misspelled_key_is_reported_once(findings):
    pod = POD.replace("ANNOTATIONS", f"volcano.sh/queue: {LEAF}")
    assert findings(DEFAULT, pod) == []
    [(_, message)] = findings("workload-key-unknown", pod)
    assert message.endswith('did you mean "scheduling.volcano.sh/queue-name"?')


@pytest.mark.parametrize(
    ("text", "path"),
    [
        (VOLCANO_JOB.replace("QUEUE", ""), "spec.queue"),
        (VOLCANO_JOB.replace("QUEUE", "queue: default"), "spec.queue"),
        (POD.replace("ANNOTATIONS", ""), "metadata.annotations"),
        (DEPLOYMENT, "metadata.annotations"),
    ],
)
def test_the_queue_of_the_team_is_proposed(findings, text, path):
    [(at, message)] = findings(DEFAULT, text)
    assert at.startswith(path)
    assert message.endswith(f" to {LEAF}")


def test_each_field_is_named(findings):
    [(_, message)] = findings(DEFAULT, DEPLOYMENT)
    assert message == (
        "Deployment robotics/serve requests nvidia.com/gpu but names its queue in the annotation "
        "scheduling.volcano.sh/queue-name of the Deployment itself, which has no effect. Volcano then uses queue default, "
        "which has no limit of nvidia.com/gpu; set annotation scheduling.volcano.sh/queue-name of its "
        f"pod template to {LEAF}"
    )


@pytest.mark.parametrize(
    "text",
    [
        VOLCANO_JOB.replace("QUEUE", f"queue: {LEAF}"),
        POD.replace("ANNOTATIONS", f"scheduling.volcano.sh/queue-name: {LEAF}"),
        POD.replace("ANNOTATIONS", "scheduling.k8s.io/group-name: of-another-file"),
        POD.replace("ANNOTATIONS", "").replace("schedulerName: volcano, ", ""),
        POD.replace("ANNOTATIONS", "").replace("nvidia.com/gpu", "ephemeral-storage"),
        OPERATOR,
    ],
)
def test_other_workloads_are_fine(findings, text):
    assert findings(DEFAULT, text) == []


def test_without_a_spec_the_queues_of_the_input_count(findings):
    job = VOLCANO_JOB.replace("QUEUE", "")
    bounded = QUEUE.format(name="vision", gpu="nvidia.com/gpu: 8")
    [(_, message)] = findings(DEFAULT, job, bounded, spec=False)
    assert message.endswith("set spec.queue to a queue of its team")
    mine = VOLCANO_JOB.replace("QUEUE", "queue: vision").replace("train", "other")
    [(_, message)] = findings(DEFAULT, job, bounded, mine, spec=False)
    assert message.endswith("set spec.queue to vision")
    default = QUEUE.format(name="default", gpu="nvidia.com/gpu: 8")
    assert findings(DEFAULT, job, bounded, default, spec=False) == []
    assert findings(DEFAULT, job, QUEUE.format(name="b", gpu="a.com/b: 1"), spec=False) == []
    written = VOLCANO_JOB.replace("QUEUE", "queue: default")
    assert findings(DEFAULT, written, bounded, spec=False) == []


def test_the_queue_of_another_team_is_reported(findings):
    [(at, message)] = findings(OTHER, VOLCANO_JOB.replace("QUEUE", "queue: speech.h100"))
    assert at == "spec.queue"
    assert message == (
        'Job robotics/train names queue speech.h100 of team "speech", but namespace robotics belongs to team '
        f'"robotics", so it uses the GPUs of the other team; write {LEAF}'
    )
    assert findings(OTHER, VOLCANO_JOB.replace("QUEUE", f"queue: {LEAF}")) == []
    elsewhere = VOLCANO_JOB.replace("QUEUE", "queue: speech.h100").replace("robotics", "unknown")
    assert findings(OTHER, elsewhere) == []
