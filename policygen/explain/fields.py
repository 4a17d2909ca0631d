"""What each field of a rendered object does, in our own words, and why some values never change.

`tests/explain/test_fields.py` finds an entry here for every field of every rendered example.
"""

import re
from collections.abc import Mapping

from msgspec.structs import replace

from policygen.core.finding import Path, dotted
from policygen.explain import (
    admission,
    node_autoscaler,
    nvidia_fields,
    scaling_fields,
    workload_fields,
)
from policygen.explain.file_fields import FILES
from policygen.explain.meaning import Field, FieldTable
from policygen.explain.monitoring_fields import DASHBOARD, DASHBOARD_FILE, PROMETHEUS_RULE
from policygen.plan.extras import (
    ADMISSION,
    DEVICE_PLUGIN,
    MIG_MANAGER,
    MONITORING,
    NODE_AUTOSCALER,
    VPA,
    WORKLOADS,
)
from policygen.plan.kind import Kind

_KUEUE = "https://kueue.sigs.k8s.io/docs/"
_KUEUE_API = f"{_KUEUE}reference/kueue.v1beta2/"
_KUBERNETES = "https://kubernetes.io/docs/"
_PRIORITY = f"{_KUBERNETES}concepts/scheduling-eviction/pod-priority-preemption/"
_RBAC = f"{_KUBERNETES}reference/access-authn-authz/rbac/"
_SECOND = f"{_KUBERNETES}tasks/extend-kubernetes/configure-multiple-schedulers/"
_POD = f"{_KUBERNETES}concepts/workloads/pods/"
_VOLCANO = "https://volcano.sh/docs/Concepts/"


_OBJECT = {
    "apiVersion": Field(
        "The group and version of the API in which the object is written. The server converts it "
        "to the version that it stores."
    ),
    "kind": Field("The type of the object.", always="it is the kind of the object"),
    "metadata.name": Field("The name of the object; unique for its kind and namespace."),
    "metadata.namespace": Field("The namespace that contains the object."),
    'metadata.labels["app.kubernetes.io/managed-by"]': Field(
        "A label by which tools and people know what manages the object.",
        always="lint and diff find policygen's objects by it",
    ),
    'metadata.labels["policygen.dev/set"]': Field(
        "The set that the object belongs to. policygen compares and cleans up only objects of its "
        "own set."
    ),
}
_COMMON = FieldTable(f"{_KUBERNETES}concepts/overview/working-with-objects/", _OBJECT)

_WEIGHT = Field(
    "The share of idle quota of this queue, relative to its siblings in the cohort. Kueue uses "
    "it only if fairSharing is enabled in its Configuration.",
    f"{_KUEUE}concepts/fair_sharing/",
)
_PARENT = Field(
    "The Cohort above. Members of one tree of Cohorts can borrow quota that others do not use."
)
_QUOTAS = {
    "spec.resourceGroups[].coveredResources[]": Field(
        "The resources that Kueue counts for workloads of this queue. Each flavor has a quota for "
        "each of them."
    ),
    "spec.resourceGroups[].flavors[].name": Field(
        "The ResourceFlavor, so the nodes, that these quotas are for. Kueue tries flavors in this "
        "order."
    ),
    "spec.resourceGroups[].flavors[].resources[].name": Field("The resource of this quota."),
    "spec.resourceGroups[].flavors[].resources[].nominalQuota": Field(
        "The amount that is always available to this queue or Cohort. It can lend what it does not "
        "use, and takes it back if it needs it."
    ),
    "spec.resourceGroups[].flavors[].resources[].borrowingLimit": Field(
        "The most that it can use in addition to its own quota, out of what other members of the "
        "Cohort do not use."
    ),
    "spec.resourceGroups[].flavors[].resources[].lendingLimit": Field(
        "The most of its quota that others may borrow while it is idle.",
        always="the pool has no preemption, so lent quota could not be taken back",
    ),
}
_BINDING = {
    "roleRef.apiGroup": Field(
        "The API group of the role.", always="roles are in rbac.authorization.k8s.io"
    ),
    "roleRef.kind": Field("Whether the role is of the cluster or of a namespace."),
    "roleRef.name": Field("The role whose permissions are granted."),
    "subjects[].kind": Field(
        "The type of identity that gets them.", always="the scheduler has a ServiceAccount"
    ),
    "subjects[].name": Field("The ServiceAccount of the scheduler."),
    "subjects[].namespace": Field("The namespace of this ServiceAccount."),
}
_PROVISIONING = f"{_KUEUE}concepts/admission_check/provisioning_request/"
_PRIORITY_VALUE = "The higher the number, the more important. "

