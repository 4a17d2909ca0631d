"""What each field of the autoscaler of a model does."""

from collections.abc import Mapping

from policygen.explain.meaning import Field, FieldTable

_KUBERNETES = "https://kubernetes.io/docs/"
_SCALING = f"{_KUBERNETES}tasks/run-application/horizontal-pod-autoscale/"
_KEDA = "https://keda.sh/docs/latest/"
_SCALED_OBJECT = f"{_KEDA}reference/scaledobject-spec/"
_PROMETHEUS = f"{_KEDA}scalers/prometheus/"

_LEAST = (
    "The fewest replicas, also without requests. They are within the guarantee of the team, or on "
    "Volcano within what its queue deserves."
)
_MOST = (
    "The most replicas, also with more requests. They are within the limit of the team, and what the "
    "nodes hold."
)
_TARGET: Mapping[str, Field] = {
    'metadata.labels["policygen.dev/model"]': Field(
        "The model that the autoscaler scales.",
        f"{_KUBERNETES}concepts/overview/working-with-objects/labels/",
    ),
    **{
        f"spec.scaleTargetRef.{name}": Field(
            "The object whose number of replicas the autoscaler sets."
        )
        for name in ("apiVersion", "kind", "name")
    },
}

KINDS: Mapping[str, FieldTable] = {
    "HorizontalPodAutoscaler": FieldTable(
        _SCALING,
        {
            **_TARGET,
            "spec.minReplicas": Field(_LEAST),
            "spec.maxReplicas": Field(_MOST),
            "spec.metrics[].type": Field(
                "Pods: a metric of each pod, of which the autoscaler reads the mean.",
                always="GPUs and requests have no resource metric",
            ),
            "spec.metrics[].pods.metric.name": Field(
                "The metric, as a metrics adapter serves it in custom.metrics.k8s.io.",
                f"{_SCALING}#scaling-on-custom-metrics",
            ),
            "spec.metrics[].pods.target.type": Field(
                "AverageValue: the target is the mean of all pods.",
                always="a metric of pods has no other type of target",
            ),
            "spec.metrics[].pods.target.averageValue": Field(
                "The mean above which the autoscaler adds replicas, and below which it removes them."
            ),
        },
    ),
    "ScaledObject": FieldTable(
        _SCALED_OBJECT,
        {
            **_TARGET,
            "spec.minReplicaCount": Field(_LEAST),
            "spec.maxReplicaCount": Field(_MOST),
            "spec.triggers[].type": Field(
                "The source of the metric.",
                _PROMETHEUS,
                always="Prometheus has the metrics of the pods",
            ),
            "spec.triggers[].metadata.serverAddress": Field(
                "The URL of the Prometheus that KEDA asks.", _PROMETHEUS
            ),
            "spec.triggers[].metadata.query": Field(
                "The requests in flight of all pods of the model together.", _PROMETHEUS
            ),
            "spec.triggers[].metadata.threshold": Field(
                "The requests for each replica. KEDA adds replicas while the query divided by their "
                "number is above it.",
                _PROMETHEUS,
            ),
            "spec.triggers[].metadata.ignoreNullValues": Field(
                "Whether a query without a result counts as 0.",
                _PROMETHEUS,
                always="without data, the number of replicas stays as it is",
            ),
        },
    ),
}

OF_VPA: Mapping[str, FieldTable] = {
    "VerticalPodAutoscaler": FieldTable(
        "https://kubernetes.io/docs/concepts/workloads/autoscaling/vertical-pod-autoscale/",
        {
            **{
                key.replace("scaleTargetRef", "targetRef"): Field(
                    "The object whose pods the autoscaler observes."
                    if "scaleTargetRef" in key
                    else it.does,
                    it.source,
                )
                for key, it in _TARGET.items()
            },
            "spec.updatePolicy.updateMode": Field(
                "Off: the autoscaler only recommends cpu and memory, in its status.",
                always="other modes evict pods, or change requests beyond what quotas count",
            ),
        },
    ),
}
