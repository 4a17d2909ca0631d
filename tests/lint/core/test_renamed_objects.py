"""One finding for a definition with another name than the objects that use it."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.lint.core.renamed_objects import NameUse, renamed_objects
from tests.objects import facts

QUEUE = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: vision}
spec: {clusterQueue: main}
"""
JOB = """
---
apiVersion: batch/v1
kind: Job
metadata:
  name: %s
  namespace: vision
  labels: {kueue.x-k8s.io/queue-name: a, kueue.x-k8s.io/priority-class: batch}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      priorityClassName: training
      containers:
      - name: rank
        image: registry.example.com/train:1
        resources: {limits: {nvidia.com/gpu: 4, cpu: 40, memory: 300Gi}}
"""
PLATFORM = f"""
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: a100}}
spec: {{nodeLabels: {{pool: a100}}, topologyName: default}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: h100}}
spec: {{nodeLabels: {{pool: h100}}, topologyName: default}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {{name: default}}
spec: {{levels: [{{nodeLabel: rack}}, {{nodeLabel: kubernetes.io/hostname}}]}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {{name: batch}}
value: 100
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: training}}
value: 100
{QUEUE % ("main", "a")}{QUEUE % ("other", "b")}{JOB % "one"}{JOB % "two"}"""
GANGS = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {deserved: {nvidia.com/gpu: 8, cpu: 96, memory: 1000Gi}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: speech}
spec: {parent: root, deserved: {nvidia.com/gpu: 8, cpu: 96, memory: 1000Gi}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: one, namespace: vision}
spec: {minMember: 1, queue: research, minResources: {nvidia.com/gpu: 1}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: two, namespace: vision}
spec: {minMember: 1, queue: research, minResources: {nvidia.com/gpu: 1}}
"""
TREE = GANGS.replace("parent: root", "parent: research").replace("queue: research", "queue: speech")
TREE += "---" + (
    GANGS[: GANGS.index("---")]
    .replace("research", "text")
    .replace("spec: {", "spec: {parent: research, ")
)
PODS = GANGS[: GANGS.index("---")] + "".join(
    f"""---
apiVersion: v1
kind: Pod
metadata: {{name: {name}, namespace: vision, annotations: {{scheduling.volcano.sh/queue-name: research}}}}
spec: {{schedulerName: volcano, containers: [{{name: main, image: registry.example.com/train:1}}]}}
"""
    for name in ("one", "two")
)


def found(tmp_path, text):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    report = app_lint.lint(LintRequest(manifests=(str(file),)), today=date(2026, 11, 29))
    return [(it.rule.name, it.object, it.path) for it in report.findings]


@pytest.mark.parametrize(
    ("text", "kind", "old", "new", "rule"),
    [
        (PLATFORM, "ResourceFlavor", "a100", "a100-80gb", "flavor-missing"),
        (PLATFORM, "Topology", "default", "defualt", "topology-missing"),
        (PLATFORM, "WorkloadPriorityClass", "batch", "batches", "workload-priority-class-missing"),
        (PLATFORM, "PriorityClass", "training", "trainning", "priority-class-missing"),
        (PLATFORM, "ClusterQueue", "main", "mains", "local-queue-without-cluster-queue"),
        (GANGS, "Queue", "research", "reserch", "gang-without-queue"),
        (PODS, "Queue", "research", "reserch", "pods-without-queue"),
        (TREE, "Queue", "research", "reserch", "queue-not-below-root"),
    ],
)
def test_a_renamed_definition_is_one_finding_at_its_name(tmp_path, text, kind, old, new, rule):
    renamed = f"kind: {kind}\nmetadata: {{name: {old}}}"
    assert renamed in text
    before = [it for it in found(tmp_path, text) if it[0] != "queue-deserves-nothing"]
    slip = text.replace(renamed, renamed.replace(old, new), 1)
    expected = [(rule, f"{kind} {new}", "metadata.name")]
    assert [it for it in found(tmp_path, slip) if it not in before] == expected


def test_a_renamed_local_queue_is_one_finding_in_its_namespace(tmp_path):
    text = PLATFORM.replace("queue-name: a,", "queue-name: main,").replace(
        "{name: a, namespace: vision}", "{name: main, namespace: vision}"
    )
    assert found(tmp_path, text) == []
    renamed = text.replace("name: main, namespace: vision", "name: mian, namespace: vision")
    rule = "workload-without-local-queue"
    assert found(tmp_path, renamed) == [(rule, "LocalQueue vision/mian", "metadata.name")]
    elsewhere = text.replace("name: main, namespace: vision", "name: mian, namespace: speech")
    assert {owner for _, owner, _ in found(tmp_path, elsewhere)} >= {
        "Job vision/one",
        "Job vision/two",
    }


@pytest.mark.parametrize(
    ("old", "new", "field"),
    [
        ("name: a100\n      res", "name: a100x\n      res", "flavors"),
        ("priority-class: batch", "priority-class: bacth", "priority"),
    ],
)
def test_a_misspelled_reference_is_one_finding_there(tmp_path, old, new, field):
    [(_, _, path)] = found(tmp_path, PLATFORM.replace(old, new, 1))
    assert field in path


def test_a_refused_name_of_a_definition_is_reported_once(tmp_path):
    text = PLATFORM.replace("Flavor\nmetadata: {name: a100}", "Flavor\nmetadata: {name: a10O}")
    assert found(tmp_path, text) == [("invalid-name", "ResourceFlavor a10O", "metadata.name")]


@pytest.mark.parametrize(
    ("missing", "defined", "is_renamed"),
    [
        ("a100", "a10o", True),
        ("a100", "a100-80gb", True),
        ("team-vision", "team-visoin", True),
        ("research", "research-queue", True),
        ("a100", "a100-spot", False),
        ("training", "training-low", False),
        ("a100", "h100", False),
        ("l40", "l40s", False),
        ("team-a", "team-b", False),
        ("zone-1", "zone-2", False),
        ("vision.a100", "vision.h100", False),
        ("high", "low", False),
    ],
)
def test_names_that_may_mean_different_objects_are_not_renamed(missing, defined, is_renamed):
    text = (
        f"{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: {defined}}}}}"
    )
    table = facts(text).cluster.priority_classes
    uses = [NameUse(owner, missing, table[0].at) for owner in ("Job a", "Job b")]
    assert bool(renamed_objects(uses, table)) is is_renamed
    assert not renamed_objects(uses[:1], table)
    assert not renamed_objects(uses, table, [defined])
