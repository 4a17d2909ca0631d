"""A fault in a sound set of manifests has one finding, whose remedy leads to a sound set."""

import re

import pytest
import yaml

from policygen.core.rule import Severity
from tests.examples_of_rules import examples
from tests.lint.test_team_manifests import (
    MANIFESTS,
    RENDERED,
    TOLERATIONS,
    Fault,
    edited,
    findings,
)

NAMESPACES = "".join(
    f"---\napiVersion: v1\nkind: Namespace\nmetadata: {{name: {name}}}\n"
    for name in ("nlp", "search", "vision")
)
TAINT = "      tolerations:\n"
SPREAD = """\
      topologySpreadConstraints:
        - maxSkew: 1
          minDomains: 4
          topologyKey: kubernetes.io/hostname
          whenUnsatisfiable: DoNotSchedule
          labelSelector:
            matchLabels: {app: notebooks}
"""
RERANKER, NOTEBOOKS, PRETRAIN = "search/reranker.yaml", "vision/notebooks.yaml", "nlp/pretrain.yaml"
CONTAINERS, RESOURCES = "      containers:\n", "nvidia.com/gpu: 1\n"
RESOURCE = "nvidia.com/gpu"
CRON = """\
  namespace: nlp
spec:
  schedule: "30 2 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata:
      labels:
        kueue.x-k8s.io/queue-name: a100
        kueue.x-k8s.io/priority-class: batch
    spec:
      suspend: true
      template:
        spec:
          restartPolicy: Never
          nodeSelector: {gpu-type: a100}
          tolerations:
            - {key: nvidia.com/gpu, operator: Exists}
"""
MISPLACED = """\
  namespace: nlp
  labels:
    kueue.x-k8s.io/queue-name: a100
spec:
  schedule: "30 2 * * *"
  concurrencyPolicy: Forbid
  jobTemplate:
    metadata:
      labels:
        kueue.x-k8s.io/priority-class: batch
    spec:
      suspend: true
      template:
        spec:
          restartPolicy: Never
"""
ALL_MISPLACED = MISPLACED.replace(
    "a100\nspec", "a100\n    kueue.x-k8s.io/priority-class: batch\nspec"
).replace(
    "    metadata:\n      labels:\n        kueue.x-k8s.io/priority-class: batch\n    spec:\n      suspend",
    "    spec:\n      suspend",
)
LAUNCHER = """\
          restartPolicy: OnFailure
          nodeSelector:
            gpu-type: h100
"""
FIRST = """\
          containers:
            - name: launcher
"""
FAULTS = {
    "kind in lower case": Fault("nlp/finetune.yaml", "kind: Job", "kind: job", "api-version-not-served", 3, 'did you mean "Job"?'),
    "Job of Volcano in batch/v1": Fault(PRETRAIN, "batch.volcano.sh/v1alpha1", "batch/v1", "api-version-not-served", 2, "write apiVersion: batch.volcano.sh/v1alpha1"),
    "Job in the core group": Fault("nlp/finetune.yaml", "apiVersion: batch/v1", "apiVersion: v1", "api-version-not-served", 2, "write apiVersion: batch/v1"),
    "queue that is a number": Fault(RERANKER, "queue-name: l4", "queue-name: 4", "wrong-type", 8, "put the value in quotes"),
    "case of a strategy": Fault(RERANKER, "type: RollingUpdate", "type: rollingUpdate", "unsupported-value", 16, 'did you mean "RollingUpdate"?'),
    "pods without GPUs on tainted nodes": Fault("vision/diffusion.yaml", LAUNCHER + TOLERATIONS + FIRST, LAUNCHER + FIRST, "pod-fits-no-node", 25, "add a toleration for this taint"),
    "labels of a CronJob in the wrong place": Fault("nlp/evaluate.yaml", CRON, ALL_MISPLACED, "queue-name-misplaced", 8, "move the labels to spec.jobTemplate.metadata.labels"),
    "number that queue and nodes lack": Fault("vision/notebooks.yaml", "replicas: 6", "replicas: 200", "workload-exceeds-quota", 11, "run fewer pods, or raise the quota"),
    "GPUs that queue and nodes lack": Fault(PRETRAIN, "nvidia.com/gpu: 8", "nvidia.com/gpu: 32", "gang-exceeds-queue", 38, "; request at most 8 nvidia.com/gpu in a pod"),
    "memory that queue and nodes lack": Fault("nlp/finetune.yaml", "memory: 480Gi", "memory: 20Ti", "workload-exceeds-quota", 31, "; request at most 1130891Mi of memory in a pod"),
    "scheduler of Volcano in a queue of Kueue": Fault(RERANKER, TAINT, f"      schedulerName: volcano\n{TAINT}", "two-schedulers-one-pool", 33, "write schedulerName: default-scheduler"),
    "case of a resource": Fault(PRETRAIN, "nvidia.com/gpu: 8", "nvidia.com/GPU: 8", "resource-name-misspelt", 41, 'did you mean "nvidia.com/gpu"?'),
    "domain of a resource in upper case": Fault("nlp/finetune.yaml", f"              {RESOURCE}: 4\n            limits:\n              memory: 480Gi\n              {RESOURCE}: 4", "              Farm.io/gpu: 4\n            limits:\n              memory: 480Gi\n              Farm.io/gpu: 4", "container-resource-refused", 35, "such as nvidia.com/gpu"),
    "case of a queue of Volcano": Fault(PRETRAIN, "queue: nlp.h100", "queue: nlp.H100", "invalid-value", 9, 'did you mean "nlp.h100"?'),
    "queue of a CronJob in the wrong place": Fault("nlp/evaluate.yaml", CRON, MISPLACED, "queue-name-misplaced", 8, "move the label to spec.jobTemplate.metadata.labels"),
    "half a GPU": Fault(RERANKER, RESOURCES, 'nvidia.com/gpu: "0.5"\n', "gpu-amount-fractional", 54, "share GPUs by MIG or time-slicing"),
    "too many GPUs for a quantity": Fault(RERANKER, f"              {RESOURCES}            limits:\n              memory: 32Gi\n              {RESOURCES}", f"              nvidia.com/gpu: {10**39}\n", "malformed-object", 48, "write at most 9223372036854775807"),
    "case of a label key": Fault(PRETRAIN, "gpu-type: h100", "gpu-Type: h100", "pod-fits-no-node", 25, "write gpu-type in nodeSelector"),
    "name of a ClusterQueue": Fault(RERANKER, "queue-name: l4", "queue-name: search.l4", "workload-without-local-queue", 8, "search.l4 is the ClusterQueue; write l4"),
    "namespace misspelt": Fault("vision/segmentation.yaml", "namespace: vision", "namespace: visoin", "namespace-missing", 6, 'did you mean "vision"?'),
    "minDomains above the nodes": Fault(NOTEBOOKS, TAINT, SPREAD + TAINT, "replicas-exceed-nodes", 23, "minDomains is 4, but only 2 nodes can take them; write minDomains: 2"),
    "maxSkew of 0": Fault(NOTEBOOKS, TAINT, SPREAD.replace("maxSkew: 1", "maxSkew: 0") + TAINT, "pod-field-refused", 23, "write at least 1"),
    "unit of a MIG resource in a quota": Fault("nlp/quota.yaml", "requests.storage: 20Ti", 'requests.nvidia.com/mig-1g.5g: "8"', "gpu-quota-counts-nothing", 9, "write requests.nvidia.com/mig-1g.5gb"),
}  # fmt: skip


