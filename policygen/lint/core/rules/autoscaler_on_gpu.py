"""A HorizontalPodAutoscaler scales by a GPU resource, which has no metrics."""

from policygen.kubernetes.untyped import text
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_MEASURED = ("cpu", "memory")


def check(facts: Facts) -> Hits:
    """The resource metrics API has only cpu and memory; the API server does not check the name.

    Source: k8s.io/metrics; pkg/controller/podautoscaler/metrics/client.go.
    """
    for entry in facts.cluster.horizontal_pod_autoscalers:
        for i, metric in enumerate(entry.it.metrics):
            for field in ("resource", "containerResource"):
                name = text(metric, field, "name")
                if name and name not in _MEASURED:
                    more = ", and the other metrics cannot scale it down" * (
                        len(entry.it.metrics) > 1
                    )
                    yield Hit(
                        RULE,
                        f'{entry} scales by resource "{name}", which has no metrics, so it '
                        f"never scales{more}; use a Pods or External metric, such as "
                        "DCGM_FI_DEV_GPU_UTIL through an adapter",
                        entry.at.to("spec", "metrics", i, field, "name"),
                    )


RULE = ObjectRule(
    "autoscaler-on-gpu",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Export the GPU's load as a custom metric and use a Pods or External metric.",
    judges=("HorizontalPodAutoscaler",),
    check=check,
)
