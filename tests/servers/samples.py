"""Valid objects of every kind in `schemas/cluster`, with many fields: the start of all mutations."""

from __future__ import annotations

from copy import deepcopy
from typing import Any

from .client import Object

LABELS = {"app": "a"}
KUEUE_VERSIONS = ("kueue.x-k8s.io/v1beta1", "kueue.x-k8s.io/v1beta2")
EXPRESSION = {"key": "zone", "operator": "In", "values": ["a"]}
SELECTOR = {"matchLabels": LABELS, "matchExpressions": [EXPRESSION]}
TOLERATION = {
    "key": "gpu", "operator": "Equal", "value": "a", "effect": "NoExecute", "tolerationSeconds": 5,
}  # fmt: skip
PROBE = {"httpGet": {"path": "/", "port": 8080, "httpHeaders": [{"name": "A", "value": "b"}]}}
CONTAINER = {
    "name": "main",
    "image": "image",
    "command": ["run"],
    "env": [
        {"name": "A", "value": "b"},
        {"name": "B", "valueFrom": {"configMapKeyRef": {"name": "a", "key": "b"}}},
        {"name": "C", "valueFrom": {"fieldRef": {"fieldPath": "metadata.name"}}},
        {"name": "D", "valueFrom": {"resourceFieldRef": {"resource": "limits.cpu"}}},
    ],
    "ports": [{"name": "http", "containerPort": 8080, "protocol": "TCP"}],
    "resources": {
        "requests": {"cpu": "500m", "memory": "1Gi"},
        "limits": {"cpu": 1, "memory": "1Gi", "nvidia.com/gpu": 1},
    },
    "livenessProbe": {**PROBE, "periodSeconds": 5},
    "readinessProbe": {"tcpSocket": {"port": "http"}},
    "lifecycle": {"preStop": {"exec": {"command": ["sleep"]}}},
    "volumeMounts": [{"name": "data", "mountPath": "/data", "readOnly": True}],
    "securityContext": {
        "runAsUser": 1000,
        "capabilities": {"drop": ["ALL"]},
        "seccompProfile": {"type": "RuntimeDefault"},
    },
}
POD_SPEC = {
    "containers": [CONTAINER],
    "initContainers": [{"name": "init", "image": "image"}],
    "restartPolicy": "Never",
    "schedulerName": "volcano",
    "serviceAccountName": "default",
    "nodeSelector": {"pool": "a"},
    "terminationGracePeriodSeconds": 5,
    "tolerations": [TOLERATION],
    "imagePullSecrets": [{"name": "a"}],
    "hostAliases": [{"ip": "10.0.0.1", "hostnames": ["a"]}],
    "securityContext": {
        "fsGroup": 1,
        "sysctls": [{"name": "kernel.shm_rmid_forced", "value": "0"}],
    },
    "topologySpreadConstraints": [
        {
            "maxSkew": 1,
            "topologyKey": "zone",
            "whenUnsatisfiable": "DoNotSchedule",
            "labelSelector": SELECTOR,
        }
    ],
    "affinity": {
        "nodeAffinity": {
            "requiredDuringSchedulingIgnoredDuringExecution": {
                "nodeSelectorTerms": [{"matchExpressions": [EXPRESSION]}]
            },
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {"weight": 1, "preference": {"matchExpressions": [EXPRESSION]}}
            ],
        },
        "podAntiAffinity": {
            "preferredDuringSchedulingIgnoredDuringExecution": [
                {
                    "weight": 1,
                    "podAffinityTerm": {"topologyKey": "zone", "labelSelector": SELECTOR},
                }
            ]
        },
    },
    "volumes": [
        {"name": "data", "emptyDir": {"sizeLimit": "1Gi"}},
        {"name": "config", "configMap": {"name": "a", "items": [{"key": "a", "path": "b"}]}},
        {"name": "claim", "persistentVolumeClaim": {"claimName": "a"}},
        {"name": "host", "hostPath": {"path": "/dev/shm", "type": "Directory"}},
        {
            "name": "all",
            "projected": {
                "sources": [
                    {"serviceAccountToken": {"path": "token"}},
                    {"secret": {"name": "a", "items": [{"key": "a", "path": "b"}]}},
                    {
                        "downwardAPI": {
                            "items": [{"path": "c", "fieldRef": {"fieldPath": "metadata.name"}}]
                        }
                    },
                ]
            },
        },
    ],
}
TEMPLATE = {"metadata": {"labels": LABELS}, "spec": POD_SPEC}
LASTING = {"metadata": {"labels": LABELS}, "spec": {**POD_SPEC, "restartPolicy": "Always"}}
SELECTED = {"selector": {"matchLabels": LABELS}, "template": LASTING}
JOB = {
    "parallelism": 2,
    "completions": 2,
    "completionMode": "Indexed",
    "backoffLimit": 0,
    "suspend": True,
    "template": TEMPLATE,
    "podFailurePolicy": {
        "rules": [
            {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1]}},
            {
                "action": "Ignore",
                "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}],
            },
        ]
    },
}
CLAIM = {
    "metadata": {"name": "data"},
    "spec": {"accessModes": ["ReadWriteOnce"], "resources": {"requests": {"storage": "1Gi"}}},
}
RULE = {"apiGroups": [""], "resources": ["pods"], "verbs": ["get"]}
VOLCANO_JOB = {
    "schedulerName": "volcano",
    "queue": "a",
    "minAvailable": 2,
    "maxRetry": 3,
    "ttlSecondsAfterFinished": 5,
    "priorityClassName": "a",
    "plugins": {"ssh": [], "svc": ["--disable-network-policy=true"]},
    "policies": [
        {"event": "PodEvicted", "action": "RestartJob"},
        {"exitCode": 3, "action": "AbortJob", "timeout": "10s"},
    ],
    "volumes": [{"mountPath": "/data", "volumeClaimName": "a"}],
    "tasks": [
        {"name": "worker", "replicas": 2, "minAvailable": 2, "maxRetry": 3, "template": TEMPLATE},
        {"name": "other", "replicas": 1, "maxRetry": 3, "template": TEMPLATE},
    ],
}
QUOTA = {
    "name": "nvidia.com/gpu",
    "nominalQuota": 8,
    "borrowingLimit": "4",
    "lendingLimit": 2,
}
GROUPS = [
    {
        "coveredResources": ["cpu", "nvidia.com/gpu"],
        "flavors": [
            {"name": "a", "resources": [{"name": "cpu", "nominalQuota": "500m"}, QUOTA]},
            {
                "name": "b",
                "resources": [
                    {"name": "cpu", "nominalQuota": 1},
                    {"name": "nvidia.com/gpu", "nominalQuota": "0"},
                ],
            },
        ],
    }
]


