"""The labels and annotations of Kueue's and Volcano's domains, and the metadata that has them.

Source: the constants of Kueue 0.13.10 to 0.19.2 and of Volcano 1.14.1 and its APIs 1.14.0.
"""

from collections.abc import Mapping

from policygen.core.versions import Minor

KUEUE = "kueue.x-k8s.io"
VOLCANO = "volcano.sh"
VOLCANO_SCHEDULING = "scheduling.volcano.sh"

ON_OBJECT: Mapping[str, tuple[str, ...]] = {
    "admission-gated-by": ("annotations",),
    "elastic-job": ("annotations",),
    "job-completions-equal-parallelism": ("annotations",),
    "job-min-parallelism": ("annotations",),
    "max-exec-time-seconds": ("labels",),
    "prebuilt-workload-name": ("labels", "annotations"),
    "priority-class": ("labels",),
    "queue-name": ("labels",),
}
"""Keys that users write on the object that Kueue manages, and whether as label or annotation."""
ON_PODS: Mapping[str, tuple[str, ...]] = {
    "pod-group-fast-admission": ("annotations",),
    "pod-group-name": ("labels", "annotations"),
    "pod-group-pod-index-label": ("annotations",),
    "pod-group-serving": ("annotations",),
    "pod-group-total-count": ("annotations",),
    "podset-group-name": ("annotations",),
    "podset-preferred-topology": ("annotations",),
    "podset-required-topology": ("annotations",),
    "podset-slice-required-topology": ("annotations",),
    "podset-slice-required-topology-constraints": ("annotations",),
    "podset-slice-size": ("annotations",),
    "podset-unconstrained-topology": ("annotations",),
    "retriable-in-group": ("annotations",),
    "safe-to-forcefully-delete": ("annotations",),
}
"""Keys that users write on pods or pod templates."""

_BY_KUEUE = (
    "auto-generated",
    "cluster-queue-name",
    "component-workload-index",
    "concurrent-admission-parent",
    "is-group-workload",
    "job-owner-gvk",
    "job-owner-name",
    "job-uid",
    "local-queue-name",
    "managed",
    "manager",
    "multikueue-origin",
    "multikueue-origin-uid",
    "multikueue-worker-workload-pod",
    "pod-group-pod-index",
    "pod-index-offset",
    "pod-suspending-parent",
    "podset",
    "podset-replica-sizes",
    "priority-boost",
    "raycluster-generation",
    "raycluster-podset-replica-sizes",
    "role-hash",
    "safe-to-forcefully-terminate",
    "stopping",
    "tas",
    "trainjob-override-idx",
    "workload",
    "workload-allowed-resource-flavors",
    "workload-slice-name",
    "workload-slice-replacement-for",
)
"""Keys that Kueue writes itself, in any release."""

LATER: Mapping[str, Minor] = {
    "admission-gated-by": (0, 17),
    "podset-slice-required-topology-constraints": (0, 17),
    "safe-to-forcefully-delete": (0, 16),
}
"""The release of Kueue that added a key, if not all releases have it."""

_SCHEDULING = ("group-min-member", "group-min-resources", "group-name", "queue-name")
_VOLCANO = (
    "bind-phase",
    "bind-time",
    "burst-name",
    "colocation",
    "colocation-config",
    "colocation-config-name",
    "controller-out-of-sync",
    "cooldown-time",
    "createdByJobFlow",
    "createdByJobTemplate",
    "cronjob-scheduled-timestamp",
    "devices-to-allocate",
    "enable-quota-burst",
    "forward-cluster",
    "gpu-index",
    "gpu-memory",
    "gpu-number",
    "hierarchy",
    "hierarchy-weights",
    "hypernode",
    "jdb-max-unavailable",
    "jdb-min-available",
    "job-allocated-hypernode",
    "job-forwarding",
    "job-name",
    "job-namespace",
    "job-retry-count",
    "job-spec",
    "job-type",
    "job-version",
    "network-topology-highest-tier",
    "network-topology-mode",
    "nodegroup-name",
    "numa-topology-policy",
    "offline-job-evicting",
    "partition-id",
    "predicate-time",
    "preemptable",
    "qos-level",
    "queue-name",
    "quota-burst-time",
    "resource-group",
    "resource-strategy-scoring-type",
    "resource-strategy-weight",
    "revocable-zone",
    "scheduling-priority",
    "scheduling-priority-reason",
    "scheduling-priority-timestamp",
    "sla-waiting-time",
    "task-index",
    "task-instance",
    "task-priority",
    "task-spec",
    "task-topology",
    "task-topology-affinity",
    "task-topology-anti-affinity",
    "task-topology-task-order",
    "template-uid",
    "topology-decision",
    "vgpu-ids-new",
    "vgpu-mode",
    "vgpu-node",
    "vgpu-time",
)

NAMES: Mapping[str, tuple[str, ...]] = {
    KUEUE: (*ON_OBJECT, *ON_PODS, *_BY_KUEUE),
    VOLCANO_SCHEDULING: _SCHEDULING,
    VOLCANO: _VOLCANO,
}
"""The names of each domain."""

WRITTEN = tuple(
    f"{domain}/{name}"
    for domain, names in {**NAMES, KUEUE: (*ON_OBJECT, *ON_PODS)}.items()
    for name in names
)
"""All keys that a user may mean."""
