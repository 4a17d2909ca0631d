"""A Job that is not Indexed has fields for indexes, or an Indexed Job has no completions."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.core.quoting import listed
from policygen.lint.core.webhook_objects import WebhookObject, batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_OF_INDEXES = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for job in batch_jobs(facts.cluster):
        for message, place in _faults(job):
            yield Hit(RULE, message, place)


def _faults(job: WebhookObject) -> Iterator[tuple[str, At]]:
    """In a Job, the server sets parallelism and completions to 1 if both are missing."""
    who, spec, at = job.workload, job.spec, job.at / "spec"
    mode = spec.get("completionMode")
    if not isinstance(mode, str | None):
        return  # `wrong-type` reports it
    if mode != "Indexed":
        fields = [it for it in _OF_INDEXES if spec.get(it) is not None]
        if fields:
            names = listed(fields, "and")
            yield (
                f"{who} has {names} without completionMode Indexed, which is refused; write completionMode: Indexed",
                at / fields[0],
            )
        return
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    if completions is None and (who.kind != "Job" or spec.get("parallelism") is not None):
        yield f"{who} is Indexed without completions, which is refused; write completions", at
    if failed is not None and spec.get("backoffLimitPerIndex") is None:
        yield (
            f"{who} has maxFailedIndexes without backoffLimitPerIndex, which is refused; write both fields",
            at / "maxFailedIndexes",
        )
    elif isinstance(failed, int) and isinstance(completions, int) and failed > completions:
        yield (
            f"{who} has maxFailedIndexes {failed} above completions {completions}, which is refused; write at most {completions}",
            at / "maxFailedIndexes",
        )


RULE = ObjectRule(
    "job-index-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write completionMode: Indexed and completions.",
    judges=("CronJob", "Job"),
    check=check,
)
