"""The guarantees of all Queues together are larger than the resources of the nodes."""

from policygen.core.amounts import sums
from policygen.core.quoting import listed
from policygen.lint import replaced_queues
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano subtracts a guarantee from the real capability of all other queues. All resources are one hit.

    Source: pkg/scheduler/plugins/capacity/capacity.go, totalGuarantee; volcano-sh/volcano#3127.
    """
    found = queues.excesses(facts.cluster, queues.GUARANTEE)
    if not found:
        return
    owners = {queue.at: queue for it in found for queue in it.queues}
    names = listed([it.resource for it in found], "and")
    total, has = sums((it.resource, it.total, it.have) for it in found)
    last = found[0].queues[-1]
    yield Hit(
        RULE,
        f"the queues below root are guaranteed {total} together, but the "
        f"nodes have {has}, so queues without a guarantee cannot use {names}; "
        f"{replaced_queues.advice(it.object for it in owners.values())}lower guarantee.resource",
        last.at.to("spec", *queues.GUARANTEE, found[0].resource),
        tuple(at for at in owners if at != last.at)[:5],
    )


RULE = ObjectRule(
    "guarantees-exceed-cluster",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Lower the guarantees until their sum fits the nodes.",
    judges=("Queue",),
    check=check,
    needs=frozenset({Need.NODES, Need.WHOLE}),
)
