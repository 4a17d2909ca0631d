"""The pods of TrainJobs, which are those of the JobSet in their runtime.

Source: pkg/controller/jobs/trainjob of Kueue 0.19.2; pkg/runtime of the Kubeflow Trainer 2.2.1.
"""

from collections.abc import Iterable, Iterator, Mapping
from copy import deepcopy
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import At, Path, at_path
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, mappings, text
from policygen.kubernetes.workloads import TRAIN_JOB

GROUP, KIND = TRAIN_JOB
CLUSTER_RUNTIME, RUNTIME = "ClusterTrainingRuntime", "TrainingRuntime"
STEP = "trainer.kubeflow.org/trainjob-ancestor-step"
"""The label with the part that a job of the runtime has."""
TRAINER = "trainer"
INITIALIZERS = ("dataset-initializer", "model-initializer")
JOBS = ("template", "spec", "replicatedJobs")
"""The jobs in the `spec` of a runtime."""
NOT_MODELLED = ("mpi", "flux")
"""Policies of a runtime with other pods."""

_NODE = "node"
_POD = ("template", "spec", "template", "spec")
"""The pod spec in a job of the runtime."""
_COUNTS = (
    ("replicas",),
    ("template", "spec", "parallelism"),
    ("template", "spec", "completions"),
)
_OF_TRAINER = {
    "resources": "resourcesPerNode",
    "image": "image",
    "command": "command",
    "args": "args",
}
"""The fields of container `node` that a TrainJob sets, with their names in `spec.trainer`."""
_PATCHED = ("nodeSelector", "tolerations")
"""The fields of pods in patches that are modelled."""
_FORMER = "podTemplateOverrides"
"""The patches of Kubeflow Trainer 2.1 and older."""


class TrainJobPods(Struct, frozen=True, eq=False):
    """A TrainJob with the pods of its runtime."""

    object: Object
    """With the jobs of the runtime in `spec.replicatedJobs`, as in a JobSet; without if they are not known."""
    runtime: Object | None = None
    unknown: str = ""
    """Why its pods are not known."""

    def written(self, at: At) -> At:
        """The place that decides a field of this object: in the TrainJob, or in its runtime."""
        steps = at.path[len(self.object.at.path) :]
        if self.runtime is None or steps[:2] != ("spec", JOBS[-1]):
            return at
        own = self._own(steps[2:])
        if own is not None:
            return at._replace(path=(*self.object.at.path, "spec", *own))
        document, path, _ = self.runtime.at
        if steps[3:] in _COUNTS and at_path(self.runtime.data, ("spec", "mlPolicy", "numNodes")):
            return At(document, (*path, "spec", "mlPolicy", "numNodes"))
        return at._replace(document=document, path=(*path, "spec", *JOBS, *steps[2:]))

    def _own(self, steps: Path) -> Path | None:
        """The field of the TrainJob that decides a field of its jobs; None: its runtime does."""
        job = at_path(self.object.data, ("spec", JOBS[-1], *steps[:1]))
        written, inner = mapping(self.object.data, "spec", "trainer"), steps[1:]
        if inner[:4] == _POD and inner[4:5] and inner[4] in _PATCHED:
            spec = mapping(self.object.data, "spec")
            patched = any(it and inner[4] in it for it in _patches(spec, text(job, "name")))
            return ("runtimePatches",) if patched else None
        if step_of(job) != TRAINER:
            return None
        if inner in _COUNTS:
            return ("trainer", "numNodes") if "numNodes" in written else None
        if inner[:5] != (*_POD, "containers") or not inner[6:]:
            return None
        container = at_path(job, inner[:6])
        if text(container, "name") != _NODE:
            return None
        if inner[6] == "env" and inner[7:]:
            first = len(mappings(container, "env")) - len(mappings(written, "env"))
            index = int(inner[7]) - first
            return ("trainer", "env", index, *inner[8:]) if index >= 0 else None
        name = _OF_TRAINER.get(str(inner[6]), "")
        return ("trainer", name, *inner[7:]) if written.get(name) else None


