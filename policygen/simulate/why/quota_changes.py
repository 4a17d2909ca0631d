"""Changes that can give a workload quota: of what it asks for, of quotas, limits and policies."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from policygen.core.finding import Path
from policygen.core.tolerations import tolerates
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.flavor_match import required_terms, selects_flavor
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_filters import HARD
from policygen.kubernetes.object import Object
from policygen.kubernetes.untyped import mapping
from policygen.simulate.kueue.amounts import UNLIMITED, counted, shown
from policygen.simulate.kueue.queue import ANY, LOWER_PRIORITY, NEVER, NEWER_EQUAL, SimulatedQueue
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.workload import PodSet
from policygen.simulate.why.causes import (
    Cause,
    CauseKind,
    FlavorObstacle,
    ObstacleKind,
    Shortage,
)
from policygen.simulate.why.changes import (
    AffinityRemoved,
    Change,
    FewestPodsChange,
    FieldChange,
    OwnChange,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    TolerationAdded,
    quota_path,
)
from policygen.simulate.why.situation import AskedWorkload, Settled
from policygen.simulate.why.spec_changes import SpecPolicy

Family = Sequence[Sequence[Change]]
"""Alternatives, the smallest first."""
_DONORS = 3
_GI, _CORE = 2**30, 1000
_SHORT = (ObstacleKind.NO_FREE_QUOTA, ObstacleKind.ABOVE_MAXIMUM)
Shortages = Mapping[tuple[str, str], Shortage]
"""By flavor and resource."""
_OTHERS = 1_000
"""So many units of what others request that wait are added in trials."""


def families(
    settled: Settled,
    cluster: Cluster,
    asked: AskedWorkload,
    cause: Cause,
    spec: SpecPolicy | None = None,
) -> Iterator[Family]:
    """Everything that could give the workload quota. With `spec`, its fields change, not those of its objects."""
    queue = settled.state.queues[cause.queue]
    workload = settled.entries[asked.name].workload if asked.name in settled.entries else None
    sets = workload.pod_sets if workload is not None else ()
    short = [it for it in cause.obstacles if it.kind in _SHORT]
    near = [it for it in short if it.flavor == short[0].flavor]
    yield from _fewer_pods(sets)
    yield from _smaller_pods(sets, near)
    yield from _other_flavors(cluster, asked, cause)
    if cause.kind in (CauseKind.TOPOLOGY_FULL, CauseKind.TOPOLOGY_TOO_SMALL):
        yield from _one_flavor(cluster, asked, cause)
    yield from _other_queues(cluster, asked)
    yield from _priorities(settled, cluster, asked, of_spec=spec is not None)
    wanted = _shortages(settled, near)
    if spec is not None and spec.renders("ClusterQueue", "", queue.name):
        if wanted:
            yield from spec.families(cluster, queue.name, wanted, _idle(settled, wanted))
        return
    if cause.kind is CauseKind.QUEUE_HEAD:
        yield [
            [
                _set(
                    _of(cluster, "ClusterQueue", queue.name),
                    ("spec", "queueingStrategy"),
                    "BestEffortFIFO",
                )
            ]
        ]
    if wanted:
        yield from _limits(settled, cluster, queue, wanted)
        yield from _lent(settled, cluster, queue, wanted)
        yield from _quotas(settled, cluster, queue, wanted)
    yield from _policies(cluster, queue)


def fewest_pods(sets: Iterable[PodSet]) -> Iterator[Family]:
    """Fewer pods with which a Job may run."""
    for it in sets:
        counts = range(it.fewest - 1, 0, -1)
        yield [[FewestPodsChange(it.name, it.fewest, n, it.count)] for n in counts]


def _fewer_pods(sets: Iterable[PodSet]) -> Iterator[Family]:
    for it in sets:
        if it.count > 1 and it.min_count is None:  # fewer than its minimum are not valid
            yield [[PodsChange(it.name, it.count, n)] for n in range(it.count - 1, 0, -1)]


def _smaller_pods(sets: Iterable[PodSet], near: Iterable[FlavorObstacle]) -> Iterator[Family]:
    """Each pod requests less of all that is short, in equal proportion."""
    near = list(near)
    for it in sets:
        amounts = dict(it.requests)
        names = dict.fromkeys(one.resource for one in near if one.pod_set == it.name)
        found = {name: amounts[name] for name in names if amounts.get(name, 0) > 1}
        if not found:
            continue
        first = min(found, key=lambda name: found[name] // _unit(name, found[name]))
        steps = max(found[first] // _unit(first, found[first]) - 1, 0)
        yield [
            [
                RequestChange(it.name, name, amount, _floor(name, amount, steps + 1 - i, steps + 1))
                for name, amount in found.items()
            ]
            for i in range(1, steps + 1)
        ]


def _floor(name: str, amount: int, part: int, of: int) -> int:
    unit = _unit(name, amount)
    return max(amount * part // of // unit * unit, unit)


def _unit(resource: str, amount: int) -> int:
    """The whole unit in which people change an amount of a resource."""
    if resource == "cpu":
        return _CORE if amount >= 2 * _CORE else 100
    if resource == "memory" or amount >= _GI:
        return _GI if amount >= 2 * _GI else 2**20
    return 1


def _other_flavors(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Family]:
    """The pods select, and tolerate, a flavor that refuses them now."""
    refused = [
        it for it in cause.obstacles if it.kind in (ObstacleKind.TAINT, ObstacleKind.AFFINITY)
    ]
    for name in dict.fromkeys(it.flavor for it in refused):
        entry = cluster.flavors.get(name)
        if entry is None:
            continue
        sets = {it.pod_set for it in refused if it.flavor == name}
        yield [[it for one in sorted(sets) for it in toward(asked, one, entry.fields)]]


def _one_flavor(cluster: Cluster, asked: AskedWorkload, cause: Cause) -> Iterator[Family]:
    """The pods select one flavor. Kueue chooses the first flavor with quota, also if its topology has no room."""
    entry = cluster.cluster_queues.get(cause.queue)
    for group in entry.fields.resource_groups if entry is not None else ():
        known = (cluster.flavors.get(it.name) for it in group.flavors)
        flavors = [it.fields.node_labels for it in known if it is not None]
        for labels in flavors:
            found: list[Change] = []
            for it in asked.fields.pod_sets:
                selector = it.template.spec.node_selector
                others = [one for one in flavors if selects_flavor(selector, (), one)]
                found += (
                    SelectorChange(it.name, key, None, value)
                    for key, value in sorted(labels.items())
                    if key not in selector and any(one.get(key) != value for one in others)
                )
            if found:
                yield [found]


def toward(asked: AskedWorkload, pod_set: str, flavor: ResourceFlavorView) -> Iterator[OwnChange]:
    """What makes a flavor match the pods of a pod set."""
    (spec,) = (it.template.spec for it in asked.fields.pod_sets if it.name == pod_set)
    selector = dict(spec.node_selector)
    for key, value in sorted(flavor.node_labels.items()):
        old = selector.get(key)
        if old is not None and old != value:
            yield SelectorChange(pod_set, key, old, value)
            selector[key] = value
    if not selects_flavor(selector, required_terms(spec), flavor.node_labels):
        yield AffinityRemoved(pod_set)
    for taint in flavor.node_taints:
        allowed = (*spec.tolerations, *flavor.tolerations)
        if taint.effect in HARD and not any(tolerates(it, taint) for it in allowed):
            operator = "Equal" if taint.value else "Exists"
            one = TolerationView(taint.key, operator, taint.value, taint.effect)
            yield TolerationAdded(pod_set, one)


def _other_queues(cluster: Cluster, asked: AskedWorkload) -> Iterator[Family]:
    for it in cluster.local_queues.by_namespace.get(asked.namespace, ()):
        if it.name != asked.fields.queue_name:
            yield [[QueueChange(asked.fields.queue_name, it.name)]]


def _priorities(
    settled: Settled, cluster: Cluster, asked: AskedWorkload, *, of_spec: bool
) -> Iterator[Family]:
    own = asked.fields.priority
    classes = sorted(
        (it.fields.value, it.name)
        for it in cluster.workload_priority_classes
        if it.fields.value > own
    )
    if classes:
        yield [[PriorityChange(own, value, name)] for value, name in classes]
        return
    highest = max(
        (it.priority for queue in settled.state.queues.values() for it in queue.workloads.values()),
        default=own,
    )
    waiting = (it.workload.priority for it in settled.entries.values())
    yield [[PriorityChange(own, max(highest, own, *waiting) + 1, "", of_spec=of_spec)]]


def _shortages(settled: Settled, near: Iterable[FlavorObstacle]) -> Shortages:
    found: dict[tuple[str, str], Shortage] = {}
    for it in near:
        key = it.flavor, it.resource
        asked = max(it.asked, found[key].asked if key in found else 0)
        unit = _unit(it.resource, asked)
        others = min(_waiting(settled, it.resource), _OTHERS * unit)
        found[key] = Shortage(asked, asked - it.free, 2 * asked + others)
    return found


def _waiting(settled: Settled, resource: str) -> int:
    """What all workloads request that wait."""
    return sum(
        dict(one.requests).get(resource, 0) * one.count
        for queue in settled.state.queues.values()
        for it in (*queue.pending.waiting(), *queue.pending.inadmissible.values())
        for one in it.pod_sets
    )


def _idle(settled: Settled, wanted: Shortages) -> dict[str, int]:
    """What each queue does not use of its quota of the first pair."""
    pair = settled.state.pairs.index(next(iter(wanted)))
    queues = settled.state.queues.values()
    return {it.name: it.node.nominal[pair] - it.node.usage[pair] for it in queues}


def _limits(
    settled: Settled, cluster: Cluster, queue: SimulatedQueue, wanted: Shortages
) -> Iterator[Family]:
    """Higher borrowing limits of the queue, of one of its cohorts, or of all."""
    pairs = settled.state.pairs
    nodes = (queue.node, *queue.node.ancestors())
    limited = [
        (node, pair)
        for node in nodes
        for pair in map(pairs.index, wanted)
        if node.borrowing_limit[pair] is not None
    ]
    for node in dict.fromkeys(it for it, _ in limited):
        mine = [pair for it, pair in limited if it is node]
        yield _raised(cluster, [(node, it) for it in mine], pairs, wanted, "borrowingLimit")
    if len({it for it, _ in limited}) > 1:
        yield _raised(cluster, limited, pairs, wanted, "borrowingLimit")


def _lent(
    settled: Settled, cluster: Cluster, queue: SimulatedQueue, wanted: Shortages
) -> Iterator[Family]:
    """Higher lending limits of the nodes beside the path to the root."""
    pairs = settled.state.pairs
    path = {queue.node, *queue.node.ancestors()}
    for cohort in queue.node.ancestors():
        for child in cohort.children:
            mine = [
                (child, pair)
                for pair in map(pairs.index, wanted)
                if child not in path
                and child.lending_limit[pair] is not None
                and child.local_available(pair) > 0
            ]
            if mine:
                yield _raised(cluster, mine, pairs, wanted, "lendingLimit")


def _raised(
    cluster: Cluster,
    nodes: Sequence[tuple[QuotaNode, int]],
    pairs: Sequence[tuple[str, str]],
    wanted: Shortages,
    field: str,
) -> Family:
    """Higher limits in steps, up to all that is asked."""
    return [
        [
            it
            for node, pair in nodes
            for it in _quota(
                cluster, node, pairs[pair], field, _part(wanted, pairs[pair], i, steps)
            )
        ]
        for steps in (_steps(wanted),)
        for i in range(1, steps + 1)
    ]


def _quotas(
    settled: Settled, cluster: Cluster, queue: SimulatedQueue, wanted: Shortages
) -> Iterator[Family]:
    """More quota: moved from a queue of its tree that uses its own the least, or from a cohort, or new."""
    state = settled.state
    first = state.pairs.index(next(iter(wanted)))
    others = sorted(
        (it for it in queue.node.root().queues() if it is not queue.node and it.nominal[first]),
        key=lambda it: (it.usage[first] - it.nominal[first], it.name),
    )
    steps = _steps(wanted)
    if queue.node.parent is not None:
        cohorts = (it for it in queue.node.ancestors() if it.nominal[first])
        for donor in (*others[:_DONORS], *cohorts):
            found = []
            for i in range(1, steps + 1):
                amounts = {it: _part(wanted, it, i, steps) for it in wanted}
                index = state.pairs.index
                if any(donor.nominal[index(it)] < amount for it, amount in amounts.items()):
                    break
                found.append(
                    [
                        it
                        for pair, amount in amounts.items()
                        for it in (
                            *_quota(cluster, donor, pair, "nominalQuota", -amount),
                            *_quota(cluster, queue.node, pair, "nominalQuota", amount),
                        )
                    ]
                )
            yield found
    yield [
        [
            it
            for pair in wanted
            for it in _quota(
                cluster, queue.node, pair, "nominalQuota", _part(wanted, pair, i, steps)
            )
        ]
        for i in range(1, steps + 1)
    ]


def _steps(wanted: Shortages) -> int:
    """The number of steps to the most that is added."""
    (_, resource), it = _least(wanted)
    return -(-it.most // _unit(resource, it.asked))


def _least(wanted: Shortages) -> tuple[tuple[str, str], Shortage]:
    """The pair that needs the fewest steps, usually GPUs."""
    return min(wanted.items(), key=lambda it: it[1].asked // _unit(it[0][1], it[1].asked))


def _part(wanted: Shortages, pair: tuple[str, str], i: int, steps: int) -> int:
    """What step i adds of a resource, in whole units; the last step adds the most."""
    own = wanted[pair]
    _, least = _least(wanted)
    unit = _unit(pair[1], own.asked)
    first = least.most * i // steps
    if first <= least.missing:
        amount = -(-own.missing * first // max(least.missing, 1))
    else:
        more = max(least.most - least.missing, 1)
        amount = own.missing - (own.missing - own.most) * (first - least.missing) // more
    return -(-amount // unit) * unit


def _quota(
    cluster: Cluster, node: QuotaNode, pair: tuple[str, str], field: str, more: int
) -> Iterator[Change]:
    """More of a quota or limit of a queue or cohort, if it lists the flavor and resource."""
    object_ = _of(cluster, "ClusterQueue" if node.is_queue else "Cohort", node.name)
    path = quota_path(object_, *pair) if object_ is not None else None
    if object_ is None or path is None or not more:
        return
    written = _at(object_.data, path)
    old = _current(cluster, object_, pair, field)
    if old is None or old >= UNLIMITED:
        return
    after = shown(pair[1], old + more)
    yield FieldChange(
        object_.kind, "", object_.name, (*path, field), written.get(field), after,
        f"{pair[1]} in flavor {pair[0]}",
    )  # fmt: skip


def _current(cluster: Cluster, object_: Object, pair: tuple[str, str], field: str) -> int | None:
    table = cluster.cluster_queues if object_.kind == "ClusterQueue" else cluster.cohorts
    entry = table.get(object_.name)
    if entry is None:
        return None
    for group in entry.fields.resource_groups:
        for flavor in group.flavors:
            for it in flavor.resources:
                if (flavor.name, it.name) == pair:
                    found = {
                        "nominalQuota": it.nominal_quota,
                        "borrowingLimit": it.borrowing_limit,
                        "lendingLimit": it.lending_limit,
                    }[field]
                    return None if found is None else counted(it.name, found)
    return None


def _at(data: Any, path: Path) -> Mapping[str, Any]:
    for key in path:
        data = data[key]
    return mapping(data)


def _policies(cluster: Cluster, queue: SimulatedQueue) -> Iterator[Family]:
    """Policies that let it preempt more."""
    object_ = _of(cluster, "ClusterQueue", queue.name)
    path = ("spec", "preemption")
    within = [NEVER, LOWER_PRIORITY, NEWER_EQUAL]
    more = within[within.index(queue.within_cluster_queue) + 1 :]
    yield [[_set(object_, (*path, "withinClusterQueue"), it)] for it in more]
    if queue.node.parent is None:
        return
    reclaim = [it for it in (LOWER_PRIORITY, ANY) if it != queue.reclaim_within_cohort]
    if queue.reclaim_within_cohort != ANY:
        yield [[_set(object_, (*path, "reclaimWithinCohort"), it)] for it in reclaim]
    if queue.borrow_within_cohort == NEVER:
        borrow = _set(object_, (*path, "borrowWithinCohort"), {"policy": LOWER_PRIORITY})
        if queue.reclaim_within_cohort == NEVER:
            yield [[_set(object_, (*path, "reclaimWithinCohort"), ANY), borrow]]
        else:
            yield [[borrow]]


def _of(cluster: Cluster, kind: str, name: str) -> Object | None:
    return next((it for it in cluster.objects if it.kind == kind and it.name == name), None)


def _set(object_: Object | None, path: Path, after: Any) -> FieldChange:
    """Another value of a field of an object that exists."""
    assert object_ is not None  # noqa: S101 - the state was built from it
    before: Any = object_.data
    for key in path:
        before = before.get(key) if isinstance(before, dict) else None
    return FieldChange(object_.kind, object_.namespace, object_.name, path, before, after)
