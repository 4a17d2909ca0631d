"""What decides about jobs in a state, as pairs of a name and a text, so that two states can be compared."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from fractions import Fraction
from itertools import chain
from typing import NamedTuple

from msgspec import Struct

from policygen.core.amounts import readable
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.kueue import ClusterQueueView, CohortView, FairSharing, ResourceGroup
from policygen.simulate.scene import Scene

_EXISTS = ""
"""The field of an object itself."""
_NONE = "none"
_CORES = " cores"
_ROUNDED = Fraction(1, 100)
"""The most cores by which quotas differ only because shares of them are rounded."""


class StateFact(NamedTuple):
    """A value of a state."""

    subject: str
    """The object, or the pool: `ClusterQueue nlp.a100`."""
    field: str
    """Empty: whether the object exists."""
    gpus: bool = True
    """False for quota of other resources, which follows that of GPUs."""
    full: str = ""
    """The field with its GPU resource, used if the subject has several with this field."""


class StateChange(Struct, frozen=True):
    """A value that differs between two states."""

    subject: str
    field: str
    """Empty: the object exists only in one state."""
    before: str
    """Empty: the first state does not have it."""
    after: str


def state_facts(scene: Scene) -> Mapping[StateFact, str]:
    """Quotas, limits, weights, policies, nodes and priorities."""
    return dict(chain(_queues(scene), _volcano(scene), _nodes(scene), _others(scene)))


def state_changes(
    before: Mapping[StateFact, str], after: Mapping[StateFact, str]
) -> tuple[StateChange, ...]:
    """What differs. Of an object that only one state has, no other value is named."""
    differ = [it for it in {**before, **after} if before.get(it) != after.get(it)]
    alone = {it.subject for it in differ if it.field == _EXISTS}
    with_gpus = {it.subject for it in differ if it.gpus}
    resources = Counter((it.subject, it.field) for it in {**before, **after} if it.full)
    return tuple(
        StateChange(
            it.subject,
            it.full if resources[it.subject, it.field] > 1 else it.field,
            before.get(it, ""),
            after.get(it, ""),
        )
        for it in differ
        if (it.field == _EXISTS or it.subject not in alone)
        and (it.gpus or it.subject not in with_gpus)
        and not _is_rounded(before.get(it, ""), after.get(it, ""))
    )


def _is_rounded(before: str, after: str) -> bool:
    """Whether two amounts of cores differ only by rounding."""
    if not (before.endswith(_CORES) and after.endswith(_CORES)):
        return False
    old, new = (Fraction(it.removesuffix(_CORES).replace(",", "")) for it in (before, after))
    return abs(new - old) <= _ROUNDED


def _queues(scene: Scene) -> Iterator[tuple[StateFact, str]]:
    for queue in scene.cluster.cluster_queues:
        subject = f"ClusterQueue {queue.name}"
        yield from _of_both(subject, queue.fields)
        yield StateFact(subject, "cohort"), queue.fields.cohort_name or _NONE
        yield from _policies(subject, queue.fields)
    for cohort in scene.cluster.cohorts:
        subject = f"Cohort {cohort.name}"
        yield from _of_both(subject, cohort.fields)
        yield StateFact(subject, "parent"), cohort.fields.parent_name or _NONE
    for local in scene.cluster.local_queues:
        subject = f"LocalQueue {local.namespace}/{local.name}"
        yield StateFact(subject, _EXISTS), "exists"
        yield StateFact(subject, "clusterQueue"), local.fields.cluster_queue
        yield StateFact(subject, "stopPolicy"), local.fields.stop_policy


def _of_both(
    subject: str, fields: ClusterQueueView | CohortView
) -> Iterator[tuple[StateFact, str]]:
    """What ClusterQueues and Cohorts have."""
    yield StateFact(subject, _EXISTS), "exists"
    yield from _quotas(subject, fields.resource_groups)
    yield StateFact(subject, "weight"), f"{(fields.fair_sharing or FairSharing()).weight}"


def _quotas(subject: str, groups: Iterable[ResourceGroup]) -> Iterator[tuple[StateFact, str]]:
    for flavor in (it for group in groups for it in group.flavors):
        for quota in flavor.resources:
            gpus = is_one(quota.name)
            both = f"{quota.name} in {flavor.name}"
            what = flavor.name if gpus else both
            amounts = {"quota": quota.nominal_quota, "lendingLimit": quota.lending_limit}
            if quota.borrowing_limit is not None:
                amounts["limit"] = quota.nominal_quota + quota.borrowing_limit
            for word in ("quota", "limit", "lendingLimit"):
                amount = amounts.get(word)
                shown = _NONE if amount is None else readable(quota.name, amount)
                full = f"{word} of {both}" if gpus else ""
                yield StateFact(subject, f"{word} of {what}", gpus, full), shown


def _policies(subject: str, fields: ClusterQueueView) -> Iterator[tuple[StateFact, str]]:
    rules = fields.preemption
    borrowing = rules.borrow_within_cohort if rules is not None else None
    checks = fields.admission_checks_strategy
    values = {
        "queueingStrategy": fields.queueing_strategy,
        "stopPolicy": fields.stop_policy,
        "withinClusterQueue": rules.within_cluster_queue if rules is not None else "Never",
        "reclaimWithinCohort": rules.reclaim_within_cohort if rules is not None else "Never",
        "borrowWithinCohort": borrowing.policy if borrowing is not None else "Never",
        "whenCanBorrow": fields.flavor_fungibility.when_can_borrow,
        "whenCanPreempt": fields.flavor_fungibility.when_can_preempt,
        "admission checks": ", ".join(it.name for it in checks.admission_checks) if checks else "",
    }
    for name, value in values.items():
        yield StateFact(subject, name), value or _NONE


def _volcano(scene: Scene) -> Iterator[tuple[StateFact, str]]:
    for queue in scene.cluster.queues:
        subject, fields = f"Queue {queue.name}", queue.fields
        yield StateFact(subject, _EXISTS), "exists"
        for word, amounts in (
            ("guarantee", fields.guarantee.resource),
            ("deserved", fields.deserved),
            ("capability", fields.capability),
        ):
            for name, amount in amounts.items():
                gpus = is_one(name)
                full = f"{word} {name}"
                fact = (
                    StateFact(subject, word, full=full) if gpus else StateFact(subject, full, gpus)
                )
                yield fact, readable(name, Fraction(amount))
        yield StateFact(subject, "weight"), f"{fields.weight}"
        yield StateFact(subject, "parent"), fields.parent or _NONE
        yield StateFact(subject, "reclaimable"), f"{fields.reclaimable}".lower()


def _nodes(scene: Scene) -> Iterator[tuple[StateFact, str]]:
    for pool in scene.pools:
        subject = f"pool {pool.name}"
        yield StateFact(subject, _EXISTS), "exists"
        yield StateFact(subject, "nodes"), f"{len(pool.nodes)}"
        yield StateFact(subject, "GPUs"), f"{pool.gpus}"


def _others(scene: Scene) -> Iterator[tuple[StateFact, str]]:
    for kind in (scene.cluster.workload_priority_classes, scene.cluster.priority_classes):
        for it in kind:  # a class for jobs and one for pods can have the same name
            yield StateFact(f"{it.object.kind} {it.name}", "value"), f"{it.fields.value}"
    settings = scene.settings
    subject = "Configuration of Kueue"
    yield StateFact(subject, "fairSharing"), "on" if settings.fair_sharing else "off"
    yield StateFact(subject, "waitForPodsReady"), "on" if settings.waits_for_pods else "off"
