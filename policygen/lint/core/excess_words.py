"""Pods that exceed the nodes, in words."""

from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.amounts import amount_of, readable
from policygen.core.finding import At, Exceeded
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes.node_groups import HOST_PORT
from policygen.lint.core.node_sums import Excess, NodeExcess, PodExcess, SumExcess


def fault(it: Excess) -> str:
    """Which pods have too little room on which nodes."""
    names = list(dict.fromkeys(str(each.workload) for each in it.members))
    # The finding is at the last one, so its name is shown.
    who = some([*names[:2], names[-1], *names[2:-1]] if names[2:] else names, "other workload")
    nodes = _nodes(it)
    have = "has" if it.nodes == 1 else "together have"
    match it:
        case SumExcess(requested=pods) if it.resource.startswith(HOST_PORT):
            return f"the {pods} pods of {who} use {it.resource}, which each of {nodes} has once"
        case SumExcess(requested=pods, have=room) if it.resource == "pods":
            return f"{who} have {pods} pods, but {nodes} {have} room for {room}"
        case SumExcess():
            return f"the pods of {who} together {_sums(it, nodes)}"
        case NodeExcess(needed=needed, size=size):
            return (
                f"the pods of {who} together need at least {needed} nodes with {amount_of(it.resource, size)}, "
                f"because a pod cannot be divided, but only {counted(it.nodes, 'node')} can take them"
            )
        case PodExcess(pods=pods, least=least, room=room):
            return (
                f"the {pods} pods of {who} request {readable(it.resource, least)} or more "
                f"{it.resource} each, but {nodes} {have} room for {room} such pods"
            )


def _nodes(it: Excess) -> str:
    return f"the {counted(it.nodes, 'node')} that can take them"


def _sums(it: SumExcess, nodes: str) -> str:
    """What pods request and nodes have, of each resource that runs out."""
    sums = [it, *(each for each in it.others if not _is_number_of_pods(each.resource))]
    requested = [amount_of(each.resource, each.requested, each.have) for each in sums]
    have = [amount_of(each.resource, each.have, each.requested) for each in sums]
    if len(sums) == 1:
        have = [readable(it.resource, it.have, it.requested)]
    verb = "has" if it.nodes == 1 else "have"
    return f"request {listed(requested, 'and')}, but {nodes} {verb} {listed(have, 'and')}"


def _is_number_of_pods(resource: str) -> bool:
    return resource == "pods" or resource.startswith(HOST_PORT)


def used(it: Excess) -> str:
    """Which pods use which nodes, so that the last member, which is not among them, has too little room."""
    *others, last = it.members
    who = some(list(dict.fromkeys(str(each.workload) for each in others)), "other workload")
    nodes = _nodes(it)
    if isinstance(it, SumExcess) and not it.resource.startswith(HOST_PORT):
        requests = dict(last.ways[0].demand.requests)
        amount = it.requested - requests.get(it.resource, 1) * (last.pods or 0)
        have = amount_of(it.resource, it.have, amount)
        return f"the pods of {who} use {readable(it.resource, amount, it.have)} of the {have} of {nodes}"
    return f"the pods of {who} use {it.resource} of {nodes}"


def exceeded(it: Excess, at: At) -> Iterator[Exceeded]:
    """The limit of which the object at a place has too much, if it is a sum."""
    if isinstance(it, SumExcess):
        have = amount_of(it.resource, it.have, it.requested)
        limit = f"{_nodes(it)} {'has' if it.nodes == 1 else 'have'} {have}"
        yield Exceeded(at, it.resource, it.have, limit)


def advice(it: Excess) -> str:
    """What to change."""
    if it.resource.startswith(HOST_PORT):
        return "use different host ports, run fewer pods, or add nodes"
    less = "" if it.resource == "pods" else "request less, "
    return f"run fewer pods, {less}or add nodes"


def left_to(
    lasting: Mapping[str, Fraction], jobs: Mapping[str, Fraction], resource: str, most: Fraction
) -> str:
    """The end of the remedy "run fewer pods": the amount to leave to other workloads.

    `lasting` and `jobs`: what each of them needs, by name. Jobs end, so it is enough if the largest that
    fits into `most` can run. Empty if they need nothing, or more than `most`.
    """
    fitting = sorted((it for it in jobs if 0 < jobs[it] <= most), key=jobs.__getitem__)
    others = {**lasting, **{it: jobs[it] for it in fitting[-1:]}}
    needed = sum(others.values(), Fraction(0))
    if not 0 < needed <= most:
        return ""
    return f", and leave {amount_of(resource, needed)} to {some([*others], 'other workload')}"
