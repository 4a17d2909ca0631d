"""A pod's topology annotations contradict each other or have an invalid value."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_keys import KUEUE
from policygen.lint.core.metadata_keys import of_domain
from policygen.lint.core.webhook_objects import webhook_object
from policygen.lint.kueue import configuration, topology_requests
from policygen.lint.kueue.job_metadata import refusing
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_COUNTED = ("jobset.x-k8s.io", "kubeflow.org", "ray.io")
"""Groups of kinds for which the webhook compares the size of a slice with the pods of each template."""


def check(facts: Facts) -> Hits:
    """Of a Deployment, a StatefulSet or a CronJob, Kueue refuses the pods or Jobs that it creates.

    Source: pkg/controller/jobframework/tas_validation.go, ValidateTASPodSetRequest.
    """
    settings = configuration.settings(facts)
    if not settings.gate("TopologyAwareScheduling"):
        return
    keyed = of_domain(facts.cluster, KUEUE)
    for workload in dict.fromkeys(metadata.workload for metadata in keyed):
        if not refusing(workload, settings):
            continue
        job = webhook_object(workload)
        one_by_one = workload.object.group in _COUNTED
        for template in workload.templates:
            count = template.replicas if one_by_one else job.count if job.kind == "Job" else None
            for key, fault in topology_requests.faults(template.annotations, count, settings):
                at = template.at.to("metadata", "annotations", key)
                yield Hit(RULE, f"{workload}: {fault}", at)


RULE = ObjectRule(
    "topology-request-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Correct or remove the topology annotation that the message names.",
    judges=KINDS,
    check=check,
    reads=("Configuration",),
    since={"kueue": (0, 14)},
)
