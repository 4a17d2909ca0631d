"""Whether a toleration matches a taint, in a spec or on a cluster. A missing field is None or ""."""

from typing import Protocol

EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")
"""The effects of taints; servers refuse others."""


class _Taint(Protocol):
    """A taint of a node."""

    @property
    def key(self) -> str: ...
    @property
    def value(self) -> str | None: ...
    @property
    def effect(self) -> str: ...


class _Toleration(Protocol):
    """A toleration of a pod."""

    @property
    def key(self) -> str | None: ...
    @property
    def operator(self) -> str | None: ...
    @property
    def value(self) -> str | None: ...
    @property
    def effect(self) -> str | None: ...


def tolerates(toleration: _Toleration, taint: _Taint) -> bool:
    """Whether the toleration matches the taint (k8s.io/api, ToleratesTaint of Kubernetes 1.36.3).

    The operators Lt and Gt match nothing, because their feature gate is off by default.
    """
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    if toleration.operator not in (None, "", "Equal"):
        return False
    return bool(toleration.key) and (toleration.value or "") == (taint.value or "")
