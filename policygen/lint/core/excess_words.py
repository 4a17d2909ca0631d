"""Pods that exceed the nodes, in words."""

from policygen.core.amounts import amount_of, readable
from policygen.core.quoting import counted, some
from policygen.kubernetes.node_groups import HOST_PORT
from policygen.lint.core.node_sums import Excess, NodeExcess, PodExcess, SumExcess


def fault(it: Excess) -> str:
    """Which pods have too little room on which nodes."""
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


def advice(it: Excess) -> str:
    """What to change."""
    if it.resource.startswith(HOST_PORT):
        return "use different host ports, run fewer pods, or add nodes"
    less = "" if it.resource == "pods" else "request less, "
    return f"run fewer pods, {less}or add nodes"
