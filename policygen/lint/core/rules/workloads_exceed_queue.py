"""Each workload has room in its queue, but not all of them together."""

from collections.abc import Sequence

from msgspec.structs import replace

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import listed, some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.queue_rooms import READS, RESTARTED
from policygen.lint.core.queue_sums import (
    READS_OF_JOBS,
    ExceededSum,
    QueueExcess,
    QueueMember,
    full_queues,
    queue_sums,
)
from policygen.lint.kueue.rules import topology_domain_too_small
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The other pods wait, also if nothing else runs.

    Checks workloads whose pods do not end, and each job beside them. It is an error if it also stops the
    update of a Deployment, which rollout-exceeds-quota then does not report.
    Source: see lint/core/queue_sums.py.
    """
    full = facts.derive(full_queues) if "rollout-exceeds-quota" in facts.run else ()
    never = [*places(facts, (topology_domain_too_small.RULE,))]
    stuck = {it.room.workload.at for it in full}
    for it in facts.derive(queue_sums):
        limit = f"{it.queue} can have at most"
        requested = listed(
            [amount_of(sum_.resource, sum_.requested, sum_.have) for sum_ in it.sums], "and"
        )
        most = listed(
            [readable(sum_.resource, sum_.have, sum_.requested) for sum_ in it.sums], "and"
        )
        if it.jobs:
            if jobs := tuple(each for each in it.jobs if not _is_reported(each, never)):
                yield _of_jobs(replace(it, jobs=jobs), requested, f"{limit} {most}")
            continue
        last = it.members[-1].workload
        others = dict.fromkeys(each.workload.at for each in it.members[:-1])
        yield Hit(
            RULE,
            f"{_who(it.members, it)} together request {requested}, but {limit} "
            f"{most}; run fewer pods, request less, or raise {it.limit}",
            last.at.to("spec", *(("replicas",) if last.kind in RESTARTED else ())),
            (*others, *((it.at,) if it.at else ())),
            exceeds=tuple(_exceeded(last.at, one, limit) for one in it.sums),
            severity=Severity.ERROR if {last.at, *others} & stuck else None,
        )


def _is_reported(job: QueueMember, places: Sequence[At]) -> bool:
    """Whether topology-domain-too-small reports that a job never starts."""
    return any(is_inside(it, job.workload.at) for it in places)


def _exceeded(at: At, one: ExceededSum, limit: str) -> Exceeded:
    have = amount_of(one.resource, one.have, one.requested)
    return Exceeded(at, one.resource, one.have, f"{limit} {have}")


def _of_jobs(it: QueueExcess, used: str, limit: str) -> Hit:
    """Jobs without room beside workloads that do not end."""
    first, *others = (each.workload.at for each in it.jobs)
    request = "requests" if len(it.members) == 1 else "request"
    never = "never start" if len(it.jobs) > 1 else "never starts"
    return Hit(
        RULE,
        f"{_who(it.jobs, it)} {never} while {_who(it.members, it)} {'runs' if len(it.members) == 1 else 'run'}, "
        f"because the latter {request} {used}, and {limit}{it.blocks}; "
        f"run fewer pods, request less, or raise {it.limit}",
        first / "spec",
        (*others, *(each.workload.at for each in it.members), *((it.at,) if it.at else ())),
    )


def _who(members: Sequence[QueueMember], it: QueueExcess) -> str:
    """The workloads with what each requests. The finding is at the last one, so its name is shown."""
    parts = [f"{each.workload} ({_needs(each, it)})" for each in members]
    return some([*parts[:2], parts[-1], *parts[2:-1]] if parts[2:] else parts, "other workload")


def _needs(member: QueueMember, it: QueueExcess) -> str:
    """The first of the exceeded amounts that a workload requests; of one among several, with the resource."""
    first = next(one for one in it.sums if member.amounts.get(one.resource))
    words = readable if len(it.sums) == 1 else amount_of
    return words(first.resource, member.amounts[first.resource], first.have)


RULE = ObjectRule(
    "workloads-exceed-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or raise the limit of the queue.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=tuple(
        dict.fromkeys(("Node", "Topology", *READS, *READS_OF_PODS, "ScaledObject", *READS_OF_JOBS))
    ),
)
