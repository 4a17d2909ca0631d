"""Each workload fits on the nodes, but not all of them together."""

from policygen.core.amounts import amount_of, readable
from policygen.core.quoting import counted, some
from policygen.kubernetes.node_groups import HOST_PORT
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.node_sums import Excess, NodeExcess, PodExcess, SumExcess, node_sums
from policygen.lint.core.pod_demands import READS
from policygen.lint.core.queue_rooms import READS as READS_OF_QUEUES
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The other pods stay Pending. Checks workloads whose pods do not end. Nodes count as empty.

    Source: pkg/scheduler/framework/plugins/noderesources/fit.go of Kubernetes 1.36.3.
    """
    for it in facts.derive(node_sums):
        last = it.members[-1].workload
        yield Hit(
            RULE,
            f"{_message(it)}; {_advice(it)}",
            last.at.to("spec", "replicas"),
            related=tuple(dict.fromkeys(each.workload.at for each in it.members[:-1])),
        )


def _message(it: Excess) -> str:
    names = list(dict.fromkeys(str(each.workload) for each in it.members))
    # The finding is at the last one, so its name is shown.
    who = some([*names[:2], names[-1], *names[2:-1]] if names[2:] else names, "other workload")
    nodes = f"the {counted(it.nodes, 'node')} that can take them"
    match it:
        case SumExcess(requested=pods) if it.resource.startswith(HOST_PORT):
            return f"the {pods} pods of {who} use {it.resource}, which each of {nodes} has once"
        case SumExcess(requested=pods, have=room) if it.resource == "pods":
            return f"{who} have {pods} pods, but {nodes} together have room for {room}"
        case SumExcess(requested=amount, have=have):
            return (
                f"the pods of {who} together request {amount_of(it.resource, amount, have)}, but {nodes} "
                f"have {readable(it.resource, have, amount)}"
            )
        case NodeExcess(needed=needed, size=size):
            return (
                f"the pods of {who} together need at least {needed} nodes with {amount_of(it.resource, size)}, "
                f"because a pod cannot be divided, but only {counted(it.nodes, 'node')} can take them"
            )
        case PodExcess(pods=pods, least=least, room=room):
            return (
                f"the {pods} pods of {who} request {readable(it.resource, least)} or more "
                f"{it.resource} each, but {nodes} together have room for {room} such pods"
            )


def _advice(it: Excess) -> str:
    if it.resource.startswith(HOST_PORT):
        return "use different host ports, run fewer pods, or add nodes"
    less = "" if it.resource == "pods" else "request less, "
    return f"run fewer pods, {less}or add nodes"


RULE = ObjectRule(
    "workloads-exceed-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Run fewer pods, request less, or add nodes.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=tuple(dict.fromkeys((*READS, *READS_OF_QUEUES))),
)