def _kueue(cohort: str, borrow: str, preempt: str) -> dict[str, Any]:
    """Specs whose field names or values differ between Kueue's versions, by kind."""
    return {
        cohort: "root",
        "namespaceSelector": SELECTOR,
        "queueingStrategy": "BestEffortFIFO",
        "resourceGroups": GROUPS,
        "stopPolicy": "Hold",
        "fairSharing": {"weight": "0.5"},
        "flavorFungibility": {"whenCanBorrow": borrow, "whenCanPreempt": preempt},
        "preemption": {
            "reclaimWithinCohort": "Any",
            "borrowWithinCohort": {"policy": "LowerPriority", "maxPriorityThreshold": 100},
            "withinClusterQueue": "LowerPriority",
        },
    }


def _pod_sets() -> list[Object]:
    return [
        {
            "name": "main",
            "count": 3,
            "minCount": 2,
            "template": TEMPLATE,
            "topologyRequest": {"required": "zone"},
        },
        {"name": "other", "count": 1, "template": TEMPLATE},
    ]


BUILT_IN: list[Object] = [
    {
        "apiVersion": "v1",
        "kind": "Namespace",
        "metadata": {
            "name": "mine",
            "labels": {"a.b/c": "d"},
            "annotations": {"a.b/c": "any text"},
            "finalizers": ["a.b/c"],
            "ownerReferences": [{"apiVersion": "v1", "kind": "Node", "name": "a", "uid": "b"}],
            "creationTimestamp": "2026-01-31T12:00:00Z",
        },
    },
    {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "data": {"a": "b"},
        "binaryData": {"c": "YWJj"},
        "immutable": True,
    },
    {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "imagePullSecrets": [{"name": "a"}],
        "automountServiceAccountToken": False,
    },
    {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "spec": {
            "hard": {"requests.nvidia.com/gpu": 4, "pods": "10"},
            "scopeSelector": {
                "matchExpressions": [
                    {"scopeName": "PriorityClass", "operator": "In", "values": ["a"]}
                ]
            },
        },
    },
    {
        "apiVersion": "v1",
        "kind": "LimitRange",
        "spec": {
            "limits": [
                {
                    "type": "Container",
                    "default": {"cpu": 1},
                    "defaultRequest": {"cpu": "500m"},
                    "max": {"cpu": 2.5},
                    "maxLimitRequestRatio": {"cpu": 3},
                }
            ]
        },
    },
    {
        "apiVersion": "v1",
        "kind": "Node",
        "spec": {
            "unschedulable": True,
            "podCIDR": "10.0.0.0/24",
            "taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}],
        },
    },
    {"apiVersion": "v1", "kind": "Pod", "spec": POD_SPEC},
    {
        "apiVersion": "apps/v1",
        "kind": "Deployment",
        "spec": {
            "replicas": 2,
            **SELECTED,
            "strategy": {"type": "RollingUpdate", "rollingUpdate": {"maxSurge": "25%"}},
        },
    },
    {
        "apiVersion": "apps/v1",
        "kind": "DaemonSet",
        "spec": {
            **SELECTED,
            "minReadySeconds": 5,
            "updateStrategy": {"type": "RollingUpdate", "rollingUpdate": {"maxUnavailable": "10%"}},
        },
    },
    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "spec": {"replicas": 2, **SELECTED}},
    {
        "apiVersion": "apps/v1",
        "kind": "StatefulSet",
        "spec": {
            "serviceName": "a",
            "replicas": 2,
            "podManagementPolicy": "Parallel",
            **SELECTED,
            "volumeClaimTemplates": [CLAIM],
        },
    },
    {
        "apiVersion": "autoscaling/v1",
        "kind": "HorizontalPodAutoscaler",
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
            "minReplicas": 1,
            "maxReplicas": 4,
            "targetCPUUtilizationPercentage": 80,
        },
    },
    {
        "apiVersion": "autoscaling/v2",
        "kind": "HorizontalPodAutoscaler",
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
            "minReplicas": 1,
            "maxReplicas": 4,
            "metrics": [
                {
                    "type": "Pods",
                    "pods": {
                        "metric": {"name": "a:b", "selector": {"matchLabels": {"a": "b"}}},
                        "target": {"type": "AverageValue", "averageValue": "8"},
                    },
                },
                {
                    "type": "Resource",
                    "resource": {
                        "name": "cpu",
                        "target": {"type": "Utilization", "averageUtilization": 80},
                    },
                },
            ],
            "behavior": {
                "scaleDown": {
                    "stabilizationWindowSeconds": 60,
                    "selectPolicy": "Min",
                    "policies": [{"type": "Pods", "value": 1, "periodSeconds": 60}],
                }
            },
        },
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {
            "minAvailable": "50%",
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
            "selector": {"matchLabels": {"a": "b"}},
        },
    },
    {"apiVersion": "batch/v1", "kind": "Job", "spec": JOB},
    {
        "apiVersion": "batch/v1",
        "kind": "CronJob",
        "spec": {
            "schedule": "0 1 * * *",
            "timeZone": "Etc/UTC",
            "concurrencyPolicy": "Forbid",
            "jobTemplate": {"spec": JOB},
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicy",
        "spec": {
            "failurePolicy": "Ignore",
            "reinvocationPolicy": "Never",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {
                "matchPolicy": "Exact",
                "namespaceSelector": {"matchLabels": {"a": "b"}},
                "resourceRules": [
                    {
                        "apiGroups": ["batch"],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE"],
                        "resources": ["jobs"],
                        "scope": "Namespaced",
                    }
                ],
            },
            "variables": [{"name": "a", "expression": "'b'"}],
            "mutations": [
                {
                    "patchType": "JSONPatch",
                    "jsonPatch": {
                        "expression": "[JSONPatch{op: 'add', path: '/metadata/labels', value: {}}]"
                    },
                }
            ],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "MutatingAdmissionPolicyBinding",
        "spec": {
            "policyName": "a",
            "paramRef": {"name": "a", "parameterNotFoundAction": "Allow"},
            "matchResources": {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]
                }
            },
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicy",
        "spec": {
            "failurePolicy": "Ignore",
            "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
            "matchConstraints": {
                "matchPolicy": "Exact",
                "namespaceSelector": {"matchLabels": {"a": "b"}},
                "resourceRules": [
                    {
                        "apiGroups": [""],
                        "apiVersions": ["v1"],
                        "operations": ["CREATE", "UPDATE"],
                        "resources": ["pods"],
                        "resourceNames": ["a"],
                        "scope": "Namespaced",
                    }
                ],
            },
            "matchConditions": [{"name": "a", "expression": "true"}],
            "variables": [{"name": "a", "expression": "1"}],
            "validations": [
                {"expression": "true", "message": "a", "reason": "Invalid"},
                {"expression": "true", "messageExpression": "'a'"},
            ],
            "auditAnnotations": [{"key": "a", "valueExpression": "'a'"}],
        },
    },
    {
        "apiVersion": "admissionregistration.k8s.io/v1",
        "kind": "ValidatingAdmissionPolicyBinding",
        "spec": {
            "policyName": "a",
            "paramRef": {"name": "a", "parameterNotFoundAction": "Allow"},
            "matchResources": {
                "namespaceSelector": {
                    "matchExpressions": [{"key": "a", "operator": "In", "values": ["b"]}]
                }
            },
            "validationActions": ["Deny", "Audit"],
        },
    },
    {
        "apiVersion": "scheduling.k8s.io/v1",
        "kind": "PriorityClass",
        "value": 1000,
        "globalDefault": False,
        "preemptionPolicy": "Never",
        "description": "any text",
    },
    {
        "apiVersion": "policy/v1",
        "kind": "PodDisruptionBudget",
        "spec": {
            "minAvailable": "50%",
            "selector": SELECTOR,
            "unhealthyPodEvictionPolicy": "AlwaysAllow",
        },
    },
    {
        "apiVersion": "rbac.authorization.k8s.io/v1",
        "kind": "ClusterRole",
        "rules": [RULE, {"nonResourceURLs": ["/healthz"], "verbs": ["get"]}],
    },
    {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "Role", "rules": [RULE]},
    *(
        {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": f"{of}Binding",
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": of, "name": "a"},
            "subjects": [{"kind": "ServiceAccount", "name": "a", "namespace": "default"}],
        }
        for of in ("ClusterRole", "Role")
    ),
]

