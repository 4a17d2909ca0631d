"""Why an object cannot run its model: its kind, or fields of another queue or scheduler."""

from collections.abc import Mapping
from typing import Any

from policygen.core.finding import Path, at_path, dotted
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE, POD_GROUP, VOLCANO_QUEUE
from policygen.core.quoting import listed, quoted, shown
from policygen.core.tolerations import tolerates
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.flavor_match import required_terms, selects_flavor
from policygen.kubernetes.kueue_jobs import PRIORITY
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping, numbered, text
from policygen.kubernetes.workloads import PodSpec, pod_templates
from policygen.patch.draft import Contradiction, Draft
from policygen.patch.model_finder import RunModel
from policygen.plan.workload import forms
from policygen.plan.workload.forms import WorkloadForm

_KUEUE = (LOCAL_QUEUE, PRIORITY)
_VOLCANO = (VOLCANO_QUEUE, POD_GROUP)


def kind_fault(object_: Object, run: RunModel) -> Contradiction | None:
    """Why a kind of object cannot run a model, or not on its pool; None if it can.

    A CronJob of a model without a schedule keeps that of its author.
    """
    at: Path = ("kind",)
    if object_.kind == "DaemonSet":
        why = "a DaemonSet runs a pod on every node, so it runs no model"
        return Contradiction(at, why, "write a Deployment or a Job")
    restarts = WorkloadForm.DEPLOYMENT if object_.kind == "ReplicaSet" else run.form
    reason = forms.end_obstacle(run.assignment, restarts)
    reason = reason or forms.policy_obstacle(run.assignment, run.form)
    if reason is None:
        return _without_schedule(object_, run)
    kind, possible = (
        f"{object_.kind} of {object_.api_version}",
        listed([*forms.possible(run.assignment)]),
    )
    why = f'model "{run.model}" cannot run as {kind}: {reason}'
    return Contradiction(at, why, f"run it as {possible}")


def _without_schedule(object_: Object, run: RunModel) -> Contradiction | None:
    """The API server refuses a CronJob without a schedule, also one with the fields of a model."""
    if object_.kind != "CronJob" or run.assignment.model.schedule is not None:
        return None
    if at_path(object_.data, ("spec", "schedule")):
        return None
    why = f'the CronJob and model "{run.model}" have no schedule'
    return Contradiction(("spec",), why, "write spec.schedule in one of them, or write a Job")


def other_nodes(draft: Draft, template: Path, run: RunModel) -> None:
    """Add contradictions for a node selector or affinity that excludes all nodes of the model's pools.

    Labels that no pool of the spec has are unknown, so they can match.
    """
    own = [dict(it.pool.node_selector) for it in run.assignment.pools]
    selector = mapping(draft.value(template), "spec", "nodeSelector")
    at = (*template, "spec", "nodeSelector")
    place = f"the model runs on {run.assignment.place}"
    for key, value in selector.items():
        known = [it[key] for it in own if key in it]
        if known and len(known) == len(own) and value not in known:
            reason = f"{dotted((*at, key))} is {shown(value)}, but {place}"
            remedy = f"write {listed([*dict.fromkeys(known)])}, or remove the field"
            draft.refuse((*at, key), reason, remedy)
    for it in run.pools:
        labels = dict(it.pool.node_selector)
        other = [key for key in labels if not any(key in one for one in own)]
        if other and labels.items() <= selector.items():
            reason = f"the node selector is that of pool {quoted(it.name)}, but {place}"
            draft.refuse((*at, other[0]), reason, f"remove {listed(other)}")
    terms = required_terms(PodSpec(affinity=mapping(draft.value(template), "spec", "affinity")))
    if terms and not any(selects_flavor({}, terms, it) for it in own):
        path = (*template, "spec", "affinity", "nodeAffinity", REQUIRED)
        reason = f"the required node affinity excludes all nodes of {run.assignment.place}"
        draft.refuse(path, reason, "remove the expressions that exclude them")


def other_taints(draft: Draft, template: Path, run: RunModel) -> None:
    """Add contradictions for tolerations of pools in which the team has no share.

    The policies of `--with admission` refuse them.
    """
    at = (*template, "spec", "tolerations")
    for number, it in numbered(draft.value(at)):
        view = toleration_view(it)
        found = [name for name, taint in run.other_taints.items() if tolerates(view, taint)]
        if found:
            path = (*at, number)
            taints = f"{'taint' if len(found) == 1 else 'taints'} {listed(found, 'and')}"
            reason = f"{dotted(path)} tolerates {taints} of pools in which its team has no share"
            draft.refuse(path, reason, "remove the toleration")


def toleration_view(toleration: Mapping[str, Any]) -> TolerationView:
    """The fields of a toleration that are texts."""
    names = TolerationView.__struct_fields__
    return TolerationView(**{it: text(toleration, it) for it in names if text(toleration, it)})


def forbid(draft: Draft, object_: Object, run: RunModel) -> None:
    """Add faults for fields of another queue or scheduler than those of the model."""
    facts = run.assignment.facts
    needed = {field.name: field.value for field in run.needed.fields}
    templates = [path for path, _ in pod_templates(object_)]
    holders = dict.fromkeys([("metadata",), *((*it, "metadata") for it in templates)])
    if object_.kind == "CronJob":
        holders["spec", "jobTemplate", "metadata"] = None
    reason = f"pool {quoted(facts.name)} has scheduler: {facts.scheduler}"
    no_priority = reason
    if facts.scheduler == "kueue":
        no_priority = f'model "{run.model}" has no priority'
    for holder in holders:
        for key in _KUEUE:
            known = [needed[key]] if key in needed else []
            why = f"{run.who} need {known[0]}" if known else no_priority
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
