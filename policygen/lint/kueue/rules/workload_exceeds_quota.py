"""A workload requests more than its queue can ever have."""

from collections.abc import Mapping
from fractions import Fraction

from policygen.core.amounts import amount_of, shown, total
from policygen.kubernetes.kueue import ResourceGroup
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.cohorts import Cell, CohortNode, forest
from policygen.lint.kueue.coverage import PodRequest, requests_by_workload
from policygen.lint.kueue.job_metadata import MIN_PARALLELISM
from policygen.lint.kueue.queue_names import TOGETHER
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """It waits forever, and at the head of a StrictFIFO queue it blocks all others.

    Requests are a lower bound: an unknown number of pods is counted as one.
    Source: pkg/cache/scheduler/resource_node.go, potentialAvailable; issue 15614.
    """
    trees = facts.cluster.derive(forest)
    ceilings = _Ceilings()
    for requests in requests_by_workload(facts):
        first = requests[0]
        node = trees.queues[first.queue.name]
        for group in () if node.cyclic else first.queue.it.resource_groups:
            wanted = [_wanted(each, group) for each in requests]
            if len(group.flavors) == 1 and len(wanted) > 1:
                wanted = [total(wanted)]
            short = next(
                (it for amounts in wanted if (it := ceilings.short(node, group, amounts))), None
            )
            if short is not None:
                name, amount, most = short
                yield Hit(
                    RULE,
                    f"{first.workload} requests {amount_of(name, amount, most)}, but "
                    f"{first.queue} can have at most {shown(name, most, amount)}; lower the "
                    "requests, or raise the quota or borrowingLimit",
                    first.template.at / "spec",
                    related=(first.queue.at.to("spec", "resourceGroups"),),
                )
                break


def _wanted(request: PodRequest, group: ResourceGroup) -> dict[str, Fraction]:
    known = request.template.replicas if request.workload.kind in TOGETHER else 1
    times = 1 if known is None else known
    if request.workload.kind == "LeaderWorkerSet":  # it has one Workload for each group
        groups = request.workload.spec.get("replicas")
        times //= groups if isinstance(groups, int) and groups > 0 else 1
    least = request.workload.annotations.get(MIN_PARALLELISM, "")
    if least.isdecimal() and request.workload.kind == "Job":
        times = min(times, int(least))
    return {
        name: amount * times
        for name, amount in request.counted.items()
        if name in group.covered_resources
    }


class _Ceilings:
    """The most that each queue can have, computed once."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, Cell], Fraction] = {}

    def short(
        self, node: CohortNode, group: ResourceGroup, wanted: Mapping[str, Fraction]
    ) -> tuple[str, Fraction, Fraction] | None:
        """The resource of which no flavor has enough, its request, and the most of any flavor."""
        worst: tuple[str, Fraction, Fraction] | None = None
        for flavor in group.flavors:
            most = {name: self._ceiling(node, (flavor.name, name)) for name in wanted}
            lacking = [name for name in sorted(wanted) if wanted[name] > most[name]]
            if not lacking:
                return None
            name = max(lacking, key=lambda name: "/" in name)
            if worst is None or most[name] > worst[2]:
                worst = name, wanted[name], most[name]
        cells = ((flavor.name, name) for flavor in group.flavors for name in wanted)
        if all(self._ceiling(node, cell) == 0 for cell in cells):
            return None  # no-quota-anywhere reports it
        return worst

    def _ceiling(self, node: CohortNode, cell: Cell) -> Fraction:
        found = self._known.get((node.name, cell))
        if found is None:
            found = self._known[node.name, cell] = node.ceiling(cell)
        return found


RULE = ObjectRule(
    "workload-exceeds-quota",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Lower the requests, or raise the quota or the borrowingLimit.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("LocalQueue", "ClusterQueue", "Cohort", "Configuration", "LimitRange"),
)