_KUEUE_BOTH: dict[str, Any] = {
    "AdmissionCheck": {
        "controllerName": "kueue.x-k8s.io/provisioning-request",
        "parameters": {
            "apiGroup": "kueue.x-k8s.io",
            "kind": "ProvisioningRequestConfig",
            "name": "a",
        },
    },
    "Cohort": {
        "parentName": "root",
        "fairSharing": {"weight": "2"},
        "resourceGroups": [{**GROUPS[0]}],
    },
    "LocalQueue": {"clusterQueue": "a", "stopPolicy": "None", "fairSharing": {"weight": "1"}},
    "MultiKueueConfig": {"clusters": ["a", "b"]},
    "ProvisioningRequestConfig": {
        "provisioningClassName": "check-capacity.autoscaling.x-k8s.io",
        "managedResources": ["nvidia.com/gpu"],
        "retryStrategy": {"backoffLimitCount": 2, "backoffBaseSeconds": 30},
        "parameters": {"a": "b"},
    },
    "ResourceFlavor": {
        "nodeLabels": {"pool": "a"},
        "nodeTaints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}],
        "tolerations": [TOLERATION, {"operator": "Exists"}],
        "topologyName": "a",
    },
    "Topology": {"levels": [{"nodeLabel": "zone"}, {"nodeLabel": "kubernetes.io/hostname"}]},
}
_KUEUE_OLD: dict[str, Any] = {
    "ClusterQueue": {
        **_kueue("cohort", "Borrow", "Preempt"),
        "admissionChecks": ["a", "b"],
    },
    "MultiKueueCluster": {"kubeConfig": {"location": "a", "locationType": "Secret"}},
    "Workload": {
        "queueName": "a",
        "priorityClassName": "a",
        "priorityClassSource": "kueue.x-k8s.io/workloadpriorityclass",
        "priority": 5,
        "active": True,
        "maximumExecutionTimeSeconds": 60,
        "podSets": _pod_sets(),
    },
}
_KUEUE_NEW: dict[str, Any] = {
    "ClusterQueue": {
        **_kueue("cohortName", "MayStopSearch", "TryNextFlavor"),
        "admissionChecksStrategy": {"admissionChecks": [{"name": "a", "onFlavors": ["a", "b"]}]},
    },
    "MultiKueueCluster": {
        "clusterSource": {"kubeConfig": {"location": "a", "locationType": "Secret"}}
    },
    "Workload": {
        "queueName": "a",
        "priorityClassRef": {
            "group": "kueue.x-k8s.io", "kind": "WorkloadPriorityClass", "name": "a",
        },
        "priority": 5,
        "active": True,
        "maximumExecutionTimeSeconds": 60,
        "podSets": _pod_sets(),
    },
}  # fmt: skip
KUEUE: list[Object] = [
    {"apiVersion": version, "kind": kind, "spec": spec}
    for version, own in zip(KUEUE_VERSIONS, (_KUEUE_OLD, _KUEUE_NEW), strict=True)
    for kind, spec in {**_KUEUE_BOTH, **own}.items()
]
KUEUE += [
    {
        "apiVersion": version,
        "kind": "WorkloadPriorityClass",
        "value": 1000,
        "description": "any text",
    }
    for version in KUEUE_VERSIONS
]

