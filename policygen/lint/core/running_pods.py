"""Pods on a live cluster: the GPUs that they hold, and their owners."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, total
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.kubernetes.snapshot import Pod
from policygen.kubernetes.untyped import mapping
from policygen.kubernetes.workloads import TEMPLATES


class Holder(Struct, frozen=True, eq=False, gc=False):
    """A pod with accelerators that has not ended."""

    pod: Pod
    gpus: Mapping[str, Fraction]
    """The accelerators that it requests, by resource; not empty."""


def holders(cluster: Cluster) -> tuple[Holder, ...]:
    """Every pod that holds accelerators of a node; use it with `cluster.derive`."""
    return tuple(Holder(*it) for it in _requesting(cluster) if it[0].node and not it[0].done)


def waiting(cluster: Cluster) -> tuple[Holder, ...]:
    """Every pod that requests accelerators and has no node; use it with `cluster.derive`."""
    return tuple(Holder(*it) for it in _requesting(cluster) if not it[0].node and not it[0].done)


def _requesting(cluster: Cluster) -> Iterator[tuple[Pod, Mapping[str, Fraction]]]:
    # Pods of one owner share their spec, which the cluster keeps alive. Without this, the requests of
    # 50,000 pods with 16 specs take 0.10 s instead of 0.01 s, a tenth of such a lint.
    known: dict[int, Mapping[str, Fraction]] = {}
    for pod in cluster.pods:
        gpus = known.get(id(pod.spec))
        if gpus is None:
            requested = pod.spec.requests.items()
            gpus = {name: amount for name, amount in requested if amount > 0 and is_one(name)}
            known[id(pod.spec)] = gpus
        if gpus:
            yield pod, gpus


def families(found: Iterable[Holder]) -> Iterator[Sequence[Holder]]:
    """Pods grouped by owner, so that a fault is reported once for each group."""
    by_owner: dict[tuple[str, str], list[Holder]] = {}
    for holder in found:
        owner = holder.pod.owner
        key = owner.uid or f"{owner.kind}/{owner.name}" if owner else f"Pod/{holder.pod.name}"
        by_owner.setdefault((holder.pod.namespace, key), []).append(holder)
    yield from by_owner.values()


def named(family: Sequence[Holder]) -> str:
    """The name of a group in messages: `Pod a/b`, `3 pods of Job a/train`."""
    pod = family[0].pod
    if pod.owner is None:
        return str(pod)
    count = "a pod" if len(family) == 1 else f"{len(family)} pods"
    return f"{count} of {pod.owner.kind} {pod.namespace}/{pod.owner.name}"


def held(family: Iterable[Holder]) -> str:
    """The accelerators that they hold together: `6 nvidia.com/gpu`."""
    amounts = total(holder.gpus for holder in family)
    return ", ".join(amount_of(name, amount) for name, amount in sorted(amounts.items()))


def maker(cluster: Cluster, pod: Pod) -> Object | None:
    """The owner of a pod, if it was read."""
    owner = pod.owner
    if owner is None:
        return None
    group = owner.api_version.rpartition("/")[0]
    found = cluster.derive(_by_name).get((group, owner.kind, pod.namespace, owner.name))
    if found is None:
        return None
    uid = mapping(found.data, "metadata").get("uid")
    is_another = uid and owner.uid and uid != owner.uid  # a new object of the same name
    return None if is_another else found


def _by_name(cluster: Cluster) -> Mapping[tuple[str, str, str, str], Object]:
    return {
        (obj.group, obj.kind, obj.namespace, obj.name): obj
        for kind in TEMPLATES
        for obj in cluster.of(*kind)
    }
