"""The guarantees of all Queues together are larger than the resources of the nodes."""

from policygen.core.amounts import amount_of, readable
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues


def check(facts: Facts) -> Hits:
    """Volcano subtracts a guarantee from the real capability of all other queues.

    Source: pkg/scheduler/plugins/capacity/capacity.go, totalGuarantee; volcano-sh/volcano#3127.
    """
    for name, total, has, owners in queues.excesses(facts.cluster, queues.GUARANTEE):
        yield Hit(
            RULE,
            f"the queues below root are guaranteed {amount_of(name, total, has)} together, but the "
            f"nodes have {readable(name, has, total)}, so queues without a guarantee cannot use {name}; "
            "lower guarantee.resource",
            owners[-1].at.to("spec", *queues.GUARANTEE, name),
            tuple(queue.at for queue in owners[:-1][:5]),
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
