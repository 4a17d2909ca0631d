"""Each workload has room in its queue, but not all of them together."""

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import Exceeded
from policygen.core.quoting import some
from policygen.lint.core.queue_rooms import READS, RESTARTED
from policygen.lint.core.queue_sums import QueueExcess, queue_sums
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The other pods wait, also if no other workload runs. Checks workloads whose pods do not end.

    Source: see lint/core/queue_sums.py.
    """
    for it in facts.derive(queue_sums):
        last = it.members[-1].workload
        limit = f"{it.queue} can have at most"
        others = dict.fromkeys(each.workload.at for each in it.members[:-1])
        yield Hit(
            RULE,
            f"{_who(it)} together request {amount_of(it.resource, it.requested, it.have)}, but {limit} "
            f"{readable(it.resource, it.have, it.requested)}; run fewer pods, request less, or raise {it.limit}",
            last.at.to("spec", "replicas"),
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


def _who(it: QueueExcess) -> str:
    """The workloads with what each requests. The finding is at the last one, so its name is shown."""
    parts = [
        f"{each.workload} ({readable(it.resource, each.amounts[it.resource], it.have)})"
        for each in it.members
    ]
    return some([*parts[:2], parts[-1], *parts[2:-1]] if parts[2:] else parts, "other workload")


RULE = ObjectRule(
    "workloads-exceed-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or raise the limit of the queue.",
    judges=RESTARTED,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(*READS, "HorizontalPodAutoscaler", "ScaledObject"),
)
