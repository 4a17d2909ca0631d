"""A workload's queue-name label is no name that a LocalQueue could have."""

from collections.abc import Iterator

from policygen.cluster.view import VOLCANO_BATCH
from policygen.finding import Severity
from policygen.lint.queued import FRAMEWORKS
from policygen.lint.rule import Claim, Facts, Family, Rule
from policygen.served.metadata import is_subdomain
from policygen.spec.echo import quoted
from policygen.well_known import LOCAL_QUEUE

KINDS = tuple(sorted({kind for _, kind in FRAMEWORKS} - {"CronJob"}))
"""Kinds that a webhook of Kueue judges: a CronJob's Jobs, and not itself."""


def check(facts: Facts) -> Iterator[Claim]:
    """What is no label value is refused already.

    Source: pkg/controller/jobframework/validation.go, ValidateQueueName.
    """
    for it in facts.cluster.workloads:
        if it.kind not in KINDS or it.object.group == VOLCANO_BATCH:
            continue
        name = it.labels.get(LOCAL_QUEUE)
        if name is not None and not is_subdomain(name):
            message = f"{it} goes to {quoted(name)}, which no LocalQueue is called: it is refused"
            yield Claim(
                f'{message}; write lower-case letters, digits, "-" and "."',
                it.at.to("metadata", "labels", LOCAL_QUEUE),
            )


RULE = Rule("queue-label-refused", Severity.ERROR, Family.INVALID, judges=KINDS, check=check)
