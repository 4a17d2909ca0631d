"""GPU nodes are cordoned, or have a taint that no pod tolerates, so their GPUs stay idle."""

from collections.abc import Hashable, Iterator, Sequence
from datetime import timedelta

from msgspec.structs import replace

from policygen.core.amounts import amount_of, total
from policygen.core.names import HOSTNAME
from policygen.core.quoting import as_arguments, listed, some
from policygen.core.tolerations import tolerates
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.conditions import long, moment
from policygen.kubernetes.core import TaintView, TolerationView
from policygen.kubernetes.node_filters import CORDON, HARD
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.untyped import mappings
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import empty_index
from policygen.lint.core.pod_demands import READS, pod_demands
from policygen.lint.core.refused_pods import named
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, Need, ObjectRule, Severity, Verb

_OF_ONE_NODE = (HOSTNAME, "nvidia.com/gfd.timestamp")
"""Labels whose value is that of one node, besides those with its name."""


def check(facts: Facts) -> Hits:
    """A scheduler places no pod without a toleration on such nodes.

    Taints are checked only in complete manifests, because the pods of a cluster come and go. The cordon of a
    cluster is reported when it is old, because nodes are cordoned for maintenance.
    Source: pkg/scheduler/framework/plugins/{nodeunschedulable,tainttoleration} of Kubernetes 1.36.3, and
    pkg/controller/nodelifecycle, which adds the taint of a cordon with its time.
    """
    cluster = facts.cluster
    nodes = [
        it
        for it in facts.derive(empty_index).nodes.all
        if it.at
        and it.at not in cluster.context
        and any(is_one(name) and have for name, have in it.allocatable.items())
    ]
    cordoned = [it for it in nodes if it.unschedulable]
    if cluster.seen is None:
        if cordoned:
            yield _of_cordon(cordoned, "")
        if Need.WHOLE in facts.given:
            yield from _of_taints(facts, nodes)
    else:
        ages = {id(it): age for it in cordoned if (age := _age(facts, it)) > facts.bound(RULE)}
        if ages:
            old = [it for it in cordoned if id(it) in ages]
            yield _of_cordon(old, f" for {long(max(ages.values()))}")


def _age(facts: Facts, node: Node) -> timedelta:
    """How long a node of a cluster has been cordoned; 0: unknown."""
    entry = facts.cluster.nodes.get(node.name)
    for taint in mappings(entry.object.data, "spec", "taints") if entry else ():
        if taint.get("key") == CORDON.key and (since := moment(taint.get("timeAdded"))):
            return facts.now - since
    return timedelta(0)


def _of_cordon(nodes: Sequence[Node], since: str) -> Hit:
    places = [it.at.to("spec", "unschedulable") for it in nodes if it.at]
    verb = "is" if len(nodes) == 1 else "are"
    return Hit(
        RULE,
        f"{_shown(nodes)} {verb} cordoned{since}, so no new pod starts there and {_idle(nodes)}; after the maintenance "
        f"run: kubectl uncordon {_names(nodes)}",
        places[0],
        related=tuple(places[1:]),
        meant=tuple(Edit(Verb.REMOVE, it) for it in places),
    )


def _shown(nodes: Sequence[Node]) -> str:
    return some([it.name for it in nodes], "node")


def _names(nodes: Sequence[Node]) -> str:
    return as_arguments([it.name for it in nodes])


def _idle(nodes: Sequence[Node]) -> str:
    amounts = total(it.allocatable for it in nodes)
    gpus = [amount_of(name, it) for name, it in sorted(amounts.items()) if is_one(name) and it]
    whose = "its" if len(nodes) == 1 else "their"
    return f"{whose} {listed(gpus, 'and')} stay idle"


def _of_taints(facts: Facts, nodes: Sequence[Node]) -> Hits:
    """Nodes with a taint that others with the same labels do not have, although the same pods fit on both."""
    by_taint: dict[TaintView, list[Node]] = {}
    for node in nodes:
        for taint in node.taints:
            if taint.effect in HARD:
                by_taint.setdefault(taint, []).append(node)
    rare = {taint: it for taint, it in by_taint.items() if len(it) < len(nodes)}
    tolerations = facts.derive(tolerations_of_input) if rare else ()
    for taint, tainted in rare.items():
        if any(tolerates(it, taint) for it in tolerations):
            continue
        others = [it for it in nodes if taint not in it.taints]
        if odd := _usable(facts, taint, _odd(facts, tainted, others), others):
            yield _of_taint(facts, taint, odd)


