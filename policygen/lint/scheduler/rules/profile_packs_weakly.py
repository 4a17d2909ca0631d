"""A kube-scheduler profile packs GPUs, but other scores can outweigh it."""

from collections.abc import Iterable, Mapping

from policygen.core.quoting import counted, listed
from policygen.hardware import catalog
from policygen.kubernetes import accelerators
from policygen.kubernetes.node_groups import Node
from policygen.lint.core.known_nodes import empty_nodes
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, shared
from policygen.lint.scheduler.profiles import misnamed
from policygen.lint.scheduler.scoring import FIT, ScoredProfile, profiles
from policygen.plan.rules import PROFILE_PACKS_WEAKLY

_USUAL, _LEAST = 8, 1
"""GPUs of a node if the input has no such nodes: against other scores, and against cpu and memory."""
_DEVICES: Mapping[str, int] = {
    "aws.amazon.com/neuron": 16,
    "aws.amazon.com/neurondevice": 16,
    "aws.amazon.com/neuroncore": 32,
}
"""Devices of nodes that usually have others than _USUAL. Source: AWS, Trn1 instances."""


def check(facts: Facts) -> Hits:
    """One more GPU in use must outweigh cpu and memory, and all scores that apply to every pod.

    policygen computes the weights of its own profiles with the same formula. A device that a pod does
    not request has no score. Source: pkg/scheduler/framework/plugins/noderesources/most_allocated.go
    and resource_allocation.go; default_plugins.go.
    """
    known = _per_node(facts.derive(empty_nodes).all)
    for scored in profiles(facts.cluster):
        fit = scored.scoring
        if fit.at is None or not fit.packs:
            continue
        devices = [it for it in fit.extended if accelerators.is_one(it)] or list(fit.extended)
        found = (_fault(scored, it, known.get(it, 0)) for it in devices)
        if hit := next(filter(None, found), None):
            yield hit


def _fault(scored: ScoredProfile, resource: str, known: int) -> Hit | None:
    """What outweighs a resource, of which the smallest node has `known` (0: no known node has it)."""
    from policygen.plan.scheduler import Dominance

    fit, unit = scored.scoring, accelerators.unit_of([resource])
    assert fit.at is not None  # noqa: S101 - it has a strategy
    least = fit.resources[resource]
    host = sum(
        weight for name, weight in fit.resources.items() if not accelerators.is_one(name)
    ) - (0 if accelerators.is_one(resource) else least)
    inside = Dominance(known or _LEAST, least, host, fit.weight)
    if inside.gain <= 0:
        needed = inside.least_weight
        remedy = (
            f"write a weight of at least {needed} for {resource}"
            if needed is not None
            else "remove cpu and memory from the resources, because no allowed weight is enough"
        )
        of = f" of the {known} of a node" if known else ""
        return Hit(
            RULE,
            f"profile {scored.name} packs weakly: in {FIT}, cpu and memory can outweigh one {unit}{of}; {remedy}",
            fit.at / "resources",
        )
    units = known or _usual(resource)
    worth = max(0, Dominance(units, least, host, fit.weight).margin)
    opposed = 100 * sum(scored.opponents.values())
    if 0 < opposed >= worth and not any(misnamed(scored.profile)):  # another rule reports those
        return Hit(
            RULE,
            f"profile {scored.name} packs weakly: on nodes with {counted(units, unit)}, one more {unit} in "
            f"use adds {worth} points, but {listed(list(scored.opponents), 'and')} can add up to "
            f"{opposed}; disable these plugins, or raise the weights of {FIT} and of the {unit}",
            fit.at,
        )
    return None


def _per_node(nodes: Iterable[Node]) -> Mapping[str, int]:
    """What the smallest node has of each resource, because a profile may be for any node."""
    found: dict[str, int] = {}
    for node in nodes:
        for name, amount in node.allocatable.items():
            if amount >= 1:
                found[name] = min(int(amount), found.get(name, int(amount)))
    return found


def _usual(resource: str) -> int:
    """The units of a node with 8 GPUs, or with the usual number of other devices."""
    instances = (
        it.max_per_gpu
        for product in catalog.products().values()
        for it in catalog.mig_profiles(product).values()
        if resource == f"nvidia.com/{it.resource_suffix}"
    )
    return _DEVICES.get(resource, _USUAL * max(instances, default=1))


RULE = ObjectRule(
    *shared(PROFILE_PACKS_WEAKLY, Family.INERT),
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=("Node",),
)
