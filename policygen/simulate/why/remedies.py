"""The smallest changes with which Kueue admits a workload: each is proven by a trial.

A family is a list of alternatives of one kind, the smallest first. If its largest alternative admits the
workload, bisection finds the smallest one that does.
"""

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.kubernetes.cluster import Cluster
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.why.causes import Cause
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    TolerationAdded,
    applied,
)
from policygen.simulate.why.object_causes import object_cause
from policygen.simulate.why.object_changes import first_changes
from policygen.simulate.why.quota_causes import quota_cause
from policygen.simulate.why.quota_changes import Family, families
from policygen.simulate.why.situation import AskedWorkload, Settled, Situation

MOST = 8
"""So many remedies are kept."""
_STEPS = 4096
"""The most alternatives of a family."""
_FIRST = 4
"""So many first changes are combined with others."""
_RANK: tuple[type[object], ...] = (
    PriorityChange, QueueChange, TolerationAdded, SelectorChange, AffinityRemoved, PodsChange,
    RequestChange, FieldChange, ObjectAdded,
)  # fmt: skip


class Cost(Struct, frozen=True):
    """What a change costs other workloads, by name."""

    preempted: tuple[str, ...] = ()
    """Those that hold quota now, and must leave."""
    delayed: tuple[str, ...] = ()
    """Those that wait now, would be admitted, and then are not."""
    admitted: tuple[str, ...] = ()
    """Others that are admitted too."""


class Remedy(Struct, frozen=True):
    """Changes with which a trial admitted the workload."""

    changes: tuple[Change, ...]
    cost: Cost
    flavors: tuple[str, ...] = ()
    """Those that its pods get."""
    either: bool = False
    """Whether a tie decided in the trial, so that Kueue may decide otherwise."""
    chosen: Mapping[str, Mapping[str, str]] = {}
    """The flavors by pod set and resource."""
    placed: bool | None = None
    """Whether nodes have room for its pods then; None: not known."""

    @property
    def rank(self) -> tuple[bool, int, int, int, int]:
        """Sorts remedies: with room on nodes first, of these what costs others least and is simple."""
        kinds = [_RANK.index(type(it)) if type(it) in _RANK else len(_RANK) for it in self.changes]
        cost = self.cost
        return (
            self.placed is False,
            len(cost.preempted),
            len(cost.delayed),
            len(self.changes),
            max(kinds, default=0),
        )


def remedies(situation: Situation, asked: AskedWorkload) -> list[Remedy]:
    """The proven remedies for a workload, the best first."""
    return sorted(_RemedySearch(situation, asked).all(), key=lambda it: it.rank)[:MOST]


def ends(situation: Situation, asked: AskedWorkload, cause: Cause) -> tuple[str, ...]:
    """The fewest of the largest workloads whose end admits it; empty: that does not help."""
    names = [name for it in cause.obstacles[:1] for one in it.holders for name in one.workloads]
    names = list(dict.fromkeys(names))
    for count in range(1, len(names) + 1):
        found = situation.settle(asked, without=frozenset(names[:count]))
        if asked.name in found.admitted:
            return tuple(names[:count])
    return ()


def cost(situation: Situation, asked: str, before: Settled, after: Settled) -> Cost:
    """Who is worse off, and who is better off."""
    held = {it.name for them in situation.held.values() for it in them}
    victims = {it.victim for it in after.evictions} - {it.victim for it in before.evictions}
    lost = set(before.admitted) - set(after.admitted)
    preempted = (victims | lost) & held
    return Cost(
        tuple(sorted(preempted)),
        tuple(sorted(lost - preempted - {asked})),
        tuple(sorted(set(after.admitted) - set(before.admitted) - {asked})),
    )


class _RemedySearch:
    """Tries changes for one workload."""

    def __init__(self, situation: Situation, asked: AskedWorkload) -> None:
        self.situation = situation
        self.asked = asked
        self.before = situation.settle(asked)

    def all(self) -> Iterator[Remedy]:
        cluster = Cluster(self.situation.objects)
        cause = object_cause(cluster, self.asked)
        if cause is None:
            yield from self.with_families(())
            return
        tried = 0
        for changes in first_changes(cluster, self.asked, cause):
            found = self.prove(changes)
            if found is not None:
                yield found
            elif tried < _FIRST:
                tried += 1
                yield from list(self.with_families(tuple(changes)))[:2]

    def with_families(self, before: tuple[Change, ...]) -> Iterator[Remedy]:
        """Remedies that begin with these changes, which do not admit the workload alone."""
        settled = self.situation.settle(self.asked, before, keep=True)
        if self.asked.name in settled.admitted:
            return
        objects = applied(self.situation.objects, before)
        cluster = Cluster(objects)
        if object_cause(cluster, self.asked_after(before)) is not None:
            return
        workload = waiting_in(settled, self.asked.name)
        if workload is None:
            return
        cause = quota_cause(settled, workload)
        for changes in first_changes(cluster, self.asked, cause):
            found = self.prove((*before, *changes))
            if found is not None:
                yield found
        for family in families(settled, cluster, self.asked_after(before), cause):
            found = self.smallest(before, family)
            if found is not None:
                yield found

    def asked_after(self, changes: Sequence[Change]) -> AskedWorkload:
        """The workload after the changes of its owner."""
        return self.asked.changed(changes)

    def smallest(self, before: tuple[Change, ...], family: Family) -> Remedy | None:
        """The smallest alternative that admits the workload, if the largest does."""
        steps = family[:_STEPS]
        last = self.prove((*before, *steps[-1])) if steps else None
        if last is None or len(steps) == 1:
            return last
        proven = {len(steps) - 1: last}

        def admits(index: int) -> bool:
            if index not in proven:
                found = self.prove((*before, *steps[index]))
                if found is None:
                    return False
                proven[index] = found
            return True

        first = bisect_left(range(len(steps)), True, key=admits)  # noqa: FBT003 - a key
        return proven[min(first, len(steps) - 1)]

    def prove(self, changes: Iterable[Change]) -> Remedy | None:
        """The remedy, if these changes admit the workload."""
        changes = tuple(changes)
        after = self.situation.settle(self.asked, changes)
        admission = after.admitted.get(self.asked.name)
        if admission is None or self.asked.name in after.livelocked:
            return None
        flavors = dict.fromkeys(f for it in admission.pod_sets for f in it.flavors.values())
        entry = after.entries.get(self.asked.name)
        either = entry is not None and entry.workload.either
        chosen = {it.name: it.flavors for it in admission.pod_sets}
        found = cost(self.situation, self.asked.name, self.before, after)
        return Remedy(changes, found, tuple(flavors), either, chosen)


def waiting_in(settled: Settled, name: str) -> QueuedWorkload | None:
    """A workload that waits in the state; None: no queue has it."""
    for queue in settled.state.queues.values():
        for it in (*queue.pending.waiting(), *queue.pending.inadmissible.values()):
            if it.name == name:
                return it
    return None
