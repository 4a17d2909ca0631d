"""Names of resources: which nodes really have, and which are slips."""

from collections.abc import Iterable
from difflib import SequenceMatcher

from policygen.core.names import GPU
from policygen.kubernetes.cluster import Cluster
from policygen.lint.core.standard_resources import HUGE_PAGES

NATIVE = ("cpu", "memory", "ephemeral-storage", "pods")
"""Resources of Kubernetes itself, besides hugepages."""

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
"""Names that the vendors' device plugins register unless told otherwise."""

_CLOSE = 0.8
"""How alike a slip is: `nvidia.com/gpus` to `nvidia.com/gpu` more, `gpu.shared` less."""


def extended(resource: str) -> bool:
    """Whether a device plugin provides it, as it does GPUs, and nobody can ask for it in vain.

    What has kubernetes.io/ in its name counts as Kubernetes' own. Source: pkg/apis/core/v1/helper,
    IsExtendedResourceName.
    """
    own = "kubernetes.io/" in resource or resource.startswith("requests.")
    return "/" in resource and not own


def usual(resource: str) -> bool:
    """Whether a device plugin registers it unless told otherwise."""
    return resource in EXTENDED or resource.startswith("nvidia.com/mig-")


def surely(resource: str) -> bool:
    """Whether it is a resource beyond doubt, so that a fix may write its name somewhere else."""
    return resource in NATIVE or usual(resource)


def provided(cluster: Cluster) -> frozenset[str]:
    """What the nodes have; use it with `cluster.derive`."""
    return frozenset(name for node in cluster.nodes for name in node.it.status.allocatable)


def meant(resource: str, there: Iterable[str] = ()) -> str | None:
    """The name that a name is a slip of; None if it may well be meant.

    `there` are names that are known to exist.
    """
    if surely(resource) or resource in set(there):
        return None
    if resource.startswith((HUGE_PAGES, "attachable-volumes-")):
        return None
    if "/" not in resource:
        lowered = resource.lower()
        if lowered in ("gpu", "gpus", "nvidia-gpu", "nvidia.com"):
            return GPU
        known: tuple[str, ...] = NATIVE
    else:
        known = EXTENDED
    score, name = max((_likeness(resource, each), each) for each in known)
    return name if score >= _CLOSE else None


def _likeness(one: str, other: str) -> float:
    """Like names of the same domain, and the same name of a like domain."""
    domain, _, name = one.rpartition("/")
    other_domain, _, other_name = other.rpartition("/")
    if domain == other_domain:
        return _ratio(name, other_name)
    return _ratio(domain, other_domain) if name == other_name else 0.0


def _ratio(one: str, other: str) -> float:
    return SequenceMatcher(None, one.lower(), other.lower()).ratio()