_AMOUNT = {"cpu": "16", "memory": "64Gi", "nvidia.com/gpu": 8}
VOLCANO: list[Object] = [
    {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "Queue",
        "spec": {
            "parent": "root",
            "weight": 2,
            "priority": 5,
            "reclaimable": True,
            "capability": _AMOUNT,
            "deserved": _AMOUNT,
            "guarantee": {"resource": _AMOUNT},
            "affinity": {
                "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a"]}
            },
            "extendClusters": [{"name": "a", "weight": 1, "capacity": {"cpu": 1}}],
        },
    },
    {
        "apiVersion": "scheduling.volcano.sh/v1beta1",
        "kind": "PodGroup",
        "spec": {
            "minMember": 4,
            "minResources": {"nvidia.com/gpu": 4, "cpu": "8"},
            "minTaskMember": {"worker": 2},
            "queue": "a",
            "priorityClassName": "a",
            "networkTopology": {"mode": "hard", "highestTierAllowed": 1},
        },
    },
    {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "spec": VOLCANO_JOB},
    {
        "apiVersion": "batch.volcano.sh/v1alpha1",
        "kind": "CronJob",
        "spec": {
            "schedule": "0 1 * * *",
            "concurrencyPolicy": "Forbid",
            "suspend": True,
            "jobTemplate": {"spec": VOLCANO_JOB},
        },
    },
    {
        "apiVersion": "bus.volcano.sh/v1alpha1",
        "kind": "Command",
        "action": "CloseQueue",
        "reason": "a",
        "message": "any text",
        "target": {
            "apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "name": "a", "uid": "b",
        },
    },
    {
        "apiVersion": "config.volcano.sh/v1alpha1",
        "kind": "ColocationConfiguration",
        "spec": {"selector": SELECTOR},
    },
    {
        "apiVersion": "flow.volcano.sh/v1alpha1",
        "kind": "JobFlow",
        "spec": {
            "jobRetainPolicy": "retain",
            "flows": [
                {"name": "a"},
                {"name": "b", "dependsOn": {"targets": ["a"]}},
            ],
        },
    },
    {"apiVersion": "flow.volcano.sh/v1alpha1", "kind": "JobTemplate", "spec": VOLCANO_JOB},
    {
        "apiVersion": "nodeinfo.volcano.sh/v1alpha1",
        "kind": "Numatopology",
        "spec": {"policies": {"a": "b"}, "cpuDetail": {"0": {"numa": 0}}},
    },
    {
        "apiVersion": "shard.volcano.sh/v1alpha1",
        "kind": "NodeShard",
        "spec": {"nodesDesired": ["a"]},
    },
    {
        "apiVersion": "topology.volcano.sh/v1alpha1",
        "kind": "HyperNode",
        "spec": {
            "tier": 1,
            "members": [
                {"type": "Node", "selector": {"exactMatch": {"name": "a"}}},
                {"type": "Node", "selector": {"regexMatch": {"pattern": "a.*"}}},
                {"type": "Node", "selector": {"labelMatch": SELECTOR}},
            ],
        },
    },
]  # fmt: skip


