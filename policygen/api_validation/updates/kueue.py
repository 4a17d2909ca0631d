"""Changes that Kueue's webhooks refuse: pod sets of Workloads, and labels of jobs.

Source: pkg/webhooks and pkg/controller/job{framework,s} of kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping

from policygen.api_validation.fields import mapping, mappings
from policygen.api_validation.updates.states import Data
from policygen.api_validation.updates.update import (
    KEEP,
    RECREATE,
    ObjectUpdate,
    RefusedChange,
    condition,
    group_kind,
)
from policygen.core.finding import Path, at_path


def workload(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals about a Workload."""
    if condition(update.old, "QuotaReserved"):
        why = "podSets are immutable while the Workload has its quota reserved"
        yield from update.refused(("spec", "podSets"), why, KEEP)


_LABELS: Path = ("metadata", "labels")
_QUEUE = "kueue.x-k8s.io/queue-name"
_CLASS = "kueue.x-k8s.io/priority-class"
_TIME = "kueue.x-k8s.io/max-exec-time-seconds"
_KUEUE_LABELS = (_QUEUE, _CLASS, _TIME, "kueue.x-k8s.io/prebuilt-workload-name")
_SERVING = {
    ("apps", "Deployment"),
    ("apps", "StatefulSet"),
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"),
}
"""Kinds that Kueue counts as suspended while no replica is ready."""
SUSPEND_FIELDS: Mapping[tuple[str, str], Path] = {
    ("batch", "Job"): ("spec", "suspend"),
    ("jobset.x-k8s.io", "JobSet"): ("spec", "suspend"),
    ("ray.io", "RayJob"): ("spec", "suspend"),
    ("ray.io", "RayCluster"): ("spec", "suspend"),
    ("trainer.kubeflow.org", "TrainJob"): ("spec", "suspend"),
    ("workload.codeflare.dev", "AppWrapper"): ("spec", "suspend"),
    **{
        ("kubeflow.org", kind): ("spec", "runPolicy", "suspend")
        for kind in ("MPIJob", "TFJob", "PyTorchJob", "PaddleJob", "XGBoostJob", "JAXJob")
    },
}
"""The field by which Kueue suspends jobs, by kind."""


def _is_gated(pod: Data) -> bool:
    """Whether Kueue holds a Pod back, or the Pod has ended."""
    gates = [it.get("name") for it in mappings(pod, "spec", "schedulingGates")]
    ended = at_path(pod, ("status", "phase")) in {"Succeeded", "Failed"}
    return ended or "kueue.x-k8s.io/admission" in gates


def labels(update: ObjectUpdate) -> Iterator[RefusedChange]:
    """The refusals of Kueue about labels of a job."""
    old, new = (mapping(it, *_LABELS) for it in (update.old, update.new))
    changed = [it for it in _KUEUE_LABELS if (old.get(it) or "") != (new.get(it) or "")]
    if not changed:
        return
    kind = group_kind(update.old)
    serving = kind in _SERVING
    if serving:
        suspended = was = not at_path(update.old, ("status", "readyReplicas"))
        remedy = "scale the object to 0 replicas first, or keep the old value"
    elif kind in SUSPEND_FIELDS:
        field = SUSPEND_FIELDS[kind]
        suspended, was = (at_path(it, field) is True for it in (update.new, update.old))
        remedy = "suspend the job first, or keep the old value"
    elif kind == ("", "Pod"):
        suspended, was = (_is_gated(it) for it in (update.new, update.old))
        remedy = RECREATE
    else:
        return
    for label in changed:
        name, gone = label.rpartition("/")[2], not new.get(label)
        path = (*_LABELS, label)
        if gone and (label == _CLASS or (label == _QUEUE and serving)):
            yield RefusedChange(path, f"Kueue does not let the label {name} be removed", KEEP)
        elif label == _CLASS:
            if not old.get(label) and not suspended:
                why = f"Kueue lets the label {name} be added only to a suspended job"
                yield RefusedChange(path, why, remedy)
        elif (label == _QUEUE or not serving) and not (suspended and (was or label != _TIME)):
            why = f"Kueue lets the label {name} change only while the job is suspended"
            yield RefusedChange(path, why, remedy)
