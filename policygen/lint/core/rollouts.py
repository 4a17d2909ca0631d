"""The rolling update of a Deployment.

Source: pkg/controller/deployment/util/deployment_util.go, ResolveFenceposts (Kubernetes 1.36.3).
"""

import math
from collections.abc import Sequence
from typing import Any

from msgspec import Struct

from policygen.core.go_values import percentage
from policygen.core.quoting import listed
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import Workload
from policygen.lint.core.autoscalers import autoscaler_of


class Rollout(Struct, frozen=True):
    """A rolling update in numbers of pods."""

    replicas: int
    surge: int
    """Pods above `replicas` during the update."""
    unavailable: int
    """Pods that may be unavailable during the update."""

    @property
    def strict(self) -> bool:
        """Whether it deletes a pod only after a new one is ready."""
        return self.replicas > 0 and self.unavailable == 0


def rollout(cluster: Cluster, workload: Workload, replicas: int | None = None) -> Rollout | None:
    """The rolling update of a Deployment; None for other workloads and strategies.

    `replicas`: another number of pods than in the manifest, which an autoscaler raises to its minimum.
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
    declared = workload.spec.get("replicas")
    declared = 1 if declared is None else declared
    if not isinstance(declared, int) or not isinstance(bounds, dict):
        return None  # `wrong-type` reports it
    if replicas is None:
        scaled = autoscaler_of(cluster, workload)
        replicas = declared if scaled is None else scaled.pods(declared)
    surge = _pods(bounds.get("maxSurge"), replicas, up=True)
    unavailable = _pods(bounds.get("maxUnavailable"), replicas, up=False)
    if surge == 0 and unavailable == 0:
        unavailable = 1
    return Rollout(replicas, surge, unavailable)


def an_update_waits(workloads: Sequence[Workload], waits: str) -> str:
    """Why the updates of Deployments never end if a new pod `waits`, and what to write."""
    which = f"of {listed([str(it) for it in workloads], 'or')} " if workloads else ""
    where = " in each of them" if len(workloads) > 1 else ""
    return (
        f"an update {which}first creates a new pod, which {waits}, so the update never ends; "
        f"write maxUnavailable: 1 and maxSurge: 0{where}"
    )


def _pods(bound: Any, replicas: int, *, up: bool) -> int:
    """A number of pods from an integer or a percentage; the default is 25%."""
    if isinstance(bound, int):
        return bound
    share = (percentage(bound if isinstance(bound, str) else "25%") or 0) * replicas
    return math.ceil(share / 100) if up else share // 100