def tolerations_of_input(facts: Facts) -> tuple[TolerationView, ...]:
    """The tolerations of the input, and those that match the taints of its pools; use it with `facts.derive`."""
    return tuple(_tolerations(facts))


def _tolerations(facts: Facts) -> Iterator[TolerationView]:
    for workload in facts.cluster.workloads:
        for template in workload.templates:
            # Device plugins and exporters run on every node.
            is_daemon = workload.kind == "DaemonSet"
            yield from (it for it in template.spec.tolerations if it.key or not is_daemon)
    for demand in facts.derive(pod_demands):
        yield from (it for way in demand.ways for it in way.demand.tolerations)
    for class_ in facts.cluster.runtime_classes:
        yield from class_.fields.scheduling.tolerations
    for flavor in facts.cluster.flavors:
        yield from flavor.fields.tolerations
        yield from (_matching(it.key) for it in flavor.fields.node_taints)
    for pool in facts.plan.pools if facts.plan else ():
        yield from (_matching(it.key) for it in pool.pool.taints)


def _matching(key: str) -> TolerationView:
    return TolerationView(key, "Exists")


def _odd(facts: Facts, tainted: Sequence[Node], others: Sequence[Node]) -> Sequence[Node]:
    """The nodes with the same labels as an untainted node, without those that a flavor selects by labels.

    A taint of all nodes with a label is that of a pool. `node-taint-not-tolerated` reports nodes of flavors.
    """
    flavors = facts.cluster.flavors if "node-taint-not-tolerated" in facts.run else ()
    selected = [it.fields.node_labels.items() for it in flavors if it.fields.node_labels]
    same = {same_pool(it) for it in others} - {None}
    return [
        it
        for it in tainted
        if same_pool(it) in same and not any(each <= it.labels.items() for each in selected)
    ]


def same_pool(node: Node) -> Hashable:
    """The labels and accelerators that a node shares with others of its pool; None: no label."""
    labels = {
        (key, value)
        for key, value in node.labels.items()
        if key not in _OF_ONE_NODE and value != node.name
    }
    gpus = ((name, amount) for name, amount in node.allocatable.items() if is_one(name))
    return (frozenset(labels), frozenset(gpus)) if labels else None


def _usable(
    facts: Facts, taint: TaintView, odd: Sequence[Node], others: Sequence[Node]
) -> Sequence[Node]:
    """The nodes that would take pods with GPUs which the others take."""
    if not odd:
        return ()
    index = facts.derive(empty_index)
    bits = {it.name: bit for bit, it in index.entries(index.all)}
    there = sum(bits[it.name] for it in others)
    usable = 0
    for demand in (way.demand for it in facts.derive(pod_demands) for way in it.ways):
        if any(is_one(name) for name, _ in demand.requests) and index.takers(demand) & there:
            tolerations = (*demand.tolerations, _matching(taint.key))
            usable |= index.takers(replace(demand, tolerations=tolerations))
    return [it for it in odd if bits[it.name] & usable]


def _of_taint(facts: Facts, taint: TaintView, nodes: Sequence[Node]) -> Hit:
    found = (facts.cluster.nodes.get(it.name) for it in nodes)
    places = [it.at.to("spec", "taints", it.fields.spec.taints.index(taint)) for it in found if it]
    verb = "has" if len(nodes) == 1 else "have"
    return Hit(
        RULE,
        f"{_shown(nodes)} {verb} taint {named(taint)}, which no pod of the input tolerates and other nodes with the same "
        f"labels do not have, so {_idle(nodes)}; add a toleration, or run: kubectl taint nodes {_names(nodes)} "
        f"{named(taint)}-",
        places[0],
        related=tuple(places[1:]),
        meant=tuple(Edit(Verb.REMOVE, it) for it in places),
    )


RULE = ObjectRule(
    "gpu-nodes-closed",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Uncordon the nodes, remove the taint, or add a toleration to pods.",
    judges=("Node",),
    check=check,
    needs=frozenset({Need.NODES}),
    reads=(*READS, *KINDS),
    bound=timedelta(days=7),
)
