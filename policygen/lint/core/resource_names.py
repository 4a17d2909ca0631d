"""Names of resources: those that nodes have, and misspelled ones."""

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from functools import lru_cache

from policygen.core.amounts import HUGE_PAGES
from policygen.core.label_grammar import key_fault
from policygen.core.names import GPU
from policygen.core.standard_resources import known_to_containers
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.node_groups import NATIVE

EXTENDED = (
    GPU,
    "nvidia.com/gpu.shared",
    "amd.com/gpu",
    "gpu.intel.com/i915",
    "gpu.intel.com/xe",
    "habana.ai/gaudi",
    "google.com/tpu",
    "aws.amazon.com/neuron",
    "aws.amazon.com/neuroncore",
    "aws.amazon.com/neurondevice",
    "rdma/hca",
    "vpc.amazonaws.com/efa",
)
"""Names that vendors' device plugins register by default."""

_OF_QUOTAS = ("requests.", "limits.")
"""Prefixes of the keys of a ResourceQuota, which no resource has."""

_MIG = re.compile(r"nvidia\.com/mig-(\d+)g[.-](\d+)(?:|g|b|gb|GB|Gb|Gi)")
"""A MIG resource, or one with a wrong unit or with a dash."""

_CLOSE = 0.8
"""Similarity of a misspelling: `nvidia.com/gpus` is above it for `nvidia.com/gpu`, `gpu.shared` below."""


def extended(resource: str) -> bool:
    """Whether it is an extended resource, which a device plugin provides, such as a GPU.

    Names with kubernetes.io/ count as native. Source: pkg/apis/core/v1/helper,
    IsExtendedResourceName.
    """
    own = "kubernetes.io/" in resource or resource.startswith("requests.")
    return "/" in resource and not own


@lru_cache(1 << 12)  # few names, but each container has some
def refused(name: str) -> bool:
    """Whether no container can request it, which container-resource-refused reports."""
    return bool(key_fault(name)) or not known_to_containers(name)


def usual(resource: str) -> bool:
    """Whether a device plugin registers it by default."""
    return resource in EXTENDED or resource.startswith("nvidia.com/mig-")


def is_certain(resource: str) -> bool:
    """Whether it is certainly a resource, so a fix may write its name."""
    return resource in NATIVE or usual(resource)


def provided(cluster: Cluster) -> frozenset[str]:
    """The resources that nodes have; use it with `cluster.derive`."""
    return frozenset(name for node in cluster.nodes for name in node.fields.status.allocatable)


def meant(resource: str, there: Iterable[str] = ()) -> str | None:
    """The name that was probably meant by a misspelled one; None if the name may be correct.

    `there` are names that are known to exist.
    """
    if is_certain(resource) or resource in set(there):
        return None
    if resource.startswith((HUGE_PAGES, "attachable-volumes-")):
        return None
    if resource.startswith(_OF_QUOTAS):
        return resource.partition(".")[2]
    if "/" not in resource:
        lowered = resource.lower()
        if lowered in ("gpu", "gpus", "nvidia-gpu", "nvidia.com"):
            return GPU
        known: tuple[str, ...] = NATIVE
    else:
        known = EXTENDED
    score, name = max((_likeness(resource, each), each) for each in known)
    return name if score >= _CLOSE else None


def meant_mig(resource: str) -> str | None:
    """The MIG resource whose unit or dot a name lacks; None for other names."""
    found = _MIG.fullmatch(resource)
    right = f"nvidia.com/mig-{found[1]}g.{found[2]}gb" if found else resource
    return right if right != resource else None


def _likeness(one: str, other: str) -> float:
    """Similarity of names in the same domain, or of domains with the same name."""
    domain, _, name = one.rpartition("/")
    other_domain, _, other_name = other.rpartition("/")
    if domain == other_domain:
        return _ratio(name, other_name)
    return _ratio(domain, other_domain) if name == other_name else 0.0


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
