"""Whom a workload may preempt, without fair sharing.

Source: pkg/scheduler/preemption and its package classical, of Kueue 0.19.2.
"""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.simulate.kueue import fair_preemption
from policygen.simulate.kueue.queue import NEVER
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.victims import PreemptionReason, Preemptor, Victim
from policygen.simulate.kueue.workload import QueuedWorkload


class _Candidate(Struct, frozen=True):
    """A workload that may be preempted."""

    workload: QueuedWorkload
    reason: PreemptionReason
    only_without_borrowing: bool = False
    ancestor: QuotaNode | None = None
    """The smallest cohort of both queues; None: the same queue."""


class _Candidates(Struct, frozen=True):
    """All candidates of a preemptor, in lists that are tried one after the other."""

    hierarchical: tuple[_Candidate, ...]
    """Those over which its quota gives it a right."""
    others: tuple[_Candidate, ...]
    """Those of other queues that it may preempt because of priority."""
    own: tuple[_Candidate, ...]
    """Those of its own queue."""


def targets(preemptor: Preemptor) -> list[Victim]:
    """The victims with which the preemptor fits; empty: there are none."""
    if preemptor.state.fair:
        return fair_preemption.targets(preemptor)
    preemptor.state.searches = True
    candidates = _all(preemptor)
    if not _may_fit(preemptor, candidates):
        return []
    ordered = _ordered(candidates)
    for borrowing in _runs(preemptor, candidates):
        found: list[Victim] = []
        for it in _valid(preemptor, ordered, borrowing=borrowing):
            preemptor.state.take_out(it.workload)
            found.append(Victim(it.workload, it.reason))
            if preemptor.fits(borrowing=borrowing):
                return preemptor.spare(found, borrowing=borrowing)
        preemptor.restore(found)
    return []


def _all(preemptor: Preemptor) -> _Candidates:
    queue = preemptor.queue
    hierarchical, others = _of_cohort(preemptor)
    own = preemptor.candidates(queue, queue.within_cluster_queue)
    return _Candidates(
        hierarchical=tuple(hierarchical),
        others=tuple(others),
        own=tuple(_Candidate(it, PreemptionReason.IN_CLUSTER_QUEUE) for it in own),
    )


def _runs(preemptor: Preemptor, candidates: _Candidates) -> tuple[bool, ...]:
    """In which order victims are searched with and without borrowing."""
    queue = preemptor.queue
    forbidden = queue.borrow_within_cohort == NEVER
    if not candidates.hierarchical and not candidates.others:
        return (True,) if candidates.own else ()
    if _only_borrowing(preemptor):
        return (True,)
    return (False, True) if forbidden and not candidates.hierarchical else (True, False)


def _only_borrowing(preemptor: Preemptor) -> bool:
    """Whether victims are searched only with borrowing."""
    queue, node = preemptor.queue, preemptor.queue.node
    return queue.borrow_within_cohort == NEVER and any(
        node.nominal[pair] <= node.usage[pair] for pair in preemptor.needs
    )


def _may_fit(preemptor: Preemptor, candidates: _Candidates) -> bool:
    """Whether it fits if each candidate frees all its quota for it, which is more than it can free.

    With many jobs, most searches end here: without a look at the candidates one after the other.
    """
    node = preemptor.queue.node
    missing = {
        pair: more
        for pair, amount in preemptor.requested.items()
        if (more := amount - node.available(pair)) > 0
    }
    for each in (candidates.hierarchical, candidates.others, candidates.own):
        for it in each:
            admission = it.workload.admission
            for pair, amount in admission.usage if admission is not None else ():
                if pair in missing:
                    missing[pair] -= amount
    return all(more <= 0 for more in missing.values())


def _ordered(candidates: _Candidates) -> list[_Candidate]:
    """The candidates in the order in which they are tried: those of one list are all of the own queue, or none is."""
    lists = [
        sorted(each, key=_place)
        for each in (candidates.hierarchical, candidates.others, candidates.own)
    ]
    ordered = [it for each in lists for it in each if it.workload.evicted]
    return ordered + [it for each in lists for it in each if not it.workload.evicted]


