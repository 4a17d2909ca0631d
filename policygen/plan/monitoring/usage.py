"""Records what runs and waits, with the pool, team and model of each series.

The names of metrics are those of kube-state-metrics 2.20, dcgm-exporter 4.8, Kueue 0.13 to 0.19 and
Volcano 1.14.
"""

from collections.abc import Iterator, Mapping

from policygen.plan.decisions import Decisions
from policygen.plan.model_names import MODEL
from policygen.plan.monitoring.facts import (
    NAMESPACE_TEAM,
    NODE_POOL,
    Leaf,
    leaves,
    pod_need,
)
from policygen.plan.monitoring.rule import (
    MetricRule,
    node_label,
    one_of,
    resource_label,
    series,
)
from policygen.plan.pool import PoolFacts

POD_UNITS = "policygen:pod_units"
"""The units that each pod on a node of a pool holds."""
POD_MODEL = "policygen:pod_model"
"""1 for each pod with the label of a model."""
POD_UTILIZATION = "policygen:pod_utilization_percent"
"""The mean utilization of the GPUs that a pod holds, with its pool, team and model."""
TEAM_USED = "policygen:team_used"
TEAM_PENDING = "policygen:team_pending"
"""Workloads of a team that wait for quota or nodes of a pool."""
TEAM_STARTED = "policygen:team_started"
"""Workloads that Kueue admitted; a counter."""
NODE_FREE = "policygen:node_free"
"""Units of each schedulable node that no pod holds."""
NODE_STRANDED = "policygen:node_stranded"
"""Free units of nodes that cannot take the smallest pod of a model."""
POOL_OFFERED = "policygen:pool_offered"
"""Units of the schedulable nodes of a pool."""

GR_ENGINE, GPU_UTIL = "DCGM_FI_PROF_GR_ENGINE_ACTIVE", "DCGM_FI_DEV_GPU_UTIL"
"""Utilization as a ratio, also of MIG instances; and in percent, only of complete cards."""
KUEUE_USED = "kueue_cluster_queue_resource_reservation"
KUEUE_PENDING = "kueue_pending_workloads"
KUEUE_ADMITTED = "kueue_admitted_workloads_total"
VOLCANO_USED = "volcano_queue_allocated_scalar_resources"
"""In thousandths of a unit."""
VOLCANO_WAITING = (
    "volcano_queue_pod_group_pending_count",
    "volcano_queue_pod_group_inqueue_count",
)
REQUESTS = "kube_pod_container_resource_requests"
NODE_LABELS = "kube_node_labels"
ALLOCATABLE = "kube_node_status_allocatable"

Labels = Mapping[str, str]

_ON_NODE = 'node!=""'
_LEADS = 'replica_role!="follower"'
"""Releases of Kueue before 0.16 have no label of this name, so their series match, too."""
_PHASE = "max by (namespace, pod) (kube_pod_status_phase{{{phase}}} == 1)"
_HOLDS = _PHASE.format(phase='phase=~"Pending|Running"')
WAITS = _PHASE.format(phase='phase="Pending"')


def rules(decided: Decisions) -> Iterator[MetricRule]:
    """The recording rules, in the order in which one uses another."""
    own = {"set": decided.platform.name}
    resources = sorted({it for facts in decided.pools for it in facts.resources})
    for resource in resources:
        yield _pod_units(resource, own)
    yield _pod_model()
    yield _utilization(own)
    for leaf in leaves(decided):
        for resource in leaf.facts.resources:
            labels = {**leaf.labels, "resource": resource}
            yield MetricRule(_used(leaf, resource, own), record=TEAM_USED, labels=labels)
        yield MetricRule(_pending(leaf), record=TEAM_PENDING, labels=leaf.labels)
        if leaf.facts.scheduler == "kueue":
            queue = {"cluster_queue": leaf.tree.name_of(leaf.node)}
            started = f"sum({series(KUEUE_ADMITTED, queue, _LEADS)}) or vector(0)"
            yield MetricRule(started, record=TEAM_STARTED, labels=leaf.labels)
    for facts in decided.pools:
        for resource in facts.resources:
            yield from _nodes(decided, facts, resource, own)


def _pod_units(resource: str, own: Labels) -> MetricRule:
    requests = series(REQUESTS, {"resource": resource_label(resource)}, _ON_NODE)
    expr = (
        f"sum by (namespace, pod, node) (\n  {requests}\n)\n"
        f"* on (namespace, pod) group_left ()\n  {_HOLDS}\n"
        f"* on (node) group_left (pool) {series(NODE_POOL, own)}"
    )
    return MetricRule(expr, record=POD_UNITS, labels={"resource": resource})


def _pod_model() -> MetricRule:
    name = node_label(MODEL)
    pods = series("kube_pod_labels", {}, f'{name}!=""')
    expr = (
        "max by (namespace, pod, model) (label_replace(\n"
        f'  {pods},\n  "model", "$1", "{name}", "(.+)"\n'
        "))"
    )
    return MetricRule(expr, record=POD_MODEL)


