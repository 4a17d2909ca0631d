"""ResourceQuotas that refuse pods of a workload, and changes with which they do not.

Source: plugin/pkg/admission/resourcequota and pkg/quota/v1/evaluator/core/pods.go of Kubernetes.
"""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core import quantity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.untyped import integer, keyed_texts, mapping
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.changes import FieldChange, OwnChange, PodsChange, RequestChange
from policygen.simulate.why.node_causes import UNIT, changed_batch

_PODS = ("pods", "count/pods")
_PLAIN = ("cpu", "memory", "ephemeral-storage")


class RefusingQuota(Struct, frozen=True):
    """A key of a ResourceQuota that has too little left for all pods of a workload."""

    name: str
    key: str
    hard: Fraction
    used: Fraction
    each: Fraction
    """What the first refused pod requests."""
    all: Fraction
    """What all pods request that do not exist yet."""


def refusing(
    cluster: Cluster, arrival: Arrival, batches: Sequence[PodBatch], existing: int
) -> RefusingQuota | None:
    """The first quota that refuses a pod; None: no quota does. `existing` pods were created already."""
    namespace = arrival.name.partition("/")[0]
    for quota in cluster.resource_quotas:
        if quota.namespace != namespace or not quota.fields.counts_all:
            continue
        used = keyed_texts(quota.object.data, "status", "used")
        for key, hard in quota.fields.hard.items():
            taken = _amount(used.get(key))
            each = [(_requested(it, key), it.count) for it in batches]
            skip, total, first = existing, Fraction(0), Fraction(0)
            for amount, count in each:
                new = max(count - skip, 0)
                skip = max(skip - count, 0)
                first = first or (amount if new else Fraction(0))
                total += amount * new
            if total and taken + total > hard:
                return RefusingQuota(quota.name, key, hard, taken, first, total)
    return None


def quota_refusal(found: RefusingQuota, namespace: str) -> Cause:
    """The cause, with the words of the API server."""
    each, used, hard = (_shown(found.key, it) for it in (found.each, found.used, found.hard))
    key = found.key
    message = (
        f"exceeded quota: {found.name}, requested: {key}={each}, used: {key}={used}, "
        f"limited: {key}={hard}"
    )
    return Cause(CauseKind.PODS_REFUSED, f"ResourceQuota {namespace}/{found.name}", message=message)


def quota_families(found: RefusingQuota, arrival: Arrival) -> Iterator[list[list[OwnChange]]]:
    """Fewer and smaller pods, the largest first."""
    resource = _resource(found.key)
    for it in arrival.pods:
        amount = counted(resource, _requested(it, found.key))
        if not amount:
            continue
        if it.count > 1:
            yield [[PodsChange(it.name, it.count, n)] for n in range(it.count - 1, 0, -1)]
        if found.key not in _PODS:
            unit = UNIT.get(resource, 1)
            yield [
                [RequestChange(it.name, resource, amount, n * unit)]
                for n in range((amount - 1) // unit, 0, -1)
            ]


def higher_quota(found: RefusingQuota, namespace: str) -> FieldChange:
    """The quota with which all pods are created."""
    after = _shown(found.key, found.used + found.all)
    before = _shown(found.key, found.hard)
    path = "spec", "hard", found.key
    return FieldChange("ResourceQuota", namespace, found.name, path, before, after)


def wanted_pods(owner: Workload) -> int:
    """How many pods the controller of an object keeps."""
    if owner.kind != "Job":
        return sum(it.replicas or 0 for it in owner.templates)
    spec = owner.spec
    parallel = 1 if (found := integer(spec.get("parallelism"))) is None else found
    total = integer(spec.get("completions"))
    done = integer(mapping(owner.object.data, "status").get("succeeded")) or 0
    return parallel if total is None else min(parallel, total - done)


def smaller(batches: Sequence[PodBatch], changes: Sequence[OwnChange]) -> list[PodBatch]:
    """The pods after changes."""
    return [changed_batch(it, changes) for it in batches]


def _resource(key: str) -> str:
    return key.removeprefix("requests.").removeprefix("limits.")


def _requested(batch: PodBatch, key: str) -> Fraction:
    """What one pod counts for a key of a quota."""
    if key in _PODS:
        return Fraction(1)
    name = _resource(key)
    if key.startswith("limits."):
        limits = (it.resources.limits.get(name, Fraction(0)) for it in batch.spec.containers)
        return sum(limits, start=Fraction(0))
    if key.startswith("requests.") or key in _PLAIN:
        return batch.spec.requests.get(name, Fraction(0))
    return Fraction(0)


def _shown(key: str, amount: Fraction) -> str:
    name = _resource(key)
    return shown(name, counted(name, amount))


def _amount(text: str | None) -> Fraction:
    try:
        return quantity.parse(text).value if text else Fraction(0)
    except ValueError:
        return Fraction(0)
