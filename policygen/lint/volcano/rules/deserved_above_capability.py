"""A Queue deserves more than its capability."""

from collections.abc import Mapping

from policygen.core.amounts import amount_of, readable
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.gangs import GangNeeds, gangs


def check(facts: Facts) -> Hits:
    """Up to 1.12 Volcano silently lowers deserved; from 1.13 on the webhook refuses it.

    Source: pkg/webhooks/admission/queues/validate/validate_queue.go; volcano-sh/volcano#4292.
    """
    target = facts.target["volcano"]
    checked = target.release >= (1, 13)
    complete = queues.webhooks(target) == {queues.Webhook.COMPLETE}
    for queue in facts.cluster.queues:
        limits = queue.fields.capability
        for name, amount in queue.fields.deserved.items():
            limit = limits.get(name)
            if (
                limit is None
                or amount <= limit
                or queues.overflows(name, amount)
                or (complete and not queues.counted({name: amount}))
            ):
                continue
            # To the scheduler, 0 cpu or memory means no limit.
            if checked or limit or name not in ("cpu", "memory"):
                room = queues.room(facts.cluster, queue, queues.DESERVED, name)
                remedy = "lower deserved, or raise capability"
                if room and 0 < room.free < limit:
                    others = readable(name, room.others)
                    beside = f", and other queues deserve {others}" if room.others else ""
                    remedy = (
                        f"lower deserved to at most {readable(name, room.free)}, because {room.of} "
                        f"{readable(name, room.have)}{beside}"
                    )
                gang = facts.cluster.derive(_largest).get((queue.name, name))
                if gang is not None and gang.amounts[name] > limit:
                    needs = amount_of(name, gang.amounts[name], limit)
                    remedy = f"raise capability, because {gang.owner} needs {needs} at once"
                if not limit and name in ("cpu", "memory"):
                    remedy = "raise capability, because 0 means no limit"
                yield Hit(
                    RULE,
                    f"{queue} deserves {amount_of(name, amount, limit)}, above its capability of "
                    f"{readable(name, limit, amount)}; {remedy}",
                    queue.at.to("spec", "deserved", name),
                    (queue.at.to("spec", "capability", name),),
                )


def _largest(cluster: Cluster) -> Mapping[tuple[str, str], GangNeeds]:
    """By queue and resource, the gang that needs most of it."""
    found: dict[tuple[str, str], GangNeeds] = {}
    for gang in cluster.derive(gangs):
        for name, amount in gang.amounts.items():
            known = found.get((gang.queue, name))
            if known is None or amount > known.amounts[name]:
                found[gang.queue, name] = gang
    return found


RULE = ObjectRule(
    "deserved-above-capability",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Lower deserved, or raise capability.",
    judges=("Queue",),
    check=check,
    reads=("Node", "PodGroup", "volcano-scheduler.conf", *KINDS),
    may_exist=True,
)