def train_job(object_: Object, runtimes: Iterable[Object]) -> TrainJobPods:
    """A TrainJob with its pods. `runtimes`: all ClusterTrainingRuntimes and TrainingRuntimes."""
    kind, name, _ = wanted = runtime_of(object_)
    runtime = next((it for it in runtimes if (it.kind, it.name, it.namespace) == wanted), None)
    if runtime is None:
        return TrainJobPods(object_, unknown=f"its {kind} {name} does not exist")
    policy = mapping(runtime.data, "spec", "mlPolicy")
    if any(it in policy for it in NOT_MODELLED):
        return TrainJobPods(object_, unknown="the mlPolicy of its runtime is not modelled")
    if "volcano" in mapping(runtime.data, "spec", "podGroupPolicy"):
        return TrainJobPods(object_, unknown="the podGroupPolicy of its runtime is not modelled")
    spec = mapping(object_.data, "spec")
    jobs = deepcopy(mappings(runtime.data, "spec", *JOBS))
    for job in jobs:
        patches = [*_patches(spec, text(job, "name"))]
        if _FORMER in spec or None in patches:
            words = "its runtimePatches change its pods, which is not modelled"
            return TrainJobPods(object_, unknown=words)
        _complete(job, spec, policy)
        for patch in patches:
            _patch(job, patch or {})
    made = replace(object_, data={**object_.data, "spec": {**spec, JOBS[-1]: jobs}})
    return TrainJobPods(made, runtime)


def runtime_of(object_: Object) -> tuple[str, str, str]:
    """The kind, name and namespace of the runtime that a TrainJob names."""
    reference = mapping(object_.data, "spec", "runtimeRef")
    kind = text(reference, "kind") or CLUSTER_RUNTIME
    return kind, text(reference, "name"), "" if kind == CLUSTER_RUNTIME else object_.namespace


def step_of(job: Any) -> str:
    """The part that a job of a runtime has; empty: none."""
    return text(job, "template", "metadata", "labels", STEP)


def _complete(job: dict[str, Any], spec: Mapping[str, Any], policy: Mapping[str, Any]) -> None:
    """Write the number of pods, and what the TrainJob sets of the trainer, into a job of the runtime."""
    step, trainer = step_of(job), mapping(spec, "trainer")
    pods = mapping(job, "template", "spec")
    count = pods.get("parallelism", 1)
    if step == TRAINER:
        count = policy.get("numNodes", 1) if policy else count
        count = trainer.get("numNodes", count)
        for container in mappings(pods, "template", "spec", "containers"):
            if container.get("name") == _NODE:
                _set(container, trainer)
    if step == TRAINER or step in INITIALIZERS:
        job["replicas"] = 1
    pods["parallelism"] = pods["completions"] = count


def _set(container: dict[str, Any], trainer: Mapping[str, Any]) -> None:
    for field, name in _OF_TRAINER.items():
        if trainer.get(name):
            container[field] = trainer[name]
    if own := mappings(trainer, "env"):
        names = {it.get("name") for it in own}
        others = [it for it in mappings(container, "env") if it.get("name") not in names]
        container["env"] = [*others, *own]


def _patches(spec: Mapping[str, Any], job: str) -> Iterator[Mapping[str, Any] | None]:
    """What patches change of the pods of a job; None: something that is not modelled."""
    for patch in mappings(spec, "runtimePatches"):
        for it in mappings(patch, "trainingRuntimeSpec", *JOBS):
            if text(it, "name") != job:
                continue
            found: Mapping[str, Any] = it
            for step in _POD:
                if not found.keys() <= {"name", step}:
                    yield None
                found = mapping(found, step)
            selector = found.get("nodeSelector", {})
            is_plain = isinstance(selector, dict) and None not in selector.values()
            yield found if is_plain and found.keys() <= {*_PATCHED} else None


def _patch(job: dict[str, Any], patch: Mapping[str, Any]) -> None:
    """Change pods as a strategic merge patch does: it replaces tolerations."""
    pod = at_path(job, _POD)
    if not isinstance(pod, dict):
        return
    if patch.get("nodeSelector"):
        pod["nodeSelector"] = {**mapping(pod, "nodeSelector"), **patch["nodeSelector"]}
    if patch.get("tolerations"):
        pod["tolerations"] = patch["tolerations"]