def _place(candidate: _Candidate) -> tuple[int, float, str]:
    """As `Preemptor.order`, for candidates of which all or none are evicted, and of which all or none are own."""
    workload = candidate.workload
    admission = workload.admission
    return workload.priority, -admission.at if admission is not None else -0.0, workload.uid


def _valid(
    preemptor: Preemptor, ordered: Sequence[_Candidate], *, borrowing: bool
) -> Iterator[_Candidate]:
    """The candidates in order, as long as their queue and its cohorts use more than their quota."""
    for it in ordered:
        if it.ancestor is None or (
            not (borrowing and it.only_without_borrowing) and _over_quota(preemptor, it)
        ):
            yield it


def _over_quota(preemptor: Preemptor, candidate: _Candidate) -> bool:
    """Whether its queue, and each of its cohorts below the common one, use more than their quota."""
    node: QuotaNode | None = preemptor.state.queue_of(candidate.workload).node
    while node is not None and node is not candidate.ancestor:
        if node.within_nominal(preemptor.needs):
            return False
        node = node.parent
    return True


def _of_cohort(preemptor: Preemptor) -> tuple[list[_Candidate], list[_Candidate]]:
    """Candidates over which its quota gives it a right, and candidates by priority."""
    hierarchical: list[_Candidate] = []
    others: list[_Candidate] = []
    queue, state = preemptor.queue, preemptor.state
    if queue.reclaim_within_cohort == NEVER or queue.node.parent is None:
        return hierarchical, others
    advantage, remaining = _quota_holds(queue.node, preemptor.requested)
    below, only_borrowing = queue.node, _only_borrowing(preemptor)
    for cohort in queue.node.ancestors():
        # Without an advantage, candidates are of use only without borrowing, which is not tried.
        useless = only_borrowing and not advantage
        state.looks = state.looks or not useless
        for node in () if useless else _borrowing_queues(cohort, below, preemptor.needs):
            for it in preemptor.candidates(state.of_node[node], queue.reclaim_within_cohort):
                if advantage:
                    reason = PreemptionReason.IN_COHORT_RECLAMATION
                    hierarchical.append(_Candidate(it, reason, ancestor=cohort))
                else:
                    others.append(_by_priority(preemptor, it, cohort))
        holds, remaining = _quota_holds(cohort, remaining)
        advantage = advantage or holds
        below = cohort
    return hierarchical, others


def _by_priority(
    preemptor: Preemptor, candidate: QueuedWorkload, ancestor: QuotaNode
) -> _Candidate:
    queue = preemptor.queue
    threshold = queue.priority_threshold
    above = candidate.priority >= preemptor.workload.priority or (
        threshold is not None and candidate.priority > threshold
    )
    if queue.borrow_within_cohort == NEVER or above:
        reason = PreemptionReason.IN_COHORT_RECLAMATION
        return _Candidate(candidate, reason, only_without_borrowing=True, ancestor=ancestor)
    reason = PreemptionReason.IN_COHORT_RECLAIM_WHILE_BORROWING
    return _Candidate(candidate, reason, ancestor=ancestor)


def _borrowing_queues(
    cohort: QuotaNode, skip: QuotaNode, needs: frozenset[int]
) -> Iterator[QuotaNode]:
    """The queues below a cohort that use more than their quota, and whose cohorts do, too."""
    for child in cohort.children:
        if child is skip or child.within_nominal(needs):
            continue
        if child.is_queue:
            yield child
        else:
            yield from _borrowing_queues(child, skip, needs)


def _quota_holds(node: QuotaNode, requested: Mapping[int, int]) -> tuple[bool, dict[int, int]]:
    """Whether the quota of a node holds the request, and what the node cannot hold locally."""
    holds = all(node.subtree[it] >= node.usage[it] + amount for it, amount in requested.items())
    return holds, {
        it: max(0, amount - node.local_available(it)) for it, amount in requested.items()
    }
