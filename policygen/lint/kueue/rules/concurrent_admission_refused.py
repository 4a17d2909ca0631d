"""A ClusterQueue has a concurrentAdmissionPolicy that Kueue refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Fault, Path
from policygen.core.suggest import suggest
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import mapping
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity

_GATE = "ConcurrentAdmission"
_FLAVORS = 16
_PREFERRED = "TryPreferredFlavors"
_POLICY = "concurrentAdmissionPolicy"
_CONSTRAINTS: Path = (_POLICY, "migration", "constraints")


def check(facts: Facts) -> Hits:
    """Checked only if its feature gate is on; otherwise `feature-gate-off` reports the policy.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateConcurrentAdmissionPolicy.
    """
    if not settings(facts).gate(_GATE):
        return
    for queue in facts.cluster.cluster_queues:
        policy = queue.fields.concurrent_admission_policy
        if policy is None:
            continue
        names = {flavor.name for _, flavor in flavors(queue)}
        migration = mapping(policy, "migration")
        for path, message in (*_shape(queue), *_migration(queue, migration, names)):
            yield Hit(RULE, message, queue.at.to("spec", *path))


def _shape(queue: Entry[ClusterQueueView]) -> Iterator[Fault]:
    """Faults of the queue itself: paths below `spec`, and messages."""
    groups = queue.fields.resource_groups
    if len(groups) != 1:
        yield (
            ("resourceGroups",),
            f"concurrentAdmissionPolicy requires one resource group, but {queue} has {len(groups)}; write one group",
        )
    elif len(groups[0].flavors) > _FLAVORS:
        count = len(groups[0].flavors)
        yield (
            ("resourceGroups", 0, "flavors"),
            (
                f"concurrentAdmissionPolicy accepts at most {_FLAVORS} flavors, but {queue} has {count}; remove some "
                "of them"
            ),
        )
    if queue.fields.queueing_strategy == "StrictFIFO":
        yield (
            ("queueingStrategy",),
            f"concurrentAdmissionPolicy of {queue} does not accept queueingStrategy StrictFIFO; write BestEffortFIFO",
        )


def _migration(
    queue: Entry[ClusterQueueView], migration: Mapping[str, Any], names: set[str]
) -> Iterator[Fault]:
    """Faults of the policy's migration, given the names of the queue's flavors."""
    constraints = migration.get("constraints")
    if not isinstance(constraints, dict):
        return
    last = constraints.get("lastAcceptableFlavorName")
    mode = migration.get("mode") or ""
    if isinstance(mode, str) and mode not in {"", _PREFERRED}:
        yield (
            _CONSTRAINTS,
            (
                f"concurrentAdmissionPolicy of {queue} accepts constraints only with mode {_PREFERRED}; remove the "
                "constraints"
            ),
        )
    elif isinstance(last, str) and last not in names:
        yield (
            (*_CONSTRAINTS, "lastAcceptableFlavorName"),
            (
                f'{queue} has lastAcceptableFlavorName "{last}", which is not a flavor of the queue; '
                f"{suggest(last, names, 'flavor')}"
            ),
        )


RULE = ObjectRule(
    "concurrent-admission-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Change the field that the message names to a value that concurrentAdmissionPolicy accepts.",
    judges=("ClusterQueue",),
    check=check,
    reads=("Configuration", "Deployment"),
)
