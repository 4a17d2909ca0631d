"""A ResourceQuota limits one GPU resource, but pods can use another without a limit."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policygen.core.finding import At, at_path
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import listed
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.namespace_quotas import bounds
from policygen.lint.core.unlimited_gpus import READS, unlimited_gpus
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import SCHEDULER

_REQUESTS = "requests."
Requests = Mapping[str, tuple[Workload, At]]
"""The first workload that requests each accelerator, with the place."""


def check(facts: Facts) -> Hits:
    """Each extended resource is counted by its own name, so nvidia.com/gpu does not count MIG instances.

    Reports resources that workloads of the namespace request outside of queues, and resources of
    nodes that no quota and no queue lists.
    Source: pkg/quota/v1/evaluator/core/pods.go, podComputeUsageHelper, of Kubernetes 1.36.3.
    """
    quotas = facts.cluster.resource_quotas.by_namespace
    unknown = {
        it.namespace
        for it in facts.cluster.of("", "ResourceQuota")
        if not isinstance(at_path(it.data, ("spec", "hard")), dict)
    }
    offered = {
        name
        for node in facts.derive(known_nodes).all
        for name, amount in node.allocatable.items()
        if amount > 0
    }
    unlimited, by_namespace = facts.derive(unlimited_gpus), facts.cluster.derive(_requested)
    for namespace, limits in facts.cluster.derive(bounds).items():
        counted = {
            key.removeprefix(_REQUESTS)
            for quota in quotas[namespace]
            for key in quota.fields.hard
            if key.startswith(_REQUESTS)
        }
        gpu = next(
            (it for it in sorted(counted) if accelerators.is_one(it) and _REQUESTS + it in limits),
            None,
        )
        if gpu is None or namespace in unknown:
            continue
        requested = by_namespace.get(namespace, {})
        names = sorted({*requested, *unlimited} - counted)
        if names:
            quota = limits[_REQUESTS + gpu].quota
            first = requested.get(names[0])
            who = f"{first[0]} requests" if first else "nodes offer"
            them = "it" if len(names) == 1 else "them"
            end = (
                f"which no quota limits, so pods of the namespace can use all of {them}; add "
                f"{listed([_REQUESTS + name for name in names], 'and')} to hard, with 0 to forbid {them}"
            )
            if facts.plan is not None and offered.isdisjoint(names):
                end = f"which no pool of the spec offers and no quota limits; request {gpu}, or add a pool"
            yield Hit(
                RULE,
                f"{quota} limits {gpu}, but {who} {listed(names, 'and')}, {end}",
                quota.at.to("spec", "hard", _REQUESTS + gpu).on_key(),
                related=tuple(_places(names, requested, unlimited)),
            )


def _requested(cluster: Cluster) -> Mapping[str, Requests]:
    """The accelerators that pods request outside of queues, by namespace."""
    found: defaultdict[str, dict[str, tuple[Workload, At]]] = defaultdict(dict)
    for workload in cluster.workloads:
        for template in workload.templates:
            requested = accelerators.requested(cluster, template)
            if not requested or LOCAL_QUEUE in labels(workload):
                continue
            if workload.scheduler_name(template) != SCHEDULER:
                for name in requested:
                    first = workload, template.at / "spec"
                    found[workload.namespace].setdefault(name, first)
    return found


def _places(
    names: Iterable[str], requested: Requests, unlimited: Mapping[str, Sequence[Node]]
) -> Iterator[At]:
    for name in names:
        if name in requested:
            yield requested[name][1]
        elif at := unlimited[name][0].at:
            yield at


RULE = ObjectRule(
    "quota-omits-gpu-resource",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Add each GPU resource to hard with the prefix requests., with 0 to forbid its use.",
    judges=("ResourceQuota",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=(*KINDS, *(kind for kind in READS if kind != "ResourceQuota")),
)