def _found(folder, *faults):
    edited(folder, faults)
    (folder / "namespaces.yaml").write_text(NAMESPACES, "utf-8")
    return findings(folder, "spec", "")


def test_the_set_is_sound_with_namespaces(tmp_path):
    assert len(list(MANIFESTS.rglob("*.yaml"))) == 20
    assert not _found(tmp_path / "manifests")


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_has_one_finding_with_its_remedy(name, tmp_path):
    fault = FAULTS[name]
    found = _found(tmp_path / "manifests", fault)
    assert [it[:3] for it in found] == [(fault.file, fault.line, fault.rule)], found
    assert found[0][-1].endswith(fault.remedy), found


@pytest.mark.parametrize(
    ("file", "old", "new"),
    [
        ("vision/diffusion.yaml", "memory: 700Gi", "memory: 1200Gi"),
        ("nlp/finetune.yaml", "memory: 480Gi", "memory: 2Ti"),
        (PRETRAIN, "memory: 1500Gi", "memory: 3Ti"),
    ],
)
def test_the_largest_amount_that_a_remedy_names_fits(file, old, new, tmp_path):
    [(*_, message)] = _found(tmp_path / "first", Fault(file, old, new, "", 0, ""))
    amount = re.findall(r"([0-9]+Mi) of memory", message)[-1]
    assert not _found(tmp_path / "second", Fault(file, old, f"memory: {amount}", "", 0, ""))


