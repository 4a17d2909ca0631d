"""Fields of a pod that the API server computes from its PriorityClass. Source: plugin/pkg/admission/priority."""

from collections.abc import Iterator

from policygen.core.finding import FaultAt
from policygen.core.quoting import shown
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.priorities import class_of
from policygen.lint.core.pod_templates import Part

COMPUTED = frozenset({"preemptionPolicy", "priority"})


def conflicts(cluster: Cluster, spec: Part) -> Iterator[FaultAt]:
    """The fields of a pod spec that differ from its class, each with a clause that says so."""
    if COMPUTED.isdisjoint(spec.data):
        return
    name = spec.data.get("priorityClassName")
    entry = class_of(cluster, str(name or ""))
    if name and entry is None:
        return  # the class may exist in the cluster
    found = PriorityClassView() if entry is None else entry.fields
    policy = found.preemption_policy or "PreemptLowerPriority"
    for key, right in {"preemptionPolicy": policy, "priority": found.value}.items():
        value = spec.data.get(key)
        if isinstance(value, type(right)) and value != right:
            yield (
                spec.at / key,
                f"{spec.owner} has {key} {shown(value)}, but its PriorityClass gives it {shown(right)}",
            )
