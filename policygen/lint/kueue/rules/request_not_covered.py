"""A workload requests a resource that its ClusterQueue does not cover."""

from policygen.core.suggest import suggest
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import covered, pod_requests, uncovered
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """The workload is inadmissible, even if there is quota for its other requests.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, findFlavorForPodSets; issue 4848.
    """
    if settings(facts).ignores_undeclared:
        return
    there = facts.cluster.derive(provided) | settings(facts).transformations.keys()
    skipped = "resource-name-misspelt" in facts.run
    for request in pod_requests(facts):
        known = covered(request.queue)
        for name in uncovered(facts, request):
            if skipped and "/" in name and meant(name, known | there):
                continue
            yield Hit(
                RULE,
                f"{request.workload} requests {name}, which {request.queue} does not cover; "
                f"{suggest(name, known, 'quota')}",
                request.template.at.to("spec", "containers"),
                related=(request.queue.at.to("spec", "resourceGroups"),),
            )


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
