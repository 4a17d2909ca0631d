"""A profile packs GPUs, and what spreads pods can outvote it."""

from collections.abc import Iterator
from fractions import Fraction

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core import accelerators
from policygen.lint.rule import Facts, Family, ObjectRule
from policygen.lint.scheduler.profiles import misnamed
from policygen.lint.scheduler.scoring import FIT, profiles

_USUAL, _LEAST = 8, 1
"""GPUs of a node where the input has none: against other scores, and against cpu and memory."""


def check(facts: Facts) -> Iterator[Hit]:
    """One GPU more in use must outweigh cpu and memory, and all scores that every pod meets.

    The formula is that by which our own profiles are weighed.
    Source: pkg/scheduler/framework/plugins/noderesources/most_allocated.go; default_plugins.go.
    """
    from policygen.plan.scheduler import Dominance

    known = facts.cluster.derive(_gpus_per_node)
    for profile in profiles(facts.cluster):
        fit = profile.scoring
        if fit.at is None or not fit.packs:
            continue
        least = min(fit.extended.values())
        host = sum(weight for name, weight in fit.resources.items() if name in ("cpu", "memory"))
        if Dominance(known or _LEAST, least, host, fit.weight).gain <= 0:
            yield Hit(
                RULE,
                f"profile {profile.name} packs weakly: inside {FIT} cpu and memory outweigh one "
                "GPU; raise the GPU's weight above theirs times the GPUs of a node",
                fit.at / "resources",
            )
            continue
        gpus = known or _USUAL
        worth = max(0, Dominance(gpus, least, host, fit.weight).margin)
        against = 100 * sum(profile.opponents.values())
        if 0 < against >= worth and not any(misnamed(profile.it)):  # which that is told of
            yield Hit(
                RULE,
                f"profile {profile.name} packs weakly: on nodes of {gpus} GPUs one more in use is "
                f"worth {worth} points, and {' and '.join(profile.opponents)} up to {against}; "
                "disable them (of PodTopologySpread the default constraints), or raise the weight "
                f"of {FIT} and of the GPU",
                fit.at,
            )


def _gpus_per_node(cluster: Cluster) -> int:
    """Of the smallest node, since nobody says for which nodes a profile is; 0 where none is known."""
    found = [
        int(amount)
        for node in cluster.nodes
        for name, amount in node.it.status.allocatable.items()
        if accelerators.is_one(name) and amount >= Fraction(1)
    ]
    return min(found, default=0)


RULE = ObjectRule(
    "profile-packs-weakly",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    judges=("KubeSchedulerConfiguration",),
    check=check,
    reads=("Node",),
)
