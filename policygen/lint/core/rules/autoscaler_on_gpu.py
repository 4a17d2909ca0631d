"""A HorizontalPodAutoscaler scales by a GPU resource, which has no metrics."""

from policygen.kubernetes.untyped import text
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_MEASURED = ("cpu", "memory")


def check(facts: Facts) -> Hits:
    """The resource metrics API has only cpu and memory; the API server does not check the name.

    Source: k8s.io/metrics; pkg/controller/podautoscaler/metrics/client.go.
    """
    for entry in facts.cluster.horizontal_pod_autoscalers:
        for i, metric in enumerate(entry.fields.metrics):
            for field in ("resource", "containerResource"):
                name = text(metric, field, "name")
                if name and name not in _MEASURED:
                    several = len(entry.fields.metrics) > 1
                    effect = (
                        "the autoscaler never scales down, even with its other metrics"
                        if several
                        else "the autoscaler never scales"
                    )
                    yield Hit(
                        RULE,
                        f'{entry} scales by resource "{name}", which has no metrics, so '
                        f"{effect}; use a Pods or External metric, such as DCGM_FI_DEV_GPU_UTIL "
                        "from a metrics adapter",
                        entry.at.to("spec", "metrics", i, field, "name"),
                    )


RULE = ObjectRule(
    "autoscaler-on-gpu",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Export the GPU's load as a custom metric, and scale by a metric of type Pods or External.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
)
