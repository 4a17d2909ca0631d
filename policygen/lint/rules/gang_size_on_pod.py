"""The size of a gang is written on the pods, where Volcano does not look for it."""

from collections.abc import Iterator

from policygen.cluster.view import VOLCANO_BATCH
from policygen.cluster.workload import SHAPES
from policygen.finding import Severity
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.lint.volcano_queues import MIN_MEMBER


def check(facts: Facts) -> Iterator[Claim]:
    """It is read from the object that owns the pods.

    Source: pkg/controllers/podgroup/pg_controller_handler.go, getMinMemberFromUpperRes;
    volcano-sh/volcano#3970.
    """
    for workload in facts.cluster.workloads:
        if workload.kind == "Pod" or workload.object.group == VOLCANO_BATCH:
            continue
        if MIN_MEMBER in workload.annotations:
            continue
        for template in workload.templates:
            if MIN_MEMBER in template.annotations:
                yield Claim(
                    f"the pods of {workload} carry {MIN_MEMBER}, which Volcano reads from the "
                    f"{workload.kind}: each pod is a gang of one; move it to the {workload.kind}'s "
                    "own annotations",
                    template.at.to("metadata", "annotations", MIN_MEMBER).on_key(),
                )


RULE = Rule(
    "gang-size-on-pod",
    Severity.ERROR,
    Family.INERT,
    judges=tuple(sorted({kind for _, kind in SHAPES})),
    check=check,
)
