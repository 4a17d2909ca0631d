"""A workload uses GPUs outside every quota, because its ClusterQueue does not cover them."""

from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import pod_requests, uncovered
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """With IgnoreUndeclared, a resource without quota is not counted, nor is a misspelled one.

    Other devices, such as those of networks, are often left out on purpose.

    Source: pkg/scheduler/flavorassigner/flavorassigner.go, IgnoreUndeclaredResources.
    """
    if not settings(facts).ignores_undeclared:
        return
    for request in pod_requests(facts):
        for name in filter(is_one, uncovered(facts, request)):
            yield Hit(
                RULE,
                f"{request.workload} uses {name} outside every quota, because {request.queue} "
                f"does not cover {name} and quotaCheckStrategy is IgnoreUndeclared; cover the "
                "resource in the ClusterQueue",
                request.template.at.to("spec", "containers"),
                related=(request.queue.at.to("spec", "resourceGroups"),),
            )


RULE = ObjectRule(
    "gpu-request-not-counted",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Cover the resource in the ClusterQueue, or set quotaCheckStrategy: BlockUndeclared.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("LocalQueue", "ClusterQueue", "LimitRange", "RuntimeClass"),
    since={"kueue": (0, 18)},
    aliases=("accelerator-escapes-quota",),
)
