"""The places of hits on the pods of TrainJobs: in the TrainJob, or in its runtime."""

import re
from collections.abc import Iterable, Iterator

from policygen.core.finding import At, Hit
from policygen.core.rule import Rule
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.train_jobs import JOBS, TrainJobPods

_JOBS = re.compile(rf"\bspec\.{JOBS[-1]}[^\s;]*")
"""The path of a field of these pods in a message."""


def placed(cluster: Cluster, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits at the fields that decide. Of several TrainJobs, one place in a runtime is reported only for the first.

    Edits of such places are dropped, because no document has them.
    """
    return tuple(_placed(cluster, hits)) if cluster.train_jobs else hits


def _placed(cluster: Cluster, hits: Iterable[Hit]) -> Iterator[Hit]:
    jobs: dict[tuple[Rule, At], At] = {}
    for hit in hits:
        related = tuple(_written(cluster, at) for at in hit.related)
        job = _train_job(cluster, hit.at) if hit.at else None
        if hit.at is None or job is None:
            yield hit if related == hit.related else hit._replace(related=related)
            continue
        message = _JOBS.sub(rf"spec.template.\g<0> of {job.runtime}", hit.message)
        at = job.written(hit.at)
        edits = hit.edits if at == hit.at else ()
        if jobs.setdefault((hit.rule, at), job.object.at) == job.object.at:
            yield hit._replace(message=message, at=at, related=related, edits=edits)


def _written(cluster: Cluster, at: At) -> At:
    found = _train_job(cluster, at)
    return at if found is None else found.written(at)


def _train_job(cluster: Cluster, at: At) -> TrainJobPods | None:
    roots = (At(at.document, at.path[:length]) for length in range(len(at.path) + 1))
    return next((cluster.train_jobs[it] for it in roots if it in cluster.train_jobs), None)
