"""A ResourceQuota limits one GPU resource, but pods can use another without a limit."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from policygen.core.finding import At, at_path
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import listed
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import ResourceQuotaView
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_nodes import empty_nodes
from policygen.lint.core.namespace_quotas import Bound, bounds
from policygen.lint.core.unlimited_gpus import READS, unlimited_gpus
from policygen.lint.kueue.coverage import covered, vendor
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
)
from policygen.lint.volcano.queues import SCHEDULER

_REQUESTS = "requests."
Requests = Mapping[str, tuple[Workload, At]]
"""The first workload that requests each accelerator, with the place."""


class _Limited(NamedTuple):
    """A namespace with a quota for an accelerator."""

    name: str
    gpu: str
    """The accelerator."""
    quota: Entry[ResourceQuotaView]
    counted: frozenset[str]
    """All resources with a quota."""


def check(facts: Facts) -> Hits:
    """Each extended resource is counted by its own name, so nvidia.com/gpu does not count MIG instances.

    Reports resources that workloads of the namespace request outside of queues, and resources of
    nodes that no quota and no queue lists, and that no such workload requests. Skips resources of which
    known nodes have none.
    Source: pkg/quota/v1/evaluator/core/pods.go, podComputeUsageHelper, of Kubernetes 1.36.3.
    """
    nodes = facts.derive(empty_nodes).all
    are_known = facts.cluster.nodes.any and all(it.allocatable for it in nodes)
    offered = {name for node in nodes for name, amount in node.allocatable.items() if amount > 0}
    limited, limits = list(_limited(facts)), facts.cluster.derive(bounds)
    unlimited, by_namespace = facts.derive(unlimited_gpus), facts.cluster.derive(_requested)
    queued = facts.cluster.derive(_requested_in_queues)
    others = unlimited.keys() - {it for each in limited for it in by_namespace.get(each.name, ())}
    for namespace, gpu, quota, counted in limited:
        requested = by_namespace.get(namespace, {})
        wrong_keys = _not_offered(limits[namespace], offered) if are_known else {}
        why = "which no node offers"
        names = sorted(
            it for it in {*requested, *others} - counted if it in offered or not are_known
        )
        if are_known and not (names or wrong_keys):
            wrong_keys = _not_used(facts, namespace, limits[namespace])
            why = "which no pod of the namespace requests and no queue of it covers"
        is_wrong = not names and len(wrong_keys) == 1
        if is_wrong:  # the name is wrong, whoever else limits the pods
            requested = queued.get(namespace, {})
            same = vendor(*wrong_keys)
            names = [it for it in requested if it not in counted and it in offered]
            names = sorted(names) if {vendor(it) for it in names} == {same} else []
        if names:
            them = "it" if len(names) == 1 else "them"
            end = (
                f"which no quota limits, so pods of the namespace can use all of {them}; add "
                f"{listed([_REQUESTS + name for name in names], 'and')} to hard, with 0 to forbid {them}"
            )
            if facts.plan is not None and offered.isdisjoint(names):
                end = f"which no pool of the spec offers and no quota limits; request {gpu}, or add a pool"
            at = quota.at.to("spec", "hard", _REQUESTS + gpu).on_key()
            meant: tuple[Edit, ...] = ()
            wrong = ""
            if len(wrong_keys) == 1 and (len(names) == 1 or is_wrong):
                [(wrong, at)] = wrong_keys.items()
                meant = (Edit(Verb.RENAME, at, _REQUESTS + names[0]),) if len(names) == 1 else ()
                end = (
                    f"which no quota limits; write {listed(names, 'and')} instead of {wrong}, {why}"
                )
            yield Hit(
                RULE,
                f"{quota} limits {wrong or gpu}, but {_who(names, requested)}, {end}",
                at,
                related=tuple(_places(names, requested, unlimited)),
                meant=meant,
            )


def _not_offered(limits: Mapping[str, Bound], offered: Collection[str]) -> Mapping[str, At]:
    """The accelerators of a namespace's quotas besides some names, with the places of their keys."""
    return {
        name: bound.quota.at.to("spec", "hard", key).on_key()
        for key, bound in limits.items()
        if key.startswith(_REQUESTS) and bound.limit > 0
        if accelerators.is_one(name := key.removeprefix(_REQUESTS)) and name not in offered
    }


def _not_used(facts: Facts, namespace: str, limits: Mapping[str, Bound]) -> Mapping[str, At]:
    """The accelerators of a namespace's quotas that neither its workloads nor its ClusterQueues know, if it has queues."""
    cluster = facts.cluster
    queues = [
        cluster.cluster_queues.get(it.fields.cluster_queue)
        for it in cluster.local_queues.by_namespace.get(namespace, ())
    ]
    known = {name for queue in queues if queue is not None for name in covered(queue)}
    for requested in (cluster.derive(_requested), cluster.derive(_requested_in_queues)):
        known.update(requested.get(namespace, ()))
    return _not_offered(limits, known) if queues and None not in queues else {}


def _who(names: Sequence[str], requested: Requests) -> str:
    """The workloads that request some of the resources, and those that only nodes offer."""
    used = [it for it in names if it in requested]
    offered = [it for it in names if it not in requested]
    who = list(dict.fromkeys(str(requested[it][0]) for it in used))
    parts = []
    if used:
        parts.append(
            f"{listed(who, 'and')} {'request' if who[1:] else 'requests'} {listed(used, 'and')}"
        )
    if offered:
        parts.append(f"nodes offer {listed(offered, 'and')}")
    return " and ".join(parts)


def _limited(facts: Facts) -> Iterator[_Limited]:
    quotas = facts.cluster.resource_quotas.by_namespace
    unknown = {
        it.namespace
        for it in facts.cluster.of("", "ResourceQuota")
        if not isinstance(at_path(it.data, ("spec", "hard")), dict)
    }
    for namespace, limits in facts.cluster.derive(bounds).items():
        keys = {key for quota in quotas[namespace] for key in quota.fields.hard}
        counted = {it.removeprefix(_REQUESTS) for it in keys if it.startswith(_REQUESTS)}
        gpu = next(
            (it for it in sorted(counted) if accelerators.is_one(it) and _REQUESTS + it in limits),
            None,
        )
        if gpu is not None and namespace not in unknown:
            yield _Limited(namespace, gpu, limits[_REQUESTS + gpu].quota, frozenset(counted))


def _requested(cluster: Cluster) -> Mapping[str, Requests]:
    """The accelerators that pods request outside of queues, by namespace."""
    return _of_pods(cluster, in_queues=False)


def _requested_in_queues(cluster: Cluster) -> Mapping[str, Requests]:
    """The same of pods in queues."""
    return _of_pods(cluster, in_queues=True)


def _of_pods(cluster: Cluster, *, in_queues: bool) -> Mapping[str, Requests]:
    found: defaultdict[str, dict[str, tuple[Workload, At]]] = defaultdict(dict)
    for workload, template, requested in accelerators.users(cluster):
        queued = LOCAL_QUEUE in labels(workload)
        if in_queues == (queued or workload.scheduler_name(template) == SCHEDULER):
            for name in requested:
                if name not in found[workload.namespace]:
                    found[workload.namespace][name] = workload, template.at / "spec"
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
    reads=(*KINDS, "LocalQueue", *(kind for kind in READS if kind != "ResourceQuota")),
)
