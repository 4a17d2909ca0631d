"""A Job that is not Indexed has index fields, or an Indexed Job has no completions."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import At
from policygen.lint.core.webhook_objects import batch_jobs
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_OF_INDEXES = ("backoffLimitPerIndex", "maxFailedIndexes", "successPolicy")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/batch/validation/validation.go, validateJobSpec."""
    for job in batch_jobs(facts.cluster):
        for message, place in _faults(job.spec, job.at / "spec", filled=job.workload.kind == "Job"):
            yield Hit(RULE, f"{job.workload} {message}", place)


def _faults(spec: Mapping[str, Any], at: At, *, filled: bool) -> Iterator[tuple[str, At]]:
    """`filled`: the server sets parallelism and completions to 1 if both are missing."""
    mode = spec.get("completionMode")
    if not isinstance(mode, str | None):
        return  # `wrong-type` reports it
    if mode != "Indexed":
        for field in _OF_INDEXES:
            if spec.get(field) is not None:
                yield (
                    f"has {field} without indexes, which is refused; write completionMode: Indexed",
                    at / field,
                )
        return
    completions, failed = spec.get("completions"), spec.get("maxFailedIndexes")
    if completions is None and (not filled or spec.get("parallelism") is not None):
        yield "is Indexed without completions, which is refused; write completions", at
    if failed is not None and spec.get("backoffLimitPerIndex") is None:
        yield (
            "has maxFailedIndexes without backoffLimitPerIndex, which is refused; write both",
            at / "maxFailedIndexes",
        )
    elif isinstance(failed, int) and isinstance(completions, int) and failed > completions:
        yield (
            f"has maxFailedIndexes {failed} above completions {completions}, which is refused; write at most {completions}",
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
