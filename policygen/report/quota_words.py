"""Sentences about quotas and queues: what is requested, what is free, and who holds the rest."""

from collections.abc import Iterator

from policygen.report.amount_words import amount, are, bare_amount, names, taint_text
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    FlavorObstacle,
    ObstacleKind,
    QuotaHolder,
    QuotaLimit,
)
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.quota_limits import LENDING


def quota(_: Explanation, cause: Cause) -> Iterator[str]:
    """What it requests of a flavor, what is free, and who uses the rest."""
    short = [it for it in cause.obstacles if it.kind is not ObstacleKind.NOT_COVERED]
    if not short:
        return
    for one in short[:1]:
        yield from _numbers(cause, one)
    for one in short[1:]:
        yield from _beside(one, short[0])


def _numbers(cause: Cause, one: FlavorObstacle) -> Iterator[str]:
    asked = amount(one.resource, one.asked)
    free = bare_amount(one.resource, one.free)
    queue = cause.queue
    requests = "It requests"
    if cause.fewest:
        requests = (
            f"With {cause.fewest} of its {cause.pods} pods, the fewest that it accepts, it requests"
        )
    if one.kind is ObstacleKind.ABOVE_MAXIMUM:
        most = bare_amount(one.resource, one.most)
        yield f"{requests} {asked} of flavor {one.flavor}, and ClusterQueue {queue} can use at most {most}."
        yield _above(most, free)
    else:
        yield f"{requests} {asked} of flavor {one.flavor}, and {are(free)} free for ClusterQueue {queue}."
    quota = bare_amount(one.resource, one.nominal)
    used = bare_amount(one.resource, one.used)
    yield f"The quota of ClusterQueue {queue} is {quota}, and it uses {used}."
    for holder in one.holders:
        yield from _holder(one, holder, queue)
    if cause.kind is CauseKind.BORROWING_LIMIT:
        yield "More is free in its cohort, but it may not borrow that much."
    for limit in one.limits:
        yield from _limit(one, limit, cause.kind)
    if cause.kind is CauseKind.MAY_NOT_PREEMPT:
        yield (
            f"Its queue has the quota, but may not take it back: reclaimWithinCohort is "
            f"{cause.reclaim}, withinClusterQueue is {cause.within}."
        )


def _above(most: str, free: str) -> str:
    """What it means that a workload requests more than its queue can ever use."""
    return (
        f"So it never starts as it is, however much is free: of the {most}, {are(free)} free now."
    )


def _limit(one: FlavorObstacle, it: QuotaLimit, kind: CauseKind) -> Iterator[str]:
    """A limit with its numbers, if it matters for a cause."""
    limit, used = bare_amount(one.resource, it.limit), bare_amount(one.resource, it.used)
    if it.field == LENDING:
        if kind in (CauseKind.NOT_LENT, CauseKind.ABOVE_MAXIMUM):
            yield f"{it.kind} {it.name} lends at most {limit} (lendingLimit), and keeps {used} free for itself."
    elif kind in (CauseKind.BORROWING_LIMIT, CauseKind.ABOVE_MAXIMUM):
        yield f"{it.kind} {it.name} may borrow at most {limit} (borrowingLimit), and borrows {used}."


def _holder(one: FlavorObstacle, holder: QuotaHolder, own: str) -> Iterator[str]:
    workloads = f" ({names(holder.workloads)})" if holder.workloads else ""
    used = bare_amount(one.resource, holder.used)
    if holder.borrowed:
        borrowed = bare_amount(one.resource, holder.borrowed)
        yield f"ClusterQueue {holder.queue} uses {used}, and borrows {borrowed} of them{workloads}."
    elif holder.queue != own:
        yield f"ClusterQueue {holder.queue} uses {used} of its own quota{workloads}."
    elif holder.workloads:
        are = "workload is" if len(holder.workloads) == 1 else "workloads are"
        yield f"In ClusterQueue {own}, the largest {are} {names(holder.workloads)}."


def _beside(one: FlavorObstacle, first: FlavorObstacle) -> Iterator[str]:
    match one.kind:
        case ObstacleKind.TAINT:
            yield f"Its pods do not tolerate the taint of flavor {one.flavor}."
        case ObstacleKind.TOPOLOGY_REFUSED:
            yield f"Flavor {one.flavor} does not have the topology that its pods request."
        case ObstacleKind.AFFINITY:
            yield f"Its pods do not select the labels of flavor {one.flavor}."
        case ObstacleKind.NO_FREE_QUOTA | ObstacleKind.ABOVE_MAXIMUM:
            if (one.flavor, one.resource) != (first.flavor, first.resource):
                asked = amount(one.resource, one.asked)
                free = bare_amount(one.resource, one.free)
                yield f"Of flavor {one.flavor} it requests {asked}, and {are(free)} free."
        case _:
            pass


def not_covered(_: Explanation, cause: Cause) -> Iterator[str]:
    """The resources for which its queue has no quota."""
    missing = dict.fromkeys(
        one.resource for one in cause.obstacles if one.kind is ObstacleKind.NOT_COVERED
    )
    yield f"It requests {names(list(missing))}, and {cause.about} has no quota for it."


def flavors_refuse(_: Explanation, cause: Cause) -> Iterator[str]:
    """Why each flavor excludes its pods."""
    yield f"No flavor of {cause.about} matches its pods."
    for one in cause.obstacles:
        match one.kind:
            case ObstacleKind.TAINT:
                taint = "" if one.taint is None else f" {taint_text(one.taint)}"
                yield f"Its pods do not tolerate the taint{taint} of flavor {one.flavor}."
            case ObstacleKind.AFFINITY:
                yield (
                    f"Its node selector or affinity does not match the labels of flavor {one.flavor}."
                )
            case ObstacleKind.MISSING:
                yield f"ResourceFlavor {one.flavor} does not exist."
            case ObstacleKind.TOPOLOGY_REFUSED:
                yield f"Flavor {one.flavor} does not have the topology that its pods request."
            case _:
                pass


def volcano_limit(_: Explanation, cause: Cause) -> Iterator[str]:
    """The numbers of the limit of a queue of Volcano, and who uses it."""
    for one in cause.obstacles:
        asked, free = amount(one.resource, one.asked), bare_amount(one.resource, one.free)
        most, used = bare_amount(one.resource, one.most), bare_amount(one.resource, one.used)
        if cause.kind is CauseKind.VOLCANO_ABOVE_LIMIT:
            yield f"It requests {asked}, and Queue {cause.queue} can use at most {most}."
            yield _above(most, free)
        else:
            yield f"It requests {asked}, and {are(free)} free in Queue {cause.queue}."
            yield f"The limit of Queue {cause.queue} is {most}, and {used} of it are used or reserved."
        for holder in one.holders:
            yield from _volcano_holder(one, holder)


def _volcano_holder(one: FlavorObstacle, holder: QuotaHolder) -> Iterator[str]:
    used = bare_amount(one.resource, holder.used)
    more = f", {bare_amount(one.resource, holder.borrowed)} more than it deserves"
    above = more if holder.borrowed else ""
    yield f"Queue {holder.queue} uses {used}{above} ({names(holder.workloads)})."


def volcano_overcommit(_: Explanation, cause: Cause) -> Iterator[str]:
    """For how much more Volcano enqueues jobs."""
    for one in cause.obstacles:
        asked, free = amount(one.resource, one.asked), bare_amount(one.resource, one.free)
        most = bare_amount(one.resource, one.most)
        yield f"Its gang requests {asked}, and Volcano enqueues jobs for {free} more (overcommit)."
        yield f"In all, running and enqueued jobs may request {most}."
