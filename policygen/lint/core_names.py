"""Names of resources without a domain that Kubernetes knows.

Source: pkg/apis/core/helper/helpers.go of Kubernetes 1.36.3.
"""

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
"""Objects, which come whole."""

_COMPUTE = ("cpu", "ephemeral-storage", "memory")
QUOTA_KEYS = (
    *COUNTED,
    *_COMPUTE,
    *(f"requests.{name}" for name in _COMPUTE),
    *(f"limits.{name}" for name in _COMPUTE),
    "requests.storage",
)
HUGE_PAGES = "hugepages-"
"""What the names of huge pages begin with; their size follows."""


def known_to_quota(name: str) -> bool:
    """Whether a ResourceQuota can have it; whatever has a domain, it can."""
    return (
        "/" in name or name in QUOTA_KEYS or name.startswith((HUGE_PAGES, f"requests.{HUGE_PAGES}"))
    )


def known_to_containers(name: str) -> bool:
    """Whether a container can ask for it."""
    domain, slash, _ = name.partition("/")
    if not slash:
        return name in _COMPUTE or name.startswith(HUGE_PAGES)
    return "kubernetes.io" in domain or not name.startswith("requests.")


def whole(name: str) -> bool:
    """Whether a ResourceQuota takes whole numbers of it only."""
    domain, slash, _ = name.partition("/")
    if not slash:
        return name in COUNTED
    return "kubernetes.io" not in domain and not name.startswith("requests.")


def overcommitted(name: str) -> bool:
    """Whether a limit may be above the request."""
    domain, slash, _ = name.partition("/")
    return (not slash or "kubernetes.io" in domain) and not name.startswith(HUGE_PAGES)
