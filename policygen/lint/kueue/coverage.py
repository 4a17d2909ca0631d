"""The requests of queued workloads, and which of them their queue counts."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from fractions import Fraction
from functools import cache
from itertools import groupby

from msgspec import Struct

from policygen.core.versions import Version
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue import ClusterQueueView, ResourceGroup
from policygen.kubernetes.kueue_jobs import counted, in_default_queue, queued
from policygen.kubernetes.kueue_settings import Settings, first
from policygen.kubernetes.namespaces import selects
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import PodTemplate, Workload
from policygen.lint.core.resource_names import extended, usual
from policygen.lint.kueue.configuration import settings
from policygen.lint.rule import Facts

READS = ("LocalQueue", "ClusterQueue", "Configuration", "LimitRange", "RuntimeClass")
"""The kinds that `pod_requests` reads, besides workloads."""


class PodRequest(Struct, frozen=True, eq=False):
    """The requests of one pod template of a workload whose ClusterQueue is known."""

    workload: Workload
    queue: Entry[ClusterQueueView]
    template: PodTemplate
    written: Mapping[str, Fraction]
    """The amounts that Kueue counts for one pod, from the template alone."""
    counted: Mapping[str, Fraction]
    """The same, with the defaults of LimitRanges."""

    @property
    def groups(self) -> list[ResourceGroup]:
        """The resource groups of the queue that cover any of the counted amounts."""
        groups = self.queue.fields.resource_groups
        return [
            group for group in groups if not self.counted.keys().isdisjoint(group.covered_resources)
        ]


def covered(queue: Entry[ClusterQueueView]) -> set[str]:
    """The resources that a queue has quota for."""
    return {name for group in queue.fields.resource_groups for name in group.covered_resources}


def pod_requests(facts: Facts) -> tuple[PodRequest, ...]:
    """Every pod template for a known ClusterQueue, with the amounts that Kueue counts."""
    return facts.cluster.derive(_of_release(facts.target["kueue"]))


def requests_by_workload(facts: Facts) -> Iterator[list[PodRequest]]:
    """The same, grouped by workload."""
    for _, requests in groupby(pod_requests(facts), key=lambda request: id(request.workload)):
        yield list(requests)


@cache
def _of_release(target: Version) -> Callable[[Cluster], tuple[PodRequest, ...]]:
    """One function per release, because `cluster.derive` caches by function."""

    def make(cluster: Cluster) -> tuple[PodRequest, ...]:
        return tuple(_requests(cluster, first(cluster, target)))

    return make


def _requests(cluster: Cluster, rules: Settings) -> Iterator[PodRequest]:
    for job in (*cluster.derive(queued), *in_default_queue(rules)):
        if job.cluster_queue is None:
            continue
        for template in job.workload.templates:
            yield request_in(cluster, rules, job.workload, template, job.cluster_queue)


def request_in(
    cluster: Cluster,
    rules: Settings,
    workload: Workload,
    template: PodTemplate,
    queue: Entry[ClusterQueueView],
) -> PodRequest:
    """The amounts that Kueue counts for a pod template in a ClusterQueue."""
    requested = template.spec.requests
    defaulted = counted(cluster, workload, template)
    written = _above_zero(rules.charged(requested))
    same = defaulted is requested or defaulted == requested
    return PodRequest(
        workload,
        queue,
        template,
        written=written,
        counted=written if same else _above_zero(rules.charged(defaulted)),
    )


def uncovered(facts: Facts, request: PodRequest) -> list[str]:
    """The requested resources that the template's queue does not cover, sorted.

    Without a Configuration it is not known how Kueue counts a device. A device is therefore skipped
    if the queue covers another resource of the same vendor whose name is not a usual one.
    """
    known = covered(request.queue)
    others = [name for name in request.written if name not in known]
    if others and not facts.cluster.kueue_configurations.any:
        vendors = {vendor(name) for name in known if extended(name) and not usual(name)}
        others = [name for name in others if vendor(name) not in vendors]
    return sorted(others)


def refused(facts: Facts, request: PodRequest) -> Sequence[str]:
    """The same, if Kueue then does not admit the workload. `request` is one of `pod_requests`."""
    return facts.derive(_refused).get(request, ())


def _refused(facts: Facts) -> Mapping[PodRequest, Sequence[str]]:
    if settings(facts).ignores_undeclared:
        return {}
    return {it: found for it in pod_requests(facts) if (found := uncovered(facts, it))}


def refused_by_template(facts: Facts) -> Mapping[int, Sequence[str]]:
    """The resources that request-not-covered reports, by the identity of the template; use it with `facts.derive`."""
    if "request-not-covered" not in facts.run:
        return {}
    return {id(it.template): refused(facts, it) for it in pod_requests(facts)}


def namespace_refused(facts: Facts, request: PodRequest) -> bool:
    """Whether namespace-not-selected reports the LocalQueue: its ClusterQueue is that of other namespaces."""
    if "namespace-not-selected" not in facts.run:
        return False
    return (request.queue.name, request.workload.namespace) in facts.derive(_namespaces_refused)


def _namespaces_refused(facts: Facts) -> frozenset[tuple[str, str]]:
    """Pairs of a ClusterQueue and a namespace of `pod_requests` that its namespaceSelector does not select."""
    used = {(it.queue.name, it.workload.namespace): it.queue for it in pod_requests(facts)}
    return frozenset(
        (name, namespace)
        for (name, namespace), queue in used.items()
        if (selector := queue.fields.namespace_selector) is not None
        if selects(facts.cluster, selector, namespace) is False
    )


def vendor(resource: str) -> str:
    """The part of a name before the slash; empty for resources of Kubernetes, such as cpu."""
    return resource.rpartition("/")[0]


def _above_zero(amounts: Mapping[str, Fraction]) -> dict[str, Fraction]:
    return {name: amount for name, amount in amounts.items() if amount.numerator > 0}
