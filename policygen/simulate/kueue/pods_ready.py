"""What Kueue does when the pods of an admitted workload are not ready in time (waitForPodsReady).

Source: apis/config/v1beta2 and pkg/workload (UpdateRequeueState) of Kueue 0.19.2.
"""

from dataclasses import dataclass
from typing import Any

from policygen.core.durations import seconds
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.untyped import mapping

_MOST_DOUBLINGS = 64
"""More are longer than any wait."""


@dataclass(frozen=True, slots=True)
class PodsReadyRule:
    """How long Kueue waits for pods, and when it tries again. Times are seconds."""

    timeout: float = 1800.0
    base: float = 60.0
    """The wait after the first timeout; it doubles each time."""
    most: float = 3600.0
    """The longest wait; it does not limit the first."""
    limit: int | None = None
    """The number of allowed timeouts; Kueue deactivates the workload after the next one."""
    behind: bool = True
    """Whether an evicted workload is queued by the time of its eviction, not of its creation."""

    def wait(self, requeues: int) -> float:
        """The wait after a number of timeouts. Kueue adds up to a ten-thousandth of it by chance."""
        return (
            self.base
            if requeues == 1
            else min(self.base * 2.0 ** min(requeues - 1, _MOST_DOUBLINGS), self.most)
        )


def pods_ready_rule(settings: Settings) -> PodsReadyRule | None:
    """The rule in Kueue's Configuration; None: Kueue does not wait."""
    if not settings.waits_for_pods:
        return None
    stanza: Any = (settings.entry.fields.wait_for_pods_ready if settings.entry else None) or {}
    strategy = mapping(stanza, "requeuingStrategy")
    default = PodsReadyRule()
    limit = strategy.get("backoffLimitCount")
    return PodsReadyRule(
        timeout=float(seconds(stanza.get("timeout")) or default.timeout),
        base=_number(strategy.get("backoffBaseSeconds"), default.base),
        most=_number(strategy.get("backoffMaxSeconds"), default.most),
        limit=limit if isinstance(limit, int) else None,
        behind=strategy.get("timestamp") != "Creation",
    )


def _number(value: object, default: float) -> float:
    return float(value) if isinstance(value, (int, float)) else default
