"""Why an object cannot run its model: its kind, or fields of another queue or scheduler."""

from policygen.core.finding import Fault, Path
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE, POD_GROUP, VOLCANO_QUEUE
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import pod_templates
from policygen.patch.draft import Draft
from policygen.patch.model_finder import RunModel
from policygen.plan.workload import forms
from policygen.plan.workload.forms import WorkloadForm

_KUEUE = (LOCAL_QUEUE, PRIORITY)
_VOLCANO = (VOLCANO_QUEUE, POD_GROUP)


def kind_fault(object_: Object, run: RunModel) -> Fault | None:
    """Why a kind of object cannot run a model on its pool; None if it can."""
    at: Path = ("kind",)
    if object_.kind == "DaemonSet":
        return (
            at,
            "a DaemonSet runs a pod on every node, so it runs no model; write a Deployment or a Job",
        )
    reason = forms.policy_obstacle(run.assignment, run.form)
    if reason is None:
        return None
    kind, possible = (
        f"{object_.kind} of {object_.api_version}",
        listed([*forms.possible(run.assignment)]),
    )
    return at, f'model "{run.model}" cannot run as {kind}: {reason}; run it as {possible}'


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
    if "schedulerName" not in needed and run.form != WorkloadForm.VOLCANO_JOB:
        for spec in specs:
            draft.forbid((*spec, "schedulerName"), reason, (DEFAULT_SCHEDULER,))
