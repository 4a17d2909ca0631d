"""The queues of Volcano that a job may use: Volcano itself lets each job name any queue."""

from collections.abc import Iterable, Iterator

from policygen.kubernetes.schedulers import VOLCANO
from policygen.plan import pool, tree
from policygen.plan.tree import TeamNode, Tree
from policygen.simulate.arrival import Arrival
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.scene import Scene
from policygen.simulate.volcano.capacity import ROOT
from policygen.spec.types import Spec


def queue_leaves(spec: Spec) -> Iterator[tuple[Tree, TeamNode]]:
    """The queues that a spec renders for jobs."""
    facts, _ = pool.resolve(spec)
    trees, _ = tree.build(spec, facts)
    for it in trees:
        if it.scheduler == VOLCANO:
            yield from ((it, leaf) for leaf in it.leaves)


def team_queues(scene: Scene, jobs: Iterable[JobRun], arrival: Arrival) -> list[str]:
    """The queues without children that no other team has, and not only jobs of other namespaces use."""
    leaves = queue_leaves(scene.spec) if scene.spec is not None else ()
    teams = {it.name_of(leaf): leaf.team.name for it, leaf in leaves}
    namespace = arrival.name.partition("/")[0]
    users: dict[str, set[str]] = {}
    for it in jobs:
        if it.arrival.gang is not None:
            users.setdefault(it.arrival.gang.queue, set()).add(it.arrival.name.partition("/")[0])
    parents = {it.fields.parent for it in scene.cluster.queues}
    return [
        it.name
        for it in scene.cluster.queues
        if it.name not in (ROOT, *parents)
        and (
            teams[it.name] == scene.team(namespace)
            if it.name in teams
            else namespace in users.get(it.name, {namespace})
        )
    ]
