"""The types of the fields of Kueue's Configuration.

Source: apis/config/v1beta1 and v1beta2/configuration_types.go of Kueue 0.13.10 to 0.19.2.
"""

from policygen.lint.core.typed_fields import ANY, Fields, Type

_B, _I, _N, _T, _TEXTS = Type.BOOLEAN, Type.INTEGER, Type.NUMBER, Type.TEXT, Type.TEXTS
_INT32, _DURATION = Type.INT32, Type.DURATION
_SELECTOR: Fields = {
    "matchLabels": {ANY: _T},
    "matchExpressions": {"key": _T, "operator": _T, "values": _TEXTS},
}
_PROVIDERS: Fields = {
    "name": _T,
    "execConfig": {
        **dict.fromkeys(("apiVersion", "command", "installHint", "interactiveMode"), _T),
        "args": _TEXTS,
        "env": {"name": _T, "value": _T},
        "provideClusterInfo": _B,
    },
}
_SOURCE: Fields = {"name": _T, "driver": _T, "deviceSelector": {"cel": {"expression": _T}}}

FIELDS: Fields = {
    "admissionFairSharing": {
        "resourceWeights": {ANY: _N},
        **dict.fromkeys(("usageHalfLifeTime", "usageSamplingInterval"), _DURATION),
    },
    "clientConnection": {"qps": _N, "burst": _INT32},
    "controller": {"groupKindConcurrency": {ANY: _I}, "cacheSyncTimeout": _I},
    "fairSharing": {"enable": _B, "preemptionStrategies": _TEXTS},
    "health": dict.fromkeys(
        ("healthProbeBindAddress", "livenessEndpointName", "readinessEndpointName"), _T
    ),
    "integrations": {
        **dict.fromkeys(("frameworks", "externalFrameworks", "labelKeysToCopy"), _TEXTS),
        "podOptions": {"namespaceSelector": _SELECTOR, "podSelector": _SELECTOR},
    },
    "internalCertManagement": {"enable": _B, "webhookServiceName": _T, "webhookSecretName": _T},
    "leaderElection": {
        "leaderElect": _B,
        **dict.fromkeys(("leaseDuration", "renewDeadline", "retryPeriod"), _DURATION),
        **dict.fromkeys(("resourceLock", "resourceName", "resourceNamespace"), _T),
    },
    "managedJobsNamespaceSelector": _SELECTOR,
    "metrics": {
        "bindAddress": _T,
        "customLabels": {
            **dict.fromkeys(("name", "sourceLabelKey", "sourceAnnotationKey", "sourceKind"), _T),
            "trackedValues": _TEXTS,
        },
        "enableClusterQueueResources": _B,
        "localQueueMetrics": {"enable": _B, "localQueueSelector": _SELECTOR},
    },
    "multiKueue": {
        "origin": _T,
        "dispatcherName": _T,
        **dict.fromkeys(("gcInterval", "workerLostTimeout"), _DURATION),
        "externalFrameworks": {"name": _T},
        "clusterProfile": dict.fromkeys(("accessProviders", "credentialsProviders"), _PROVIDERS),
        "incrementalDispatcherConfig": {"stepSize": _INT32},
    },
    "objectRetentionPolicies": {
        "workloads": dict.fromkeys(("afterFinished", "afterDeactivatedByKueue"), _DURATION)
    },
    "pprofBindAddress": _T,
    "queueVisibility": {"updateIntervalSeconds": _INT32, "clusterQueues": {"maxCount": _INT32}},
    "resources": {
        "excludeResourcePrefixes": _TEXTS,
        "quotaCheckStrategy": _T,
        "transformations": {"input": _T, "strategy": _T, "multiplyBy": _T, "outputs": {}},
        "deviceClassMappings": {
            "name": _T,
            "deviceClassNames": _TEXTS,
            "sources": {"counter": _SOURCE, "capacity": _SOURCE},
        },
    },
    "tls": {"minVersion": _T, "cipherSuites": _TEXTS, "curvePreferences": Type.INT32S},
    "visibilityServer": {"bindAddress": _T, "bindPort": _INT32},
    "waitForPodsReady": {
        "enable": _B,
        "blockAdmission": _B,
        **dict.fromkeys(("timeout", "recoveryTimeout"), _DURATION),
        "requeuingStrategy": {
            "timestamp": _T,
            **dict.fromkeys(
                ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"), _INT32
            ),
        },
    },
    "webhook": {"port": _I, "host": _T, "certDir": _T},
}
"""cacheSyncTimeout is a Go duration without a text form, in nanoseconds."""
LISTS = frozenset(
    {
        "accessProviders", "credentialsProviders", "customLabels", "deviceClassMappings", "env", "externalFrameworks",
        "matchExpressions", "sources", "transformations",
    }
)  # fmt: skip
"""The fields whose value is a list of mappings. The others of FIELDS that are mappings must be one."""