def _utilization(own: Labels) -> MetricRule:
    """The labels `exported_pod` and `exported_namespace` replace those of the exporter's own pod.

    They exist if Prometheus scrapes the exporter without `honorLabels`.
    """
    units = series(POD_UNITS, own)
    expr = (
        "avg by (namespace, pod) (label_replace(label_replace(\n"
        f"  {GR_ENGINE} * 100 or {GPU_UTIL},\n"
        '  "namespace", "$1", "exported_namespace", "(.+)"),\n'
        '  "pod", "$1", "exported_pod", "(.+)"\n'
        "))\n"
        "* on (namespace, pod) group_left (pool)\n"
        f"  (sum by (pool, namespace, pod) ({units}) > bool 0)\n"
        f"* on (namespace) group_left (team) {series(NAMESPACE_TEAM, own)}\n"
        "* on (namespace, pod) group_left (model) (\n"
        f"  {series(POD_MODEL, own)}\n"
        f"  or on (namespace, pod) (sum by (namespace, pod) ({units}) > bool 0)\n"
        ")"
    )
    return MetricRule(expr, record=POD_UTILIZATION)


def _used(leaf: Leaf, resource: str, own: Labels) -> str:
    """What the team uses of the pool: as its scheduler counts it, else what its pods hold."""
    queue, pool = leaf.tree.name_of(leaf.node), leaf.facts.name
    if leaf.facts.scheduler == "kueue":
        labels = {"cluster_queue": queue, "flavor": pool, "resource": resource}
        return _of_kueue(KUEUE_USED, labels)
    if leaf.facts.scheduler == "volcano":
        return f"sum({series(VOLCANO_USED, {'queue_name': queue, 'resource': resource})}) / 1000"
    held = series(POD_UNITS, {**own, "pool": pool, "resource": resource}, _in_namespaces(leaf))
    return f"sum({held}) or vector(0)"


def _pending(leaf: Leaf) -> str:
    queue = leaf.tree.name_of(leaf.node)
    if leaf.facts.scheduler == "kueue":
        return _of_kueue(KUEUE_PENDING, {"cluster_queue": queue})
    if leaf.facts.scheduler == "volcano":
        labels = {"queue_name": queue}
        return "\n+ ".join(f"sum({series(name, labels)})" for name in VOLCANO_WAITING)
    units = one_of("resource", map(resource_label, leaf.facts.resources))
    requests = series(REQUESTS, {}, units, _in_namespaces(leaf))
    return f"count(\n  sum by (namespace, pod) ({requests}) > 0\n  and {WAITS}\n)\nor vector(0)"


def _of_kueue(name: str, labels: Labels) -> str:
    """The sum of a gauge that each replica of Kueue reports, from the leader.

    Kueue 0.16.0 to 0.16.2 reports it as a follower until the queue changes after the election.
    Source: pkg/util/roletracker of Kueue.
    """
    return f"sum({series(name, labels, _LEADS)})\nor sum({series(name, labels)})"


def _in_namespaces(leaf: Leaf) -> str:
    return one_of("namespace", (it.name for it in leaf.node.team.namespaces))


def _nodes(
    decided: Decisions, facts: PoolFacts, resource: str, own: Labels
) -> Iterator[MetricRule]:
    """The free units of the nodes of a pool. Nodes with `unschedulable: true` do not count."""
    labels = {"pool": facts.name, "resource": resource}
    of_pool = series(NODE_POOL, {**own, "pool": facts.name})
    held = series(POD_UNITS, {**own, "resource": resource})
    units = (
        f"{series(ALLOCATABLE, {'resource': resource_label(resource)})}\n"
        f"  and on (node) (\n    {of_pool}\n"
        "    unless on (node) kube_node_spec_unschedulable == 1\n  )\n"
    )
    yield MetricRule(f"sum(\n  {units})", record=POOL_OFFERED, labels=labels)
    yield MetricRule(
        f"sum by (node) (\n  {units})\n"
        f"- on (node) (\n  sum by (node) ({held})\n  or on (node) 0 * {of_pool}\n)",
        record=NODE_FREE,
        labels=labels,
    )
    need = pod_need(decided, facts, resource)
    free = series(NODE_FREE, {**own, **labels})
    yield MetricRule(
        f"{free}\nand on (node) (\n"
        f"  {free} < {need.smallest}\n"
        f"  or on (node) {_host_free('cpu')} < {need.cpu_milli / 1000:g}\n"
        f"  or on (node) {_host_free('memory')} < {need.memory_bytes}\n"
        ")",
        record=NODE_STRANDED,
        labels=labels,
    )


def _host_free(resource: str) -> str:
    """The cpu or memory of each node that pods do not request."""
    have = series(ALLOCATABLE, {"resource": resource})
    used = series(REQUESTS, {"resource": resource}, _ON_NODE)
    return (
        f"(\n    sum by (node) ({have})\n    - on (node) sum by (node) (\n      {used}\n"
        f"      * on (namespace, pod) group_left ()\n      {_HOLDS}\n    )\n  )"
    )
