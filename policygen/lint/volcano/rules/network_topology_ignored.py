"""A gang requests a network topology, but the plugin that reads it is not enabled."""

from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.configuration import settings
from policygen.lint.volcano.queues import gang_objects

_PLUGIN = "network-topology-aware"
_HARD_BY_PLUGIN = (1, 14)
"""The first release in which the plugin decides about hard topologies; earlier, allocate did."""


def check(facts: Facts) -> Hits:
    """Without the plugin every node is a candidate, in hard mode too.

    Source: pkg/scheduler/framework/session_plugins.go, HyperNodeGradientForJobFn.
    """
    configuration = settings(facts)
    if configuration is None or configuration.plugin(_PLUGIN) is not None:
        return
    for owner in gang_objects(facts.cluster):
        topology = owner.fields.network_topology
        if topology is None:
            continue
        if facts.target["volcano"].release >= _HARD_BY_PLUGIN or topology.get("mode") == "soft":
            yield Hit(
                RULE,
                f"{owner} requests a network topology, but plugin "
                f"{_PLUGIN} is not enabled, so the pods of the gang run on any nodes; add the plugin",
                owner.at.to("spec", "networkTopology").on_key(),
                (configuration.entry.at / "tiers",),
            )


RULE = ObjectRule(
    "network-topology-ignored",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Add the plugin network-topology-aware.",
    judges=("Job", "PodGroup"),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
)
