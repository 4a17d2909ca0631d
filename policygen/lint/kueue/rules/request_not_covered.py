"""A workload requests a resource that its ClusterQueue does not cover."""

from policygen.core.names import LOCAL_QUEUE
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.refused_pods import request_path
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import PodRequest, covered, pod_requests, refused
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The workload is inadmissible, even if there is quota for its other requests.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets; issue 4848.
    """
    there = facts.cluster.derive(provided) | settings(facts).transformations.keys()
    skipped = "resource-name-misspelt" in facts.run
    for request in pod_requests(facts):
        known = covered(request.queue)
        for name in refused(facts, request):
            if skipped and "/" in name and meant(name, known | there):
                continue
            yield Hit(
                RULE,
                f"{request.workload} requests {name}, which {request.queue} does not cover; "
                f"{_advice(facts.cluster, request, name)}",
                request.template.at.to("spec", *request_path(request.template.spec, name)),
                related=(request.queue.at.to("spec", "resourceGroups"),),
            )


def _advice(cluster: Cluster, request: PodRequest, name: str) -> str:
    for it in cluster.local_queues.by_namespace.get(request.workload.namespace, ()):
        queue = cluster.cluster_queues.get(it.fields.cluster_queue)
        if queue is not None and name in covered(queue):
            return (
                f"set label {LOCAL_QUEUE}: {it.name}, which covers it, or request another resource"
            )
    return suggest(name, covered(request.queue), "quota")


RULE = ObjectRule(
    "request-not-covered",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Cover the resource, remove the request, or add the resource to excludeResourcePrefixes.",
    judges=KINDS,
    check=check,
    reads=("LocalQueue", "ClusterQueue", "Configuration", "LimitRange", "Node"),
)