KINDS: Mapping[str, FieldTable] = {
    "Namespace": FieldTable(
        f"{_KUBERNETES}concepts/overview/working-with-objects/namespaces/",
        {
            'metadata.annotations["argocd.argoproj.io/sync-options"]': Field(
                "Options of Argo CD for this object; Prune=false means that Argo CD never deletes "
                "it.",
                "https://argo-cd.readthedocs.io/en/stable/user-guide/sync-options/",
                always="a Namespace contains the data of a team",
            ),
            'metadata.annotations["kustomize.toolkit.fluxcd.io/prune"]': Field(
                "Whether Flux deletes the object when it is no longer in the source.",
                "https://fluxcd.io/flux/components/kustomize/kustomizations/",
                always="a Namespace contains the data of a team",
            ),
        },
    ),
    "PriorityClass": FieldTable(
        _PRIORITY,
        {
            "value": Field(
                f"{_PRIORITY_VALUE}Schedulers start pods with a higher value first, and evict pods "
                "with a lower one if preemptionPolicy allows it."
            ),
            "preemptionPolicy": Field(
                "Whether a pending pod of this class may evict pods of lower priority. Pods with "
                "Never only wait ahead of them."
            ),
            "globalDefault": Field(
                "Whether pods without a class have this priority.",
                always="policygen does not change the priority of other pods on the cluster",
            ),
            "description": Field("Text for people who choose a class."),
        },
    ),
    "WorkloadPriorityClass": FieldTable(
        f"{_KUEUE}concepts/workload_priority_class/",
        {
            "value": Field(
                f"{_PRIORITY_VALUE}Kueue admits workloads of a queue in this order, and preempts "
                "those with a lower value. It does not change the priority of pods."
            ),
            "description": Field("Text for people who choose a class."),
        },
    ),
    "Topology": FieldTable(
        f"{_KUEUE}concepts/topology_aware_scheduling/",
        {
            "spec.levels[].nodeLabel": Field(
                "A label that nodes of one block, rack or host share, the widest level first. "
                "Kueue keeps the pods of a workload together at these levels."
            ),
        },
    ),
    "ResourceFlavor": FieldTable(
        f"{_KUEUE}concepts/resource_flavor/",
        {
            "spec.nodeLabels.*": Field(
                "A label of the nodes of this flavor. Kueue adds it to the nodeSelector of the pods "
                "that it admits in this flavor."
            ),
            "spec.nodeTaints[].key": Field(
                "The key of a taint of these nodes. A workload without a matching toleration does "
                "not get this flavor, unless the flavor has the toleration."
            ),
            "spec.nodeTaints[].value": Field("The value of the taint."),
            "spec.nodeTaints[].effect": Field(
                "What the taint does: NoSchedule and NoExecute keep pods without a toleration away."
            ),
            "spec.tolerations[].key": Field(
                "The taint that is tolerated. Kueue adds the toleration to the pods that it admits "
                "in this flavor."
            ),
            "spec.tolerations[].operator": Field(
                "Equal: the value of the taint must be the same; Exists: any value matches."
            ),
            "spec.tolerations[].value": Field("The value of the taint that is tolerated."),
            "spec.tolerations[].effect": Field(
                "The effect of the taint that is tolerated; without it, all effects."
            ),
            "spec.tolerations[].tolerationSeconds": Field(
                "How long a pod stays on a node after a NoExecute taint appears, in seconds."
            ),
            "spec.topologyName": Field(
                "The Topology of these nodes. With it, Kueue places pods close to each other, and "
                "counts the free resources of nodes before it admits a workload."
            ),
        },
    ),
    "Cohort": FieldTable(
        f"{_KUEUE}concepts/cohort/",
        {**_QUOTAS, "spec.parentName": _PARENT, "spec.fairSharing.weight": _WEIGHT},
    ),
    "ClusterQueue": FieldTable(
        f"{_KUEUE}concepts/cluster_queue/",
        {
            **_QUOTAS,
            "spec.cohort": _PARENT,
            "spec.cohortName": _PARENT,
            "spec.fairSharing.weight": _WEIGHT,
            "spec.admissionChecksStrategy.admissionChecks[].name": Field(
                "An AdmissionCheck. A workload has its quota while the check waits, and starts when "
                "the check is ready.",
                _PROVISIONING,
            ),
            "spec.admissionChecksStrategy.admissionChecks[].onFlavors[]": Field(
                "The check is only for workloads with quota in this flavor.", _PROVISIONING
            ),
            "spec.queueingStrategy": Field(
                "How workloads wait: with BestEffortFIFO, a workload that does not fit does not "
                "block smaller ones behind it; with StrictFIFO it does.",
                always="a large job must not leave the GPUs of its team idle",
            ),
            "spec.namespaceSelector.matchExpressions[].key": Field(
                "The label of namespaces by which the queue is restricted.",
                always="Kubernetes sets this label on each namespace to its name",
            ),
            "spec.namespaceSelector.matchExpressions[].operator": Field(
                "How the label is compared; In: it is one of the values.",
                always="only the namespaces of the team may use the queue",
            ),
            "spec.namespaceSelector.matchExpressions[].values[]": Field(
                "A namespace whose workloads the queue accepts. It refuses workloads of all others."
            ),
            "spec.flavorFungibility.whenCanBorrow": Field(
                "What Kueue does if a workload fits a flavor only with borrowed quota: use it, or "
                "first try the next flavor."
            ),
            "spec.flavorFungibility.whenCanPreempt": Field(
                "What Kueue does if a workload fits a flavor only after preemption: preempt, or "
                "first try the next flavor.",
                always="a workload uses a free flavor before it evicts others",
            ),
            "spec.preemption.reclaimWithinCohort": Field(
                "Which workloads of other queues in the Cohort can be evicted, to take back own "
                "quota that they borrow. Any: all of them; Never: no workload."
            ),
            "spec.preemption.withinClusterQueue": Field(
                "Which workloads of the same queue a pending workload can evict. LowerPriority: "
                "those with a lower priority."
            ),
            "spec.preemption.borrowWithinCohort.policy": Field(
                "Whether a workload that needs to borrow may evict workloads of other queues.",
                always="nothing is evicted for GPUs that the team only borrows",
            ),
        },
    ),
    "ProvisioningRequestConfig": FieldTable(
        _PROVISIONING,
        {
            "spec.provisioningClassName": Field(
                "What the autoscaler does with the requests: check-capacity asks whether nodes exist, "
                "best-effort-atomic-scale-up adds the nodes of a workload together."
            ),
            "spec.managedResources[]": Field(
                "Kueue requests nodes only for pods that request one of these resources."
            ),
        },
    ),
    "AdmissionCheck": FieldTable(
        f"{_KUEUE}concepts/admission_check/",
        {
            "spec.controllerName": Field(
                "The controller that decides about the check.",
                always="it is the name of Kueue's controller for ProvisioningRequests",
            ),
            "spec.parameters.apiGroup": Field(
                "The API group of the configuration.", always="the configuration is one of Kueue"
            ),
            "spec.parameters.kind": Field(
                "The kind of the configuration.", always="this controller reads no other kind"
            ),
            "spec.parameters.name": Field("The ProvisioningRequestConfig of the check."),
        },
    ),
    "LocalQueue": FieldTable(
        f"{_KUEUE}concepts/local_queue/",
        {
            "spec.clusterQueue": Field(
                "The ClusterQueue whose quota workloads of this LocalQueue use. It cannot be changed."
            ),
        },
    ),
    "Queue": FieldTable(
        f"{_VOLCANO}Queue",
        {
            "spec.parent": Field(
                "The Queue above in the tree. The amounts of all children must fit in it."
            ),
            "spec.reclaimable": Field(
                "Whether other queues can take back resources that this queue uses above its "
                "deserved amount."
            ),
            "spec.priority": Field(
                "The order in which Volcano serves queues; a higher one comes first, and is "
                "reclaimed from later."
            ),
            "spec.deserved.*": Field(
                "The amount that the queue can take back from others. What it uses above this "
                "amount, others can reclaim."
            ),
            "spec.capability.*": Field("The most that the queue can use."),
            "spec.guarantee.resource.*": Field(
                "The amount that is reserved for the queue: each other queue leaves it idle. But two other "
                "queues together can use it, because Volcano limits each queue, and not their sum."
            ),
            "spec.affinity.nodeGroupAffinity.requiredDuringSchedulingIgnoredDuringExecution[]": Field(
                "The node group on which the pods of this queue run, by the node label "
                "volcano.sh/nodegroup-name."
            ),
        },
    ),
    "PodGroup": FieldTable(
        f"{_VOLCANO}PodGroup",
        {
            "spec.queue": Field("The Queue whose resources the pods of this group use."),
            "spec.minMember": Field(
                "The number of pods that must start together. Volcano starts a pod only "
                "if it can start all of them."
            ),
            "spec.minResources.*": Field(
                "What these pods need together. Volcano lets the group in only if its queue has "
                "this much."
            ),
            "spec.priorityClassName": Field(
                "The PriorityClass that orders groups of one queue; a higher one comes first."
            ),
        },
    ),
    "ResourceQuota": FieldTable(
        f"{_KUBERNETES}concepts/policy/resource-quotas/",
        {
            "spec.hard.*": Field(
                "The most of this resource, or of objects of this kind, in the namespace. The API "
                "server refuses what would exceed it."
            ),
        },
    ),
    "LimitRange": FieldTable(
        f"{_KUBERNETES}concepts/policy/limit-range/",
        {
            "spec.limits[].type": Field(
                "What the entry is about: each container, each pod, or each volume claim.",
                always="policygen sets defaults of containers only",
            ),
            "spec.limits[].defaultRequest.*": Field(
                "The request of containers in the namespace without a request. Quotas count it."
            ),
        },
    ),
    "ConfigMap": FieldTable(f"{_KUBERNETES}concepts/configuration/configmap/", {}),
    "ServiceAccount": FieldTable(f"{_KUBERNETES}concepts/security/service-accounts/", {}),
    "ClusterRoleBinding": FieldTable(_RBAC, _BINDING),
    "RoleBinding": FieldTable(_RBAC, _BINDING),
    "Role": FieldTable(
        _RBAC,
        {
            "rules[].apiGroups[]": Field(
                "The API group of the resources.", always="leases are in coordination.k8s.io"
            ),
            "rules[].resources[]": Field(
                "The kind of objects that the rule is about.",
                always="a scheduler elects its leader by a lease",
            ),
            "rules[].resourceNames[]": Field(
                "The only object that the rule is about: the lease of this scheduler."
            ),
            "rules[].verbs[]": Field(
                "What the scheduler may do with the lease.",
                always="leader election creates the lease, and reads and renews it",
            ),
        },
    ),
    "Deployment": FieldTable(
        _SECOND,
        {
            "spec.replicas": Field(
                "The number of pods of the scheduler.", always="one scheduler at a time is active"
            ),
            'spec.selector.matchLabels["app.kubernetes.io/name"]': Field(
                "The label of the pods that belong to this Deployment."
            ),
            'spec.template.metadata.labels["app.kubernetes.io/name"]': Field(
                "The label that each pod of the scheduler has, so that the selector finds it."
            ),
            "spec.template.spec.serviceAccountName": Field(
                "The identity with which the scheduler calls the API server."
            ),
            "spec.template.spec.priorityClassName": Field(
                "The priority of the scheduler's own pod.",
                always="no pod of the pools can start without it",
            ),
            "spec.template.spec.containers[].name": Field(
                "The name of the container.", always="the pod has only this container"
            ),
            "spec.template.spec.containers[].image": Field("The image of the scheduler."),
            "spec.template.spec.containers[].command[]": Field(
                "The program and its options: its configuration file, and the port for health "
                "checks.",
                always="the file is in the mounted ConfigMap, and the probes use the port",
            ),
            **{
                f"spec.template.spec.containers[].{probe}.{field}": Field(
                    f"{what}: {does}.", _POD, always="kube-scheduler serves /healthz by HTTPS"
                )
                for probe, what in (
                    ("livenessProbe", "The check after which a failed scheduler is restarted"),
                    ("readinessProbe", "The check of whether the scheduler is ready"),
                )
                for field, does in (
                    ("httpGet.path", "the path that is requested"),
                    ("httpGet.port", "the port that is requested"),
                    ("httpGet.scheme", "the protocol"),
                    ("initialDelaySeconds", "the seconds before the first check"),
                )
            },
            "spec.template.spec.containers[].resources.requests.*": Field(
                "What the scheduler reserves on its node.",
                _POD,
                always="it is enough for a few thousand pods; a template can change it",
            ),
            "spec.template.spec.containers[].securityContext.*": Field(
                "What the process may do: no root user, no more privileges, no writes to its image.",
                _POD,
                always="kube-scheduler needs no more",
            ),
            "spec.template.spec.containers[].volumeMounts[].*": Field(
                "Where the volume with the configuration is mounted, for reading.",
                _POD,
                always="the command names a file in this folder",
            ),
            "spec.template.spec.volumes[].name": Field(
                "The name of the volume.", _POD, always="volumeMounts names it"
            ),
            "spec.template.spec.volumes[].configMap.name": Field(
                "The ConfigMap with the configuration of the scheduler.", _POD
            ),
        },
    ),
}


