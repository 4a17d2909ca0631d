"""The size of a gang is written on the pods, where Volcano does not look for it."""

from collections.abc import Iterator

from policygen.core.finding import Edit, Hit, Verb
from policygen.core.rule import Severity
from policygen.lint.rule import Facts, Family, Fix, ObjectRule
from policygen.lint.volcano.queues import MIN_MEMBER

_OWNERS = ("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")
"""Kinds whose annotations it reads."""


def check(facts: Facts) -> Iterator[Hit]:
    """It is read from the object that owns the pods.

    Source: pkg/controllers/podgroup/pg_controller_handler.go, getMinMemberFromUpperRes;
    volcano-sh/volcano#3970.
    """
    for workload in facts.cluster.workloads:
        if workload.kind not in _OWNERS or workload.object.group not in ("apps", "batch"):
            continue
        if MIN_MEMBER in workload.annotations:
            continue
        for template in workload.templates:
            if MIN_MEMBER in template.annotations:
                at = template.at.to("metadata", "annotations", MIN_MEMBER).on_key()
                yield Hit(
                    RULE,
                    f"the pods of {workload} carry {MIN_MEMBER}, which Volcano reads from the "
                    f"{workload.kind}: each pod is a gang of one; move it to the {workload.kind}'s "
                    "own annotations",
                    at,
                    edits=(
                        Edit(Verb.REMOVE, at),
                        Edit(
                            Verb.ADD,
                            workload.at.to("metadata", "annotations", MIN_MEMBER),
                            template.annotations[MIN_MEMBER],
                        ),
                    ),
                )


RULE = ObjectRule(
    "gang-size-on-pod",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=_OWNERS,
    check=check,
    fix=Fix.UNSAFE,
)
