"""A kube-scheduler profile packs GPUs, but other scores can outweigh it."""

from fractions import Fraction

from policygen.core.quoting import counted, listed
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import Cluster
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, shared
from policygen.lint.scheduler.profiles import misnamed
from policygen.lint.scheduler.scoring import FIT, profiles
from policygen.plan.rules import PROFILE_PACKS_WEAKLY

_USUAL, _LEAST = 8, 1
"""GPUs of a node if the input has no nodes: against other scores, and against cpu and memory."""


def check(facts: Facts) -> Hits:
    """One more GPU in use must outweigh cpu and memory, and all scores that apply to every pod.

    policygen computes the weights of its own profiles with the same formula.
    Source: pkg/scheduler/framework/plugins/noderesources/most_allocated.go; default_plugins.go.
    """
    from policygen.plan.scheduler import Dominance

    known = facts.cluster.derive(_gpus_per_node)
    for scored in profiles(facts.cluster):
        fit = scored.scoring
        if fit.at is None or not fit.packs:
            continue
        least = min(fit.extended.values())
        host = sum(weight for name, weight in fit.resources.items() if name in ("cpu", "memory"))
        if Dominance(known or _LEAST, least, host, fit.weight).gain <= 0:
            yield Hit(
                RULE,
                f"profile {scored.name} packs weakly: in {FIT}, cpu and memory outweigh one GPU; "
                "set the weight of the GPU above (weight of cpu + weight of memory) × GPUs of a node",
                fit.at / "resources",
            )
            continue
        gpus = known or _USUAL
        worth = max(0, Dominance(gpus, least, host, fit.weight).margin)
        opposed = 100 * sum(scored.opponents.values())
        if 0 < opposed >= worth and not any(misnamed(scored.profile)):  # another rule reports those
            yield Hit(
                RULE,
                f"profile {scored.name} packs weakly: on nodes with {counted(gpus, 'GPU')}, one more GPU in "
                f"use adds {worth} points, but {listed(list(scored.opponents), 'and')} can add up to "
                f"{opposed}; disable these plugins, or raise the weights of {FIT} and of the GPU",
                fit.at,
            )


def _gpus_per_node(cluster: Cluster) -> int:
    """GPUs of the smallest node, because a profile may be for any node; 0 without known nodes."""
    found = [
        int(amount)
        for node in cluster.nodes
        for name, amount in node.fields.status.allocatable.items()
        if accelerators.is_one(name) and amount >= Fraction(1)
    ]
    return min(found, default=0)


RULE = ObjectRule(
    *shared(PROFILE_PACKS_WEAKLY, Family.INERT),
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=("Node",),
)
