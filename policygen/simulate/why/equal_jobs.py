"""Jobs that differ only in their names, so that one answer holds for all of them."""

from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from policygen.simulate.arrival import Arrival, GangSettings
from policygen.simulate.kueue.workload import QueuedWorkload
from policygen.simulate.why.changes import PolicyChange, in_objects
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.remedy import Remedy


def equal_jobs(
    known: Iterable[tuple[Arrival, Explanation]],
) -> list[list[tuple[Arrival, Explanation]]]:
    """Jobs in groups: equal jobs of one namespace that wait for the same reason, in their order.

    A job that does not wait is alone.
    """
    groups: dict[object, list[tuple[Arrival, Explanation]]] = {}
    specs: dict[int, str] = {}
    for it, found in known:
        key = (_key(it, specs), found.cause.group) if found.waits else it.name
        groups.setdefault(key, []).append((it, found))
    return list(groups.values())


def for_equal(explainer: Explainer, jobs: Sequence[Arrival], found: Explanation) -> Explanation:
    """The explanation of the first of equal jobs, with changes with which as many as possible start."""
    names = tuple(it.name for it in jobs[1:])
    found = replace(found, equal=names)
    low, high, best = 1, len(jobs) - 1, 0
    remedies: tuple[Remedy, ...] = ()
    while low <= high and found.remedies:
        number = high if not best and high == len(jobs) - 1 else (low + high) // 2
        before = {it.name for it in jobs[:number]}
        last = explainer.explain(jobs[number])
        some = tuple(it for it in last.remedies if _is_shared(it) and before <= {*it.cost.admitted})
        if some:
            remedies, best, low = some, number, number + 1
        else:
            high = number - 1
    return replace(found, for_equal=remedies, started=best + 1 if remedies else 0)


def _is_shared(it: Remedy) -> bool:
    """Whether a remedy changes no workload, but what all of them depend on."""
    return all(isinstance(one, PolicyChange) for one in in_objects(it.changes))


def _key(it: Arrival, specs: dict[int, str]) -> tuple[object, ...]:
    """Equal for equal jobs. `specs` are texts of pod specs that the arrivals keep, by their id."""
    for batch in it.pods:
        if id(batch.spec) not in specs:
            specs[id(batch.spec)] = repr(batch.spec)
    pods = tuple((one.name, one.count, specs[id(one.spec)], one.gates) for one in it.pods)
    return (
        it.kind,
        it.namespace,
        it.model,
        pods,
        it.priority,
        it.preempts,
        it.created,
        sum(map(bool, it.nodes)),
        it.refusal,
        it.unscheduled,
        _of_queue(it.workload),
        _of_gang(it.gang),
    )


def _of_queue(it: QueuedWorkload | None) -> tuple[object, ...]:
    if it is None:
        return ()
    sets = tuple((one.min_count, one.topology) for one in it.pod_sets)
    return it.queue, it.priority, it.active, it.admission is None, it.pending_checks, sets


def _of_gang(it: GangSettings | None) -> tuple[object, ...]:
    if it is None:
        return ()
    return it.queue, it.priority, it.least, tuple(sorted(it.role_minimums.items()))
