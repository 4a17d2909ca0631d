"""What equal pods share, as kube-scheduler's plugins read it.

Source: pkg/scheduler/framework/types.go and plugins/noderesources of Kubernetes 1.36.3.
"""

import math
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from functools import cached_property
from typing import Any

from msgspec import Struct

from policygen.kubernetes.core import LabelSelector, Requirement
from policygen.kubernetes.node_filters import REQUIRED, Demand, demand
from policygen.kubernetes.pod_terms import (
    PREFERRED,
    PodTerm,
    TermKind,
    preferred_terms,
    required_terms,
    selector_of,
    with_labels,
)
from policygen.kubernetes.untyped import integer, mapping, mappings, text, texts
from policygen.kubernetes.workloads import Container, PodSpec

DEFAULT_MILLI_CPU, DEFAULT_MEMORY = 100, 200 << 20
"""What a container that requests no cpu or memory counts with in scores (util/pod_resources.go)."""


class Preference(Struct, frozen=True):
    """A preferred node affinity term: all its requirements hold, and it has any."""

    weight: int
    requirements: tuple[Requirement, ...]


class Constraint(Struct, frozen=True):
    """A topology spread constraint."""

    key: str
    max_skew: int
    selector: LabelSelector | None
    """None: it selects no pod."""
    soft: bool
    honors_affinity: bool = True
    honors_taints: bool = False
    min_domains: int = 1


class OwnKey(Struct, frozen=True, cache_hash=True):
    """What decides about the scores and filters of a pod if other pods' labels do not count."""

    demand: Demand
    requests: tuple[tuple[str, int], ...]
    scored: tuple[tuple[str, int], ...]
    scheduler: str
    preferences: tuple[Preference, ...]


class PodShape(Struct, frozen=True, eq=False, dict=True):
    """Pods that kube-scheduler treats alike. Two shapes are equal only if they are the same object."""

    demand: Demand
    requests: tuple[tuple[str, int], ...]
    """What the filters count, with one of `pods`."""
    scored: tuple[tuple[str, int], ...]
    """What NodeResourcesFit scores: cpu and memory are never zero."""
    namespace: str = "default"
    labels: Mapping[str, str] = {}
    namespace_labels: Mapping[str, str] = {}
    scheduler: str = "default-scheduler"
    preferences: tuple[Preference, ...] = ()
    constraints: tuple[Constraint, ...] = ()
    default_selector: LabelSelector | None = None
    """That of its Services and its controller, for default constraints; None: it has neither."""
    terms: tuple[PodTerm, ...] = ()
    """Pod affinity and anti-affinity."""

    @cached_property
    def _amounts(self) -> Mapping[str, int]:
        return dict(self.requests)

    @cached_property
    def _scored(self) -> Mapping[str, int]:
        return dict(self.scored)

    @cached_property
    def own(self) -> OwnKey:
        """Equal for shapes with the same scores and filters if other pods' labels do not count."""
        return OwnKey(self.demand, self.requests, self.scored, self.scheduler, self.preferences)

    def amount(self, resource: str) -> int:
        """What a pod requests."""
        return self._amounts.get(resource, 0)

    def scored_amount(self, resource: str) -> int:
        """What a pod counts with in the score of NodeResourcesFit."""
        return self._scored.get(resource, 0)


def counted(resource: str, amount: Fraction) -> int:
    """An amount in the unit of kube-scheduler, rounded up (Quantity.MilliValue and Value)."""
    return math.ceil(amount * 1000 if resource == "cpu" else amount)


def simple_shape(
    requests: Mapping[str, int], selector: Mapping[str, tuple[str, ...]] | None = None
) -> PodShape:
    """A pod of one container with these requests, on nodes with one of the values of each label."""
    spec = PodSpec(
        affinity={
            "nodeAffinity": {
                REQUIRED: {
                    "nodeSelectorTerms": [
                        {
                            "matchExpressions": [
                                {"key": key, "operator": "In", "values": list(values)}
                                for key, values in selector.items()
                            ]
                        }
                    ]
                }
            }
        }
        if selector
        else {}
    )
    amounts = {
        name: Fraction(it, 1000) if name == "cpu" else Fraction(it) for name, it in requests.items()
    }
    defaults = {"cpu": DEFAULT_MILLI_CPU, "memory": DEFAULT_MEMORY}
    return PodShape(
        demand=demand(spec, amounts),
        requests=(*((name, it) for name, it in requests.items() if it), ("pods", 1)),
        scored=tuple((defaults | {name: it for name, it in requests.items() if it}).items()),
    )


