"""The supported versions of each component, and the facts that depend on a version."""

import re
from typing import NamedTuple

Minor = tuple[int, int]
"""Major and minor version of a component."""


class Version(NamedTuple):
    """A version of a component in a target; without a patch, it means every patch release."""

    major: int
    minor: int
    patch: int | None = None

    @property
    def release(self) -> Minor:
        """Major and minor, which select the API versions and rules."""
        return (self.major, self.minor)

    def __str__(self) -> str:
        return written(self.release) + ("" if self.patch is None else f".{self.patch}")


def written(release: Minor) -> str:
    """A release as text: `1.36`."""
    return f"{release[0]}.{release[1]}"


def release(text: str) -> Minor:
    """The release in a text such as `1.36`."""
    major, minor = text.split(".")
    return int(major), int(minor)


SUPPORTED: dict[str, tuple[Minor, Minor]] = {
    "kubernetes": ((1, 33), (1, 37)),
    "kueue": ((0, 13), (0, 19)),
    "volcano": ((1, 12), (1, 15)),
}
"""First and last supported minor of each component."""

MUTATING_POLICIES: Minor = (1, 36)
"""First Kubernetes that serves MutatingAdmissionPolicy as `v1`."""

DEFAULT: dict[str, Version] = {
    "kubernetes": Version(1, 36),
    "kueue": Version(0, 19),
    "volcano": Version(1, 14),
}

_SHAPE = re.compile(r"v?([0-9]{1,3})\.([0-9]{1,3})(?:\.([0-9]{1,4}))?")


def parse(component: str, text: str) -> Version:
    """The target version in a text, such as `0.19` or `v1.36.3`.

    Raises ValueError for invalid text and unsupported releases; its message lists the supported ones.
    """
    first, last = SUPPORTED[component]
    span = ", ".join(f"{first[0]}.{minor}" for minor in range(first[1], last[1] + 1))
    match = _SHAPE.fullmatch(text)
    if not match:
        raise ValueError(f"{component} {text!r} is not a valid version; write one of {span}")
    major, minor, patch = match.groups()
    version = Version(int(major), int(minor), None if patch is None else int(patch))
    if not first <= version.release <= last:
        raise ValueError(f"{component} {text} is not supported; write one of {span}")
    return version


class KueueRelease(NamedTuple):
    """What differs between Kueue's releases for the rendered objects.

    Sources: CRDs of the release tags (`config/components/crd/bases`).
    """

    since: Minor
    stop_search: str
    """`flavorFungibility.whenCanBorrow`: stay with this flavor and borrow in it."""
    max_items: int
    """Bound of `coveredResources`, `flavors` and `flavors[].resources`."""


KUEUE_V1BETA2 = (0, 15)
"""First release that serves v1beta2, of its kinds and of its Configuration."""

KUEUE_RELEASES: tuple[KueueRelease, ...] = (
    KueueRelease((0, 13), "Borrow", 16),
    KueueRelease((0, 14), "Borrow", 64),
    KueueRelease(KUEUE_V1BETA2, "MayStopSearch", 64),
)

KUEUE_GROUP_CELLS = 512
"""Bound of flavors times resources of a group (`pkg/webhooks/clusterqueue_webhook.go`, 0.14 on)."""

KUEUE_QUEUE_ITEMS = 256
"""Bound of the flavors, and of the resources, of all groups of a ClusterQueue together (likewise)."""

KUEUE_TOPOLOGY_GATE = (0, 14)
"""First release with the feature gate TopologyAwareScheduling enabled by default."""

KUEUE_WAITS = (0, 19)
"""First release that waits for pods to be ready by default (30 minutes)."""

VOLCANO_STRATEGY_FIT = (1, 13)
"""First release with the plugin `resource-strategy-fit`, which scores GPUs too."""

VOLCANO_LENIENT_NODE_GROUPS = (1, 13)
"""First release whose plugin nodegroup takes `strict`; before it all are strict (#4528)."""

VOLCANO_QUEUE_DEPTH = 5
"""`--max-queue-depth` of Volcano's webhook manager (1.14.2 on), counting from below `root`."""


def kueue_release(version: Version) -> KueueRelease:
    """The facts about a target version of Kueue."""
    return [fact for fact in KUEUE_RELEASES if fact.since <= version.release][-1]
