"""The size of a gang is set in its pod template, where Volcano ignores the size."""

from policygen.lint.rule import Edit, Facts, Family, Fix, Hit, Hits, ObjectRule, Severity, Verb
from policygen.lint.volcano.queues import MIN_MEMBER

_OWNERS = ("DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")
"""Kinds whose annotations Volcano reads."""


def check(facts: Facts) -> Hits:
    """Volcano reads the annotation from the object that owns the pods.

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
                    f"{workload} has {MIN_MEMBER} in its pod template, where Volcano ignores this annotation, so each "
                    f"pod is a gang of one; move the annotation to the metadata of the {workload.kind}",
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
    remedy="Move the annotation from the pod template to the workload.",
    judges=_OWNERS,
    check=check,
    fix=Fix.UNSAFE,
)
