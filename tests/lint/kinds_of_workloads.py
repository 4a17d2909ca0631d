"""A sound platform of Kueue and one of Volcano, and one workload of two pods in every kind."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parent / "kind_manifests"
NODES, KUEUE, VOLCANO = (
    (FOLDER / f"{it}.yaml").read_text("utf-8") for it in ("nodes", "kueue", "volcano")
)
QUEUE, PRIORITY = "kueue.x-k8s.io/queue-name", "kueue.x-k8s.io/priority-class"
Data = dict[str, Any]

# $LABELS and $TEMPLATE are those of the workload and of its pods, $SPEC the spec of its pods, $COUNT their number.
JOB = "{parallelism: $COUNT, completions: $COUNT, completionMode: Indexed, template: $TEMPLATE}"
RAY = """{
  headGroupSpec: {rayStartParams: {}, template: $HEAD},
  workerGroupSpecs: [{groupName: gpus, replicas: $COUNT, minReplicas: $COUNT, maxReplicas: $COUNT,
    rayStartParams: {}, template: $TEMPLATE}]}"""
DEPLOYMENT = """{replicas: $COUNT, strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}},
  selector: {matchLabels: {role: subject}}, template: $TEMPLATE}"""
STATEFUL_SET = """{replicas: $COUNT, serviceName: subject, selector: {matchLabels: {role: subject}},
  template: $TEMPLATE}"""
OF_KUEUE: Mapping[str, tuple[str, str]] = {
    "Pod": ("v1", "$SPEC"),
    "Job": ("batch/v1", JOB),
    "CronJob": (
        "batch/v1",
        (
            "{schedule: 0 2 * * *, timeZone: Etc/UTC, concurrencyPolicy: Forbid, "
            f"jobTemplate: {{metadata: {{labels: $LABELS}}, spec: {JOB}}}}}"
        ),
    ),
    "Deployment": ("apps/v1", DEPLOYMENT),
    "StatefulSet": ("apps/v1", STATEFUL_SET),
    "JobSet": (
        "jobset.x-k8s.io/v1alpha2",
        f"{{replicatedJobs: [{{name: workers, replicas: 1, template: {{spec: {JOB}}}}}]}}",
    ),
    "LeaderWorkerSet": (
        "leaderworkerset.x-k8s.io/v1",
        "{replicas: 1, leaderWorkerTemplate: {size: $COUNT, workerTemplate: $TEMPLATE}}",
    ),
    "RayCluster": ("ray.io/v1", RAY),
    "RayJob": (
        "ray.io/v1",
        f"{{entrypoint: python train.py, submissionMode: HTTPMode, shutdownAfterJobFinishes: true, rayClusterSpec: {RAY}}}",
    ),
    "PyTorchJob": (
        "kubeflow.org/v1",
        "{pytorchReplicaSpecs: {Worker: {replicas: $COUNT, restartPolicy: Never, template: $TEMPLATE}}}",
    ),
    "MPIJob": (
        "kubeflow.org/v2beta1",
        (
            "{mpiReplicaSpecs: {Launcher: {replicas: 1, template: $HEAD}, "
            "Worker: {replicas: $COUNT, template: $TEMPLATE}}}"
        ),
    ),
    "AppWrapper": (
        "workload.codeflare.dev/v1beta2",
        (
            "{components: [{template: {apiVersion: batch/v1, kind: Job, metadata: {name: inner}, "
            f"spec: {JOB}}}}}]}}"
        ),
    ),
}
"""The apiVersion and spec of each kind that Kueue manages."""
OF_VOLCANO: Mapping[str, tuple[str, str]] = {
    "VolcanoJob": (
        "batch.volcano.sh/v1alpha1",
        (
            "{queue: vision, schedulerName: volcano, priorityClassName: low, minAvailable: $COUNT, "
            "tasks: [{name: worker, replicas: $COUNT, template: $TEMPLATE}]}"
        ),
    ),
    "VolcanoPod": ("v1", "$SPEC"),
    "VolcanoDeployment": ("apps/v1", DEPLOYMENT),
    "VolcanoStatefulSet": ("apps/v1", STATEFUL_SET),
    "VolcanoBatchJob": ("batch/v1", JOB),
}
"""The same of workloads for Volcano, whose kinds have other names here."""
_KINDS = {
    "VolcanoJob": "Job",
    "VolcanoPod": "Pod",
    "VolcanoDeployment": "Deployment",
    "VolcanoStatefulSet": "StatefulSet",
    "VolcanoBatchJob": "Job",
}
_GROUP = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: subject, namespace: vision}
spec: {minMember: 2, queue: vision, priorityClassName: low, minResources: {cpu: 24, memory: 200Gi, nvidia.com/gpu: 4}}
"""
ENDING = (
    "Pod",
    "Job",
    "CronJob",
    "JobSet",
    "AppWrapper",
    "VolcanoJob",
    "VolcanoPod",
    "VolcanoBatchJob",
)


