"""Decides the objects that run models: everything that the policy decides, and the user's container."""

from collections.abc import Callable, Iterator

from msgspec import Struct

from policygen.core.names import POD_GROUP
from policygen.plan.assignment import Assignment
from policygen.plan.catalog import KINDS
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.extras import WORKLOADS
from policygen.plan.kind import Meta
from policygen.plan.model_names import MODEL
from policygen.plan.pods import (
    ANNOTATIONS,
    JOB_ANNOTATIONS,
    LABELS,
    LWS_ANNOTATIONS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
    PodFields,
    fields_of,
    toleration,
)
from policygen.plan.volcano import group_names
from policygen.plan.workload import availability, forms, rollout, scaling
from policygen.plan.workload.availability import SpreadFields
from policygen.plan.workload.forms import WorkloadForm
from policygen.plan.workload.scaling import ModelAutoscaler
from policygen.spec.types import Checkpoint, ModelContainer, ModelSchedule, Taint

STARTING_DEADLINE_S = 600
"""How late a run can begin, in seconds, after a time at which the control plane was down."""

TTL_S = 86_400
"""How long an ended Job is kept, so that people can read its logs, in seconds."""

_CUSTOM = (WorkloadForm.JOB_SET, WorkloadForm.LEADER_WORKER_SET)
_RESTARTED = (
    WorkloadForm.JOB,
    WorkloadForm.JOB_SET,
    WorkloadForm.CRON_JOB,
    WorkloadForm.VOLCANO_JOB,
)
"""A new pod replaces a failed one, so that it can run on another node."""


class WorkloadPods(Struct, frozen=True):
    """The pod template of an object that runs a model."""

    labels: dict[str, str]
    annotations: dict[str, str]
    scheduler_name: str | None
    priority_class_name: str | None
    restart_policy: str | None
    """None: the default of the kind."""
    node_selector: dict[str, str]
    tolerations: tuple[dict[str, str], ...]
    spread: SpreadFields
    checkpoint: Checkpoint | None
    container: ModelContainer
    no_image: str | tuple[str, ...]
    """What is written without an image, so that the API server refuses the object.

    It accepts an empty image of kinds whose CRD contains the pod template, but not a list.
    """
    resources: dict[str, str]
    """Requests and limits."""


class CronFields(Struct, frozen=True):
    """When a CronJob creates its Jobs, and what they have above their pods."""

    schedule: str
    time_zone: str
    starting_deadline_s: int
    active_deadline_s: int
    """The window, which ends a run that takes longer."""
    metadata: dict[str, dict[str, str]]
    """Labels and annotations of the Jobs."""


class WorkloadObject(Struct, frozen=True):
    """An object that runs a model, or one gang or job of it."""

    meta: Meta
    model: str
    pool: str
    """The pool where its pods run, or the first of several."""
    pods: WorkloadPods
    size: int
    """Pods of the object, or of one gang of a LeaderWorkerSet."""
    replicas: int
    """Gangs of a LeaderWorkerSet."""
    gang: bool
    ttl_s: int
    queue: str | None = None
    """Of a Volcano Job."""
    min_available: int | None = None
    """Pods of a Volcano Job that start together."""
    cron: CronFields | None = None
    """Of a CronJob."""
    autoscaled: bool = False
    """Whether an autoscaler sets the number of replicas."""
    no_surge: bool = False
    """Whether an update of a Deployment deletes a pod before it creates one."""


def workload(
    decided: Decisions, assignment: Assignment, form: WorkloadForm
) -> Iterator[WorkloadObject]:
    """The objects that run a model in a form; none if it has no namespace."""
    run_as = forms.run_as(assignment, form)
    needed = fields_of(decided.spec, decided.pools, assignment, run_as)
    if needed.namespace is None:
        return
    for index, name in enumerate(forms.names(assignment, form)):
        yield _object(decided, assignment, form, needed, name=name, index=index)


def _object(  # noqa: PLR0913 - the model, its form, and which of its objects
    decided: Decisions,
    assignment: Assignment,
    form: WorkloadForm,
    needed: PodFields,
    *,
    name: str,
    index: int,
) -> WorkloadObject:
    model, gang = assignment.model, assignment.model.gang
    size, replicas = gang.size if gang else 1, assignment.replicas.least
    autoscaled = _is_autoscaled(assignment, form)
    if autoscaled:
        replicas = scaling.bounds(assignment).least
    if gang is None and form in (WorkloadForm.DEPLOYMENT, WorkloadForm.STATEFUL_SET):
        size = replicas
    own = {it.name: it.value for it in needed.fields if it.owner == VCJOB_SPEC}
    on_object = _texts(needed, JOB_ANNOTATIONS) | _texts(needed, LWS_ANNOTATIONS)
    queued = _texts(needed, LABELS)
    cron = None
    if form == WorkloadForm.CRON_JOB and model.schedule is not None:
        cron = _cron(model.schedule, queued, on_object)
    return WorkloadObject(
        meta=Meta(
            name,
            decided.platform.name,
            needed.namespace,
            own_labels={MODEL: model.name, **({} if cron else queued)},
            annotations={} if cron else on_object,
        ),
        model=model.name,
        pool=assignment.facts.name,
        pods=_pods(assignment, form, needed, name, index),
        size=size,
        replicas=replicas,
        gang=gang is not None,
        ttl_s=TTL_S,
        queue=str(own["queue"]) if own else None,
        min_available=int(str(own["minAvailable"])) if own else None,
        cron=cron,
        autoscaled=autoscaled,
        no_surge=(
            form == WorkloadForm.DEPLOYMENT and rollout.shortage(decided, assignment) is not None
        ),
    )


