"""Twenty files of three teams beside their spec: sound as they are, and each fault is reported once."""

import random
import shutil
from datetime import date
from pathlib import Path
from typing import NamedTuple

import pytest
import yaml

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.core.rule import Severity

EXAMPLE = Path(__file__).parents[2] / "examples" / "team-manifests"
SPEC, MANIFESTS = str(EXAMPLE / "policy.yaml"), EXAMPLE / "manifests"
RENDERED = EXAMPLE / "expected" / "manifests.yaml"
COMBINATIONS, SIX = 30, 6
INPUTS = "spec", "nodes", "both"
TODAY = date(2026, 11, 22)

TOLERATIONS = """\
          tolerations:
            - key: nvidia.com/gpu
              operator: Exists
              effect: NoSchedule
"""
WORKER = """\
          containers:
            - name: worker
"""
MASTER = """\
      replicas: 1
      restartPolicy: OnFailure
      template:
        spec:
          nodeSelector:
            gpu-type: a100
"""
TAINT = "add a toleration for this taint"
QUEUE = "kueue.x-k8s.io/queue-name"


class Fault(NamedTuple):
    """An edit of one file, and the finding that it causes."""

    file: str
    old: str
    new: str
    rule: str
    line: int
    remedy: str
    """The end of the message."""


