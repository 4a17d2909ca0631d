"""An object uses a field that Kueue ignores, because its feature gate is off."""

from collections.abc import Iterator

from policygen.core.finding import At
from policygen.kubernetes import kueue_gates
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import ELASTIC, queued
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """Kueue accepts the field and ignores it.

    Gates may also be given on the command line of Kueue's Deployment.
    Source: pkg/features/kube_features.go.
    """
    rules = settings(facts)
    reported: set[str] = set()
    for gate, field, owner, at in _uses(facts):
        known = kueue_gates.known(gate, facts.target["kueue"])
        if known and gate not in reported and not rules.gate(gate):
            reported.add(gate)  # one finding for each gate
            yield Hit(
                RULE,
                f"{field} of {owner} is ignored, because feature gate {gate} is off; write {gate}: "
                "true in featureGates, or remove the field",
                at,
            )


def _uses(facts: Facts) -> Iterator[tuple[str, str, object, At]]:
    """Gates that fields in the input depend on, each with the field, its object and its place."""
    cluster = facts.cluster
    for queue in cluster.cluster_queues:
        if queue.fields.concurrent_admission_policy is not None:
            at = queue.at.to("spec", "concurrentAdmissionPolicy")
            yield "ConcurrentAdmission", "concurrentAdmissionPolicy", queue, at
    for flavor in cluster.flavors:
        if flavor.fields.topology_name:
            at = flavor.at.to("spec", "topologyName")
            yield "TopologyAwareScheduling", "topologyName", flavor, at
    for config in cluster.multi_kueue_configs:
        if config.fields.quota_management == "Automated":
            at = config.at.to("spec", "quotaManagement")
            yield "MultiKueueManagerQuotaAutomation", "quotaManagement", config, at
    for worker in cluster.multi_kueue_clusters:
        source = (
            worker.fields.cluster_source.cluster_profile_ref or worker.fields.cluster_profile_ref
        )
        if source is not None:
            yield "MultiKueueClusterProfile", "clusterProfileRef", worker, worker.at / "spec"
    yield from _elastic(cluster)
    yield from _configured(facts)


def _elastic(cluster: Cluster) -> Iterator[tuple[str, str, object, At]]:
    """The same for Jobs whose number of pods may change."""
    for job in cluster.derive(queued):
        if job.workload.annotations.get(ELASTIC) == "true":
            at = job.workload.at.to("metadata", "annotations", ELASTIC)
            yield "ElasticJobsViaWorkloadSlices", f"annotation {ELASTIC}", job.workload, at


def _configured(facts: Facts) -> Iterator[tuple[str, str, object, At]]:
    """The same for Configurations."""
    owner = "Kueue's Configuration"
    renamed = facts.target["kueue"].release >= (0, 18)
    for entry in facts.cluster.kueue_configurations:
        resources = entry.fields.resources or {}
        if resources.get("quotaCheckStrategy"):
            at = entry.at.to("resources", "quotaCheckStrategy")
            yield "QuotaCheckStrategy", "quotaCheckStrategy", owner, at
        if resources.get("deviceClassMappings"):
            at = entry.at.to("resources", "deviceClassMappings")
            gate = "KueueDRAIntegration" if renamed else "DynamicResourceAllocation"
            yield gate, "deviceClassMappings", owner, at


RULE = ObjectRule(
    "feature-gate-off",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Switch the feature gate on in Kueue's Configuration, or remove the field.",
    judges=(
        "ClusterQueue",
        "Configuration",
        "MultiKueueCluster",
        "MultiKueueConfig",
        "ResourceFlavor",
        *KINDS,
    ),
    check=check,
    needs=frozenset({Need.KUEUE_CONFIGURATION}),
    reads=("Deployment", "LocalQueue"),
)
