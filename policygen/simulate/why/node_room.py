"""Whether nodes have room for the pods of a workload, now or ever."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product

from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.workload import Admission
from policygen.simulate.why.causes import NeverPlaced
from policygen.simulate.why.changes import OwnChange, PodsChange, PolicyChange
from policygen.simulate.why.node_causes import OccupiedNodes, changed_batch
from policygen.simulate.why.remedy import Remedy
from policygen.simulate.why.situation import AskedWorkload

_TRIED = 32
"""The most combinations of flavors that are tried."""


def flavors_of(admission: Admission) -> dict[str, Mapping[str, str]]:
    """The flavors of an admission by pod set and resource."""
    return {it.name: it.flavors for it in admission.pod_sets}


@dataclass(frozen=True, slots=True, eq=False)
class NodeRoom:
    """The nodes, as one workload finds them."""

    arrival: Arrival
    now: OccupiedNodes
    """With the pods of all workloads that hold quota."""
    empty: OccupiedNodes
    """Without pods, and not cordoned."""
    arrivals: Mapping[str, Arrival]
    """All jobs by the name of their Workload."""

    def placed(
        self,
        remedy: Remedy,
        admitted: Mapping[str, Admission],
        group: Sequence[AskedWorkload] = (),
    ) -> Remedy | None:
        """The remedy, with whether all pods have a node then; None: they do not fit on empty nodes either.

        `admitted` are all that hold quota then. The pods of those that the change admits, too,
        or again, may come first. Those of a `group` are changed, too.
        """
        chosen, cost = remedy.chosen, remedy.cost
        arrival = self.arrival.with_pods(remedy.pods)
        changes = [it for it in remedy.changes if not isinstance(it, PodsChange)]
        kept = {it.name for it in group}
        left = (*cost.preempted, *cost.delayed)
        gone = [self.arrivals[it].name for it in left if it in self.arrivals]
        others = [
            (self.arrivals[it].with_pods(admitted[it].counts), flavors_of(admitted[it]))
            for it in (*cost.admitted, *cost.preempted)  # of which some are admitted again
            if it in self.arrivals and it in admitted and it not in kept
        ]
        own = [it for it in changes if not isinstance(it, PolicyChange)]
        siblings = [
            (_changed(it.with_pods(admitted[name].counts), own), flavors_of(admitted[name]))
            for name, it in self.arrivals.items()
            if name in kept and it.name != arrival.name
        ]
        gone += [it.name for it, _ in siblings]

        def has_room() -> bool:
            return self.now.has_room(arrival, changes, chosen, ())

        def has_empty_room() -> bool:
            return self.empty.has_room(arrival, changes, chosen, ())

        if self.now.room_beside([*others, *siblings], gone, has_room):
            return replace(remedy, placed=True)
        if not self.empty.room_beside(siblings, (), has_empty_room):
            return None
        return replace(remedy, placed=False)

    def never(self, flavors: Iterable[Iterable[str]]) -> NeverPlaced | None:
        """Why empty nodes do not hold all its pods; None: they do.

        `flavors` are those that it can have, by resource group.
        """
        found: NeverPlaced | None = None
        for some in islice(product(*flavors), _TRIED):
            chosen = {it.name: dict(zip(some, some, strict=True)) for it in self.arrival.pods}
            one = self.empty.never(self.arrival, chosen)
            if one is None:
                return None
            found = one if found is None or _nearer(one, found) else found
        return found


def _changed(arrival: Arrival, changes: Sequence[OwnChange]) -> Arrival:
    return replace(arrival, pods=tuple(changed_batch(it, changes) for it in arrival.pods))


def _nearer(one: NeverPlaced, other: NeverPlaced) -> bool:
    return (one.alone, one.placed, one.nearest is not None) > (
        other.alone, other.placed, other.nearest is not None,
    )  # fmt: skip