FAULTS = {
    # Labels and taints of nodes.
    "case of a label, Job": Fault("nlp/finetune.yaml", "gpu-type: a100", "gpu-type: A100", "workload-fits-no-flavor", 18, "gpu-type is a100, not A100); write gpu-type: a100 in nodeSelector, or change the flavor"),
    "case of a label, Volcano Job": Fault("nlp/pretrain.yaml", "gpu-type: h100", "gpu-type: H100", "pod-fits-no-node", 25, "have gpu-type=h100, not H100; write h100 in nodeSelector, or label the nodes"),
    "case of a label, affinity": Fault("search/reranker.yaml", "values: [l4]", "values: [L4]", "workload-fits-no-flavor", 32, "gpu-type is l4, not L4); write l4 in nodeAffinity, or change the flavor"),
    "label, JobSet": Fault("nlp/sweep.yaml", "gpu-type: a100", "gpu-type: a-100", "workload-fits-no-flavor", 24, "gpu-type is a100, not a-100); write gpu-type: a100 in nodeSelector, or change the flavor"),
    "label, RayJob": Fault("vision/labeling.yaml", "gpu-type: a100", "gpu-type: a1OO", "workload-fits-no-flavor", 44, "gpu-type is a100, not a1OO); write gpu-type: a100 in nodeSelector, or change the flavor"),
    "label of one role, PyTorchJob": Fault("vision/segmentation.yaml", MASTER, MASTER.replace("a100", "A100"), "workload-fits-no-flavor", 21, "gpu-type is a100, not A100); write gpu-type: a100 in nodeSelector, or change the flavor"),
    "label of another pool, StatefulSet": Fault("vision/notebooks.yaml", "gpu-type: a100-mig", "gpu-type: a100", "workload-fits-no-flavor", 21, "gpu-type is a100-mig, not a100); write gpu-type: a100-mig in nodeSelector, or change the flavor"),
    "no toleration": Fault("nlp/pretrain.yaml", TOLERATIONS, "", "pod-fits-no-node", 22, TAINT),
    "no toleration of one task": Fault("vision/diffusion.yaml", TOLERATIONS + WORKER, WORKER, "pod-fits-no-node", 43, TAINT),
    "toleration of another key": Fault("nlp/pretrain.yaml", "key: nvidia.com/gpu", "key: nvidia.com/gpus", "pod-fits-no-node", 27, "write key: nvidia.com/gpu"),
    "toleration of another effect": Fault("vision/diffusion.yaml", f"effect: NoSchedule\n{WORKER}", f"effect: NoExecute\n{WORKER}", "pod-fits-no-node", 50, "write effect: NoSchedule"),
    # Resources of nodes.
    "MIG resource misspelt": Fault("vision/notebooks.yaml", "nvidia.com/mig-1g.5gb: 1", "nvidia.com/mig-1g.5g: 1", "request-not-covered", 36, 'did you mean "nvidia.com/mig-1g.5gb"?'),
    "MIG resource with a dash": Fault("vision/detector.yaml", "mig-2g.10gb", "mig-2g-10gb", "request-not-covered", 39, 'did you mean "nvidia.com/mig-2g.10gb"?'),
    "MIG profile that no card has": Fault("search/embeddings.yaml", "mig-1g.5gb", "mig-1g.10gb", "request-not-covered", 32, 'did you mean "nvidia.com/mig-2g.10gb"?'),
    "GPU on MIG nodes": Fault("vision/detector.yaml", "nvidia.com/mig-2g.10gb: 1", "nvidia.com/gpu: 1", "request-not-covered", 39, f"set label {QUEUE}: a100, which covers it, or request nvidia.com/mig-1g.5gb, nvidia.com/mig-2g.10gb or nvidia.com/mig-3g.20gb"),
    "GPU misspelt": Fault("nlp/pretrain.yaml", "nvidia.com/gpu: 8", "nvidia.com/gpus: 8", "resource-name-misspelt", 41, 'did you mean "nvidia.com/gpu"?'),
    "GPU misspelt, Kueue": Fault("nlp/finetune.yaml", "nvidia.com/gpu: 4", "nvidia.com/gpus: 4", "resource-name-misspelt", 35, 'did you mean "nvidia.com/gpu"?'),
    "GPU of another vendor": Fault("nlp/finetune.yaml", "nvidia.com/gpu: 4", "amd.com/gpu: 4", "request-not-covered", 32, 'did you mean "nvidia.com/gpu"?'),
    "more GPUs than a node has": Fault("nlp/finetune.yaml", "nvidia.com/gpu: 4", "nvidia.com/gpu: 16", "pod-fits-no-node", 32, "use more pods with at most 8 nvidia.com/gpu each"),
    "more cpu than a node has": Fault("nlp/pretrain.yaml", 'cpu: "160"', 'cpu: "200"', "pod-fits-no-node", 36, "request at most 191.45 cores, or add larger nodes"),
    "more memory than a node has": Fault("nlp/finetune.yaml", "memory: 480Gi", "memory: 2Ti", "pod-fits-no-node", 31, "request at most 1130891Mi of memory (565445Mi of memory to leave no GPU unused), or add larger nodes"),
    "GPUs that do not divide a node": Fault("nlp/pretrain.yaml", "nvidia.com/gpu: 8", "nvidia.com/gpu: 6", "gpus-left-unusable", 38, "request a number of GPUs that divides 8, such as 8"),
    "memory that leaves GPUs": Fault("vision/diffusion.yaml", "memory: 700Gi", "memory: 1200Gi", "gpus-left-unusable", 57, "request at most 1007997Mi of memory in each pod"),
    # Numbers of pods.
    "replicas, Deployment": Fault("search/reranker.yaml", "replicas: 4", "replicas: 20", "replicas-exceed-queue", 11, "set replicas to 8, because LeaderWorkerSet search/answers also needs these nodes"),
    "replicas, LeaderWorkerSet": Fault("search/answers.yaml", "replicas: 1", "replicas: 3", "replicas-exceed-queue", 11, "set replicas to 1, because Deployment search/reranker also needs these nodes"),
    "replicas, Volcano Job": Fault("vision/diffusion.yaml", "replicas: 4", "replicas: 12", "replicas-exceed-nodes", 41, "lower the number or the requests of the pods, or add nodes"),
    "parallelism": Fault("search/embeddings.yaml", "parallelism: 8", "parallelism: 64", "workload-exceeds-quota", 12, "run fewer pods, or raise the quota"),
    # Queues.
    "no queue, Job": Fault("nlp/finetune.yaml", f"    {QUEUE}: a100\n", "", "workload-names-no-queue", 7, f"set label {QUEUE}: a100"),
    "no queue, CronJob": Fault("nlp/evaluate.yaml", f"        {QUEUE}: a100\n", "", "workload-names-no-queue", 12, f"in spec.jobTemplate.metadata.labels, set label {QUEUE}: a100"),
    "no queue, JobSet": Fault("nlp/sweep.yaml", f"    {QUEUE}: a100\n", "", "workload-names-no-queue", 7, f"set label {QUEUE}: a100"),
    "no queue, RayJob": Fault("vision/labeling.yaml", f"    {QUEUE}: a100\n", "", "workload-names-no-queue", 7, f"set label {QUEUE}: a100"),
    "no queue, PyTorchJob": Fault("vision/segmentation.yaml", f"    {QUEUE}: a100\n", "", "workload-names-no-queue", 7, f"set label {QUEUE}: a100"),
    "no queue, Deployment": Fault("search/reranker.yaml", f"    {QUEUE}: l4\n", "", "workload-names-no-queue", 7, f"set label {QUEUE}: l4"),
    "no queue, StatefulSet": Fault("vision/notebooks.yaml", f"  labels:\n    {QUEUE}: slices\n", "", "workload-names-no-queue", 4, f"set label {QUEUE}: slices"),
    "queue misspelt": Fault("nlp/finetune.yaml", f"{QUEUE}: a100", f"{QUEUE}: a1000", "workload-without-local-queue", 8, 'did you mean "a100"?'),
    "queue of another pool": Fault("vision/detector.yaml", f"{QUEUE}: slices", f"{QUEUE}: a100", "request-not-covered", 39, f"set label {QUEUE}: slices, which covers it, or request nvidia.com/gpu"),
    "queue as annotation": Fault("vision/segmentation.yaml", f"  labels:\n    {QUEUE}", f"  annotations:\n    {QUEUE}: a100\n  labels:\n    example.com/queue", "queue-name-misplaced", 8, "move the label to metadata.labels"),
    "queue misspelt, Volcano Job": Fault("nlp/pretrain.yaml", "queue: nlp.h100", "queue: nlp-h100", "gang-without-queue", 9, 'did you mean "nlp.h100"?'),
    "parent queue": Fault("nlp/pretrain.yaml", "queue: nlp.h100", "queue: h100", "job-in-non-leaf-queue", 9, "use a queue below h100"),
    # Schedulers, gangs and priorities.
    "scheduler misspelt": Fault("nlp/pretrain.yaml", "schedulerName: volcano", "schedulerName: volcanoo", "scheduler-name-misspelt", 8, 'did you mean "volcano"?'),
    "case of a scheduler": Fault("vision/diffusion.yaml", "schedulerName: volcano", "schedulerName: Volcano", "scheduler-name-misspelt", 8, 'did you mean "volcano"?'),
    "no gang": Fault("nlp/pretrain.yaml", "minAvailable: 2", "minAvailable: 1", "ranks-not-gang-scheduled", 11, "set minAvailable to 2"),
    "priority misspelt": Fault("nlp/evaluate.yaml", "priority-class: batch", "priority-class: batsh", "workload-priority-class-missing", 14, 'did you mean "batch"?'),
    "autoscaler of nothing": Fault("search/gateway-scaling.yaml", "    name: gateway", "    name: gatewy", "autoscaler-without-target", 11, 'did you mean "gateway"?'),
}  # fmt: skip

