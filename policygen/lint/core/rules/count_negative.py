"""A number of pods, retries or seconds is negative."""

from collections.abc import Iterator

from policygen.kubernetes.workloads import Workload
from policygen.lint.core.webhook_objects import WebhookObject, webhook_object
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_JOB = (
    "activeDeadlineSeconds",
    "backoffLimit",
    "backoffLimitPerIndex",
    "completions",
    "maxFailedIndexes",
    "parallelism",
    "ttlSecondsAfterFinished",
)
_SETS = ("minReadySeconds", "progressDeadlineSeconds", "replicas", "revisionHistoryLimit")
_CRON = ("failedJobsHistoryLimit", "startingDeadlineSeconds", "successfulJobsHistoryLimit")
_KINDS = ("CronJob", "DaemonSet", "Deployment", "Job", "ReplicaSet", "StatefulSet")


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation, ValidateNonnegativeField, which apps and batch call."""
    for workload in facts.cluster.workloads_of("apps", "batch"):
        for owner, fields in _counts(workload):
            spec = owner.spec
            for field in fields:
                value = spec.get(field)
                if isinstance(value, int) and value < 0:
                    yield Hit(
                        RULE,
                        f"{workload} has {field} {value}, which is refused; write 0 or more",
                        owner.at.to("spec", field),
                    )


def _counts(workload: Workload) -> Iterator[tuple[Workload | WebhookObject, tuple[str, ...]]]:
    """What has fields that are counts in its `spec`, and the fields."""
    if workload.object.group == "apps":
        # ValidateStatefulSetSpec does not check revisionHistoryLimit.
        yield workload, _SETS[:-1] if workload.kind == "StatefulSet" else _SETS
        return
    if workload.kind == "CronJob":
        yield workload, _CRON
    yield webhook_object(workload), _JOB


RULE = ObjectRule(
    "count-negative",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Write 0 or more, or omit the field to use its default.",
    judges=_KINDS,
    check=check,
)
