"""Nodes that are full of these pods have GPUs that no pod of the input can use."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.amounts import amount_of, at_most, readable
from policygen.core.quoting import counted
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import Demand
from policygen.kubernetes.node_groups import HOST_PORT, NodeSize
from policygen.kubernetes.node_index import NodeIndex
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import paths, without_equal_limit
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.node_rooms import exceeding
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.refused_pods import request_path
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

Requests = tuple[tuple[str, Fraction], ...]
"""Amounts by resource, sorted."""


class Full(Struct, frozen=True, eq=False):
    """A node that is full of pods of one template."""

    size: NodeSize
    pods: int
    gpu: str
    left: Fraction
    """The accelerators of the node that the pods leave."""
    short: str
    """The resource of which too little is left for one more pod; `gpu` if the accelerators run out."""


def check(facts: Facts) -> Hits:
    """GPUs are left if their number is not a multiple of that of a pod, or if cpu or memory runs out first.

    Checked only if the pods fill at least one node, if all nodes that take them have such GPUs left,
    and if no other pod of the input can use the rest of the node.
    Source: pkg/scheduler/framework/plugins/noderesources/fit.go of Kubernetes 1.36.3.
    """
    index = facts.derive(node_index)
    if not index.all:
        return
    smallest = facts.derive(_smallest)
    without_room = facts.derive(exceeding) if "replicas-exceed-nodes" in facts.run else ()
    for it in facts.derive(pod_demands):
        gpu = _gpu(it)
        if gpu is None or it.pods is None or it in without_room:
            continue  # replicas-exceed-nodes reports pods without room
        if "gpu-request-without-limit" in facts.run and _is_refused(it, gpu):
            continue
        best = _best(it, gpu, index)
        if best is None or it.pods < best.pods:
            continue
        if not _used(best, it, smallest[_amounts(best.size)]):
            yield _hit(it, best)


def _is_refused(it: PodDemand, gpu: str) -> bool:
    """Whether the API server refuses the pods for the amount of their accelerators."""
    return any(
        name == gpu
        for _, container in paths(it.template)
        for name, _ in without_equal_limit(container)
    )


def _best(it: PodDemand, gpu: str, index: NodeIndex) -> Full | None:
    """Of the nodes that take the pods, the one that keeps the fewest; None if one keeps none."""
    best: Full | None = None
    for way in it.ways:
        taking = index.takers(way.demand)
        for group in index.nodes.groups(way.demand.keys):
            for size in group.sizes if group.bits & taking else ():
                full = _full(way.demand, gpu, size)
                if full is None or not full.left:
                    return None
                if full.pods and (best is None or (full.left, full.pods) < (best.left, best.pods)):
                    best = full
    return best


def _gpu(it: PodDemand) -> str | None:
    """The only accelerator that a pod requests."""
    found = [name for name, _ in it.ways[0].demand.requests if is_one(name)]
    return found[0] if len(found) == 1 else None


def _full(demand: Demand, gpu: str, size: NodeSize) -> Full | None:
    """The node that is full of pods with this demand; None if a node's accelerators are not known."""
    offered = size.amount(gpu)
    others = [name for name, have in size.allocatable.items() if is_one(name) and have]
    pods = size.holds(demand.requests)
    if offered is None or others != [gpu] or pods is None:
        return None
    requests = dict(demand.requests)
    left = offered - pods * requests[gpu]
    short = [
        name
        for name, amount in (("pods", Fraction(1)), *demand.requests)
        if name != gpu and (have := size.amount(name)) is not None and have < (pods + 1) * amount
    ]
    return Full(size, pods, gpu, left, gpu if left < requests[gpu] else short[0])


def _used(full: Full, it: PodDemand, smallest: Sequence[Demand]) -> bool:
    """Whether another pod of the input fits into the rest of the node."""
    requests = dict(it.ways[0].demand.requests)
    rest = {
        name: have
        - full.pods * (Fraction(1) if name == "pods" else requests.get(name, Fraction(0)))
        for name, have in full.size.allocatable.items()
    }
    size = replace(full.size, allocatable=rest)
    return any(
        (size.holds(other.requests) or 0) > 0
        for other in smallest
        if any(name == full.gpu for name, _ in other.requests)
    )


def _smallest(facts: Facts) -> Mapping[frozenset[tuple[str, Fraction]], Sequence[Demand]]:
    """Demands of pods with accelerators, by the amounts of the nodes that take them.

    Without those that request as much as another one or more.
    """
    index = facts.derive(node_index)
    found: defaultdict[frozenset[tuple[str, Fraction]], set[Requests]] = defaultdict(set)
    for demand in {way.demand for it in facts.derive(pod_demands) for way in it.ways}:
        if any(is_one(name) for name, _ in demand.requests):
            taking = index.takers(demand)
            for group in index.nodes.groups(demand.keys):
                for size in group.sizes if group.bits & taking else ():
                    found[_amounts(size)].add(demand.requests)
    return {amounts: _least(requests) for amounts, requests in found.items()}


def _amounts(size: NodeSize) -> frozenset[tuple[str, Fraction]]:
    return frozenset(size.allocatable.items())


def _least(found: Iterable[Requests]) -> Sequence[Demand]:
    kept: list[dict[str, Fraction]] = []
    for amounts in sorted(map(dict, found), key=lambda each: (len(each), sum(each.values()))):
        if not any(all(amounts.get(name, -1) >= it for name, it in each.items()) for each in kept):
            kept.append(amounts)
    return [Demand(tuple(each.items())) for each in kept]


def _hit(it: PodDemand, full: Full) -> Hit:
    requests = dict(it.ways[0].demand.requests)
    offered = full.size.allocatable[full.gpu]
    pods = counted(full.pods, "pod")
    begin = f"each node that {pods} of {it.workload} fill{'s' if full.pods == 1 else ''} keeps {readable(full.gpu, full.left)} of {amount_of(full.gpu, offered)} unused"
    if full.short == full.gpu:
        divisors = [n for n in range(1, int(offered) + 1) if offered % n == 0]
        message = (
            f"{begin}, because a pod requests {readable(full.gpu, requests[full.gpu])}; request a number of "
            f"GPUs that divides {readable(full.gpu, offered)}, such as {min(n for n in divisors if n >= requests[full.gpu])}"
        )
    elif full.short.startswith(HOST_PORT):
        message = f"{begin}, because each node has {full.short} once; remove hostPort"
    elif full.short == "pods":
        message = (
            f"{begin}, because the number of pods runs out first; request more GPUs in each pod, or "
            "raise maxPods of the kubelet"
        )
    else:
        share = full.size.allocatable[full.short] * requests.get(full.gpu, Fraction(1)) / offered
        message = (
            f"{begin}, because {full.short} runs out first; "
            f"request at most {at_most(full.short, share)} in each pod"
        )
    path = request_path(it.template.spec, full.short)
    return Hit(RULE, message, it.template.at.to("spec", *path))


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
