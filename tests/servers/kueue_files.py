"""Drawn Configurations of Kueue."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from .client import Object
from .families import ABSENT, COUNTS, DURATIONS, FLAGS, KEYS, LABEL_VALUES, TEXTS, Family, Values

EXCEPTIONS: Mapping[str, re.Pattern[str]] = {}

HEAD: Object = {"apiVersion": "config.kueue.x-k8s.io/v1beta2", "kind": "Configuration"}
OLD: Object = {**HEAD, "apiVersion": "config.kueue.x-k8s.io/v1beta1"}
NUMBERS = (*COUNTS, 0.5, -0.5, 65535, 65536, 8080)
MAPS = (None, {}, [], "a", ABSENT, {"strange": 1})
LISTS = (None, [], {}, "a", [1], [None], [""], ["a"], ["a", "a"], ABSENT)
FRAMEWORKS = (
    "batch/job", "jobset.x-k8s.io/jobset", "kubeflow.org/mpijob", "ray.io/rayjob", "ray.io/raycluster", "kubeflow.org/pytorchjob",
    "pod", "deployment", "statefulset", "leaderworkerset.x-k8s.io/leaderworkerset", "workload.codeflare.dev/appwrapper",
    "trainer.kubeflow.org/trainjob", "job", "Batch/job", "batch/jobs", "", None, 1,
)  # fmt: skip
KINDS = (
    "Job.v1.batch", "Foo.v1.example.com", "Foo.v1.example.com", "Foo.v1", "foo", "Foo.v1.", ".v1.a", "Foo..a", "", None, 1, "JobSet.v1alpha2.jobset.x-k8s.io",
    "Foo.v1.example.com.", "Foo v1 a", "Pod.v1.", "PyTorchJob.v1.kubeflow.org",
)  # fmt: skip
GATES = (
    "TopologyAwareScheduling", "TASFailedNodeReplacement", "TASFailedNodeReplacementFailFast", "TASProfileMixed", "LocalQueueMetrics", "PartialAdmission",
    "ElasticJobsViaWorkloadSlices", "ElasticJobsViaWorkloadSlicesWithTAS", "KueueDRAIntegration", "KueueDRAIntegrationExtendedResource", "MultiKueue",
    "KueueDRAIntegrationPartitionableDevices", "KueueDRAIntegrationConsumableCapacity", "QuotaCheckStrategy", "TLSOptions", "CustomMetricLabels",
    "UnadmittedWorkloadsExplicitStatus", "UnadmittedWorkloadsObservability", "FlavorFungibility", "QueueVisibility", "VisibilityOnDemand", "Strange",
    "topologyAwareScheduling", "AllAlpha", "AllBeta", "", "PrioritySortingWithinCohort", "LendingLimit",
)  # fmt: skip


def listed(choices: Sequence[Any]) -> Any:
    """A function that draws a list of some values."""

    def draw(random: Random) -> Any:
        if random.random() < 0.1:
            return random.choice(LISTS)
        return [random.choice(choices) for _ in range(random.choice((1, 1, 2, 3)))]

    return draw


def gates(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(MAPS)
    return {
        random.choice(GATES): random.choice((True, True, False, False, "true", None, 1))
        for _ in range(random.choice((1, 1, 2, 3)))
    }


def selector(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice((*MAPS[:4], {"matchLabels": None}, {"matchExpressions": None}))
    made: Object = {}
    if random.random() < 0.5:
        made["matchLabels"] = {random.choice(KEYS): random.choice(LABEL_VALUES)}
    if random.random() < 0.7:
        operator = random.choice(
            ("In", "In", "NotIn", "NotIn", "Exists", "DoesNotExist", "Gt", "in", "", None)
        )
        key = random.choice(("kubernetes.io/metadata.name", "kubernetes.io/metadata.name", *KEYS))
        values = random.choice(
            (
                ["kube-system"],
                ["kube-system", "kueue-system"],
                ["a"],
                ["kueue-system"],
                [],
                None,
                "a",
                ["a b"],
                [1],
            )
        )
        made["matchExpressions"] = [{"key": key, "operator": operator, "values": values}]
    if random.random() < 0.5:
        keep = {
            "key": "kubernetes.io/metadata.name",
            "operator": "NotIn",
            "values": ["kube-system", "kueue-system"],
        }
        made.setdefault("matchExpressions", []).append(keep)
    return made  # fmt: skip


def transformations(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((*LISTS, [{}]))
    return [_transformation(random) for _ in range(random.choice((1, 1, 2)))]


def _transformation(random: Random) -> Object:
    made: Object = {
        "input": "nvidia.com/mig-1g.5gb",
        "strategy": "Replace",
        "outputs": {"example.com/gpu-memory": "5Gi"},
    }
    for _ in range(random.choice((0, 1, 1, 2))):
        field, values = random.choice(
            (
                ("input", ("a", "", None, 1, ABSENT, "A b", "cpu")),
                ("strategy", ("Retain", "Replace", "replace", "", None, ABSENT, 1)),
                ("multiplyBy", ("cpu", "", None, 1, "A b")),
                (
                    "outputs",
                    (
                        {},
                        None,
                        [],
                        "a",
                        {"a": 1},
                        {"a": "1.5"},
                        {"a": "x"},
                        {"a": -1},
                        {"a": None},
                        {"a": 0.5},
                        {"a": ""},
                        {"a b": "1"},
                        {"a": "1e3"},
                        {"a": True},
                        {"a": []},
                    ),
                ),
                ("strange", (1,)),
            )
        )
        value = random.choice(values)
        made[field] = value
    return {key: it for key, it in made.items() if it is not ABSENT}  # fmt: skip


def devices(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((*LISTS, [{}], [{"name": "a", "deviceClassNames": ["b"]}] * 17))
    return [_device(random) for _ in range(random.choice((1, 1, 2)))]


def _device(random: Random) -> Object:
    names = ("a.com/gpu", "a.com/gpu", "b.com/gpu", "gpu", "", "A b", "x" * 254, None, 1, "a/b/c")
    classes = (
        "gpu.example.com",
        "gpu.example.com",
        "mig.example.com",
        "",
        "A b",
        None,
        1,
        "x" * 64,
    )
    made: Object = {"name": random.choice(names)}
    if random.random() < 0.9:
        some = [random.choice(classes) for _ in range(random.choice((1, 1, 2, 9)))]
        made["deviceClassNames"] = random.choice((some, some, some, some, [], None, "a"))
    if random.random() < 0.3:
        made["sources"] = random.choice(
            (
                [],
                None,
                [{}],
                [None],
                [
                    {
                        "counter": {
                            "name": "memory",
                            "driver": "gpu.example.com",
                            "deviceSelector": {"cel": {"expression": "true"}},
                        }
                    }
                ],
                [
                    {
                        "capacity": {
                            "name": "memory",
                            "driver": "gpu.example.com",
                            "deviceSelector": {"cel": {"expression": "true"}},
                        }
                    }
                ],
                [{"counter": {}}],
                [
                    {
                        "counter": {
                            "name": "A b",
                            "driver": "gpu.example.com",
                            "deviceSelector": {"cel": {"expression": "true"}},
                        }
                    }
                ],
                [{"strange": 1}],
            )
        )
    return made  # fmt: skip


def labels(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((*LISTS, [{}]))
    return [_label(random) for _ in range(random.choice((1, 1, 2, 2, 9)))]


def _label(random: Random) -> Object:
    values: Mapping[str, Sequence[Any]] = {
        "sourceLabelKey": ("team", "a/b", "A b", "", None, 1),
        "sourceAnnotationKey": ("team", "a/b", "A b", "", None, 1),
        "sourceKind": ("Workload", "ClusterQueue", "LocalQueue", "Cohort", "workload", "", None, 1),
        "trackedValues": (
            [],
            ["a"],
            ["a", "a"],
            None,
            ["a", "b", "c"],
            [str(it) for it in range(60)],
            [1],
            "a",
        ),
    }
    made: Object = {
        "name": random.choice(
            ("team", "team", "cost_center", "a", "1a", "a-b", "_a", "", None, 1, "a" * 64)
        )
    }
    for field in random.sample(sorted(values), random.choice((0, 1, 1, 2))):
        made[field] = random.choice(values[field])
    return made  # fmt: skip


def providers(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice((*LISTS, [{}]))
    exec_: Object = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": "a",
        "interactiveMode": "Never",
    }
    for _ in range(random.choice((0, 1, 1, 2))):
        field = random.choice((*exec_, "env", "args", "strange"))
        exec_[field] = random.choice(
            (
                "",
                None,
                "a",
                "Never",
                "never",
                "Always",
                1,
                [],
                ["a"],
                [{"name": "a", "value": "b"}],
                [{"name": ""}],
            )
        )
    return [{"name": random.choice(("a", "a", "", None, 1)), "execConfig": random.choice((exec_, exec_, exec_, None, {}))}]  # fmt: skip


_POD = {"frameworks": ["batch/job", "pod"]}
_DISPATCHER = "kueue.x-k8s.io/multikueue-dispatcher-incremental"
CIPHERS = ("TLS_AES_128_GCM_SHA256", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256", "TLS_RSA_WITH_AES_128_CBC_SHA", "tls_aes_128_gcm_sha256", "Strange", "", None, 1)  # fmt: skip
_TOP: Mapping[str, Values] = {
    "apiVersion": (HEAD["apiVersion"], OLD["apiVersion"], "config.kueue.x-k8s.io/v1alpha1", "config.kueue.x-k8s.io/v1", "config.kueue.x-k8s.io/v1beta3"),
    "metadata": MAPS, "namespace": ("kueue-system", "", "a", "A b", None, 1, ABSENT), "manageJobsWithoutQueueName": FLAGS, "pprofBindAddress": TEXTS, "featureGates": gates,
    "managedJobsNamespaceSelector": selector, "strange": (1, None), "queueVisibility": MAPS, "clientConnection qps": NUMBERS, "clientConnection burst": NUMBERS, "clientConnection": MAPS,
    "cacheSyncTimeout": DURATIONS, "leaderElection": MAPS, "webhook": MAPS, "health": MAPS, "controller": MAPS, "metrics": MAPS, "internalCertManagement": MAPS,
}  # fmt: skip
_WAIT: Mapping[str, Values] = {
    "waitForPodsReady": MAPS, "waitForPodsReady timeout": DURATIONS, "waitForPodsReady recoveryTimeout": DURATIONS, "waitForPodsReady blockAdmission": FLAGS, "waitForPodsReady enable": FLAGS,
    "waitForPodsReady requeuingStrategy": MAPS, "waitForPodsReady requeuingStrategy timestamp": ("Eviction", "Creation", "eviction", "", None, 1),
    **{f"waitForPodsReady requeuingStrategy {field}": NUMBERS for field in ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds", "strange")},
}  # fmt: skip
_CONTROLLER: Mapping[str, Values] = {
    "leaderElection leaderElect": FLAGS, **{f"leaderElection {field}": DURATIONS for field in ("leaseDuration", "renewDeadline", "retryPeriod")},
    **{f"leaderElection {field}": TEXTS for field in ("resourceLock", "resourceName", "resourceNamespace", "resourceNameSpace")},
    "webhook port": NUMBERS, "webhook host": TEXTS, "webhook certDir": TEXTS, "controller cacheSyncTimeout": (*NUMBERS, *DURATIONS), "controller groupKindConcurrency": MAPS,
    "controller groupKindConcurrency Job.batch": NUMBERS, **{f"health {field}": TEXTS for field in ("healthProbeBindAddress", "readinessEndpointName", "livenessEndpointName")},
    "metrics bindAddress": TEXTS, "metrics enableClusterQueueResources": FLAGS, "metrics localQueueMetrics": MAPS, "metrics localQueueMetrics enable": FLAGS,
    "metrics localQueueMetrics localQueueSelector": selector, "internalCertManagement enable": FLAGS, "internalCertManagement webhookServiceName": TEXTS, "internalCertManagement webhookSecretName": TEXTS,
}  # fmt: skip
_JOBS: Mapping[str, Values] = {
    "integrations frameworks": listed(FRAMEWORKS), "integrations externalFrameworks": listed(KINDS), "integrations labelKeysToCopy": listed((*KEYS, None, 1)), "integrations": MAPS,
    "integrations podOptions": (*MAPS, {"namespaceSelector": {}}), "managedJobsNamespaceSelector": selector, "namespace": ("kueue-system", "", "a", ABSENT),
}  # fmt: skip
_SHARING: Mapping[str, Values] = {
    "fairSharing": MAPS, "fairSharing enable": FLAGS, "fairSharing preemptionStrategies": listed(("LessThanOrEqualToFinalShare", "LessThanInitialShare", "lessThanInitialShare", "", None, 1)),
    "admissionFairSharing": MAPS, "admissionFairSharing usageHalfLifeTime": DURATIONS, "admissionFairSharing usageSamplingInterval": DURATIONS, "admissionFairSharing resourceWeights": MAPS,
    "admissionFairSharing resourceWeights cpu": NUMBERS, "objectRetentionPolicies": MAPS, "objectRetentionPolicies workloads": MAPS,
    "objectRetentionPolicies workloads afterFinished": DURATIONS, "objectRetentionPolicies workloads afterDeactivatedByKueue": DURATIONS,
}  # fmt: skip
_RESOURCES: Mapping[str, Values] = {
    "resources": MAPS, "resources excludeResourcePrefixes": LISTS, "resources quotaCheckStrategy": ("BlockUndeclared", "IgnoreUndeclared", "ignoreUndeclared", "", None, 1),
    "resources transformations": transformations, "resources deviceClassMappings": devices,
    "featureGates": ({"KueueDRAIntegration": False}, {"QuotaCheckStrategy": False}, {"KueueDRAIntegration": True}, {"KueueDRAIntegrationPartitionableDevices": True}, ABSENT),
}  # fmt: skip
_REMOTE: Mapping[str, Values] = {
    "multiKueue": MAPS, "multiKueue gcInterval": DURATIONS, "multiKueue workerLostTimeout": DURATIONS, "multiKueue origin": TEXTS,
    "multiKueue dispatcherName": (_DISPATCHER, _DISPATCHER, "a", "kueue.x-k8s.io/multikueue-dispatcher-all-at-once", "", None, 1),
    "multiKueue externalFrameworks": lambda random: [{"name": it} for it in ([random.choice(KINDS) for _ in range(random.choice((1, 1, 2)))])] if random.random() < 0.9 else random.choice((*LISTS, [{}])),
    "multiKueue clusterProfile": MAPS, "multiKueue clusterProfile accessProviders": providers, "multiKueue clusterProfile credentialsProviders": providers,
    "multiKueue incrementalDispatcherConfig": MAPS, "multiKueue incrementalDispatcherConfig stepSize": NUMBERS,
}  # fmt: skip
_SERVERS: Mapping[str, Values] = {
    "tls": MAPS, "tls minVersion": ("VersionTLS12", "VersionTLS13", "VersionTLS11", "VersionTLS10", "TLS12", "", None, 1), "tls cipherSuites": listed(CIPHERS),
    "tls curvePreferences": listed((23, 24, 25, 29, 4588, 0, 1, -1, "23", None)), "visibilityServer": MAPS, "visibilityServer bindPort": NUMBERS,
    "visibilityServer bindAddress": ("0.0.0.0", "::", "localhost", "", "1.2.3", "1.2.3.4:5", None, 1, "01.2.3.4"), "metrics customLabels": labels,
    "featureGates": ({"CustomMetricLabels": True}, {"TLSOptions": False}, ABSENT, ABSENT),
}  # fmt: skip
FAMILIES: Sequence[Family] = (
    Family("kueue-top", HEAD, _TOP),
    Family("kueue-top-v1beta1", OLD, {**_TOP, **_WAIT, **_SHARING}),
    Family("kueue-gates", HEAD, {"featureGates": gates}),
    Family("kueue-waiting", HEAD, _WAIT),
    Family("kueue-controller", HEAD, _CONTROLLER),
    Family("kueue-integrations", HEAD, _JOBS),
    Family("kueue-pods", {**HEAD, "integrations": _POD}, {"managedJobsNamespaceSelector": selector, "namespace": ("kueue-system", "", "a", ABSENT)}),
    Family("kueue-sharing", HEAD, _SHARING),
    Family("kueue-resources", HEAD, _RESOURCES),
    Family("kueue-remote", HEAD, _REMOTE),
    Family("kueue-servers", HEAD, _SERVERS),
)  # fmt: skip
