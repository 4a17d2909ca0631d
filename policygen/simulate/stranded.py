"""Why accelerators of a pool are free at a time of a simulation. The causes add up to all that are free.

Each free accelerator counts once. First come those of nodes that are of no use to pods which wait for a
node: of the reasons of all these pods, the one that is closest to a start counts for a node. Then come those
that jobs without quota wait for. No cause counts more than these pods, or jobs, request together.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policygen.kubernetes.accelerators import gpus_of, is_one
from policygen.kubernetes.scheduler_reasons import INSUFFICIENT
from policygen.simulate.kueue.queue import SimulatedQueue
from policygen.simulate.kueue.workload import PodSet, QueuedWorkload
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import Timeline
from policygen.simulate.useless_nodes import (
    GANG,
    HOST,
    NO_MATCH,
    ON_NODES,
    QUOTA,
    TOO_FEW,
    UselessNodes,
    alone,
)
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob, VolcanoTask
from policygen.simulate.wanted_pools import WantedPools, matches

ABSENT = "the autoscaler has not added their nodes"
UNWANTED = "no job waits for them"
CAUSES = (QUOTA, TOO_FEW, GANG, HOST, NO_MATCH, ABSENT, UNWANTED)
"""In the order of reports."""
_SHAPES = 8
"""The most kinds of waiting pods that are compared with nodes: those that request the fewest GPUs."""


_KEPT = 64
"""The most shapes of which the useless nodes are kept."""


class WaitingRequests:
    """What the workloads that wait in a queue request, by pool. It follows each change, so reading it is cheap."""

    def __init__(self, queue: SimulatedQueue, wanted: WantedPools) -> None:
        self.queue = queue
        self.requested: dict[str, int] = {}
        """The accelerators of all of them, by each pool that can give them."""
        self._wanted = wanted
        self._known: dict[int, tuple[int, frozenset[str], tuple[PodSet, ...]]] = {}
        """Of pod sets by their id: accelerators, and pools. The pod sets are kept, so that no others get their id."""
        for it, count in queue.pending.samples():
            self._follow(it, count)
        queue.pending.followers.append(self._follow)

    def _follow(self, workload: QueuedWorkload, count: int) -> None:
        """So many equal workloads begin to wait; negative: they do not wait any more."""
        known = self._known.get(id(workload.pod_sets))
        if known is None:
            sets = workload.pod_sets
            amount = sum(it.count * gpus_of(dict(it.requests)) for it in sets)
            known = amount, self._wanted.of_workload(self.queue, workload), sets
            self._known[id(sets)] = known
        amount, pools, _ = known
        for pool in pools if amount else ():
            self.requested[pool] = self.requested.get(pool, 0) + count * amount


class StrandedGpus:
    """Counts the free accelerators of pools by their cause, in the present state of a timeline."""

    def __init__(self, scene: Scene, timeline: Timeline, wanted: WantedPools) -> None:
        self._scene = scene
        self._timeline = timeline
        self._wanted = wanted
        self._resources = sorted(
            {name for it in scene.nodes for name in it.allocatable if is_one(name)}
        )
        state = timeline.kueue.state if timeline.kueue is not None else None
        self._waiting = _waiting_of_pools(
            state.queues.values() if state is not None else (), wanted
        )
        self._useless: dict[PodShape, UselessNodes] = {}
        """Of shapes that waited lately."""

    def now(self, used: Mapping[str, int]) -> Iterator[tuple[tuple[str, str], int]]:
        """The free accelerators by pool and cause. `used` has those in use by pool."""
        of_nodes, absent = self._on_nodes(), self._absent()
        for pool in self._scene.pools:
            name = pool.name
            left = free = pool.gpus - used.get(name, 0)
            found: dict[str, int] = {}
            if absent.get(name):
                found[ABSENT] = min(absent[name], free)
                left -= found[ABSENT]
            for cause, amount in of_nodes.get(name, {}).items():
                found[cause] = max(min(amount, left), 0)
                left -= found[cause]
            if left > 0:
                more = self._without_quota(name, left)
                found[QUOTA] = found.get(QUOTA, 0) + more
                left -= more
            if left > 0:
                found[UNWANTED] = left
            yield from (((name, cause), amount) for cause, amount in found.items() if amount)

    def _absent(self) -> dict[str, int]:
        """The accelerators of nodes that do not exist yet, by pool."""
        kube = self._timeline.kube
        found: dict[str, int] = {}
        if kube is None:
            return found
        for node in kube.absent:
            known = kube.nodes.all[node]
            pool = self._wanted.of_node.get(known.name, "")
            found[pool] = found.get(pool, 0) + gpus_of(known.allocatable)
        return found

    def _without_quota(self, pool: str, most: int) -> int:
        """How many accelerators jobs request that wait for quota of a pool, up to `most`."""
        found = 0
        for it in self._waiting.get(pool, ()):
            amount = it.requested.get(pool)
            if amount and not it.queue.inactive:
                found += amount
                if found >= most:
                    return most
        return found

    def _on_nodes(self) -> dict[str, dict[str, int]]:
        """By pool, why free accelerators of nodes are of no use to pods that wait for a node."""
        kube = self._timeline.kube
        if kube is None:
            return {}
        waiting = [*self._pods(), *self._gangs()]
        if not waiting:
            return {}
        best: dict[str, dict[int, int]] = {}
        """By pool and node, the index of the cause that comes closest to a start."""
        asked: Counter[str] = Counter()
        waiting.sort(key=lambda it: _requested(it[0]))
        for shape, count, missing in waiting[:_SHAPES]:
            if missing is None and (known := self._known(kube, shape)) is not None:
                known.follow()
                causes = {pool: of for pool, of in known.causes.items() if of}
                fitting, matched = known.fitting, known.matched
            else:
                refusals = kube.refusals(shape)
                causes = self._causes(kube, shape, missing, refusals)
                fitting = {
                    pool
                    for pool, of in causes.items()
                    if any(ON_NODES[it] != NO_MATCH for it in of.values())
                }
                matched = bool(fitting) or any(  # by nodes that are full
                    matches(why)
                    for node, why in refusals.items()
                    if kube.nodes.all[node].name in self._wanted.of_node
                )
            for pool in fitting if matched else causes:
                asked[pool] += count * _requested(shape)
                of_pool = best.setdefault(pool, {})
                for node, cause in causes[pool].items():
                    of_pool[node] = min(cause, of_pool.get(node, cause))
        return {
            pool: dict(_at_most(self._sums(kube, nodes), asked[pool]))
            for pool, nodes in best.items()
        }

    def _known(self, kube: KubeScheduler, shape: PodShape) -> UselessNodes | None:
        """The nodes that are of no use to a shape; None: other pods can keep it from nodes, too."""
        if not alone(kube, shape):
            return None
        found = self._useless.pop(shape, None)
        if found is None:
            found = UselessNodes(kube, shape, self._wanted.of_node)
        self._useless[shape] = found  # the last used comes last
        if len(self._useless) > _KEPT:
            del self._useless[next(iter(self._useless))]
        return found

    def _pods(self) -> Iterator[tuple[PodShape, int, int | None]]:
        """The pods that wait for kube-scheduler: their shape and number."""
        for shape, count in self._timeline.waiting:
            if _requested(shape):
                yield shape, count, None

    def _gangs(self) -> Iterator[tuple[PodShape, int, int | None]]:
        """The pods that wait for Volcano, and how many more of the job must start together."""
        volcano = self._timeline.volcano
        for job in volcano.state.jobs.values() if volcano is not None else ():
            missing = 0 if job.pending else max(job.min_available - job.ready_count, 0)
            for shape, count in Counter(it.shape for it in _pending(job)).items():
                if _requested(shape):
                    yield shape, count, missing

    def _causes(
        self,
        kube: KubeScheduler,
        shape: PodShape,
        missing: int | None,
        refusals: Mapping[int, tuple[str, ...]],
    ) -> dict[str, dict[int, int]]:
        """By pool, the nodes with free accelerators of the kind that pods request, and why they do not run there.

        A node with room is of no use to a gang of which more pods are `missing` than all nodes hold; otherwise
        its queue keeps it from the node. None: kube-scheduler uses the node next.
        """
        names = [name for name, _ in shape.requests if is_one(name)]
        found: dict[str, dict[int, int]] = {}
        roomy: dict[int, str] = {}
        room = 0
        for node, known in enumerate(kube.nodes.all):
            pool = self._wanted.of_node.get(known.name)
            if (
                pool is None
                or node in kube.absent
                or not any(kube.nodes.free(name)[node] > 0 for name in names)
            ):
                continue
            if node in refusals:
                found.setdefault(pool, {})[node] = ON_NODES.index(_cause(refusals[node]))
            else:
                roomy[node] = pool
                room += min(kube.nodes.free(name)[node] // shape.amount(name) for name in names)
        if missing is not None:
            cause = ON_NODES.index(GANG if missing > room else QUOTA)
            for node, pool in roomy.items():
                found.setdefault(pool, {})[node] = cause
        return found

    def _sums(self, kube: KubeScheduler, nodes: Mapping[int, int]) -> dict[str, int]:
        """The free accelerators of nodes by cause."""
        free = [kube.nodes.free(name) for name in self._resources]
        found: Counter[str] = Counter()
        for node, cause in nodes.items():
            found[ON_NODES[cause]] += sum(max(it[node], 0) for it in free)
        return {it: found[it] for it in ON_NODES if found[it]}


def _pending(job: VolcanoJob) -> Sequence[VolcanoTask]:
    return [*job.unborn, *job.by_status[TaskStatus.PENDING].values()]


def _requested(shape: PodShape) -> int:
    return gpus_of(dict(shape.requests))


def _cause(reasons: tuple[str, ...]) -> str:
    if not matches(reasons):
        return NO_MATCH
    short = [it.removeprefix(INSUFFICIENT) for it in reasons if it.startswith(INSUFFICIENT)]
    return TOO_FEW if any(map(is_one, short)) else HOST


def _at_most(amounts: Mapping[str, int], most: int) -> Iterator[tuple[str, int]]:
    """The amounts, until their sum is reached."""
    for name, amount in amounts.items():
        if most > 0:
            yield name, min(amount, most)
        most -= amount


def _waiting_of_pools(
    queues: Iterable[SimulatedQueue], wanted: WantedPools
) -> Mapping[str, list[WaitingRequests]]:
    """What waits in the queues with a quota of each pool."""
    found: dict[str, list[WaitingRequests]] = {}
    for queue in queues:
        names = {it.name for group in queue.groups for it in group.flavors}
        pools = {wanted.of_flavor[it] for it in names if it in wanted.of_flavor}
        if pools:
            waiting = WaitingRequests(queue, wanted)
            for pool in pools:
                found.setdefault(pool, []).append(waiting)
    return found
