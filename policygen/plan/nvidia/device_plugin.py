"""Decides the configuration of NVIDIA's device plugin: how the nodes of each pool share their GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.names import GPU
from policygen.plan.extras import DEVICE_PLUGIN
from policygen.plan.kind import Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.spec import derived_names
from policygen.spec.pools import SHARED_PER_GPU
from policygen.spec.types import Platform

LABEL = "nvidia.com/device-plugin.config"
"""The node label that names a key of the ConfigMap (`cmd/config-manager` of the device plugin)."""
DEFAULT = "default"
"""The key for nodes without the label (fallback strategy `named`).

The strategy `single`, which comes next, would give an only configuration to all nodes.
"""
_SHARED = f"{GPU}.shared"
"""The name of replicas with `renameByDefault: true`. The device plugin supports no other name."""


class DevicePluginConfig(Struct, frozen=True):
    """The file for the nodes of one pool, or for the nodes without a label."""

    meta: Meta
    key: str
    mig_strategy: str = ""
    sharing: Mapping[str, Mapping[str, Any]] = {}
    """The replicas of each card by `timeSlicing` or `mps`, in the form of the file."""


CONFIGURATION = Kind(
    "device-plugin config", "kubernetes", (Release((1, 33), "", "nvidia/device_plugin.yaml.j2"),)
)


def configurations(
    platform: Platform, pools: Sequence[PoolFacts]
) -> tuple[DevicePluginConfig, ...]:
    """A file for each pool with shared or divided GPUs, and one for other nodes; empty without such pools.

    Source: api/config/v1 of NVIDIA/k8s-device-plugin 0.20: `replicas` must be 2 or more, the names of
    resources cannot be changed, and only complete cards can be shared by MPS.
    """
    named = meta(platform)
    found = tuple(_of_pools(named, pools))
    return (DevicePluginConfig(named, DEFAULT), *found) if found else ()


def meta(platform: Platform) -> Meta:
    """The identity of the ConfigMap."""
    name = derived_names.component(platform, DEVICE_PLUGIN)
    return Meta(name, platform.name, platform.nvidia.namespace)


def label(facts: PoolFacts) -> str:
    """The value of LABEL on the nodes of a pool: that of its nodeSelector, or its name."""
    return dict(facts.pool.node_selector).get(LABEL, facts.name)


def _of_pools(meta: Meta, pools: Sequence[PoolFacts]) -> Iterator[DevicePluginConfig]:
    for facts in pools:
        gpu = facts.pool.gpu
        key = label(facts)
        if gpu.sharing == "mig":
            yield DevicePluginConfig(meta, key, mig_strategy=gpu.mig_strategy)
        elif gpu.sharing in SHARED_PER_GPU and facts.resources[0] in (GPU, _SHARED):
            renamed = {"renameByDefault": True} if facts.resources[0] == _SHARED else {}
            resources = [{"name": GPU, "replicas": gpu.replicas}]
            sharing = {str(gpu.sharing): {**renamed, "resources": resources}}
            yield DevicePluginConfig(meta, key, sharing=sharing)
