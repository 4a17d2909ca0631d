"""The parts of a PrometheusRule, and PromQL for names and values of Kubernetes."""

import re
from collections.abc import Iterable, Mapping

from msgspec import Struct, field

_NOT_IN_LABEL = re.compile(r"[^a-zA-Z0-9_]")
_CAPITAL = re.compile(r"([a-z0-9])([A-Z])")


class MetricRule(Struct, frozen=True):
    """A recording rule or an alert: exactly one of `record` and `alert` is set."""

    expr: str
    record: str = ""
    alert: str = ""
    lasts: str = ""
    """The time after which the alert fires."""
    labels: Mapping[str, str] = field(default_factory=dict)
    annotations: Mapping[str, str] = field(default_factory=dict)


class RuleGroup(Struct, frozen=True):
    """Rules that Prometheus evaluates one after the other, so that a rule can use those before it."""

    name: str
    rules: tuple[MetricRule, ...]


def series(name: str, labels: Mapping[str, str] | None = None, *matchers: str) -> str:
    """The series of a metric with these label values, and other matchers: `up{job="a"}`."""
    inside = [*(f"{key}={quoted(it)}" for key, it in (labels or {}).items()), *matchers]
    selector = ", ".join(inside)
    return f"{name}{{{selector}}}" if inside else name


def one_of(label: str, values: Iterable[str]) -> str:
    """The matcher of series whose label has one of these values, which contain no special character."""
    alternatives = "|".join(values)
    return f'{label}=~"{alternatives}"'


def quoted(text: str) -> str:
    """A string of PromQL."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def resource_label(resource: str) -> str:
    """The value of the label `resource` of kube-state-metrics: `nvidia_com_gpu`.

    Source: SanitizeLabelName in internal/store/utils.go of kube-state-metrics 2.20.
    """
    return _NOT_IN_LABEL.sub("_", resource)


def node_label(key: str) -> str:
    """The name of a node label in kube_node_labels, and of a pod label in kube_pod_labels.

    Source: labelName in internal/store/utils.go of kube-state-metrics 2.20.
    """
    return "label_" + _CAPITAL.sub(r"\1_\2", resource_label(key)).lower()
