"""Finds models whose server never has so many requests in flight that their autoscaler adds a replica."""

import math
import re
from collections.abc import Iterator, Mapping
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.plan.rules import AUTOSCALER_METRIC_CAPPED
from policygen.spec.types import Model

_TOLERANCE = Fraction("1.1")
"""An autoscaler adds replicas only above this multiple of its target.

Source: the default of --horizontal-pod-autoscaler-tolerance of kube-controller-manager.
"""
_LIMITS: Mapping[str, str] = {
    "vllm_num_requests_running": "--max-num-seqs",
    "sglang_num_running_reqs": "--max-running-requests",
}
"""The option that limits each metric. A metrics adapter can serve it with `_` instead of `:`.

Source: vllm/v1/metrics/loggers.py of vLLM 0.11; Production Metrics in the documentation of SGLang 0.5.
"""


def reports(model: Model) -> Iterator[Hit]:
    """A warning if an option of the container keeps the metric below what adds a replica."""
    scaling = model.autoscaling
    if scaling is None or scaling.metric is None or scaling.target_concurrency is None:
        return
    option = _LIMITS.get(scaling.metric.replace(":", "_"))
    most = _value(model, option) if option else None
    if most is None or most > _TOLERANCE * scaling.target_concurrency:
        return
    lower = math.ceil(most / _TOLERANCE) - 1
    remedies = [f"write targetConcurrency: {lower} or less"] if lower else []
    remedies += [f"raise {option}", "use a metric that also counts the requests that wait"]
    message = (
        f"the server of model {quoted(model.name)} runs at most {most} requests at once ({option}), so "
        f"{scaling.metric} never gets more than 10 % above targetConcurrency {scaling.target_concurrency}, and the "
        f"autoscaler adds no replica; {', or '.join(remedies)}"
    )
    yield Hit(AUTOSCALER_METRIC_CAPPED, message, model.field("autoscaling") / "targetConcurrency")


def _value(model: Model, option: str) -> int | None:
    """The number that an option of the container has; the last one counts."""
    text = " ".join((*model.container.command, *model.container.args))
    found = re.findall(rf"(?:^|\s){option}[=\s]+([0-9]{{1,9}})(?=\s|$)", text)
    return int(found[-1]) if found else None
