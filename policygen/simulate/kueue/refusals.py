"""Workloads that are not admissible in themselves, in Kueue's words.

Source: pkg/workload/resources.go and pkg/util/limitrange of Kueue 0.19.2.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import json

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.limit_ranges import limits_of
from policygen.kubernetes.workloads import Container, PodSpec
from policygen.simulate.kueue.amounts import counted

Amounts = Mapping[str, Fraction]
_ABOVE_LIMITS = "requests must not exceed its limits"
_ABOVE_MAX = "requests must not be above the limitRange max"
_BELOW_MIN = "requests must not be below the limitRange min"


def refusal(cluster: Cluster, pods: Sequence[PodSpec], namespace: str) -> str:
    """Why Kueue does not admit pods with these adjusted specs; empty: nothing is wrong."""
    found = list(_each(pods, _above_limits))
    if found:
        return f"resources validation failed: {_joined(found)}"
    if not cluster.limit_ranges.any:
        return ""
    ranges = {type_: _Range(cluster, namespace, type_) for type_ in ("Container", "Pod")}
    found = list(_each(pods, lambda spec: _out_of_range(spec, ranges)))
    return f"resources didn't satisfy LimitRange constraints: {_joined(found)}" if found else ""


class _Range:
    """The bounds of all LimitRanges of a namespace for one type."""

    def __init__(self, cluster: Cluster, namespace: str, type_: str) -> None:
        self.max: Amounts = {}
        self.min: Amounts = {}
        for item in limits_of(cluster, namespace, type_):
            self.max = _merged(self.max, item.max, min)
            self.min = _merged(self.min, item.min, max)

    def faults(self, least: Amounts, most: Amounts) -> Iterator[tuple[list[str], str]]:
        """The resources outside of the bounds, and Kueue's words."""
        if above := _greater(most, self.max):
            yield above, _ABOVE_MAX
        if below := _greater(self.min, least):
            yield below, _BELOW_MIN


def _each(
    pods: Sequence[PodSpec], check: Callable[[PodSpec], Iterator[tuple[str, list[str], str]]]
) -> Iterator[str]:
    for i, spec in enumerate(pods):
        for path, resources, words in check(spec):
            value = json.encode(resources).decode()
            yield f"spec.podSets[{i}].template.spec{path}: Invalid value: {value}: {words}"


def _above_limits(spec: PodSpec) -> Iterator[tuple[str, list[str], str]]:
    for path, it in _containers(spec):
        if above := _greater(_requests(it), it.resources.limits):
            yield path, above, _ABOVE_LIMITS
    own = spec.resources
    if above := _greater({**own.limits, **own.requests}, own.limits):
        yield ".resources", above, _ABOVE_LIMITS


def _out_of_range(
    spec: PodSpec, ranges: Mapping[str, _Range]
) -> Iterator[tuple[str, list[str], str]]:
    for path, it in _containers(spec):
        requests, limits = _requests(it), it.resources.limits
        least, most = _merged(requests, limits, min), _merged(requests, limits, max)
        for resources, words in ranges["Container"].faults(least, most):
            yield path, resources, words
    for resources, words in ranges["Pod"].faults(spec.requests, spec.requests):
        yield "", resources, words


def _containers(spec: PodSpec) -> Iterator[tuple[str, Container]]:
    for i, container in enumerate(spec.init_containers):
        yield f".initContainers[{i}]", container
    for i, container in enumerate(spec.containers):
        yield f".containers[{i}]", container


def _requests(container: Container) -> Amounts:
    return {**container.resources.limits, **container.resources.requests}


def _merged(
    one: Amounts, other: Amounts, choose: Callable[[Fraction, Fraction], Fraction]
) -> Amounts:
    return {
        **one,
        **{it: choose(one[it], value) if it in one else value for it, value in other.items()},
    }


def _greater(amounts: Amounts, bounds: Amounts) -> list[str]:
    """The resources of which there is more than their bound."""
    return sorted(
        name
        for name, amount in amounts.items()
        if name in bounds and counted(name, amount) > counted(name, bounds[name])
    )


def _joined(messages: Sequence[str]) -> str:
    """Several errors as Go's Aggregate writes them."""
    distinct = tuple(dict.fromkeys(messages))
    return distinct[0] if len(distinct) == 1 else f"[{', '.join(distinct)}]"
