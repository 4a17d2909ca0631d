"""The kinds that a rule reads, with their groups: what must be read of a cluster for it."""

from collections.abc import Iterable, Mapping
from functools import cache

from policygen.kubernetes.cluster import (
    KUEUE_CONFIG,
    SCHEDULER_CONFIG,
    VOLCANO_CONFIGURATION,
    Cluster,
)
from policygen.kubernetes.scopes import OF_THE_CLUSTER
from policygen.kubernetes.snapshot import CONFIG_MAP, NAMESPACE, NODE, GroupKind
from policygen.kubernetes.workloads import TEMPLATES
from policygen.lint.rule import Need, ObjectRule

WORKLOADS = frozenset(GroupKind(*it) for it in TEMPLATES)

FILES = {
    GroupKind(KUEUE_CONFIG, "Configuration"),
    GroupKind(SCHEDULER_CONFIG, "KubeSchedulerConfiguration"),
    GroupKind("", VOLCANO_CONFIGURATION),
}
"""Files of controllers. Servers do not have them as objects; ConfigMaps contain them."""

_NEEDS: Mapping[Need, frozenset[GroupKind]] = {
    Need.NODES: frozenset({NODE}),
    Need.KNOWN_NODES: frozenset({NODE}),
    Need.NAMESPACES: frozenset({NAMESPACE}),
    Need.WORKLOADS: WORKLOADS,
    Need.KUEUE_CONFIGURATION: frozenset({CONFIG_MAP}),
    Need.VOLCANO_CONFIGURATION: frozenset({CONFIG_MAP}),
    Need.SCHEDULER_CONFIGURATION: frozenset({CONFIG_MAP}),
}


_ONLY_COMPARED = GroupKind("", "Service")
"""A kind that `change-refused` compares with the cluster. No other rule needs it."""


OF_MANIFESTS = ("TrainJob", "ClusterTrainingRuntime", "TrainingRuntime")
"""Kinds that are not read from clusters, which have the JobSets of TrainJobs."""


@cache
def _by_name() -> dict[str, frozenset[GroupKind]]:
    """Kinds by name: those with a table, and those that a spec renders."""
    from policygen.drift.drift import GROUP_KINDS  # noqa: PLC0415 - only of clusters that are seen

    found: dict[str, set[GroupKind]] = {it: set() for it in OF_MANIFESTS}
    for kind in (*map(GroupKind._make, Cluster(()).tables), *GROUP_KINDS):
        found.setdefault(kind.kind, set()).add(CONFIG_MAP if kind in FILES else kind)
    return {name: frozenset(each) for name, each in found.items()}


@cache
def every() -> frozenset[GroupKind]:
    """All kinds that any rule can read."""
    return frozenset(it for each in _by_name().values() for it in each)


def is_of_files(rule: ObjectRule) -> bool:
    """Whether it judges files of controllers, which servers do not check."""
    return any(it.kind in rule.judges for it in FILES)


_OF_THE_CLUSTER = frozenset(kind for _, kind in OF_THE_CLUSTER)
"""Kinds that are not namespaced."""


def elsewhere(rule: ObjectRule) -> frozenset[GroupKind]:
    """Namespaced kinds that a rule looks up for objects that are not namespaced."""
    if rule.judges and _OF_THE_CLUSTER.isdisjoint(rule.judges):
        return frozenset()
    found = looked_up(rule) - (judged(rule) if rule.judges else frozenset())
    return frozenset(it for it in found if it.kind not in _OF_THE_CLUSTER and it != CONFIG_MAP)


@cache
def in_namespaces() -> frozenset[GroupKind]:
    """The namespaced kinds, and the Namespaces."""
    return frozenset(it for it in every() if it.kind not in _OF_THE_CLUSTER) | {NAMESPACE}


def judged(rule: ObjectRule) -> frozenset[GroupKind]:
    """The kinds that it reports about: all for a rule about any object, none for one about the cluster."""
    if rule.judges:
        return _named(rule.judges)
    compared = frozenset({_ONLY_COMPARED} if Need.STATE in rule.needs else ())
    return frozenset() if Need.SEEN in rule.needs else every() | compared


def looked_up(rule: ObjectRule) -> frozenset[GroupKind]:
    """The kinds of which it must know all objects: those that it looks up, or needs completely."""
    found = consulted(rule)
    return found | judged(rule) if rule.needs & {Need.WHOLE, Need.QUEUES} and rule.judges else found


def consulted(rule: ObjectRule) -> frozenset[GroupKind]:
    """The kinds that it reads to check other objects; files count as ConfigMaps."""
    return _named(rule.reads).union(*(_NEEDS.get(need, frozenset()) for need in rule.needs))


def to_read(rules: Iterable[ObjectRule]) -> frozenset[GroupKind]:
    """The kinds to read from a cluster for these rules."""
    return frozenset[GroupKind]().union(*(judged(rule) | looked_up(rule) for rule in rules))


def _named(names: Iterable[str]) -> frozenset[GroupKind]:
    return frozenset[GroupKind]().union(*(_by_name()[name] for name in names))