def _cron(
    schedule: ModelSchedule, labels: dict[str, str], annotations: dict[str, str]
) -> CronFields:
    return CronFields(
        schedule=schedule.cron,
        time_zone=schedule.time_zone,
        starting_deadline_s=STARTING_DEADLINE_S,
        active_deadline_s=schedule.hours * 3600,
        metadata={
            name: it for name, it in (("labels", labels), ("annotations", annotations)) if it
        },
    )


def _pods(
    assignment: Assignment, form: WorkloadForm, needed: PodFields, name: str, index: int
) -> WorkloadPods:
    annotations, own = _texts(needed, ANNOTATIONS), _texts(needed, "")
    if POD_GROUP in annotations:  # each gang has its own
        annotations[POD_GROUP] = group_names(assignment.model)[index]
    return WorkloadPods(
        labels={"app": name, MODEL: assignment.model.name},
        annotations=annotations,
        scheduler_name=own.get("schedulerName"),
        priority_class_name=own.get("priorityClassName"),
        restart_policy="Never" if form in _RESTARTED else None,
        node_selector=_texts(needed, NODE_SELECTOR),
        tolerations=tuple(
            toleration(it.value)
            for it in needed.fields
            if it.owner == TOLERATIONS and isinstance(it.value, Taint)
        ),
        spread=(SpreadFields() if form in _RESTARTED else availability.spread(assignment, name)),
        checkpoint=assignment.model.checkpoint,
        container=assignment.model.container,
        no_image=() if form in _CUSTOM else "",
        resources=dict(needed.amounts),
    )


def _texts(needed: PodFields, owner: str) -> dict[str, str]:
    return {it.name: str(it.value) for it in needed.fields if it.owner == owner}


def _in_form(form: WorkloadForm) -> Callable[[Decisions], Iterator[WorkloadObject]]:
    """The generator of the models that run in a form by default."""

    def objects(decided: Decisions) -> Iterator[WorkloadObject]:
        for assignment in decided.workloads.assignments:
            if forms.default(assignment) == form:
                yield from workload(decided, assignment, form)

    return objects


def _is_autoscaled(assignment: Assignment, form: WorkloadForm) -> bool:
    """Whether an autoscaler sets the number of replicas.

    Kueue refuses to change that of a StatefulSet. Source:
    pkg/controller/jobs/statefulset/statefulset_webhook.go of Kueue 0.19.2, ValidateUpdate.
    """
    fixed = form == WorkloadForm.STATEFUL_SET and assignment.facts.scheduler == "kueue"
    return form in forms.SERVING and not fixed and scaling.is_scaled(assignment)


def autoscaler(
    decided: Decisions, assignment: Assignment, form: WorkloadForm
) -> ModelAutoscaler | None:
    """The autoscaler of a model that runs in a form; None if it needs none."""
    if not _is_autoscaled(assignment, form):
        return None
    return scaling.autoscaler(decided, assignment, kind_of(form))


def kind_of(form: WorkloadForm) -> tuple[str, str]:
    """The API version and the kind of the objects of a form."""
    component, name = forms.KIND_OF[form]
    kind = next(it for it in KINDS if it.family == (WORKLOADS, component) and it.name == name)
    return kind.api_versions[-1], name


def _scalers(kind: str) -> Callable[[Decisions], Iterator[ModelAutoscaler]]:
    """The generator of the autoscalers of one kind."""

    def objects(decided: Decisions) -> Iterator[ModelAutoscaler]:
        for assignment in decided.workloads.assignments:
            made = autoscaler(decided, assignment, forms.default(assignment))
            if made is not None and made.kind == kind:
                yield made

    return objects


KIND_NAMES = (
    *(name for _, name in forms.KIND_OF.values()),
    "PodDisruptionBudget",
    scaling.HPA,
    scaling.SCALED_OBJECT,
)


def _generators(component: str) -> Generators:
    return {
        name: _in_form(form) for form, (part, name) in forms.KIND_OF.items() if part == component
    }


OBJECTS: Generators = {
    **_generators("kubernetes"),
    "PodDisruptionBudget": availability.budgets,
    **{name: _scalers(name) for name in (scaling.HPA, scaling.SCALED_OBJECT)},
}
VOLCANO_OBJECTS = _generators("volcano")