KARPENTER: list[Object] = [
    {
        "apiVersion": "karpenter.sh/v1",
        "kind": "NodePool",
        "spec": {
            "template": {
                "metadata": {"labels": {"pool": "a", "karpenter.sh/capacity-type": "spot"}},
                "spec": {
                    "nodeClassRef": {"group": "a.b", "kind": "NodeClass", "name": "a"},
                    "requirements": [
                        {"key": "zone", "operator": "In", "values": ["a", "b"], "minValues": 1},
                        {"key": "cards", "operator": "Gt", "values": ["1"]},
                        {"key": "arch", "operator": "Exists"},
                    ],
                    "taints": [{"key": "gpu", "value": "a", "effect": "NoSchedule"}],
                    "startupTaints": [{"key": "gpu", "effect": "NoExecute"}],
                    "expireAfter": "720h",
                    "terminationGracePeriod": "1h30m",
                },
            },
            "disruption": {
                "consolidateAfter": "30s",
                "consolidationPolicy": "WhenEmpty",
                "budgets": [
                    {"nodes": "10%", "reasons": ["Empty"], "schedule": "@daily", "duration": "8h"}
                ],
            },
            "limits": {"nodes": 4, "nvidia.com/gpu": "32", "cpu": "1.5"},
            "weight": 10,
        },
    }
]