NODES = {
    "h100": (4, {"cpu": "191450m", "memory": "1969Gi", "nvidia.com/gpu": 8}),
    "a100": (4, {"cpu": "95690m", "memory": "1105Gi", "nvidia.com/gpu": 8}),
    "l4": (4, {"cpu": "47810m", "memory": "179Gi", "nvidia.com/gpu": 4}),
    "a100-mig": (2, {"cpu": "95690m", "memory": "1105Gi", "nvidia.com/mig-1g.5gb": 16, "nvidia.com/mig-2g.10gb": 8, "nvidia.com/mig-3g.20gb": 8}),
    "": (3, {"cpu": "31500m", "memory": "120Gi"}),
}  # fmt: skip
"""The nodes by `gpu-type`: their number, and what each has. The last ones have no GPUs."""


WITH_NODES = {
    "GPU misspelt": ("nlp/pretrain.yaml", 38, "pod-fits-no-node"),
    "GPU misspelt, Kueue": ("nlp/finetune.yaml", 32, "request-not-covered"),
}
"""The findings that differ if the nodes are known: then a name is not only unusual, but offered by no node."""


@pytest.fixture(scope="module")
def nodes(tmp_path_factory):
    """A file with the nodes as manifests."""
    taint = {"key": "nvidia.com/gpu", "value": "present", "effect": "NoSchedule"}
    documents = [
        {
            "apiVersion": "v1",
            "kind": "Node",
            "metadata": {"name": f"{kind or 'cpu'}-{i}", "labels": {"gpu-type": kind or "none"}},
            "spec": {"taints": [taint]} if kind else {},
            "status": {"allocatable": {**amounts, "pods": 110}},
        }
        for kind, (count, amounts) in NODES.items()
        for i in range(count)
    ]
    path = tmp_path_factory.mktemp("nodes") / "nodes.yaml"
    path.write_text(yaml.safe_dump_all(documents), "utf-8")
    return str(path)


