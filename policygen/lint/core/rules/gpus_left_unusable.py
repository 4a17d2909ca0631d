"""Nodes that are full of these pods have GPUs that no pod of the input can use."""

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Mapping
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import amount_of, at_most, readable
from policygen.core.quoting import counted, listed
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import Demand
from policygen.kubernetes.node_groups import HOST_PORT, Node
from policygen.kubernetes.node_index import Bits, NodeIndex, amount
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import paths, without_equal_limit
from policygen.lint.core.daemon_pods import beside
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.limit_range_refusals import refused_by_range
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.refused_pods import request_path
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

Requests = tuple[tuple[str, Fraction], ...]
"""Amounts by resource, sorted."""


class Full(Struct, frozen=True, eq=False):
    """Nodes that are full of pods of one template."""

    nodes: Bits
    pods: int
    """The number of pods on each node."""
    gpu: str
    offered: Fraction
    """The accelerators of each node."""
    left: Fraction
    """The accelerators of each node that the pods leave."""


def check(facts: Facts) -> Hits:
    """GPUs are left if their number is not a multiple of that of a pod, or if cpu or memory runs out first.

    Checked only if the pods fill at least one node, with the maximum of their autoscaler, if all nodes
    that take them have such GPUs left, and if the other pods of the input can use at most half of them.
    Source: pkg/scheduler/framework/plugins/noderesources/fit.go of Kubernetes 1.36.3.
    """
    index = facts.derive(node_index)
    if not index.all:
        return
    without_room = facts.derive(exceeding) if "replicas-exceed-nodes" in facts.run else ()
    for it in facts.derive(pod_demands):
        gpu, own = _gpu(it), index.of(it.ways[0].demand)
        if gpu is None or it.most is None or it in without_room:
            continue  # replicas-exceed-nodes reports pods without room
        if id(it.template) in facts.derive(refused_by_range):
            continue
        if "gpu-request-without-limit" in facts.run and _is_refused(it, gpu):
            continue
        best = _best(it, gpu, facts)
        if best is None or it.most < best.pods:
            continue
        filled = min(_count(best.nodes, own), max(1, (it.pods or 0) // best.pods))
        used = _used(best, it, filled * best.left / 2, facts)
        if used is not None:
            yield _hit(it, best, own, used)


def _is_refused(it: PodDemand, gpu: str) -> bool:
    """Whether the API server refuses the pods for the amount of their accelerators."""
    return any(
        name == gpu
        for _, container in paths(it.template)
        for name, _ in without_equal_limit(container)
    )


def _best(it: PodDemand, gpu: str, facts: Facts) -> Full | None:
    """Of the nodes that take the pods, those that keep the fewest; None if one keeps none, or it is unknown."""
    index, offering = facts.derive(node_index).of(it.ways[0].demand), facts.derive(_offering)
    levels = index.levels(gpu)
    others: Bits = levels.unknown
    for name, nodes in offering.items():
        others |= nodes if name != gpu else 0
    best: Full | None = None
    for way in it.ways:
        taking = index.takers(way.demand)
        if taking & others:
            return None
        for level in levels.known:
            if not level.nodes & taking:
                continue
            if level.most is None:
                return None
            full = _full(way.demand, gpu, level.most, level.nodes & taking, index)
            if not full.left:
                return None
            if best is None or (full.left, full.pods) < (best.left, best.pods):
                best = full
    return best


def _gpu(it: PodDemand) -> str | None:
    """The only accelerator that a pod requests."""
    found = [name for name, _ in it.ways[0].demand.requests if is_one(name)]
    return found[0] if len(found) == 1 else None


def _full(demand: Demand, gpu: str, offered: Fraction, nodes: Bits, index: NodeIndex) -> Full:
    """Of nodes with equal accelerators that each hold a pod, those that hold most pods."""
    most = offered // dict(demand.requests)[gpu]
    more = bisect_left(
        range(2, most + 1), 1, key=lambda pods: not nodes & _holding(demand, pods, index)
    )
    pods = 1 + more
    left = offered - pods * dict(demand.requests)[gpu]
    return Full(nodes & _holding(demand, pods, index), pods, gpu, offered, left)


def _holding(demand: Demand, pods: int, index: NodeIndex, more: Requests = ()) -> Bits:
    """The nodes that have, or may have, the amounts for a number of pods, and for one pod with other requests."""
    beside = dict(more)
    found = index.at_least("pods", Fraction(pods + bool(more)))
    for name, requested in demand.requests:
        found &= index.at_least(name, pods * requested + beside.pop(name, 0))
    for name, requested in beside.items():
        found &= index.at_least(name, requested)
    return found


def _used(full: Full, it: PodDemand, most: Fraction, facts: Facts) -> Fraction | None:
    """The accelerators that the other pods of the input can use in the rest of the nodes; None if more than `most`."""
    index = facts.derive(node_index).of(it.ways[0].demand)
    found = Fraction(0)
    for nodes, wanted in facts.derive(_wanted).items():
        both = nodes & full.nodes
        for requests, pods in wanted.items() if both else ():
            each = dict(requests).get(full.gpu)
            if not each or not both & _holding(it.ways[0].demand, full.pods, index, requests):
                continue
            if pods is None:
                return None
            found += pods * each
            if found > most:
                return None
    return found


def _count(nodes: Bits, index: NodeIndex) -> int:
    """The number of nodes."""
    return sum(node.count for _, node in index.entries(nodes))


def _offering(facts: Facts) -> Mapping[str, Bits]:
    """The nodes that list an accelerator, by its resource."""
    index = facts.derive(node_index)
    found: dict[str, Bits] = {}
    for bit, node in index.entries(index.all):
        for name, have in node.allocatable.items():
            if have and is_one(name):
                found[name] = found.get(name, 0) | bit
    return found


def _wanted(facts: Facts) -> Mapping[Bits, Mapping[Requests, int | None]]:
    """The number of pods with accelerators by their requests, by the nodes that take them if these have enough.

    None: unknown, or any number.
    """
    index = facts.derive(node_index)
    known: dict[Demand, Bits] = {}
    found: defaultdict[Bits, dict[Requests, int | None]] = defaultdict(dict)
    for it in facts.derive(pod_demands):
        for way in it.ways:
            if any(is_one(name) for name, _ in way.demand.requests):
                without = replace(way.demand, requests=())
                if without not in known:
                    known[without] = index.takers(without)
                pods = found[known[without]]
                before = pods.get(way.demand.requests, 0)
                pods[way.demand.requests] = (
                    None if before is None or it.most is None else before + it.most
                )
    return found


def _short(it: PodDemand, full: Full, node: Node) -> str:
    """The resource of which too little is left for one more pod, the accelerators first."""
    demand = it.ways[0].demand
    requests = (
        (full.gpu, dict(demand.requests)[full.gpu]),
        ("pods", Fraction(1)),
        *demand.requests,
    )
    return next(
        name
        for name, requested in requests
        if (have := amount(node, name)) is not None and have < (full.pods + 1) * requested
    )


def _hit(it: PodDemand, full: Full, index: NodeIndex, used: Fraction) -> Hit:
    requests = dict(it.ways[0].demand.requests)
    _, node = next(index.entries(full.nodes))
    short = _short(it, full, node)
    gpus = readable(full.gpu, full.offered)
    pods = counted(full.pods, "pod")
    begin = (
        f"each node that {pods} of {it.workload} fill{'s' if full.pods == 1 else ''} keeps "
        f"{readable(full.gpu, full.left)} of {amount_of(full.gpu, full.offered)} unused"
    )
    if used:
        begin += (
            f" (other pods of the input can use {readable(full.gpu, used)} on all nodes together)"
        )
    if short == full.gpu:
        least = requests[full.gpu]
        divisor = next(
            n for n in range(1, int(full.offered) + 1) if full.offered % n == 0 and n >= least
        )
        message = (
            f"{begin}, because a pod requests {readable(full.gpu, least)}; request a number of "
            f"GPUs that divides {gpus}, such as {divisor}"
        )
    elif short.startswith(HOST_PORT):
        message = f"{begin}, because each node has {short} once; remove hostPort"
    elif short == "pods":
        message = (
            f"{begin}, because the number of pods runs out first; request more GPUs in each pod, or "
            "raise maxPods of the kubelet"
        )
    else:
        shares = {
            name: node.allocatable[name] * requests[full.gpu] / full.offered
            for name in (short, *(it for it in requests if it not in (short, full.gpu)))
            if name in node.allocatable
        }
        most = [at_most(name, it) for name, it in shares.items() if requests[name] > it]
        message = (
            f"{begin}, because {short} runs out first{beside([node], short)}; "
            f"request at most {listed(most, 'and')} in each pod"
        )
    return Hit(RULE, message, it.template.at.to("spec", *request_path(it.template.spec, short)))


RULE = ObjectRule(
    "gpus-left-unusable",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Request a number of GPUs that divides that of the node, and at most its share of cpu and memory.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=READS,
)