def shape_of(
    spec: PodSpec,
    labels: Mapping[str, str],
    namespace: str = "default",
    namespace_labels: Mapping[str, str] | None = None,
    default_selector: LabelSelector | None = None,
) -> PodShape:
    """The shape of pods with this spec. Raises KeyError or TypeError if an affinity is malformed."""
    amounts = spec.requests
    counts = {name: counted(name, it) for name, it in sorted(amounts.items()) if it > 0}
    return PodShape(
        demand=demand(spec, amounts),
        requests=(*counts.items(), ("pods", 1)),
        scored=tuple((counts | _never_zero(spec)).items()),
        namespace=namespace,
        labels=labels,
        namespace_labels=namespace_labels or {},
        scheduler=spec.scheduler_name or "default-scheduler",
        preferences=tuple(preferences(mapping(spec.affinity, "nodeAffinity").get(PREFERRED))),
        constraints=tuple(_constraint(it, labels) for it in spec.topology_spread_constraints),
        default_selector=default_selector,
        terms=tuple(_pod_terms(spec.affinity, namespace, labels)),
    )


def _never_zero(spec: PodSpec) -> dict[str, int]:
    """Cpu and memory as scores count them: a container without a request has a default one."""
    found = {}
    for name, default in (
        ("cpu", Fraction(DEFAULT_MILLI_CPU, 1000)),
        ("memory", Fraction(DEFAULT_MEMORY)),
    ):
        filled = PodSpec(
            containers=tuple(_filled(it, name, default) for it in spec.containers),
            init_containers=tuple(_filled(it, name, default) for it in spec.init_containers),
            resources=spec.resources,
            overhead=spec.overhead,
        )
        found[name] = counted(name, filled.requests.get(name, Fraction(0)))
    return found


def _filled(container: Container, name: str, default: Fraction) -> Container:
    resources = container.resources
    if name in resources.requests or name in resources.limits:
        return container
    requests = {**resources.requests, name: default}
    return Container(
        resources=type(resources)(requests, resources.limits),
        restart_policy=container.restart_policy,
    )


def preferences(written: Any) -> Iterator[Preference]:
    """The preferred terms of a node affinity that can match a node and change its score."""
    for it in mappings(written):
        requirements = tuple(
            _requirement(one)
            for part in ("matchExpressions", "matchFields")
            for one in mappings(it, "preference", part)
        )
        weight = integer(it.get("weight")) or 0
        if weight and requirements:
            yield Preference(weight, requirements)


def _requirement(data: Mapping[str, Any]) -> Requirement:
    return Requirement(text(data, "key"), text(data, "operator"), texts(data, "values"))


def _constraint(data: Mapping[str, Any], labels: Mapping[str, str]) -> Constraint:
    selector = with_labels(selector_of(data.get("labelSelector")), data, labels)
    return Constraint(
        key=text(data, "topologyKey"),
        max_skew=integer(data.get("maxSkew")) or 1,
        selector=selector,
        soft=data.get("whenUnsatisfiable") == "ScheduleAnyway",
        honors_affinity=data.get("nodeAffinityPolicy", "Honor") == "Honor",
        honors_taints=data.get("nodeTaintsPolicy", "Ignore") == "Honor",
        min_domains=integer(data.get("minDomains")) or 1,
    )


def _pod_terms(
    affinity: Mapping[str, Any], namespace: str, labels: Mapping[str, str]
) -> Iterator[PodTerm]:
    yield from preferred_terms(affinity, namespace, labels)
    for kind in (TermKind.TOGETHER, TermKind.APART):
        yield from (it for _, it in required_terms(affinity, kind, namespace, labels))


def default_selector(
    services: Iterable[Mapping[str, str]],
    labels: Mapping[str, str],
    controller: LabelSelector | None,
) -> LabelSelector | None:
    """The selector for default constraints: of the Services that select the pod, and of its controller.

    `controller` is the selector of its ReplicaSet, ReplicationController or StatefulSet.
    """
    merged: dict[str, str] = {}
    for selected in services:
        if all(labels.get(key) == value for key, value in selected.items()):
            merged |= selected
    if controller is None:
        return LabelSelector(merged) if merged else None
    of_services = tuple(Requirement(key, "In", (value,)) for key, value in merged.items())
    return LabelSelector(controller.match_labels, (*controller.match_expressions, *of_services))
