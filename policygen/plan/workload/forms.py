"""The kinds of objects as which a model can run, and why it cannot run as others."""

from collections.abc import Mapping
from enum import StrEnum

from policygen.plan.assignment import Assignment
from policygen.plan.model_names import replica_names
from policygen.spec.types import RunAs


class WorkloadForm(StrEnum):
    """A kind of object that runs a model, by its name in `--as`."""

    DEPLOYMENT = "deployment"
    STATEFUL_SET = "statefulset"
    JOB = "job"
    VOLCANO_JOB = "vcjob"
    JOB_SET = "jobset"
    LEADER_WORKER_SET = "lws"
    CRON_JOB = "cronjob"


KIND_OF: Mapping[WorkloadForm, tuple[str, str]] = {
    WorkloadForm.DEPLOYMENT: ("kubernetes", "Deployment"),
    WorkloadForm.STATEFUL_SET: ("kubernetes", "StatefulSet"),
    WorkloadForm.JOB: ("kubernetes", "Job"),
    WorkloadForm.VOLCANO_JOB: ("volcano", "Job"),
    WorkloadForm.JOB_SET: ("kubernetes", "JobSet"),
    WorkloadForm.LEADER_WORKER_SET: ("kubernetes", "LeaderWorkerSet"),
    WorkloadForm.CRON_JOB: ("kubernetes", "CronJob"),
}
"""Component and name of the kind of each form."""

SERVING = (WorkloadForm.DEPLOYMENT, WorkloadForm.STATEFUL_SET, WorkloadForm.LEADER_WORKER_SET)
"""Their pods run until the object is deleted. Those of the others end."""

_VOLCANO_GANGS: Mapping[RunAs, tuple[WorkloadForm, ...]] = {
    "pods": (WorkloadForm.STATEFUL_SET, WorkloadForm.JOB),
    "vcjob": (WorkloadForm.VOLCANO_JOB,),
    "lws": (WorkloadForm.LEADER_WORKER_SET,),
    "job": (WorkloadForm.JOB,),
}
"""The forms of a gang on Volcano. `gang.runAs` decides them: it decides who creates the PodGroup."""


def default(assignment: Assignment) -> WorkloadForm:
    """The form of a model if no option names one. It is always possible."""
    model = assignment.model
    if model.schedule is not None:
        return WorkloadForm.CRON_JOB
    serving = model.workload == "serving"
    if model.gang is not None and assignment.facts.scheduler == "volcano":
        forms = _VOLCANO_GANGS[model.gang.run_as]
        return forms[0] if serving else forms[-1]
    if model.gang is not None and model.gang.run_as == "lws":
        return WorkloadForm.LEADER_WORKER_SET
    if not serving:
        return WorkloadForm.JOB
    return WorkloadForm.DEPLOYMENT if model.gang is None else WorkloadForm.STATEFUL_SET


def one_run(assignment: Assignment) -> WorkloadForm:
    """The default form, or for a CronJob that of each of its runs."""
    form = default(assignment)
    return WorkloadForm.JOB if form == WorkloadForm.CRON_JOB else form


def obstacle(assignment: Assignment, form: WorkloadForm) -> str | None:
    """Why a model cannot run in a form; None if it can."""
    if form == default(assignment):
        return None
    if form == WorkloadForm.CRON_JOB and assignment.model.workload != "serving":
        return "it has no schedule; write spec.schedule of the model"
    return end_obstacle(assignment, form) or policy_obstacle(assignment, form)


def end_obstacle(assignment: Assignment, form: WorkloadForm | None) -> str | None:
    """Why the pods of a model must not end, or must end, other than those of a form; None if they can.

    A serving model can run once as a Job, for example to test it.
    """
    workload = assignment.model.workload
    if form in SERVING and workload != "serving":
        return f"its workload is {workload}, and the pods of this kind are restarted when they end"
    if form == WorkloadForm.CRON_JOB and workload == "serving":
        return "its workload is serving, and its pods do not end, so it has no schedule"
    return None


def policy_obstacle(assignment: Assignment, form: WorkloadForm | None) -> str | None:
    """Why the pool or the gang of a model excludes a form, whether its pods end or not; None if they do not.

    None as form is a kind that `--as` does not have.
    """
    model, facts = assignment.model, assignment.facts
    if form == WorkloadForm.VOLCANO_JOB and facts.scheduler != "volcano":
        return (
            f'pool "{facts.name}" is scheduled by {facts.scheduler}, and only Volcano runs its Jobs'
        )
    if model.gang is None:
        return None
    if form == WorkloadForm.DEPLOYMENT:
        return "it is a gang, and a Deployment starts its pods one by one"
    run_as = model.gang.run_as
    if form is None and run_as == "pods":
        return None
    if form == WorkloadForm.CRON_JOB and run_as == "job":
        return None  # each of its Jobs gets a PodGroup
    if facts.scheduler == "volcano" and form not in _VOLCANO_GANGS[run_as]:
        return f"its gang has runAs: {run_as}, which decides who creates the PodGroup"
    return None


def possible(assignment: Assignment) -> list[WorkloadForm]:
    """The forms in which a model can run, its default first."""
    first = default(assignment)
    others = [it for it in WorkloadForm if it != first and obstacle(assignment, it) is None]
    return [first, *others]


def names(assignment: Assignment, form: WorkloadForm) -> tuple[str, ...]:
    """The names of the objects: one object, or one for each gang or job."""
    model = assignment.model
    if form in (WorkloadForm.DEPLOYMENT, WorkloadForm.LEADER_WORKER_SET):
        return (model.name,)
    if model.workload == "serving" and form not in SERVING:
        return (model.name,)  # one run of the model
    return replica_names(assignment) or (model.name,)


def run_as(assignment: Assignment, form: WorkloadForm) -> RunAs:
    """The form, as `gang.runAs` names it."""
    if form == WorkloadForm.VOLCANO_JOB:
        return "vcjob"
    gang = assignment.model.gang
    return gang.run_as if gang else "pods"
