"""KINDS: every kind that can be rendered, in apply order.

Data only: every lint imports it, so it must not import the modules that decide the objects.
"""

from policygen.core.versions import KUEUE_V1BETA2, Minor
from policygen.plan.extras import (
    ADMISSION,
    DEVICE_PLUGIN,
    MIG_MANAGER,
    MONITORING,
    NODE_AUTOSCALER,
    SECOND_SCHEDULER,
    VPA,
    WORKLOADS,
)
from policygen.plan.kind import Kind, Release


def _kubernetes(
    name: str, api_version: str, template: str, extra: str = "", plural: str = ""
) -> Kind:
    return Kind(name, "kubernetes", (Release((1, 33), api_version, template),), extra, plural)


def _kueue(
    name: str, template: str, *older: Release, since: Minor = (0, 13), plural: str = ""
) -> Kind:
    """v1beta1 until 0.14 and v1beta2 from 0.15 on, from one template."""
    v1beta1 = Release(since, "kueue.x-k8s.io/v1beta1", template)
    v1beta2 = Release(KUEUE_V1BETA2, "kueue.x-k8s.io/v1beta2", template)
    return Kind(name, "kueue", (*older, v1beta1, v1beta2), plural=plural)


def _volcano(name: str, template: str) -> Kind:
    return Kind(name, "volcano", (Release((1, 12), "scheduling.volcano.sh/v1beta1", template),))


def _workload(name: str, api_version: str, template: str, plural: str = "") -> Kind:
    path = f"workload/{template}.yaml.j2"
    return _kubernetes(name, api_version, path, WORKLOADS, plural)


_RBAC = "rbac.authorization.k8s.io/v1"
_ADMISSION = "admissionregistration.k8s.io/v1"

KINDS: tuple[Kind, ...] = (
    _kubernetes("Namespace", "v1", "kubernetes/namespace.yaml.j2"),
    _kubernetes("PriorityClass", "scheduling.k8s.io/v1", "kubernetes/priority_class.yaml.j2"),
    _kueue("WorkloadPriorityClass", "kueue/workload_priority_class.yaml.j2"),
    # A flavor names its topology, and a queue its flavors and cohort: the named objects come first.
    _kueue(
        "Topology",
        "kueue/topology.yaml.j2",
        Release((0, 13), "kueue.x-k8s.io/v1alpha1", "kueue/topology.yaml.j2"),
        since=(0, 14),
        plural="topologies",
    ),
    _kueue("ResourceFlavor", "kueue/resource_flavor.yaml.j2"),
    # A queue is not active before its checks are, and a check not before its configuration exists.
    _kueue("ProvisioningRequestConfig", "kueue/provisioning_request_config.yaml.j2"),
    _kueue("AdmissionCheck", "kueue/admission_check.yaml.j2"),
    _kueue("Cohort", "kueue/cohort.yaml.j2"),
    Kind(
        "ClusterQueue",
        "kueue",
        (
            # v1beta1 has another name for the cohort, so it has a separate template.
            Release((0, 13), "kueue.x-k8s.io/v1beta1", "kueue/cluster_queue_v1beta1.yaml.j2"),
            Release(KUEUE_V1BETA2, "kueue.x-k8s.io/v1beta2", "kueue/cluster_queue.yaml.j2"),
        ),
    ),
    _volcano("Queue", "volcano/queue.yaml.j2"),
    _kueue("LocalQueue", "kueue/local_queue.yaml.j2"),
    _kubernetes("ResourceQuota", "v1", "kubernetes/resource_quota.yaml.j2"),
    _kubernetes("LimitRange", "v1", "kubernetes/limit_range.yaml.j2"),
    _kubernetes("ServiceAccount", "v1", "scheduler/service_account.yaml.j2", SECOND_SCHEDULER),
    _kubernetes(
        "ClusterRoleBinding", _RBAC, "scheduler/cluster_role_binding.yaml.j2", SECOND_SCHEDULER
    ),
    _kubernetes("Role", _RBAC, "scheduler/role.yaml.j2", SECOND_SCHEDULER),
    _kubernetes("RoleBinding", _RBAC, "scheduler/role_binding.yaml.j2", SECOND_SCHEDULER),
    _kubernetes("ConfigMap", "v1", "kubernetes/config_map.yaml.j2"),
    _kubernetes("Deployment", "apps/v1", "scheduler/deployment.yaml.j2", SECOND_SCHEDULER),
    _volcano("PodGroup", "volcano/pod_group.yaml.j2"),
    _workload("Deployment", "apps/v1", "deployment"),
    _workload("StatefulSet", "apps/v1", "stateful_set"),
    _workload("Job", "batch/v1", "job"),
    # JobSet and LeaderWorkerSet have their own releases. Both API versions are the only ones served.
    _workload("JobSet", "jobset.x-k8s.io/v1alpha2", "job_set"),
    _workload("LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "leader_worker_set"),
    _workload("CronJob", "batch/v1", "cron_job"),
    _workload("PodDisruptionBudget", "policy/v1", "pod_disruption_budget"),
    _workload("HorizontalPodAutoscaler", "autoscaling/v2", "horizontal_pod_autoscaler"),
    _workload("ScaledObject", "keda.sh/v1alpha1", "scaled_object", plural="scaledobjects"),
    Kind(
        "Job",
        "volcano",
        (Release((1, 12), "batch.volcano.sh/v1alpha1", "workload/volcano_job.yaml.j2"),),
        WORKLOADS,
    ),
    _kubernetes(
        "VerticalPodAutoscaler",
        "autoscaling.k8s.io/v1",
        "workload/vertical_pod_autoscaler.yaml.j2",
        VPA,
        plural="verticalpodautoscalers",
    ),
    *(
        _kubernetes("ConfigMap", "v1", "kubernetes/config_map.yaml.j2", extra)
        for extra in (DEVICE_PLUGIN, MIG_MANAGER, MONITORING, NODE_AUTOSCALER)
    ),
    _kubernetes("NodePool", "karpenter.sh/v1", "karpenter/node_pool.yaml.j2", NODE_AUTOSCALER),
    _kubernetes(
        "PrometheusRule",
        "monitoring.coreos.com/v1",
        "monitoring/prometheus_rule.yaml.j2",
        MONITORING,
        plural="prometheusrules",
    ),
    # A policy refuses everything in a namespace without its ConfigMap, so the ConfigMap comes first.
    _kubernetes("ConfigMap", "v1", "kubernetes/config_map.yaml.j2", ADMISSION),
    _kubernetes(
        "ValidatingAdmissionPolicy",
        _ADMISSION,
        "admission/validating_admission_policy.yaml.j2",
        ADMISSION,
    ),
    _kubernetes(
        "ValidatingAdmissionPolicyBinding",
        _ADMISSION,
        "admission/validating_admission_policy_binding.yaml.j2",
        ADMISSION,
    ),
    _kubernetes(
        "MutatingAdmissionPolicy",
        _ADMISSION,
        "admission/mutating_admission_policy.yaml.j2",
        ADMISSION,
    ),
    _kubernetes(
        "MutatingAdmissionPolicyBinding",
        _ADMISSION,
        "admission/mutating_admission_policy_binding.yaml.j2",
        ADMISSION,
    ),
)

BY_NAME = {kind.name: kind for kind in reversed(KINDS)}
"""The first kind of each name."""