def test_a_gang_above_its_queue_has_one_finding_for_all_resources(tmp_path):
    file = "vision/diffusion.yaml"
    gang = Fault(file, "minAvailable: 5", "minAvailable: 41", "", 0, "")
    pods = Fault(file, "replicas: 4", "replicas: 40", "", 0, "")
    found = _found(tmp_path / "manifests", gang, pods)
    [message] = [it[-1] for it in found if it[2] == "gang-exceeds-queue"]
    assert "needs 160 nvidia.com/gpu, 3202 cores and " in message


def test_a_queue_with_the_resource_of_another_pool_is_reported_and_not_its_jobs(tmp_path):
    rendered = list(yaml.safe_load_all(RENDERED.read_text("utf-8")))
    [queue] = [it for it in rendered if it["metadata"]["name"] == "vision.slices"]
    [group] = queue["spec"]["resourceGroups"]
    group["coveredResources"] = ["cpu", "memory", "nvidia.com/gpu"]
    quotas = {"cpu": 96, "memory": "1000Gi", "nvidia.com/gpu": 16}
    [flavor] = group["flavors"]
    flavor["resources"] = [{"name": it, "nominalQuota": quotas[it]} for it in quotas]
    folder = edited(tmp_path / "manifests", [])
    (folder / "queue.yaml").write_text(yaml.safe_dump(queue), "utf-8")
    found = [it for it in findings(folder, "spec", "") if it[2] == "request-not-covered"]
    assert {it[0] for it in found} == {"queue.yaml"}, found
    assert "but pool slices offers nvidia.com/mig-" in found[0][-1]


@pytest.mark.parametrize(
    ("rule", "number", "words"),
    [
        ("gang-exceeds-queue", 3, "lower minResources, which is above the requests of the pods"),
        ("guarantee-above-deserved", 3, "lower the guarantee to at most 4"),
        ("priority-class-missing", 2, 'did you mean "research-normal"?'),
        ("queue-in-unmanaged-namespace", 2, "select namespace vision in managedJobsNamespaceSelector"),
        ("request-not-covered", 1, "add it to coveredResources"),
        ("topology-domain-too-small", 1, "require a wider level"),
        ("unknown-field", 4, "write them in guarantee.resource"),
        ("volcano-key-ignored", 4, "move it into arguments"),
        ("workload-in-default-queue", 1, "of the Deployment itself, which has no effect"),
    ],
)  # fmt: skip
def test_a_cause_with_several_consequences_has_one_finding(lint, rule, number, words):
    example = examples(rule, good=False)[number]
    found = lint(example.text, partial="partial" in example.options).findings
    [message] = (it.message for it in found if it.rule.severity is not Severity.INFO)
    assert words in message
