"""Reads which resources kube-scheduler packs or spreads, from the profiles of policygen."""

from collections.abc import Mapping

from msgspec import Struct

from policygen.core.finding import Path, at_path
from policygen.core.names import SCHEDULER_CONTAINER
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.configurations import SchedulerProfileView
from policygen.kubernetes.untyped import integer, mappings, text
from policygen.plan import scheduler
from policygen.plan.amounts import HOST

_STRATEGY: Path = ("scoringStrategy",)


class Profiles(Struct, frozen=True):
    """The resources of the packing and of the spreading profile."""

    packed: Mapping[str, int] = {}
    """Their weights, without cpu and memory."""
    hosts: bool = False
    """Whether the packing profile counts cpu and memory too."""
    spread: frozenset[str] = frozenset()
    read: bool = True
    """Whether the file with the profiles was read, so that a missing resource is not packed."""

    def rank(self, units_per_node: int) -> int:
        """0 if nodes with so many units make the weights of the packing profile; else how bad it is.

        The largest node of all packing pools decides the weights, so smaller nodes are possible
        beside another pool (1), but larger ones never (2).
        """
        if not self.packed:
            return 0
        wanted = (not self.hosts, max(self.packed.values()))
        chosen = scheduler.choose(units_per_node)
        got = (chosen.other_weight == 0, chosen.gpu_weight)
        return 0 if got == wanted else 1 if got < wanted else 2


def profiles(cluster: Cluster, name: str) -> Profiles:
    """The profiles of the set with this name."""
    packed: dict[str, int] = {}
    spread: set[str] = set()
    hosts = False
    for file in cluster.scheduler_configurations:
        for profile in file.fields.profiles:
            if profile.scheduler_name == f"{name}.binpack":
                weights = _weights(profile)
                hosts = bool(weights.keys() & set(HOST))
                packed |= {it: weights[it] for it in weights if it not in HOST}
            elif profile.scheduler_name == f"{name}.spread":
                spread |= _weights(profile).keys() - set(HOST)
    file_name = f"{name}-{SCHEDULER_CONTAINER}"
    read = cluster.seen is None or file_name in cluster.seen.config_maps
    return Profiles(packed, hosts, frozenset(spread), read)


def _weights(profile: SchedulerProfileView) -> dict[str, int]:
    """The weights of NodeResourcesFit by resource."""
    for plugin in profile.plugin_config:
        if plugin.name == "NodeResourcesFit":
            strategy = at_path(plugin.args, _STRATEGY) or {}
            # Without a weight, or with 0, it is 1.
            return {
                text(it, "name"): integer(it.get("weight")) or 1
                for it in mappings(strategy, "resources")
            }
    return {}