def edited(folder, faults):
    shutil.copytree(MANIFESTS, folder)
    for it in faults:
        path = folder / it.file
        text = path.read_text("utf-8")
        assert it.old in text, it
        path.write_text(text.replace(it.old, it.new), "utf-8")
    return folder


def findings(folder, inputs, nodes):
    """The findings above info, with the place of each: file, line, rule and message."""
    more = {"spec": [], "nodes": [str(RENDERED), nodes], "both": [nodes]}[inputs]
    request = LintRequest(
        specs=() if inputs == "nodes" else (SPEC,), manifests=(str(folder), *more)
    )
    return sorted(
        (it.place.file.removeprefix(f"{folder}/"), it.place.line, it.rule.name, it.message)
        for it in app_lint.lint(request, today=TODAY).findings
        if it.severity != Severity.INFO
    )


def told(found):
    return [each[:3] for each in found]


@pytest.mark.parametrize("inputs", INPUTS)
def test_sound_manifests_have_no_finding(inputs, nodes):
    assert len(list(MANIFESTS.rglob("*.yaml"))) == 20
    assert findings(MANIFESTS, inputs, nodes) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_once(name, tmp_path, nodes):
    fault = FAULTS[name]
    folder = edited(tmp_path / "manifests", [fault])
    found = findings(folder, "spec", nodes)
    assert told(found) == [(fault.file, fault.line, fault.rule)], found
    assert found[0][-1].endswith(fault.remedy), found


@pytest.mark.parametrize("seed", range(COMBINATIONS))
def test_six_faults_are_six_findings(seed, tmp_path, nodes):
    draw = random.Random(seed)
    inputs = INPUTS[seed % len(INPUTS)]
    files = draw.sample(sorted({it.file for it in FAULTS.values()}), SIX)
    faults = {
        name: FAULTS[name]
        for file in files
        for name in [draw.choice([name for name, it in FAULTS.items() if it.file == file])]
    }
    want = {name: (it.file, it.line, it.rule) for name, it in faults.items()}
    if inputs != "spec":
        want |= {name: WITH_NODES[name] for name in WITH_NODES.keys() & faults.keys()}
    found = findings(edited(tmp_path / "manifests", faults.values()), inputs, nodes)
    assert told(found) == sorted(want.values()), found


def test_faults_are_reported_from_standard_input(policygen):
    texts = {path: path.read_text("utf-8") for path in sorted(MANIFESTS.rglob("*.yaml"))}
    done = policygen("lint", "--manifests", "-", SPEC, given="".join(texts.values()))
    assert (done.returncode, "warning" in done.stdout) == (0, False)
    fault = FAULTS["case of a label, Volcano Job"]
    texts[MANIFESTS / fault.file] = texts[MANIFESTS / fault.file].replace(fault.old, fault.new)
    text = "".join(texts.values())
    done = policygen("lint", "--manifests", "-", SPEC, given=text)
    line = text.splitlines().index(f"            {fault.new}") + 1
    assert f"<stdin>:{line}:" in done.stdout
    assert done.stdout.count("pod-fits-no-node") == 1
