"""The quota that Workloads of a cluster hold, and what Kueue noted about their past."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from policygen.core import quantity
from policygen.core.names import HOSTNAME
from policygen.kubernetes.conditions import condition, created, moment
from policygen.kubernetes.kueue_workloads import WorkloadView, assigned_domains
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import integer, keyed_texts, mapping, mappings, text, texts
from policygen.simulate.jobs.arrival_maker import ArrivalMaker
from policygen.simulate.kueue.amounts import counted, evaluation_order
from policygen.simulate.kueue.build import pairs_of
from policygen.simulate.kueue.scheduler import PODS_READY_TIMEOUT, READY
from policygen.simulate.kueue.topology import TopologyPlacement
from policygen.simulate.kueue.workload import Admission, PodSet, PodSetAdmission, QueuedWorkload


class ReservedQuota:
    """Reads the status of Workloads."""

    def __init__(self, maker: ArrivalMaker) -> None:
        self._maker, self._cluster = maker, maker.cluster
        self._pairs = pairs_of(maker.cluster)
        self._levels = maker.scene.topology_levels()

    def admission(self, workload: Object, pod_sets: Iterable[PodSet]) -> Admission | None:
        """The quota that a Workload of a cluster holds; None: none, or its queue is not known.

        `pod_sets` are without the pods that have ended, which use no quota: totalRequestsFromAdmission in
        pkg/workload/workload.go of Kueue 0.19.2.
        """
        data = mapping(workload.data, "status", "admission")
        queue = text(workload.data, "spec", "queueName")
        local = self._cluster.local_queues.get(queue, workload.namespace)
        target = local.fields.cluster_queue if local is not None else ""
        if not data or not self._cluster.cluster_queues.get(target):
            return None
        usage: dict[int, int] = {}
        sets = []
        of_name = {it.name: it for it in pod_sets}
        ended = reclaimable(workload)
        for it in mappings(data, "podSetAssignments"):
            name, flavors = text(it, "name"), dict(keyed_texts(it, "flavors"))
            pod_set = of_name.get(name, PodSet(name, 0, ()))
            count = integer(it.get("count"))
            admitted = pod_set.count + ended.get(name, 0) if count is None else count
            left = min(admitted, pod_set.count) if name in of_name else admitted
            placement = self._placement(mapping(it, "topologyAssignment"), flavors, pod_set)
            sets.append(PodSetAdmission(name, left, flavors, placement))
            for resource, amount in _amounts(it, "resourceUsage").items():
                pair = self._pairs.get((flavors.get(resource, ""), resource))
                if pair is not None:
                    used = amount if left == admitted else amount // admitted * left
                    usage[pair] = usage.get(pair, 0) + used
        reserved = condition(workload, "QuotaReserved")
        at = self._maker.time(reserved.since if reserved is not None else created(workload))
        return Admission(tuple(sets), tuple(usage.items()), frozenset(usage), at)

    def _placement(
        self, assignment: Mapping[str, object], flavors: Mapping[str, str], pod_set: PodSet
    ) -> TopologyPlacement | None:
        """The domains of an admitted pod set; None: none, or those of another Topology."""
        levels = texts(assignment, "levels")
        for flavor in sorted({*flavors.values()} & self._levels.keys() if levels else ()):
            by_host = levels[-1] == HOSTNAME
            known = self._levels[flavor]
            if known[-1:] == levels[-1:] and (by_host or known == levels):
                pods: Counter[str | tuple[str, ...]] = Counter()
                for values, count in assigned_domains(assignment):
                    if len(values) == len(levels):
                        pods[values[-1] if by_host else values] += count
                return TopologyPlacement(flavor, pods, dict(pod_set.per_pod))
        return None

    def add_past(self, workload: QueuedWorkload, object_: Object) -> None:
        """How long a Workload ran before, and until when Kueue does not try it again."""
        status = mapping(object_.data, "status")
        names = "accumulatedPastExecutionTimeSeconds", "accumulatedPastExexcutionTimeSeconds"
        workload.executed = float(next(filter(None, (integer(status.get(it)) for it in names)), 0))
        state = mapping(status, "requeueState")
        workload.requeues = integer(state.get("count")) or 0
        at = moment(state.get("requeueAt"))
        if workload.admission is None and at is not None and self._maker.time(at) > 0:
            workload.retry_at = self._maker.time(at)
            workload.hold = PODS_READY_TIMEOUT


def reclaimable(workload: Object) -> dict[str, int]:
    """The number of pods of each pod set that have ended, while others of the job still run."""
    listed = mappings(workload.data, "status", "reclaimablePods")
    return {text(it, "name"): integer(it.get("count")) or 0 for it in listed}


def pending_checks(workload: Object) -> Iterator[str]:
    """The admission checks of a Workload that are not ready."""
    for it in mappings(workload.data, "status", "admissionChecks"):
        if it.get("state") != READY:
            yield text(it, "name")


def counted_sets(workload: Object, fields: WorkloadView) -> tuple[PodSet, ...]:
    """The pod sets of a Workload without templates, from its status. Their shape is not known."""
    requests = {
        text(it, "name"): (_amounts(it, field), integer(it.get("count")))
        for way, field in (
            (("status", "resourceRequests"), "resources"),
            (("status", "admission", "podSetAssignments"), "resourceUsage"),
        )
        for it in mappings(workload.data, *way)
    }
    found = []
    for it in fields.pod_sets:
        amounts, admitted = requests.get(it.name, ({}, None))
        count = max(admitted or it.count, 1)
        each = {name: -(-amount // count) for name, amount in amounts.items()}
        ordered = tuple(sorted(each.items(), key=lambda one: evaluation_order(one[0])))
        found.append(PodSet(it.name, it.count, ordered, per_pod=ordered))
    return tuple(found)


def _amounts(data: Mapping[str, object], field: str) -> dict[str, int]:
    """Amounts of resources in Kueue's units; those that cannot be read are skipped."""
    found = {}
    for name, amount in mapping(data, field).items():
        try:
            found[name] = counted(name, quantity.parse(amount).value)
        except ValueError:
            continue
    return found
