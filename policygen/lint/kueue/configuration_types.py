"""The types of the fields of Kueue's Configuration that no typed struct reads.

Source: apis/config/v1beta1 and v1beta2/configuration_types.go of Kueue 0.13.10 to 0.19.2.
"""

from policygen.lint.core.typed_fields import ANY, Fields, Type

_B, _I, _N, _T = Type.BOOLEAN, Type.INTEGER, Type.NUMBER, Type.TEXT

FIELDS: Fields = {
    "admissionFairSharing": {"resourceWeights": {ANY: _N}},
    "clientConnection": {"qps": _N, "burst": _I},
    "controller": {"groupKindConcurrency": {ANY: _I}, "cacheSyncTimeout": _I},
    "fairSharing": {"enable": _B},
    "health": dict.fromkeys(
        ("healthProbeBindAddress", "livenessEndpointName", "readinessEndpointName"), _T
    ),
    "internalCertManagement": {"enable": _B, "webhookServiceName": _T, "webhookSecretName": _T},
    "leaderElection": {
        "leaderElect": _B,
        **dict.fromkeys(("leaseDuration", "renewDeadline", "retryPeriod"), Type.DURATION),
        **dict.fromkeys(("resourceLock", "resourceName", "resourceNamespace"), _T),
    },
    "metrics": {
        "bindAddress": _T,
        "enableClusterQueueResources": _B,
        "localQueueMetrics": {"enable": _B},
    },
    "multiKueue": {
        "origin": _T,
        "dispatcherName": _T,
        "incrementalDispatcherConfig": {"stepSize": _I},
    },
    "pprofBindAddress": _T,
    "tls": {"minVersion": _T},
    "visibilityServer": {"bindAddress": _T, "bindPort": _I},
    "waitForPodsReady": {
        "enable": _B,
        "blockAdmission": _B,
        "requeuingStrategy": dict.fromkeys(
            ("backoffLimitCount", "backoffBaseSeconds", "backoffMaxSeconds"), _I
        ),
    },
    "webhook": {"port": _I, "host": _T, "certDir": _T},
}
"""cacheSyncTimeout is a Go duration without a text form, in nanoseconds."""
