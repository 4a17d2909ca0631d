"""A workload names a LocalQueue that its namespace does not have."""

from collections.abc import Iterator

from policygen.finding import Severity
from policygen.lint.queued import KINDS, local_queues, queued
from policygen.lint.rule import Claim, Facts, Family, Need, Rule
from policygen.served.metadata import is_subdomain
from policygen.spec.nearest import suggest


def check(facts: Facts) -> Iterator[Claim]:
    """It stays suspended; only its Workload says why. What no queue can be called is refused.

    Source: pkg/cache/queue/manager.go; pkg/controller/jobframework/reconciler.go.
    """
    cluster = facts.cluster
    for each in cluster.derive(queued):
        workload = each.workload
        if not is_subdomain(each.name) or local_queues(cluster, each.name, workload.namespace):
            continue
        known = cluster.local_queues
        if known.knows(each.name, workload.namespace) or known.knows(each.name):
            continue  # there, but unreadable
        where = f"namespace {workload.namespace}" if workload.namespace else "any namespace"
        yield Claim(
            f'{workload} goes to LocalQueue "{each.name}", which is not in {where}; '
            f"{suggest(each.name, known.names(workload.namespace))}",
            each.at,
        )


RULE = Rule(
    "workload-without-local-queue",
    Severity.ERROR,
    Family.INERT,
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("LocalQueue", "ClusterQueue"),
)
