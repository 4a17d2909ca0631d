"""The rolling update of a Deployment.

Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (Kubernetes 1.36.3).
"""

import math
from typing import Any

from msgspec import Struct

from policygen.core.go_values import percentage
from policygen.kubernetes.workloads import Workload


class Rollout(Struct, frozen=True):
    """A rolling update in numbers of pods."""

    replicas: int
    surge: int
    """Pods above `replicas` during the update."""
    unavailable: int
    """Pods that may be unavailable during the update."""


def rollout(workload: Workload, replicas: int | None = None) -> Rollout | None:
    """The rolling update of a Deployment; None for other workloads and strategies.

    `replicas`: another number of pods than in the manifest.
    """
    if workload.kind != "Deployment" or workload.object.group != "apps":
        return None
    strategy = workload.spec.get("strategy")
    strategy = {} if strategy is None else strategy
    if not isinstance(strategy, dict):
        return None  # `wrong-type` reports it
    if strategy.get("type", "RollingUpdate") != "RollingUpdate":
        return None
    bounds = strategy.get("rollingUpdate")
    bounds = {} if bounds is None else bounds
    if replicas is None:
        replicas = workload.spec.get("replicas", 1)
    replicas = 1 if replicas is None else replicas
    if not isinstance(replicas, int) or not isinstance(bounds, dict):
        return None  # `wrong-type` reports it
    surge = _pods(bounds.get("maxSurge"), replicas, up=True)
    unavailable = _pods(bounds.get("maxUnavailable"), replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return Rollout(replicas, surge, unavailable)


def _pods(bound: Any, replicas: int, *, up: bool) -> int:
    """A number of pods from an integer or a percentage; the default is 25%."""
    if isinstance(bound, int):
        return bound
    share = (percentage(bound if isinstance(bound, str) else "25%") or 0) * replicas
    return math.ceil(share / 100) if up else share // 100
