"""The smallest changes with which Kueue admits a workload: each is proven by a trial.

A family is a list of alternatives of one kind, the smallest first. Kueue does not always admit a workload
with more of the same change, because others can take what is added. So a search tries all alternatives of
a small family, and of a large one a sample and what is between two of the sample.
"""

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.why.causes import Cause
from policygen.simulate.why.changes import (
    Change,
    FewestPodsChange,
    FieldChange,
    PodsChange,
    applied,
)
from policygen.simulate.why.ends import fewest
from policygen.simulate.why.node_room import NodeRoom
from policygen.simulate.why.object_causes import object_cause
from policygen.simulate.why.object_changes import first_changes
from policygen.simulate.why.pool_access import PoolBounds
from policygen.simulate.why.quota_causes import quota_cause
from policygen.simulate.why.quota_changes import Family, families, fewest_pods
from policygen.simulate.why.remedy import Cost, Parts, Remedy
from policygen.simulate.why.situation import AskedWorkload, Settled, Situation
from policygen.simulate.why.spec_changes import SpecPolicy

MOST = 8
"""The most remedies that are kept."""
_FIRST = 4
"""The number of first changes that are combined with others."""
_TRIALS, _FEWEST_TRIALS = 400, 40
"""The most changes that are tried for a workload; fewer if a trial takes long."""
_WORKLOADS = 20_000
"""The most workloads about which all trials together decide."""
_FEWEST = 4
"""The least number of alternatives of each family that are tried."""


class FoundRemedies(Struct, frozen=True):
    """What a search found."""

    remedies: list[Remedy]
    """The best first."""
    tried: int
    """How many changes were tried."""


def remedies(
    situation: Situation,
    asked: AskedWorkload,
    room: NodeRoom | None = None,
    spec: SpecPolicy | None = None,
    bounds: PoolBounds | None = None,
) -> FoundRemedies:
    """The proven remedies for a workload.

    With `room`, nodes can hold its pods. With `spec`, objects that it renders change only with the spec.
    With `bounds`, the workload keeps to these.
    """
    search = _RemedySearch(situation, asked, room, spec, bounds)
    found = sorted(simple(list(search.all())), key=lambda it: it.rank)[:MOST]
    return FoundRemedies(found, search.tried)


def simple(found: Sequence[Remedy]) -> Iterator[Remedy]:
    """The remedies without those that another one makes needless, since it costs others no more.

    Such a one changes a part of the same fields, by no more. A quota that is moved
    keeps the sum of all quotas, which a higher one alone does not. A smaller minimum of pods also does what fewer
    pods do, but the job keeps its pods where there is room.
    """
    parts = [it.parts for it in found]
    for it, own in zip(found, parts, strict=True):
        if not any(
            other is not it
            and (_within(less, own, it) or _keeps_pods(other, it))
            and other.burden <= it.burden
            for other, less in zip(found, parts, strict=True)
        ):
            yield it


def _within(less: Parts, more: Parts, remedy: Remedy) -> bool:
    """Whether a remedy changes only a part of what another one changes, or the same by less."""
    return (
        less != more
        and all(
            field in more and (0 <= size <= more[field] or more[field] <= size <= 0)
            for field, size in less.items()
        )
        and not remedy.moves_quota
    )


def beyond(found: Iterable[Remedy], now: Sequence[Remedy]) -> list[Remedy]:
    """The remedies for later that are not among those for now, and do not contain one of them."""
    return [
        it
        for it in found
        if not any(it.changes == one.changes or _within(one.parts, it.parts, it) for one in now)
    ]


def _keeps_pods(one: Remedy, other: Remedy) -> bool:
    """Whether a minimum of pods does what fewer pods do, which are the only difference."""
    if len(one.changes) != len(other.changes):
        return False
    different = [
        (new, old) for new, old in zip(one.changes, other.changes, strict=True) if new != old
    ]
    return len(different) == 1 and all(
        isinstance(new, FewestPodsChange)
        and isinstance(old, PodsChange)
        and (new.pod_set, new.after) == (old.pod_set, old.after)
        for new, old in different
    )


