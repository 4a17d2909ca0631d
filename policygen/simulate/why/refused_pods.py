"""ResourceQuotas that refuse pods of a workload, and changes with which they do not."""

from collections.abc import Iterator, Sequence
from fractions import Fraction

from policygen.kubernetes.pod_quotas import PODS, charge, resource_of
from policygen.kubernetes.untyped import integer, mapping
from policygen.kubernetes.workloads import Workload
from policygen.simulate.arrival import Arrival, PodBatch
from policygen.simulate.kueue.amounts import counted, shown
from policygen.simulate.pod_quotas import PodQuotas, RefusingQuota
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.changes import FieldChange, OwnChange, PodsChange, RequestChange
from policygen.simulate.why.node_causes import UNIT, changed_batch


def refusing(
    quotas: PodQuotas, namespace: str, batches: Sequence[PodBatch], existing: int
) -> RefusingQuota | None:
    """The first quota that refuses a pod; None: no quota does. `existing` pods were created already."""
    found = []
    for it in batches:
        found.append((it.spec, max(it.count - existing, 0)))
        existing = max(existing - it.count, 0)
    return quotas.refusing(namespace, found)


def quota_refusal(found: RefusingQuota, namespace: str) -> Cause:
    """The cause, with the words of the API server."""
    about = f"ResourceQuota {namespace}/{found.name}"
    if found.unset:
        message = f"failed quota: {found.name}: must specify {','.join(found.unset)}"
        return Cause(CauseKind.PODS_REFUSED, about, message=message)
    each, used, hard = (_shown(found.key, it) for it in (found.each, found.used, found.hard))
    key = found.key
    message = (
        f"exceeded quota: {found.name}, requested: {key}={each}, used: {key}={used}, "
        f"limited: {key}={hard}"
    )
    return Cause(CauseKind.PODS_REFUSED, about, message=message)


def quota_families(found: RefusingQuota, arrival: Arrival) -> Iterator[list[list[OwnChange]]]:
    """Fewer and smaller pods, the largest first."""
    resource = resource_of(found.key)
    for it in arrival.pods if not found.unset else ():
        amount = counted(resource, charge(it.spec, found.key))
        if not amount:
            continue
        if it.count > 1:
            yield [[PodsChange(it.name, it.count, n)] for n in range(it.count - 1, 0, -1)]
        if found.key not in PODS:
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


def _shown(key: str, amount: Fraction) -> str:
    name = resource_of(key)
    return shown(name, counted(name, amount))
