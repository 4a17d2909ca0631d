"""A ClusterQueue tries several flavors at once in a way that Kueue refuses."""

from collections.abc import Iterator, Mapping
from typing import Any

from policygen.core.finding import Hit, Path
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.kueue import ClusterQueue
from policygen.kubernetes.untyped import mapping
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.quotas import flavors
from policygen.lint.rule import Facts, Family, ObjectRule

_GATE = "ConcurrentAdmission"
_FLAVORS = 16
_PREFERRED = "TryPreferredFlavors"
_POLICY = "concurrentAdmissionPolicy"
_CONSTRAINTS: Path = (_POLICY, "migration", "constraints")


def check(facts: Facts) -> Iterator[Hit]:
    """Only with its feature gate; else the policy is not heeded, which `feature-gate-off` tells.

    Source: pkg/webhooks/clusterqueue_webhook.go, validateConcurrentAdmissionPolicy.
    """
    if not settings(facts).gate(_GATE):
        return
    for queue in facts.cluster.cluster_queues:
        policy = queue.it.concurrent_admission_policy
        if policy is None:
            continue
        names = {each.name for _, each in flavors(queue)}
        for path, said in (*_shape(queue.it), *_migration(mapping(policy, "migration"), names)):
            yield Hit(RULE, f"{queue} has a {_POLICY}, and {said}", queue.at.to("spec", *path))


def _shape(it: ClusterQueue) -> Iterator[tuple[Path, str]]:
    groups = it.resource_groups
    if len(groups) != 1:
        yield ("resourceGroups",), f"{len(groups)} resource groups, which is refused; write one"
    elif len(groups[0].flavors) > _FLAVORS:
        count = len(groups[0].flavors)
        yield (
            ("resourceGroups", 0, "flavors"),
            f"{count} flavors, which is refused; write {_FLAVORS} at most",
        )
    if it.queueing_strategy == "StrictFIFO":
        yield ("queueingStrategy",), "is StrictFIFO, which is refused; write BestEffortFIFO"


def _migration(migration: Mapping[str, Any], names: set[str]) -> Iterator[tuple[Path, str]]:
    constraints = migration.get("constraints")
    if not isinstance(constraints, dict):
        return
    last = constraints.get("lastAcceptableFlavorName")
    mode = migration.get("mode") or ""
    if isinstance(mode, str) and mode not in {"", _PREFERRED}:
        yield _CONSTRAINTS, f"constraints that go with mode {_PREFERRED} only; remove them"
    elif isinstance(last, str) and last not in names:
        yield (
            (*_CONSTRAINTS, "lastAcceptableFlavorName"),
            f'no flavor "{last}", which is refused; {suggest(last, names)}',
        )


RULE = ObjectRule(
    "concurrent-admission-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    judges=("ClusterQueue",),
    check=check,
    reads=("Configuration", "Deployment"),
)
