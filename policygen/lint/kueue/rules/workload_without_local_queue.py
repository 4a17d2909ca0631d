"""A workload names a LocalQueue that its namespace does not have."""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_subdomain
from policygen.core.finding import At, Hit
from policygen.core.names import LOCAL_QUEUE
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.workloads import KINDS
from policygen.lint.kueue.queue_names import BY_POD, local_queues, queued
from policygen.lint.rule import Facts, Family, Need, ObjectRule

_OPAQUE = {
    ("trainer.kubeflow.org", "TrainJob"),
    ("workload.codeflare.dev", "AppWrapper"),
    ("sparkoperator.k8s.io", "SparkApplication"),
}
"""Kinds that Kueue manages and of whose pods no rule knows; of clusters they are not read."""


def check(facts: Facts) -> Iterator[Hit]:
    """It stays suspended; only its Workload says why. What no queue can be called is refused.

    Source: pkg/cache/queue/manager.go; pkg/controller/jobframework/reconciler.go.
    """
    cluster = facts.cluster
    known = cluster.local_queues
    for who, name, namespace, at in _sent(cluster):
        if not is_subdomain(name) or local_queues(cluster, name, namespace):
            continue
        if known.knows(name, namespace) or known.knows(name):
            continue  # there, but unreadable
        where = f"namespace {namespace}" if namespace else "any namespace"
        yield Hit(
            RULE,
            f'{who} goes to LocalQueue "{name}", which is not in {where}; '
            f"{suggest(name, known.names(namespace))}",
            at,
        )


def _sent(cluster: Cluster) -> Iterator[tuple[str, str, str, At]]:
    """Each object that names a LocalQueue, the name, its namespace, and where the name stands."""
    for each in cluster.derive(queued):
        yield str(each.workload), each.name, each.workload.namespace, each.at
    for workload in cluster.workloads:
        if (workload.object.group, workload.kind) in BY_POD:
            for template in workload.templates:
                name = template.labels.get(LOCAL_QUEUE)
                if name:
                    at = template.at.to("metadata", "labels", LOCAL_QUEUE)
                    yield str(workload), name, workload.namespace, at
    for it in cluster.objects:
        name = it.labels.get(LOCAL_QUEUE) if (it.group, it.kind) in _OPAQUE else None
        if name:
            yield str(it), name, it.namespace, it.at.to("metadata", "labels", LOCAL_QUEUE)


RULE = ObjectRule(
    "workload-without-local-queue",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    judges=(*KINDS, "LocalQueue"),  # beside which there may be opaque kinds alone
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("LocalQueue", "ClusterQueue"),
)
