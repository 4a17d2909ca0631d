"""The fields of an object that runs a model, beside those of `plan/pods.py`: for those who do not render it.

The values are those of the objects that `workload` renders.
"""

from collections.abc import Iterator
from enum import Enum
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.workload import objects
from policygen.plan.workload.forms import WorkloadForm
from policygen.plan.workload.objects import WorkloadObject


class ObjectPart(Enum):
    """The part of an object in which a field is."""

    OBJECT = "spec of the object"
    JOB = "spec of the Job, or of the Jobs of a CronJob"
    POD = "spec of the pods with GPUs"
    CONTAINER = "container with GPUs"


class ModelField(Struct, frozen=True):
    """A field that the policy decides."""

    holder: ObjectPart
    path: Path
    value: Any
    """None: another program sets the field, so it must not be in a manifest."""


def model_fields(
    decided: Decisions, assignment: Assignment, form: WorkloadForm | None
) -> Iterator[ModelField]:
    """The fields of an object that runs a model in a form. None: a kind that `workload` does not print."""
    checkpoint = assignment.model.checkpoint
    if checkpoint is not None:
        grace = ("terminationGracePeriodSeconds",)
        yield ModelField(ObjectPart.POD, grace, checkpoint.grace_period_s)
        if checkpoint.command:
            run = {"exec": {"command": [*checkpoint.command]}}
            yield ModelField(ObjectPart.CONTAINER, ("lifecycle", "preStop"), run)
    if form is not None:
        for made in objects.workload(decided, assignment, form):
            yield from _of_object(made, form)
            return  # the objects of its other gangs have the same fields


def _of_object(made: WorkloadObject, form: WorkloadForm) -> Iterator[ModelField]:
    """The fields of one rendered object."""
    if made.pods.spread.constraints:
        constraints = [*made.pods.spread.constraints]
        yield ModelField(ObjectPart.POD, ("topologySpreadConstraints",), constraints)
    if made.pods.spread.affinity is not None:
        yield ModelField(ObjectPart.POD, ("affinity",), made.pods.spread.affinity)
    if made.gang and form in (WorkloadForm.JOB, WorkloadForm.CRON_JOB):
        yield ModelField(ObjectPart.JOB, ("completionMode",), "Indexed")
    if made.autoscaled and not (made.gang and form is WorkloadForm.STATEFUL_SET):
        yield ModelField(ObjectPart.OBJECT, ("replicas",), None)
    if made.gang and form is WorkloadForm.STATEFUL_SET:
        yield ModelField(ObjectPart.OBJECT, ("podManagementPolicy",), "Parallel")
    if form is WorkloadForm.VOLCANO_JOB:
        policy = {"event": "PodEvicted", "action": "RestartJob"}
        yield ModelField(ObjectPart.OBJECT, ("policies",), [policy])
    if made.no_surge:
        update = ("strategy", "rollingUpdate")
        yield ModelField(ObjectPart.OBJECT, (*update, "maxSurge"), 0)
        yield ModelField(ObjectPart.OBJECT, (*update, "maxUnavailable"), 1)
    if made.cron is not None:
        cron = made.cron
        yield ModelField(ObjectPart.OBJECT, ("schedule",), cron.schedule)
        yield ModelField(ObjectPart.OBJECT, ("timeZone",), cron.time_zone)
        yield ModelField(ObjectPart.OBJECT, ("concurrencyPolicy",), "Forbid")
        yield ModelField(ObjectPart.OBJECT, ("startingDeadlineSeconds",), cron.starting_deadline_s)
        yield ModelField(ObjectPart.JOB, ("activeDeadlineSeconds",), cron.active_deadline_s)