class Subject(NamedTuple):
    """What a test changes in a workload."""

    template: Data
    labels: Data
    """Those of the object that names a queue."""
    counts: list[int]
    """One item: the number of pods."""

    @property
    def pods(self) -> Data:
        """The spec of the pods."""
        found: Data = self.template["spec"]
        return found

    @property
    def resources(self) -> Data:
        """The resources of the only container."""
        found: Data = self.pods["containers"][0]["resources"]
        return found

    def request(self, **amounts: object) -> None:
        """Changes amounts of requests and limits; `gpu` stands for the GPUs."""
        for name, amount in amounts.items():
            key = "nvidia.com/gpu" if name == "gpu" else name.replace("_", "-")
            for half in ("requests", "limits"):
                if key != "nvidia.com/gpu" or half == "limits":
                    self.resources[half][key] = amount


def subject(kind: str) -> Subject:
    """The sound workload of a kind: two pods, each with half of a node."""
    amounts = {"cpu": 24, "memory": "200Gi"}
    resources = {"requests": {**amounts}, "limits": {**amounts, "nvidia.com/gpu": 4}}
    name = "pytorch" if kind == "PyTorchJob" else "main"
    pods: Data = {
        "nodeSelector": {"pool": "a100"},
        "tolerations": [{"key": "nvidia.com/gpu", "operator": "Exists", "effect": "NoSchedule"}],
        "containers": [
            {"name": name, "image": "registry.example.com/train:1", "resources": resources}
        ],
    }
    if kind in ENDING:
        pods["restartPolicy"] = "Never"
    template: Data = {"metadata": {"labels": {"role": "subject"}}, "spec": pods}
    if kind not in OF_VOLCANO:
        return Subject(template, {QUEUE: "main", PRIORITY: "low"}, [2])
    if kind != "VolcanoJob":
        pods |= {"schedulerName": "volcano", "priorityClassName": "low"}
        key = (
            "scheduling.k8s.io/group-name"
            if kind == "VolcanoBatchJob"
            else "scheduling.volcano.sh/queue-name"
        )
        value = "subject" if kind == "VolcanoBatchJob" else "vision"
        template["metadata"]["annotations"] = {key: value}
    return Subject(template, {}, [2])


def manifests(kind: str, it: Subject) -> str:
    """The YAML of a platform with other workloads and this one."""
    others = ("nlp", "high", "a100", 2), ("vision", "low", "l4", 1)
    of_volcano = kind in OF_VOLCANO
    texts = [VOLCANO if of_volcano else KUEUE, NODES]
    for i, (team, priority, pool, count) in enumerate(others):
        other = subject("VolcanoJob" if of_volcano else "Job")
        other.pods["nodeSelector"] = {"pool": pool}
        other.request(cpu=24, memory="100Gi")
        other.template["metadata"]["labels"] = {"role": f"other-{i}"}
        other.labels.update({} if of_volcano else {PRIORITY: priority})
        text = _text("VolcanoJob" if of_volcano else "Job", other._replace(counts=[count]))
        text = text.replace(
            "name: subject, namespace: vision", f"name: other-{i}, namespace: {team}"
        )
        texts.append(
            text.replace("queue: vision", f"queue: {team}").replace(
                "Name: low", f"Name: {priority}"
            )
        )
    return "---\n".join([*texts, _text(kind, it)])


def _text(kind: str, it: Subject) -> str:
    api_version, spec = {**OF_KUEUE, **OF_VOLCANO}[kind]
    metadata = it.template["metadata"]
    labels = {} if kind == "CronJob" else {**it.labels}
    annotations = {}
    if kind in ("Pod", "VolcanoPod"):
        labels |= metadata["labels"]
        annotations = metadata.get("annotations", {})
    amounts = {"cpu": 4, "memory": "16Gi"}
    head = {**it.pods["containers"][0], "resources": {"requests": amounts, "limits": amounts}}
    words = {
        "$LABELS": it.labels,
        "$TEMPLATE": it.template,
        "$SPEC": it.pods,
        "$COUNT": it.counts[0],
        "$HEAD": {"spec": {**subject(kind).pods, "containers": [head]}},
    }
    for word, value in words.items():
        spec = spec.replace(word, json.dumps(value))
    text = (
        f"apiVersion: {api_version}\nkind: {_KINDS.get(kind, kind)}\n"
        "metadata: {name: subject, namespace: vision, "
        f"labels: {json.dumps(labels)}, annotations: {json.dumps(annotations)}}}\nspec: {spec}\n"
    )
    return text + (_GROUP if kind == "VolcanoBatchJob" else "")
