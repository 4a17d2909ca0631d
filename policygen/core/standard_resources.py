"""Names of resources without a domain that Kubernetes knows.

Source: pkg/apis/core/helper/helpers.go of Kubernetes 1.36.3.
"""

from functools import lru_cache

from policygen.core.amounts import HUGE_PAGES

COUNTED = (
    "configmaps",
    "persistentvolumeclaims",
    "pods",
    "replicationcontrollers",
    "resourcequotas",
    "secrets",
    "services",
    "services.loadbalancers",
    "services.nodeports",
)
"""Objects, whose counts are integers."""

_COMPUTE = ("cpu", "ephemeral-storage", "memory")
QUOTA_KEYS = (
    *COUNTED,
    *_COMPUTE,
    *(f"requests.{name}" for name in _COMPUTE),
    *(f"limits.{name}" for name in _COMPUTE),
    "requests.storage",
)


def known_to_quota(name: str) -> bool:
    """Whether a ResourceQuota can have this key; any name with a domain is valid."""
    return (
        "/" in name or name in QUOTA_KEYS or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
    )


def known_to_containers(name: str) -> bool:
    """Whether a container can request it."""
    if "/" not in name:
        return name in _COMPUTE or name.startswith(HUGE_PAGES)
    return native(name) or not name.startswith("requests.")


def whole(name: str) -> bool:
    """Whether a ResourceQuota takes only integers of it."""
    if "/" not in name:
        return name in COUNTED
    return not native(name) and not name.startswith("requests.")


@lru_cache(1 << 12)  # few names, but each container has some
def overcommitted(name: str) -> bool:
    """Whether a limit may be above the request."""
    return native(name) and not name.startswith(HUGE_PAGES)


def native(name: str) -> bool:
    """Whether it counts as Kubernetes' own resource, as Volcano's `kubernetes.io/batch-cpu` does.

    A ResourceQuota never counts such a name with a domain, and its limit may be above its request.
    """
    return "/" not in name or "kubernetes.io/" in name
