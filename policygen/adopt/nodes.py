"""The nodes of pools, as far as Nodes were read."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.adopt.pools import Found
from policygen.adopt.quotas import HERE
from policygen.adopt.trees import POOL_NAME, amount, label
from policygen.core.quantity import MEBIBYTE
from policygen.core.quoting import listed
from policygen.core.tolerations import EFFECTS
from policygen.hardware import catalog
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.table import Entry
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector
from policygen.spec.types import NodeResources, Pool, Taint

PRODUCT = "nvidia.com/gpu.product"
GROUPING = (
    PRODUCT,
    "cloud.google.com/gke-accelerator",
    "node.kubernetes.io/instance-type",
    "kubernetes.io/arch",
)
"""Labels by which GPU nodes without a flavor are divided into pools; the first that all have."""


class NodeFacts(Struct, frozen=True):
    """The nodes of one pool, and the size of one of them."""

    counts: tuple[tuple[int, int], ...]
    """GPUs of a node, and the number of such nodes: the most usual first."""
    resource: str
    node: NodeResources
    """A node of the most usual number of GPUs, with as much for a GPU as the node with the least."""
    sums: Vector
    """The cpu, memory and GPUs of all nodes together."""
    product: str | None
    taints: tuple[Taint, ...]
    """Those of all nodes."""
    partly: tuple[tuple[Taint, int], ...]
    """Those of only some nodes, with the number of these nodes."""

    @property
    def count(self) -> int:
        """The number of nodes."""
        return sum(number for _, number in self.counts)

    @property
    def per_node(self) -> int:
        """GPUs of most nodes."""
        return self.counts[0][0]

    @property
    def units(self) -> int:
        """Their GPUs together."""
        return self.sums[self.resource]


def of_labels(cluster: Cluster, labels: Mapping[str, str], resource: str) -> NodeFacts | None:
    """The nodes with these labels and this resource; None if there are none."""
    return _facts(
        [it for it in _with(cluster, resource) if labels.items() <= it.labels.items()], resource
    )


def _with(cluster: Cluster, resource: str) -> list[Entry[NodeView]]:
    return [it for it in cluster.nodes if it.fields.status.allocatable.get(resource, 0) > 0]


def _facts(nodes: Sequence[Entry[NodeView]], resource: str) -> NodeFacts | None:
    if not nodes:
        return None
    vectors = [it.fields.status.allocatable for it in nodes]
    counts = Counter(int(it[resource]) for it in vectors).most_common()
    per_node = counts[0][0]
    products = {it.labels.get(PRODUCT, "") for it in nodes}
    known = catalog.product(next(iter(products))) if len(products) == 1 else None
    taints = Counter(taint for it in nodes for taint in dict.fromkeys(_taints(it)))

    def least(name: str, default: int) -> int:
        parts = [(amount(name, it[name]), int(it[resource])) for it in vectors if name in it]
        return min((count * per_node // gpus for count, gpus in parts), default=default)

    return NodeFacts(
        counts=tuple(counts),
        resource=resource,
        node=NodeResources(least(CPU, 1), least(MEMORY, MEBIBYTE)),
        sums={
            name: sum(amount(name, it[name]) for it in vectors if name in it)
            for name in (*HOST, resource)
        },
        product=known.product.labels[0] if known and not known.assumed else None,
        taints=tuple(sorted((it for it in taints if taints[it] == len(nodes)), key=str)),
        partly=tuple(sorted(((it, n) for it, n in taints.items() if n < len(nodes)), key=str)),
    )


def of_volcano(cluster: Cluster, found: Sequence[Found]) -> dict[str, Pool]:
    """Pools of Volcano with the nodes that are probably theirs, by name: its queues name no nodes.

    Only if one such pool and one group of nodes without a pool have the resource.
    """
    selectors = [dict(it.pool.node_selector) for it in found if it.pool.node_selector]
    groups = _groups(cluster, selectors)
    made: dict[str, Pool] = {}
    for resource in sorted({it for _, _, it in groups}):
        able = [it for it in found if not it.pool.node_selector and resource in it.available]
        nodes = [(key, value) for key, value, name in groups if name == resource]
        if len(able) != 1 or able[0].scheduler != "volcano" or len(nodes) != 1:
            continue
        (key, value), pool = nodes[0], able[0].pool
        common = _common(groups[key, value, resource])
        selector = _separate({key: value}, common, selectors)
        if selector is not None:
            made[pool.name] = replace(pool, node_selector=tuple(sorted(selector.items())))
    return made


def without_queue(
    cluster: Cluster, found: Iterable[Found]
) -> tuple[list[Found], list[tuple[str, str]]]:
    """Pools of GPU nodes that no flavor and no quota is about: their pods use kube-scheduler.

    Also the nodes that cannot be a pool, and why.
    """
    known = list(found)
    free = _groups(cluster, [dict(it.pool.node_selector) for it in known if it.pool.node_selector])
    selectors = [dict(it.pool.node_selector) for it in known if it.pool.node_selector]
    counted = {name for it in known if not it.pool.node_selector for name in it.available}
    names = {it.name for it in known}
    made: list[Found] = []
    left: list[tuple[str, str]] = []
    for (key, value, resource), nodes in sorted(free.items()):
        if resource in counted:
            reason = f"queues or quotas without nodes count {resource}, and which nodes these are is not known"
            left += [(str(it), f"it is in no pool: {reason}") for it in nodes]
            continue
        facts = _facts(nodes, resource)
        selector = _separate({key: value}, _common(nodes), selectors)
        name = label(value)[:POOL_NAME].strip("-")
        if facts is None or selector is None or name in names:
            reason = "no label separates it from the nodes of the pools, so it is in no pool"
            left += [(str(it), reason) for it in nodes]
            continue
        names.add(name)
        selectors.append(selector)
        pool = Pool(
            name=name,
            at=HERE,
            node_selector=tuple(sorted(selector.items())),
            scheduler="kube-scheduler",
            taints=facts.taints,
        )
        made.append(Found(name, "kube-scheduler", {resource: facts.units}, pool))
    return made, [*left, *_not_grouped(cluster, selectors)]


_Group = tuple[str, str, str]
"""Key and value of a label, and the resource."""


def _groups(
    cluster: Cluster, selectors: Sequence[Mapping[str, str]]
) -> dict[_Group, list[Entry[NodeView]]]:
    """The GPU nodes of no pool, by the first label of GROUPING that they have."""
    groups: dict[_Group, list[Entry[NodeView]]] = {}
    for node, gpus in _outside_pools(cluster, selectors):
        key = next((it for it in GROUPING if it in node.labels), None)
        if key is not None and len(gpus) == 1:
            groups.setdefault((key, node.labels[key], gpus[0]), []).append(node)
    return groups


def _outside_pools(
    cluster: Cluster, selectors: Iterable[Mapping[str, str]]
) -> Iterator[tuple[Entry[NodeView], list[str]]]:
    """The GPU nodes that are in no pool, and the resources of their GPUs."""
    for node in cluster.nodes:
        allocatable = node.fields.status.allocatable
        gpus = [it for it, count in allocatable.items() if accelerators.is_one(it) and count > 0]
        if gpus and not any(it.items() <= node.labels.items() for it in selectors):
            yield node, gpus


def _not_grouped(
    cluster: Cluster, selectors: Iterable[Mapping[str, str]]
) -> Iterator[tuple[str, str]]:
    """The GPU nodes that are in no pool and that `_groups` omits, and why."""
    for node, gpus in _outside_pools(cluster, selectors):
        if len(gpus) > 1:
            yield (
                str(node),
                f"it has {listed(sorted(gpus), 'and')}, so it is in no pool; write a pool for it by hand",
            )
        elif not any(it in node.labels for it in GROUPING):
            yield (
                str(node),
                f"it is in no pool; give it one of the labels {listed([*GROUPING], 'or')}",
            )


def _common(nodes: Sequence[Entry[NodeView]]) -> dict[str, str]:
    """The labels that all nodes have, with one value."""
    pairs = set.intersection(*(set(it.labels.items()) for it in nodes))
    return dict(pairs)


def _separate(
    selector: dict[str, str], common: Mapping[str, str], others: Iterable[Mapping[str, str]]
) -> dict[str, str] | None:
    """The selector with the labels that no node of another pool has; None if there are none."""
    for other in others:
        if any(selector.get(key, value) != value for key, value in other.items()):
            continue
        key = next((it for it in other if common.get(it, other[it]) != other[it]), None)
        if key is None:
            return None
        selector = {**selector, key: common[key]}
    return selector


def _taints(node: Entry[NodeView]) -> list[Taint]:
    return [
        Taint(it.key, it.effect, it.value or None)
        for it in node.fields.spec.taints
        if it.effect in EFFECTS
        and not it.key.startswith(("node.kubernetes.io/", "node.cloudprovider.kubernetes.io/"))
    ]


def invalid_taints(cluster: Cluster) -> Iterator[tuple[str, str]]:
    """The taints that servers refuse, so that no pool has them: the name of the node, and the reason."""
    for node in cluster.nodes:
        for it in node.fields.spec.taints:
            if it.effect not in EFFECTS:
                value = f"={it.value}" if it.value else ""
                taint = f"{it.key}{value}:{it.effect}"
                yield (
                    str(node),
                    f"the effect of taint {taint} is invalid, so the spec does not have it",
                )