OF_EXTRAS: Mapping[str, Mapping[str, FieldTable]] = {
    ADMISSION: admission.TABLES,
    MONITORING: {"PrometheusRule": PROMETHEUS_RULE, "ConfigMap": DASHBOARD},
    NODE_AUTOSCALER: node_autoscaler.TABLES,
    VPA: scaling_fields.OF_VPA,
    WORKLOADS: workload_fields.KINDS,
}
"""The tables of kinds that only `--with NAME` renders, if KINDS has none for them or another one."""

FILES_OF_EXTRAS = {
    DEVICE_PLUGIN: nvidia_fields.DEVICE_PLUGIN,
    MIG_MANAGER: nvidia_fields.MIG_MANAGER,
    MONITORING: DASHBOARD_FILE,
    NODE_AUTOSCALER: node_autoscaler.PRIORITIES,
}
"""The tables of files in the ConfigMaps of these `--with` names."""


def field(kind: Kind, path: Path) -> Field | None:
    """What a field does; None for a field that policygen's own templates do not print.

    `path` of a file in a ConfigMap begins with `data` and the name of the file.
    """
    tables = [OF_EXTRAS.get(kind.extra, KINDS).get(kind.name), _COMMON]
    if path[:1] == ("data",) and len(path) > 2:
        tables = [FILES_OF_EXTRAS.get(kind.extra) or FILES.get(str(path[1]))]
        path = path[2:]
    return next((found for it in tables if it and (found := _in(it, path))), None)


def _in(table: FieldTable, path: Path) -> Field | None:
    """The entry of the complete path, or else the nearest one that ends with `*`."""
    entry = table.fields.get(_pattern(path))
    above = path
    while entry is None and above:
        above = above[:-1]
        entry = table.fields.get(f"{_pattern(above)}.*")
    if entry is None or entry.source:
        return entry
    return replace(entry, source=table.source)


def _pattern(path: Path) -> str:
    return _INDEX.sub("[]", dotted(path))


_INDEX = re.compile(r"\[\d+\]")
