"""A DaemonSet runs on no node that it is meant for, or some of the nodes that it selects are too small."""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from policygen.core.quoting import counted, some
from policygen.core.suggest import is_slip
from policygen.kubernetes.daemons import with_controller_tolerations
from policygen.kubernetes.node_filters import Demand, Differs, Miss, NotTolerated
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.node_index import Bits, NodeIndex
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.known_nodes import empty_index
from policygen.lint.core.limit_range_refusals import is_refused_by_range
from policygen.lint.core.near_nodes import NearestNodes, NearNodes
from policygen.lint.core.pod_demands import READS, PodDemand, Way
from policygen.lint.core.refused_pods import near_label, words
from policygen.lint.core.template_demand import own_demand
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_VENDORS: Mapping[str, re.Pattern[str]] = {
    "nvidia.com/": re.compile(r"nvidia|dcgm"),
    "amd.com/": re.compile(r"amdgpu|amd-gpu|rocm"),
    "gpu.intel.com/": re.compile(r"intel-(gpu|xpu)"),
    "habana.ai/": re.compile(r"habana|gaudi"),
    "aws.amazon.com/neuron": re.compile(r"neuron"),
}
"""By the prefix of the resources of a vendor, what the names and images of its DaemonSets contain."""
_TEMPORARY = "node.kubernetes.io/"
"""Taints that Kubernetes itself sets and removes."""


def check(facts: Facts) -> Hits:
    """Without the device plugin on a node, no pod gets its GPUs.

    A DaemonSet is meant for the nodes that its selector or node affinity selects, or else, by its name or
    image, for the nodes with GPUs of a vendor. If it selects no node, only a misspelled label is reported:
    other nodes may exist.
    Source: pkg/controller/daemon/daemon_controller.go of Kubernetes 1.36.3, NodeShouldRunDaemonPod: the
    controller creates no pod for a node with another label or taint, and one that stays Pending for a node
    that is too small.
    """
    index = facts.derive(empty_index)
    if not index.all:
        return
    for workload in facts.cluster.workloads:
        is_one = (workload.object.group, workload.kind) == ("apps", "DaemonSet")
        if is_one and not is_refused_by_range(facts, workload):
            for template in workload.templates:
                it = with_controller_tolerations(own_demand(facts.cluster, workload, template))
                hit = _hit(workload, template, it, index)
                if hit is not None:
                    yield hit


def _hit(workload: Workload, template: PodTemplate, it: Demand, index: NodeIndex) -> Hit | None:
    certain, takers = index.certain(it), index.takers(it)
    placed = certain & index.takers(replace(it, requests=()))
    small = placed & ~takers
    selects = bool(it.selector) or it.terms is not None
    meant = certain & index.selected(it) if selects else _of_vendor(workload, template, index)
    chosen = small or meant or (index.all if selects else 0)
    if not chosen or (chosen is not small and chosen & takers):
        return None
    nodes = tuple(node for _, node in index.entries(chosen))
    demand = PodDemand(workload, template, (Way(it),), None, None)
    near = NearestNodes(NodeIndex(NodeSet(nodes))).of(demand)
    if near is None or any(map(_is_temporary, near.misses)):
        return None
    if chosen is index.all and not _is_misspelt(near, index):
        return None
    every = index.nodes.all
    parts = [words(each, template.spec, every, near.values) for each in near.misses]
    fact = ", and ".join(dict.fromkeys(part.fact for part in parts))
    advice = "; ".join(dict.fromkeys(part.advice for part in parts))
    names = some([node.name for node in nodes], "other")
    message = f"no node takes the pods of {workload}: {_who(near, len(every))} {fact}; {advice}"
    if small and takers:
        message = (
            f"{small.bit_count()} of {counted(placed.bit_count(), 'node')} that {workload} selects ({names}) {fact}, "
            f"so their pods stay Pending; {advice}, or select other nodes"
        )
    elif takers:
        message = f"the nodes with GPUs ({names}) take no pods of {workload}: they {fact}; {advice}"
    at = nodes[0].at
    return Hit(RULE, message, template.at.to("spec", *parts[0].path), (at,) if at else ())


def _of_vendor(workload: Workload, template: PodTemplate, index: NodeIndex) -> Bits:
    """The nodes with devices of the vendor that the name or an image of a DaemonSet contains."""
    own = " ".join((workload.name, *(it.image for it in template.spec.containers))).lower()
    prefixes = tuple(prefix for prefix, pattern in _VENDORS.items() if pattern.search(own))
    return sum(
        bit
        for bit, node in index.entries(index.all if prefixes else 0)
        if any(name.startswith(prefixes) and amount for name, amount in node.allocatable.items())
    )


def _who(near: NearNodes, every: int) -> str:
    names = [node.name for group in near.groups for node in group.nodes]
    return "all nodes" if len(names) == every else f"the nearest nodes ({some(names, 'other')})"


def _is_temporary(miss: Miss) -> bool:
    return isinstance(miss, NotTolerated) and miss.taint.key.startswith(_TEMPORARY)


def _is_misspelt(near: NearNodes, index: NodeIndex) -> bool:
    """Whether the nodes only differ in one label, whose key or value resembles that of the nodes."""
    if len(near.misses) != 1 or not isinstance(miss := near.misses[0], Differs):
        return False
    required = miss.placed.requirement
    if miss.value is None:
        return bool(near_label(required.key, index.nodes.all))
    return any(is_slip(it, miss.value) for it in required.values)


RULE = ObjectRule(
    "daemon-set-without-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add the toleration or correct the label that the finding names, or request less.",
    judges=("DaemonSet",),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=READS,
)
