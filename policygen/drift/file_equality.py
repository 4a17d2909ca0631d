"""Differences in configuration files that have no effect on the programs that read them.

Sources: k8s.io/kubernetes 1.36.3, pkg/scheduler/profile (profiles and arguments by their names); metav1.Duration;
Kueue 0.19.2, pkg/controller/jobframework (frameworks are looked up); Volcano 1.14.1, pkg/scheduler/util.go (actions).
"""

from typing import Any

from policygen.core.durations import seconds
from policygen.core.finding import Path

_UNORDERED = frozenset({"profiles", "pluginConfig", "frameworks", "externalFrameworks", "values"})


def is_unordered(path: Path) -> bool:
    """Whether the order of the entries of this list has no effect."""
    return path[-1:] != () and path[-1] in _UNORDERED


def are_same(path: Path, one: Any, other: Any) -> bool:
    """Whether two texts have the same meaning here, such as `30m` and `1800s`."""
    if path[-1:] == ("actions",):
        return isinstance(one, str) and isinstance(other, str) and _actions(one) == _actions(other)
    return (duration := seconds(one)) is not None and duration == seconds(other)


def _actions(text: str) -> list[str]:
    return [it.strip() for it in text.split(",")]
