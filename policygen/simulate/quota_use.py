"""What teams, and the cohorts and queues above their queues, may use and use of the accelerators of pools."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

from policygen.kubernetes.accelerators import is_one
from policygen.simulate.kueue.quota import QuotaNode
from policygen.simulate.kueue.state import QueueState
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.result import TeamUse
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import Timeline
from policygen.simulate.usage import Meters
from policygen.simulate.volcano.build import volcano_queues
from policygen.simulate.volcano.state import VolcanoQueue
from policygen.spec import derived_names

Where = tuple[str, str]
"""A pool, and a resource of its accelerators."""
Limits = Mapping[tuple[str, str, str], tuple[int, int]]
"""Guarantee and limit by team or group, pool and resource."""
_ROOT = "root"
"""The queue of Volcano above all others."""
_MILLI = 1000
"""In which Volcano counts accelerators."""


class QuotaUses:
    """Counts what jobs of a timeline hold, by pool, team and group. A group is a cohort, or a queue above others."""

    def __init__(self, scene: Scene, timeline: Timeline) -> None:
        self._scene = scene
        self._timeline = timeline
        self._queues = {it.name: it for it in volcano_queues(scene.cluster)}
        """Of Volcano; also without a job in one of them."""
        self._of_flavor = {it: pool.name for pool in scene.pools for it in pool.flavors}
        self.meters = Meters()
        """By `(pool,)`, `(team, pool, resource)` and `("", group, pool, resource)`."""
        self._cohorts: dict[str, tuple[str, ...]] = {}
        """The groups above the queue of a LocalQueue."""
        amounts: dict[str, Counter[str]] = {it.name: Counter() for it in scene.pools}
        of_node = {it: pool.name for pool in scene.pools for it in pool.nodes}
        for node in scene.nodes:
            for name, amount in node.allocatable.items() if node.name in of_node else ():
                amounts[of_node[node.name]][name] += int(amount) if is_one(name) else 0
        self._of_nodes = {pool: +them for pool, them in amounts.items()}

    def add(self, now: float, job: JobRun, amounts: Mapping[Where, int], sign: int) -> None:
        """A job holds these amounts more, or less."""
        groups = list(self._groups(job))
        for (pool, resource), amount in amounts.items():
            change = sign * amount
            self.meters.add(now, (pool,), change)
            self.meters.add(now, (job.arrival.team, pool, resource), change)
            for group in groups:
                self.meters.add(now, ("", group, pool, resource), change)

    def teams(self, end: float) -> dict[str, tuple[TeamUse, ...]]:
        """The uses of each team that has a quota or used something."""
        quotas = self._scene.quotas.teams
        limits = {**self._of_queues(), **dict(self._of_volcano()), **quotas}
        keys = {it for it in self.meters.of if len(it) == 3} | limits.keys()
        return self._uses(keys, limits, end)

    def groups(self, end: float) -> dict[str, tuple[TeamUse, ...]]:
        """The uses of each cohort and queue between the teams' queues and the root, or the queue of a pool."""
        limits = {**self._of_cohorts(), **dict(self._of_volcano_groups())}
        stated = self._scene.quotas.groups
        limits |= {it: stated[it] for it in limits.keys() & stated.keys()}
        return self._uses(limits.keys(), limits, end, prefix=("",))

    def _uses(
        self,
        keys: Iterable[tuple[str, ...]],
        limits: Limits,
        end: float,
        prefix: tuple[str, ...] = (),
    ) -> dict[str, tuple[TeamUse, ...]]:
        order = {it.name: i for i, it in enumerate(self._scene.pools)}
        found: dict[str, list[TeamUse]] = {}
        known = (it for it in keys if it[1] in order)
        wanted = {  # by teams; they wait if they have no quota
            (job.arrival.team, resource)
            for job in self._timeline.jobs
            for batch in job.arrival.pods
            for resource in batch.spec.requests
        }
        for name, pool, resource in sorted(known, key=lambda it: (it[0], order[it[1]], it[2])):
            meter = self.meters.of.get((*prefix, name, pool, resource))
            guarantee, limit = limits.get((name, pool, resource), (0, 0))
            if meter is None and not limit and (name, resource) not in wanted:
                continue
            used = meter.until(end) if meter is not None else 0.0
            most = meter.most if meter is not None else 0
            found.setdefault(name, []).append(TeamUse(pool, guarantee, limit, used, most, resource))
        return {name: tuple(them) for name, them in found.items()}

    @property
    def _state(self) -> QueueState | None:
        kueue = self._timeline.kueue
        return kueue.state if kueue is not None else None

    def _groups(self, job: JobRun) -> Iterator[str]:
        state, queues = self._state, self._queues
        if job.workload is not None and state is not None:
            queue = job.workload.queue
            if queue not in self._cohorts:
                between = _between(state.queue_of(job.workload).node)
                self._cohorts[queue] = tuple(map(_title, between))
            yield from self._cohorts[queue]
        elif job.arrival.gang is not None:
            yield from (
                f"Queue {it.name}" for it in _above(queues.get(job.arrival.gang.queue), queues)
            )

    def _pairs(self, node: QuotaNode) -> Iterator[tuple[int, Where]]:
        state = self._state
        for pair, (flavor, resource) in enumerate(state.pairs if state is not None else ()):
            if is_one(resource) and pair in node.pairs:
                yield pair, (self._of_flavor.get(flavor, flavor), resource)

    def _of_queues(self) -> Limits:
        """The quotas of a team's queues. Together they use no more than the most that their cohort has."""
        state = self._state
        owned: dict[str, dict[str, QuotaNode]] = {}
        for name, queue in state.local_queues.items() if state is not None else ():
            if state is not None and queue in state.queues:
                team = self._scene.team(name.partition("/")[0])
                owned.setdefault(team, {})[queue] = state.queues[queue].node
        guarantees: Counter[tuple[str, str, str]] = Counter()
        limits: Counter[tuple[str, str, str]] = Counter()
        for team, queues in owned.items():
            most: dict[tuple[Where, int, QuotaNode], int] = {}
            for node in queues.values():
                for pair, where in self._pairs(node):
                    guarantees[team, *where] += node.nominal[pair]
                    key = where, pair, node.root()
                    most[key] = most.get(key, 0) + node.potential[pair]
            for (where, pair, root), amount in most.items():
                limits[team, *where] += min(amount, _nominal(root, pair))
        return {key: (guarantees[key], amount) for key, amount in limits.items()}

    def _of_cohorts(self) -> Limits:
        state = self._state
        found: dict[tuple[str, str, str], tuple[int, int]] = {}
        nodes = {it.node: None for it in state.queues.values()} if state is not None else {}
        for cohort in dict.fromkeys(one for it in nodes for one in _between(it)):
            for pair, where in self._pairs(cohort):
                key = _title(cohort), *where
                guarantee, limit = found.get(key, (0, 0))
                most = cohort.potential[pair] + sum(it.local[pair] for it in _below(cohort))
                found[key] = guarantee + _nominal(cohort, pair), limit + most
        return found

    def _of_volcano(self) -> Iterator[tuple[tuple[str, str, str], tuple[int, int]]]:
        queues = self._queues
        jobs = (it.arrival for it in self._timeline.jobs)
        used = {(it.team, it.gang.queue) for it in jobs if it.gang is not None}
        used.update(_rendered({*self._scene.teams.values()}, queues))
        found: dict[tuple[str, str, str], tuple[int, int]] = {}
        for team, name in sorted(used):
            for where, (guarantee, limit) in self._of_queue(queues.get(name), queues):
                old, more = found.get((team, *where), (0, 0))
                most = self._of_nodes[where[0]][where[1]]
                found[team, *where] = old + guarantee, min(more + limit, most)
        yield from found.items()

    def _of_volcano_groups(self) -> Iterator[tuple[tuple[str, str, str], tuple[int, int]]]:
        queues = self._queues
        parents = dict.fromkeys(one for it in queues.values() for one in _above(it, queues))
        for it in parents:
            for where, limits in (
                self._of_queue(it, queues) if it.name not in self._of_nodes else ()
            ):
                yield (f"Queue {it.name}", *where), limits

    def _of_queue(
        self, queue: VolcanoQueue | None, queues: Mapping[str, VolcanoQueue]
    ) -> Iterator[tuple[Where, tuple[int, int]]]:
        """What a queue of Volcano deserves, or else is guaranteed, and the lowest capability on its way to the root.

        A spec states other guarantees (`SpecQuotas`).
        """
        for pool in self._pools_of(queue):
            for resource, most in sorted(self._of_nodes[pool].items()):
                chain = () if queue is None else (queue, *_above(queue, queues, root=True))
                limits = [
                    it.capability[resource] // _MILLI
                    for it in chain
                    if it.capability is not None and resource in it.capability
                ]
                deserved = (
                    queue.deserved.get(resource, 0) or queue.guarantee.get(resource, 0)
                    if queue is not None
                    else 0
                )
                yield (pool, resource), (int(deserved // _MILLI), int(min([most, *limits])))

    def _pools_of(self, queue: VolcanoQueue | None) -> list[str]:
        """The pools of a queue. The name of a queue that a spec renders ends with its pool."""
        if queue is None:
            return []
        every = [it.name for it in self._scene.pools if self._of_nodes[it.name]]
        named = [it for it in every if f".{queue.name}".endswith(f".{it}")]
        return named or (every if len(every) == 1 else [])


def _rendered(
    teams: Iterable[str], queues: Mapping[str, VolcanoQueue]
) -> Iterator[tuple[str, str]]:
    """The teams of a spec, with the queues for jobs that it rendered for them, by their names."""
    parents = {it.parent for it in queues.values()}
    for it in queues.values():
        root = [it, *_above(it, queues)][-1].name
        for team in teams if it.name not in parents else ():
            if it.name in (
                derived_names.queue(leaf, root) for leaf in (team, derived_names.own_leaf(team))
            ):
                yield team, it.name


def _between(node: QuotaNode) -> list[QuotaNode]:
    """The cohorts above a queue, without the root."""
    return [it for it in node.ancestors() if it.parent is not None]


def _title(cohort: QuotaNode) -> str:
    return f"Cohort {cohort.name}"


def _below(node: QuotaNode) -> Iterator[QuotaNode]:
    for it in node.children:
        yield it
        yield from _below(it)


def _nominal(node: QuotaNode, pair: int) -> int:
    """The quotas of a node and all below it."""
    return node.nominal[pair] + sum(it.nominal[pair] for it in _below(node))


def _above(
    queue: VolcanoQueue | None, queues: Mapping[str, VolcanoQueue], *, root: bool = False
) -> list[VolcanoQueue]:
    """The queues above a queue of Volcano, from its parent on."""
    found: list[VolcanoQueue] = []
    while queue is not None:
        queue = queues.get(queue.parent)
        if queue is None or queue in found or (queue.name == _ROOT and not root):
            break
        found.append(queue)
    return found
