"""A workload requests a resource that its ClusterQueue does not cover."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE
from policygen.core.quoting import counted, listed, some
from policygen.core.suggest import suggest
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core import resource_names
from policygen.lint.core.refused_pods import request_path
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import (
    READS,
    PodRequest,
    covered,
    namespace_refused,
    pod_requests,
    refused,
    vendor,
)
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.quotas import covered_resources, flavors
from policygen.lint.kueue.strict_queues import blocking
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

if TYPE_CHECKING:  # imported only if there is a spec
    from policygen.plan.pool import PoolFacts


_SHOWN = 4
"""The most resources that a finding proposes."""


def check(facts: Facts) -> Hits:
    """The workload is inadmissible, even if there is quota for its other requests.

    Reports all workloads together if the queue lacks a resource that nodes have.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets; issue 4848.
    """
    there = facts.cluster.derive(provided) | settings(facts).transformations.keys()
    refusing: dict[tuple[At, str, PoolFacts], list[PodRequest]] = {}
    # With nodes, that rule leaves pods to pod-fits-no-node, which leaves those here to this rule.
    skipped = "resource-name-misspelt" in facts.run and not (
        "pod-fits-no-node" in facts.run and facts.cluster.nodes.any
    )
    reported = "container-resource-refused" in facts.run
    lacking: dict[tuple[At, str, str], list[PodRequest]] = {}
    for request in pod_requests(facts):
        if namespace_refused(facts, request):
            continue
        known = covered(request.queue)
        for name in refused(facts, request):
            if skipped and "/" in name and meant(name, known | there):
                continue
            if reported and resource_names.refused(name):
                continue
            if wrong := _other_resource(facts, request, name):
                at, resource, pool = wrong
                refusing.setdefault((at, resource, pool), []).append(request)
                continue
            own = _own_advice(facts.cluster, request, name)
            place = request.workload.at if own else request.queue.at
            lacking.setdefault((place, name, own), []).append(request)
    equal: dict[tuple[At, str, tuple[At, ...]], list[str]] = {}
    for (place, name, own), requests in lacking.items():
        users = tuple(it.template.at for it in requests)
        equal.setdefault((place, own and name, users), []).append(name)
    for (place, _, _), names in equal.items():
        own = next(it for at, name, it in lacking if (at, name) == (place, names[0]))
        yield _hit(facts.cluster, lacking[place, names[0], own], names, own)
    for (at, resource, pool), requests in refusing.items():
        names = list(dict.fromkeys(str(it.workload) for it in requests))
        more = f" and {counted(len(names) - 1, 'other workload')}" if len(names) > 1 else ""
        yield Hit(
            RULE,
            f"{requests[0].queue} covers {resource}, but pool {pool.name} offers {listed([*pool.resources], 'and')}, so Kueue "
            f"never admits {names[0]}{more}; write the resources of the pool in coveredResources and in its flavor",
            at,
            tuple(it.template.at / "spec" for it in requests),
        )


def _hit(cluster: Cluster, requests: Sequence[PodRequest], lacking: Sequence[str], own: str) -> Hit:
    """One hit for a workload that must change, or for all workloads if their queue must change.

    `lacking`: the resources that the same workloads request.
    """
    first, queue = requests[0], requests[0].queue
    them = "it" if len(lacking) == 1 else "them"
    if not own and (unused := _covered_instead(cluster, first, lacking[0])):
        own = f"write {them} instead of {unused}, which its nodes do not have, in coveredResources and the flavors of {queue}"
    advice = (
        own or f"nodes have {them}, so add {them} to coveredResources of {queue} and to its flavors"
    )
    names = list(dict.fromkeys(str(it.workload) for it in requests))
    return Hit(
        RULE,
        f"{some(names, 'other workload')} {'requests' if len(names) == 1 else 'request'} {listed([*lacking], 'and')}, which {queue} "
        f"does not cover{blocking(queue)}; {advice}",
        first.template.at.to("spec", *request_path(first.template.spec, lacking[0])),
        related=(
            queue.at.to("spec", "resourceGroups"),
            *(it.template.at / "spec" for it in requests[1:]),
        ),
    )


def _other_resource(
    facts: Facts, request: PodRequest, name: str
) -> tuple[At, str, "PoolFacts"] | None:
    """The GPU resource that the queue covers instead of one that the pool of its flavor offers."""
    queue = request.queue
    for pool in facts.plan.pools if facts.plan else ():
        labels = dict(pool.pool.node_selector).items()
        used = {it.name for _, it in flavors(queue)}
        own = any(
            it.name in used and labels <= it.fields.node_labels.items()
            for it in facts.cluster.flavors
        )
        for at, resource in covered_resources(queue) if own and name in pool.resources else ():
            if is_one(resource) and resource not in pool.resources:
                return at, resource, pool
    return None


def _own_advice(cluster: Cluster, request: PodRequest, name: str) -> str:
    """What to change in the workload; "" if its queue must cover the resource, because nodes have it."""
    for it in cluster.local_queues.by_namespace.get(request.workload.namespace, ()):
        queue = cluster.cluster_queues.get(it.fields.cluster_queue)
        if queue is not None and name in covered(queue):
            own = sorted(filter(is_one, covered(request.queue))) if is_one(name) else ()
            other = listed(own, "or") if 0 < len(own) <= _SHOWN else "another resource"
            return f"set label {LOCAL_QUEUE}: {it.name}, which covers it, or request {other}"
    if name in cluster.derive(provided) and not _lacks(cluster, request, name):
        return ""
    return suggest(name, covered(request.queue), "quota")


def _covered_instead(cluster: Cluster, request: PodRequest, name: str) -> str:
    """The accelerator of the same vendor that the queue covers, but no node of its flavors has; "" if none."""
    unused = (it for it in covered(request.queue) if _lacks(cluster, request, it))
    return next((it for it in sorted(unused) if vendor(name) and vendor(it) == vendor(name)), "")


def _lacks(cluster: Cluster, request: PodRequest, name: str) -> bool:
    """Whether the nodes of all flavors of the queue are known, and none has the resource."""
    found = cluster.derive(nodes)
    used = [found.get(it.name) for _, it in flavors(request.queue)]
    return all(it is not None and it.nodes and not it.total.get(name) for it in used)


RULE = ObjectRule(
    "request-not-covered",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Cover the resource, remove the request, or add the resource to excludeResourcePrefixes.",
    judges=KINDS,
    check=check,
    reads=(*READS, "ResourceFlavor", "Namespace", "Node"),
)
