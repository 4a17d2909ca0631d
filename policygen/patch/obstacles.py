"""Why an object cannot run its model: its kind, or fields of another queue or scheduler."""

from policygen.core.finding import Fault, Path
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE, POD_GROUP, VOLCANO_QUEUE
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import pod_templates
from policygen.patch.draft import Draft
from policygen.patch.model_finder import RunModel

_KUEUE = (LOCAL_QUEUE, PRIORITY)
_VOLCANO = (VOLCANO_QUEUE, POD_GROUP)
_RUN_AS = {
    "vcjob": (VOLCANO_BATCH, "Job", "a Job of Volcano"),
    "lws": ("leaderworkerset.x-k8s.io", "LeaderWorkerSet", "a LeaderWorkerSet"),
    "job": ("batch", "Job", "a Job"),
}
"""Group, kind and name of the objects of a gang of Volcano, by `gang.runAs`."""


def is_volcano_job(object_: Object) -> bool:
    """Whether an object is a Job of Volcano."""
    return (object_.group, object_.kind) == (VOLCANO_BATCH, "Job")


def kind_fault(object_: Object, run: RunModel) -> Fault | None:
    """Why a kind of object cannot run a model on its pool; None if it can."""
    facts, gang = run.assignment.facts, run.assignment.model.gang
    at: Path = ("kind",)
    if object_.kind == "DaemonSet":
        return (
            at,
            "a DaemonSet runs a pod on every node, so it runs no model; write a Deployment or a Job",
        )
    is_volcanos = is_volcano_job(object_)
    if is_volcanos and facts.scheduler != "volcano":
        return at, (
            f'Volcano starts the pods of its Jobs, but pool "{facts.name}" has scheduler: '
            f"{facts.scheduler}; write a Job of batch/v1"
        )
    if gang is None or facts.scheduler != "volcano":
        return None
    if gang.run_as not in _RUN_AS:
        if not is_volcanos:
            return None
        return at, (
            f"Volcano makes a PodGroup for its Job, but the spec renders those of model "
            f'"{run.model}"; write gang.runAs: vcjob in the model'
        )
    group, kind, name = _RUN_AS[gang.run_as]
    if (object_.group, object_.kind) == (group, kind):
        return None
    return at, (
        f'this is a {object_.kind} of {object_.api_version}, but model "{run.model}" has gang.runAs: '
        f"{gang.run_as}, so it runs as {name}; change one of them"
    )


def forbid(draft: Draft, object_: Object, run: RunModel) -> None:
    """Add faults for fields of another queue or scheduler than those of the model."""
    facts = run.assignment.facts
    needed = {field.name: field.value for field in run.needed.fields}
    templates = [path for path, _ in pod_templates(object_)]
    holders = dict.fromkeys([("metadata",), *((*it, "metadata") for it in templates)])
    if object_.kind == "CronJob":
        holders["spec", "jobTemplate", "metadata"] = None
    reason = f"pool {quoted(facts.name)} has scheduler: {facts.scheduler}"
    for holder in holders:
        for key in _KUEUE:
            known = [needed[key]] if key in needed else []
            why = f"{run.who} need {known[0]}" if known else reason
            draft.forbid((*holder, "labels", key), why, known)
            draft.forbid((*holder, "annotations", key), why, known)
        if facts.scheduler != "volcano":
            for key in _VOLCANO:
                draft.forbid((*holder, "annotations", key), reason)
    specs = [(*it, "spec") for it in templates]
    for spec in specs:
        draft.forbid((*spec, "nodeName"), "then no scheduler places the pod")
    if "schedulerName" not in needed and not is_volcano_job(object_):
        for spec in specs:
            draft.forbid((*spec, "schedulerName"), reason, (DEFAULT_SCHEDULER,))