TEMPLATE = {"metadata": {"labels": LABELS}}
"""A template without its pod, which the schemas of operators' kinds do not describe."""
RAY_CLUSTER = {
    "rayVersion": "2.46.0",
    "enableInTreeAutoscaling": True,
    "autoscalerOptions": {"idleTimeoutSeconds": 60, "upscalingMode": "Default"},
    "headGroupSpec": {
        "serviceType": "ClusterIP",
        "rayStartParams": {"num-cpus": "0"},
        "template": TEMPLATE,
    },
    "workerGroupSpecs": [
        {
            "groupName": "gpu",
            "replicas": 1,
            "minReplicas": 1,
            "maxReplicas": 4,
            "numOfHosts": 2,
            "rayStartParams": {"num-gpus": "8"},
            "template": TEMPLATE,
        }
    ],
    "suspend": True,
}
OLD_CLUSTER = {
    **RAY_CLUSTER,
    "workerGroupSpecs": [
        {"groupName": "gpu", "replicas": 1, "minReplicas": 1, "maxReplicas": 4}
        | {"rayStartParams": {"num-gpus": "8"}, "template": TEMPLATE}
    ],
}
RAY_JOB = {
    "entrypoint": "python train.py",
    "runtimeEnvYAML": "pip: []",
    "shutdownAfterJobFinishes": True,
    "ttlSecondsAfterFinished": 60,
    "backoffLimit": 2,
    "submissionMode": "K8sJobMode",
    "rayClusterSpec": RAY_CLUSTER,
}
RAY_SERVICE = {"serveConfigV2": "applications: []", "rayClusterConfig": RAY_CLUSTER}
REPLICA = {"replicas": 2, "restartPolicy": "OnFailure", "template": TEMPLATE}
RUN_POLICY = {
    "cleanPodPolicy": "Running",
    "suspend": True,
    "backoffLimit": 3,
    "schedulingPolicy": {"minAvailable": 2, "queue": "a"},
}
RUNTIME = {
    "mlPolicy": {"numNodes": 2, "torch": {}},
    "podGroupPolicy": {"coscheduling": {"scheduleTimeoutSeconds": 60}},
    "template": {
        "metadata": {"labels": LABELS},
        "spec": {
            "replicatedJobs": [
                {"name": "node", "template": {"spec": {"backoffLimit": 0, "template": TEMPLATE}}}
            ]
        },
    },
}
OPERATORS: list[Object] = [
    {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "TrainJob",
        "spec": {
            "runtimeRef": {"name": "torch", "kind": "ClusterTrainingRuntime"},
            "suspend": True,
            "managedBy": "kueue.x-k8s.io/multikueue",
            "trainer": {
                "image": "image",
                "command": ["run"],
                "numNodes": 2,
                "resourcesPerNode": {"limits": {"nvidia.com/gpu": 8}},
                "env": [{"name": "A", "value": "b"}],
            },
        },
    },
    {
        "apiVersion": "trainer.kubeflow.org/v1alpha1",
        "kind": "ClusterTrainingRuntime",
        "spec": RUNTIME,
    },
    {"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainingRuntime", "spec": RUNTIME},
    {
        "apiVersion": "workload.codeflare.dev/v1beta2",
        "kind": "AppWrapper",
        "spec": {
            "suspend": True,
            "components": [],
        },
    },
    {
        "apiVersion": "jobset.x-k8s.io/v1alpha2",
        "kind": "JobSet",
        "spec": {
            "suspend": True,
            "network": {"enableDNSHostnames": True, "subdomain": "a"},
            "successPolicy": {"operator": "All", "targetReplicatedJobs": ["workers"]},
            "failurePolicy": {
                "maxRestarts": 3,
                "restartStrategy": "BlockingRecreate",
                "rules": [{"name": "a", "action": "FailJobSet", "onJobFailureReasons": ["b"]}],
            },
            "coordinator": {"replicatedJob": "workers", "jobIndex": 0, "podIndex": 0},
            "ttlSecondsAfterFinished": 60,
            "replicatedJobs": [
                {"name": "driver", "template": {"spec": {"template": TEMPLATE}}},
                {
                    "name": "workers",
                    "replicas": 2,
                    "dependsOn": [{"name": "driver", "status": "Ready"}],
                    "template": {
                        "metadata": {"annotations": {"a": "b"}},
                        "spec": {
                            "parallelism": 4,
                            "completions": 4,
                            "backoffLimit": 0,
                            "completionMode": "Indexed",
                            "template": TEMPLATE,
                        },
                    },
                },
            ],
        },
    },
    {
        "apiVersion": "leaderworkerset.x-k8s.io/v1",
        "kind": "LeaderWorkerSet",
        "spec": {
            "replicas": 2,
            "startupPolicy": "LeaderReady",
            "rolloutStrategy": {
                "type": "RollingUpdate",
                "rollingUpdateConfiguration": {"maxUnavailable": 1, "maxSurge": "50%"},
            },
            "networkConfig": {"subdomainPolicy": "Shared"},
            "leaderWorkerTemplate": {
                "size": 4,
                "restartPolicy": "RecreateGroupOnPodRestart",
                "subGroupPolicy": {"subGroupSize": 2},
                "leaderTemplate": TEMPLATE,
                "workerTemplate": TEMPLATE,
            },
        },
    },
    {"apiVersion": "ray.io/v1", "kind": "RayCluster", "spec": RAY_CLUSTER},
    {"apiVersion": "ray.io/v1", "kind": "RayJob", "spec": RAY_JOB},
    {"apiVersion": "ray.io/v1", "kind": "RayService", "spec": RAY_SERVICE},
    {"apiVersion": "ray.io/v1alpha1", "kind": "RayCluster", "spec": OLD_CLUSTER},
    {
        "apiVersion": "ray.io/v1alpha1",
        "kind": "RayJob",
        "spec": {
            "entrypoint": "python train.py",
            "runtimeEnvYAML": "pip: []",
            "shutdownAfterJobFinishes": True,
            "ttlSecondsAfterFinished": 60,
            "rayClusterSpec": OLD_CLUSTER,
        },
    },
    {
        "apiVersion": "ray.io/v1alpha1",
        "kind": "RayService",
        "spec": {"serveConfigV2": "applications: []", "rayClusterConfig": OLD_CLUSTER},
    },
    {
        "apiVersion": "ray.io/v1",
        "kind": "RayCronJob",
        "spec": {"schedule": "0 * * * *", "suspend": True, "jobTemplate": RAY_JOB},
    },
    *(
        {
            "apiVersion": "kubeflow.org/v1",
            "kind": kind,
            "spec": {field: {"Worker": REPLICA}, "runPolicy": RUN_POLICY},
        }
        for kind, field in (
            ("JAXJob", "jaxReplicaSpecs"),
            ("MPIJob", "mpiReplicaSpecs"),
            ("PaddleJob", "paddleReplicaSpecs"),
            ("PyTorchJob", "pytorchReplicaSpecs"),
            ("TFJob", "tfReplicaSpecs"),
            ("XGBoostJob", "xgbReplicaSpecs"),
        )
    ),
    {
        "apiVersion": "kubeflow.org/v2beta1",
        "kind": "MPIJob",
        "spec": {
            "slotsPerWorker": 8,
            "mpiImplementation": "OpenMPI",
            "launcherCreationPolicy": "WaitForWorkersReady",
            "sshAuthMountPath": "/root/.ssh",
            "runPolicy": RUN_POLICY,
            "mpiReplicaSpecs": {"Launcher": {**REPLICA, "replicas": 1}, "Worker": REPLICA},
        },
    },
]


def samples() -> list[Object]:
    """One object of each kind and version; each has a name."""
    made = [deepcopy(thing) for thing in (*BUILT_IN, *KUEUE, *VOLCANO, *KARPENTER, *OPERATORS)]
    for thing in made:
        thing.setdefault("metadata", {"name": "mine"})
    return made