def ends(
    situation: Situation, asked: AskedWorkload, cause: Cause, changes: Sequence[Change] = ()
) -> tuple[str, ...]:
    """The fewest of the largest workloads whose end admits it after changes; empty: that does not help.

    After changes, these can be workloads that wait, too: they take what others leave.
    """
    names = [name for it in cause.obstacles[:1] for one in it.holders for name in one.workloads]
    if changes:
        names += [it.name for them in situation.held.values() for it in them]
        names += [it.name for it in situation.pending if it.name != asked.name]
    names = list(dict.fromkeys(names))

    def admits(gone: Sequence[str]) -> bool:
        return asked.name in situation.settle(asked, changes, without=frozenset(gone)).admitted

    return fewest(names, admits)


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

    def __init__(
        self,
        situation: Situation,
        asked: AskedWorkload,
        room: NodeRoom | None,
        spec: SpecPolicy | None,
        bounds: PoolBounds | None,
    ) -> None:
        self.situation = situation
        self.asked = asked
        self.room = room
        self.spec = spec
        self.bounds = bounds
        self.before = situation.settle(asked)
        self.tried = 0
        bound = _WORKLOADS // max(len(situation.names), 1)
        self.most = max(_FEWEST_TRIALS, min(_TRIALS, bound))

    def all(self) -> Iterator[Remedy]:
        """Everything that works."""
        cluster = Cluster(self.situation.objects)
        cause = object_cause(cluster, self.asked)
        if cause is None:
            yield from self.with_families(())
            return
        tried = 0
        for changes in self.first(cluster, cause):
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
        for changes in self.first(cluster, cause):
            found = self.prove((*before, *changes))
            if found is not None:
                yield found
        asked = self.asked_after(before)
        fewer = fewest_pods(workload.pod_sets) if asked.may_shrink else ()
        own = families(settled, cluster, asked, cause, self.spec)
        every = [it for it in (*fewer, *own) if it]
        for number, family in enumerate(every):
            share = (self.most - self.tried) // (len(every) - number)
            found = self.first_of(before, family, max(share, _FEWEST))
            if found is not None:
                yield found

    def first(self, cluster: Cluster, cause: Cause) -> Iterator[Sequence[Change]]:
        """Changes that remove a cause which is not a lack of quota."""
        for changes in first_changes(cluster, self.asked, cause):
            fields = [it for it in changes if isinstance(it, FieldChange)]
            if self.spec is None or not any(
                self.spec.renders(it.kind, it.namespace, it.name) for it in fields
            ):
                yield changes

    def asked_after(self, changes: Sequence[Change]) -> AskedWorkload:
        """The workload after the changes of its owner."""
        return self.asked.changed(changes)

    def first_of(self, before: tuple[Change, ...], family: Family, most: int) -> Remedy | None:
        """The smallest alternative that admits the workload, if possible with room on nodes now."""
        admitted, last = None, -1
        for index in _sample(len(family), most):
            found = self.prove((*before, *family[index]))
            if found is not None and found.placed is not False:
                return self.smallest(before, family[last + 1 : index], found)
            admitted, last = admitted or found, index
        return admitted

    def smallest(self, before: tuple[Change, ...], family: Family, found: Remedy) -> Remedy:
        """The smallest of these alternatives that works; otherwise the one that is known to work."""
        low, high = 0, len(family)
        while low < high:
            middle = (low + high) // 2
            one = self.prove((*before, *family[middle]))
            if one is not None and one.placed is not False:
                found, high = one, middle
            else:
                low = middle + 1
        return found

    def prove(self, changes: Iterable[Change]) -> Remedy | None:
        """The remedy, if these changes admit the workload, and nodes can hold its pods."""
        changes = tuple(changes)
        self.tried += 1
        after = self.situation.settle(self.asked, changes)
        admission = after.admitted.get(self.asked.name)
        if admission is None or self.asked.name in after.livelocked:
            return None
        if self.bounds is not None and not self.bounds.allow(changes, admission):
            return None
        flavors = dict.fromkeys(f for it in admission.pod_sets for f in it.flavors.values())
        entry = after.entries.get(self.asked.name)
        either = entry is not None and entry.workload.either
        chosen = {it.name: it.flavors for it in admission.pod_sets}
        pods = {it.name: it.count for it in admission.pod_sets}
        group = self.asked.with_siblings(changes)
        if not all(it.name in after.admitted for it in group):
            return None
        found = cost(self.situation, self.asked.name, self.before, after)
        kept = {it.name for it in group}  # that they are evicted for a while costs nobody else
        found = replace(found, preempted=tuple(it for it in found.preempted if it not in kept))
        replicas = len(group) if len(group) > 1 else 0
        remedy = Remedy(changes, found, tuple(flavors), either, chosen, pods, replicas=replicas)
        return remedy if self.room is None else self.room.placed(remedy, after.admitted, group)


def _sample(count: int, most: int) -> Iterable[int]:
    """All indexes below `count`, or `most` of them: the first ones, and others at equal distances."""
    if count <= most:
        return range(count)
    first = most // 2
    rest = most - first
    return [*range(first), *(first + (count - first) * i // rest - 1 for i in range(1, rest + 1))]


def waiting_in(settled: Settled, name: str) -> QueuedWorkload | None:
    """A workload that waits in the state; None: no queue has it."""
    for queue in settled.state.queues.values():
        for it in (*queue.pending.waiting(), *queue.pending.inadmissible.values()):
            if it.name == name:
                return it
    return None
