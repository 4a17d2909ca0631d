"""The places of hits on the pods of TrainJobs: in the TrainJob, or in its runtime."""

from collections.abc import Iterable, Iterator

from policygen.core.finding import At, Hit
from policygen.core.rule import Rule
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.train_jobs import TrainJobPods


def placed(cluster: Cluster, hits: tuple[Hit, ...]) -> tuple[Hit, ...]:
    """The hits at the fields that decide. Of several at one place in a runtime, only the first.

    Their edits are for places that no document has.
    """
    return tuple(_placed(cluster, hits)) if cluster.train_jobs else hits


def _placed(cluster: Cluster, hits: Iterable[Hit]) -> Iterator[Hit]:
    in_runtimes: set[tuple[Rule, At]] = set()
    for hit in hits:
        related = tuple(_written(cluster, at) for at in hit.related)
        at = _written(cluster, hit.at) if hit.at else None
        if at is None or hit.at is None or at == hit.at:
            yield hit if related == hit.related else hit._replace(related=related)
            continue
        if at.document != hit.at.document or _train_job(cluster, at) is None:
            if (hit.rule, at) in in_runtimes:
                continue
            in_runtimes.add((hit.rule, at))
        yield hit._replace(at=at, related=related, edits=())


def _written(cluster: Cluster, at: At) -> At:
    found = _train_job(cluster, at)
    return at if found is None else found.written(at)


def _train_job(cluster: Cluster, at: At) -> TrainJobPods | None:
    roots = (At(at.document, at.path[:length]) for length in range(len(at.path) + 1))
    return next((cluster.train_jobs[it] for it in roots if it in cluster.train_jobs), None)
