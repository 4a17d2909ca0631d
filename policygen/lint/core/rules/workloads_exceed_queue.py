"""Each workload has room in its queue, but not all of them together."""

from collections.abc import Sequence

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import Exceeded
from policygen.core.quoting import some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.queue_rooms import READS, RESTARTED
from policygen.lint.core.queue_sums import READS_OF_JOBS, QueueExcess, QueueMember, queue_sums
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The other pods wait, also if nothing else runs.

    Checks workloads whose pods do not end, and each job beside them.
    Source: see lint/core/queue_sums.py.
    """
    for it in facts.derive(queue_sums):
        limit = f"{it.queue} can have at most"
        most = readable(it.resource, it.have, it.requested)
        if it.jobs:
            yield _of_jobs(it, limit)
            continue
        last = it.members[-1].workload
        others = dict.fromkeys(each.workload.at for each in it.members[:-1])
        yield Hit(
            RULE,
            f"{_who(it.members, it)} together request {amount_of(it.resource, it.requested, it.have)}, but {limit} "
            f"{most}; run fewer pods, request less, or raise {it.limit}",
            last.at.to("spec", *(("replicas",) if last.kind in RESTARTED else ())),
            (*others, *((it.at,) if it.at else ())),
            exceeds=(
                Exceeded(
                    last.at,
                    it.resource,
                    it.have,
                    f"{limit} {amount_of(it.resource, it.have, it.requested)}",
                ),
            ),
        )


def _of_jobs(it: QueueExcess, limit: str) -> Hit:
    """Jobs without room beside workloads that do not end."""
    first, *others = (each.workload.at for each in it.jobs)
    used = amount_of(it.resource, it.requested, it.have)
    request = "requests" if len(it.members) == 1 else "request"
    never = "never start" if len(it.jobs) > 1 else "never starts"
    return Hit(
        RULE,
        f"{_who(it.jobs, it)} {never} while {_who(it.members, it)} {'runs' if len(it.members) == 1 else 'run'}, "
        f"because the latter {request} {used}, and {limit} {readable(it.resource, it.have, it.requested)}; "
        f"run fewer pods, request less, or raise {it.limit}",
        first / "spec",
        (*others, *(each.workload.at for each in it.members), *((it.at,) if it.at else ())),
    )


def _who(members: Sequence[QueueMember], it: QueueExcess) -> str:
    """The workloads with what each requests. The finding is at the last one, so its name is shown."""
    parts = [
        f"{each.workload} ({readable(it.resource, each.amounts[it.resource], it.have)})"
        for each in members
    ]
    return some([*parts[:2], parts[-1], *parts[2:-1]] if parts[2:] else parts, "other workload")


RULE = ObjectRule(
    "workloads-exceed-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or raise the limit of the queue.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(
        *READS,
        "HorizontalPodAutoscaler",
        "ScaledObject",
        *READS_OF_JOBS,
    ),
)
