"""Nodes of Kueue's pools that jobs of Volcano use: neither scheduler counts the pods of the other."""

from collections.abc import Iterable, Iterator

from policygen.core.quoting import some
from policygen.simulate.arrival import Arrival
from policygen.simulate.result import JobResult
from policygen.simulate.scene import Scene


def shared_nodes(
    scene: Scene, arrivals: Iterable[Arrival], results: Iterable[JobResult]
) -> Iterator[str]:
    """A sentence for each pool with a quota of Kueue on whose nodes jobs of Volcano run."""
    of_volcano = {it.name for it in arrivals if it.gang is not None}
    ran = [it for it in results if it.name in of_volcano]
    for pool in scene.pools:
        queued = any(scene.cluster.flavors.knows(it) for it in pool.flavors)
        jobs = [it.name for it in ran if pool.nodes & it.nodes.keys()] if queued else []
        if jobs:
            yield (
                f"Volcano runs {some(jobs, 'other job')} on nodes of pool {pool.name}, whose quotas are those of Kueue; "
                "the quotas of Kueue do not count these pods, and Volcano's queues do not count those of Kueue, so "
                "each can admit jobs that find no node"
            )
