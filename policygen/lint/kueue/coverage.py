"""What workloads ask of their queue, and what of it the queue counts."""

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from functools import cache

from msgspec import Struct

from policygen.core.versions import Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueue
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import Template
from policygen.lint.core.resource_names import extended, usual
from policygen.lint.kueue.configuration import Settings, first
from policygen.lint.kueue.queue_names import Queued, counted, queued
from policygen.lint.rule import Facts


class Asked(Struct, frozen=True, eq=False):
    """One pod template of a workload whose queue is known."""

    by: Queued
    queue: Entry[ClusterQueue]
    template: Template
    written: Mapping[str, Fraction]
    """What one of its pods counts as, by what stands in the template."""
    counted: Mapping[str, Fraction]
    """The same with the defaults of LimitRanges."""


def covered(queue: Entry[ClusterQueue]) -> set[str]:
    """The resources that a queue has quota for."""
    return {name for group in queue.it.resource_groups for name in group.covered_resources}


def asked(facts: Facts) -> tuple[Asked, ...]:
    """Every template that goes to a known ClusterQueue, as the Configuration counts it."""
    return facts.cluster.derive(_asker(facts.target["kueue"]))


def asked_together(facts: Facts) -> Iterator[list[Asked]]:
    """The same, all of a workload at a time."""
    found: dict[int, list[Asked]] = {}
    for each in asked(facts):
        found.setdefault(id(each.by), []).append(each)
    yield from found.values()


@cache
def _asker(target: Version) -> Callable[[Cluster], tuple[Asked, ...]]:
    """One function for each release, since what is derived is kept by its function."""

    def make(cluster: Cluster) -> tuple[Asked, ...]:
        return tuple(_asked(cluster, first(cluster, target)))

    return make


def _asked(cluster: Cluster, rules: Settings) -> Iterator[Asked]:
    for each in cluster.derive(queued):
        if each.cluster_queue is None:
            continue
        for template in each.workload.templates:
            asked = template.spec.requests
            defaulted = counted(cluster, template, each.workload.namespace)
            written = _some(rules.charged(asked))
            yield Asked(
                each,
                each.cluster_queue,
                template,
                written=written,
                counted=written if defaulted == asked else _some(rules.charged(defaulted)),
            )


def uncovered(facts: Facts, it: Asked) -> list[str]:
    """What a template asks for that its queue does not cover.

    Without a Configuration it is not known what a device's resource is counted as, so one is
    passed over if its queue covers another name of the same vendor that no node is known for.
    """
    known = covered(it.queue)
    vendors: set[str] = set()
    if not facts.cluster.kueue_configurations.any:
        vendors = {_vendor(name) for name in known if extended(name) and not usual(name)}
    return sorted(name for name in it.written if name not in known and _vendor(name) not in vendors)


def _vendor(resource: str) -> str:
    return resource.rpartition("/")[0]


def _some(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {name: amount for name, amount in amounts.items() if amount.numerator > 0}
