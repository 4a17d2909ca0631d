"""Names of resources in Queues and PodGroups that Volcano does not count, or that no pod can request."""

from collections.abc import Iterator, Mapping
from itertools import chain

from msgspec import Struct

from policygen.core.amounts import HUGE_PAGES
from policygen.core.finding import Path
from policygen.core.suggest import Names
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.node_groups import NATIVE
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import Amounts, PodGroupView, QueueView
from policygen.lint.core.resource_names import meant, provided
from policygen.lint.volcano.queues import amounts

_NATIVE_NAMES = Names(NATIVE)
_OF_QUOTAS = ("requests.", "limits.")


class MisnamedResource(Struct, frozen=True, eq=False):
    """A name in an object."""

    owner: Entry[QueueView] | Entry[PodGroupView]
    name: str
    right: str
    """The name that was probably meant; empty if it is not known."""
    paths: tuple[Path, ...]
    """The places of the name."""


def misnamed_resources(cluster: Cluster) -> tuple[MisnamedResource, ...]:
    """Each wrong name of an object once; use it with `cluster.derive`.

    Skips groups that Volcano's controllers create, which contain names of quotas too.
    Source: pkg/scheduler/api/resource_info.go, NewResource.
    """
    return tuple(chain(_of_queues(cluster), _of_groups(cluster)))


def _of_queues(cluster: Cluster) -> Iterator[MisnamedResource]:
    for queue in cluster.queues:
        by_path: dict[Path, Amounts] = {
            ("spec", *path): own for path, own in amounts(queue.fields).items()
        }
        yield from _misnamed(cluster, queue, by_path)


def _of_groups(cluster: Cluster) -> Iterator[MisnamedResource]:
    for group in cluster.pod_groups:
        if not group.object.is_made and group.fields.min_resources:
            by_path: dict[Path, Amounts] = {("spec", "minResources"): group.fields.min_resources}
            yield from _misnamed(cluster, group, by_path)


def _misnamed(
    cluster: Cluster,
    owner: Entry[QueueView] | Entry[PodGroupView],
    by_path: Mapping[Path, Amounts],
) -> Iterator[MisnamedResource]:
    places: dict[str, list[Path]] = {}
    for path, own in by_path.items():
        for name in own:
            places.setdefault(name, []).append((*path, name))
    for name, paths in places.items():
        right = _right_name(cluster, name)
        if right is not None:
            yield MisnamedResource(owner, name, right, tuple(paths))


def _right_name(cluster: Cluster, name: str) -> str | None:
    """The name that was meant; empty if it is not known, and None if the name may be right."""
    for prefix in _OF_QUOTAS:
        if name.startswith(prefix):
            return name.removeprefix(prefix)
    right = meant(name, cluster.derive(provided))
    may_be_right = "/" in name or name in NATIVE or name.startswith(HUGE_PAGES)
    if right or may_be_right:
        return right
    near = _NATIVE_NAMES.meant(name)
    return near if {*name} <= {*near} else ""  # tpu is not cpu
