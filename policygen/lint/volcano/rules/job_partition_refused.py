"""The partitions of a Volcano task do not match its replicas or minAvailable."""

from policygen.core.quoting import counted
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs
from policygen.lint.volcano.jobs import number, replicas


def check(facts: Facts) -> Hits:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go, validatePartitionPolicy."""
    for spec in jobs.specs(facts.cluster):
        for name, task in jobs.tasks(spec):
            policy = task.under("partitionPolicy")
            count, size = number(policy, "totalPartitions"), number(policy, "partitionSize")
            has = replicas(task)
            if not count or not size or has is None:
                continue
            owner = f"task {name} of {spec.owner}"
            least = number(task, "minAvailable")
            needed = (number(policy, "minPartitions") or 0) * size
            if has != count * size:
                yield Hit(
                    RULE,
                    f"{owner} has {counted(has, 'replica')} but {counted(count, 'partition')} of {counted(size, 'pod')}, which Volcano "
                    f"refuses; write replicas: {count * size}",
                    task.at / "replicas",
                )
            elif needed > has:
                yield Hit(
                    RULE,
                    f"{owner} has minPartitions {needed // size} but {counted(count, 'partition')}, which "
                    f"Volcano refuses; write minPartitions: {count} or less",
                    policy.at / "minPartitions",
                )
            elif least is not None and least != needed:
                yield Hit(
                    RULE,
                    f"{owner} has minAvailable {least}, but its partitions need {counted(needed, 'pod')}, which "
                    "Volcano refuses; write minAvailable as minPartitions times "
                    "partitionSize",
                    task.at / "minAvailable",
                )


RULE = ObjectRule(
    "job-partition-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Set replicas to totalPartitions times partitionSize, and minAvailable to minPartitions times partitionSize.",
    judges=("Job",),
    check=check,
    since={"volcano": (1, 14)},
)
