"""Whether a toleration matches a taint, in a spec or on a cluster. A missing field is None or ""."""

from typing import Protocol


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
    """Whether the toleration matches the taint (k8s.io/component-helpers, ToleratesTaint)."""
    if toleration.effect and toleration.effect != taint.effect:
        return False
    if toleration.key and toleration.key != taint.key:
        return False
    if toleration.operator == "Exists":
        return True
    return bool(toleration.key) and (toleration.value or "") == (taint.value or "")
