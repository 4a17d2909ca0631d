"""Nodes that an autoscaler adds for waiting pods, and removes when they are empty.

It decides as the Cluster Autoscaler does: a node is added if the filters of kube-scheduler let a waiting pod run
on it, and pods that fit on nodes which are on their way need no other ones.
"""

from collections.abc import Iterable, Iterator

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.growing_pools import GrowingPool
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.over_time.agenda import Agenda, AgendaEntry, TimelineEvent
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.node_queue import NodeQueue
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.scheduler import VolcanoScheduler


class _Pool(Struct, eq=False):
    of: GrowingPool
    absent: list[int]
    """The nodes that do not exist, in the order in which they are added."""
    exist: list[int]
    coming: list[int]
    most: int
    """The most nodes that existed at once."""


class NodeGrowthRuns:
    """Adds and removes the nodes of growing pools."""

    def __init__(  # noqa: PLR0913 - all that knows nodes
        self,
        pools: Iterable[GrowingPool],
        kube: KubeScheduler,
        *,
        kueue: Scheduler | None,
        volcano: VolcanoScheduler | None,
        queue: NodeQueue,
        agenda: Agenda,
        bindings: NodeBindings,
    ) -> None:
        self._kube, self._kueue, self._volcano = kube, kueue, volcano
        self._queue, self._agenda, self._bindings = queue, agenda, bindings
        self._pools = []
        self._of_node: dict[int, _Pool] = {}
        self._empty: dict[int, float] = {}
        """Since when nodes that exist have no pod."""
        self._due: dict[int, float] = {}
        """When the nodes exist that are on their way."""
        for it in pools:
            nodes = [kube.nodes.index[name] for name in it.nodes]
            exist, missing = nodes[: it.begins], nodes[it.begins :]
            coming = missing[: len(it.coming)]
            pool = _Pool(it, sorted(missing[len(coming) :]), exist, coming, it.begins)
            self._pools.append(pool)
            self._of_node |= dict.fromkeys(nodes, pool)
            for node in missing:
                self._leaves(node)
            for node, after in zip(coming, it.coming, strict=True):
                self._comes_later(node, after)

    @property
    def slowest(self) -> float:
        """The longest time that a node takes to come."""
        return max((it.of.growth.delay for it in self._pools), default=0.0)

    @property
    def most(self) -> dict[str, int]:
        """The most nodes of each pool that existed at once."""
        return {it.of.name: it.most for it in self._pools}

    def since(self, now: float) -> tuple[GrowingPool, ...]:
        """The pools with the nodes that exist at a time after the last event, and those that are on their way."""
        return tuple(self._since(it, now) for it in self._pools)

    def _since(self, pool: _Pool, now: float) -> GrowingPool:
        coming = sorted(pool.coming, key=lambda it: (self._due[it], it))
        names = [self._kube.nodes.all[it].name for it in (*pool.exist, *coming, *pool.absent)]
        left = tuple(self._due[it] - now for it in coming)
        return replace(pool.of, nodes=tuple(names), begins=len(pool.exist), coming=left)

    def happens(self, event: AgendaEntry) -> None:
        """A node comes, or was empty for so long that it is removed."""
        node, pool = event.job, self._of_node[event.job]
        growth = pool.of.growth
        if event.what is TimelineEvent.NODE:
            pool.coming.remove(node)
            pool.exist.append(node)
            pool.most = max(pool.most, len(pool.exist))
            self._comes(node)
            for it in self._too_long(pool):
                self._agenda.add(self._agenda.now, TimelineEvent.IDLE, it)
        elif node in self._too_long(pool) and len(pool.exist) > growth.least:
            del self._empty[node]
            pool.exist.remove(node)
            pool.absent.append(node)
            pool.absent.sort()
            self._leaves(node)

    def decide(self) -> None:
        """Add nodes for pods that wait, and note which nodes are empty."""
        for pool in self._pools:
            for node in pool.exist:
                if self._kube.nodes.pods[node]:
                    self._empty.pop(node, None)
                elif node not in self._empty:
                    self._empty[node] = self._agenda.now
                    self._agenda.later(pool.of.growth.idle, TimelineEvent.IDLE, node, "", 0)
        if any(it.absent for it in self._pools) and (waiting := [*self._queue.in_order()]):
            for pool, node in self._wanted(waiting):
                pool.absent.remove(node)
                pool.coming.append(node)
                self._comes_later(node, pool.of.growth.delay)

    def _comes_later(self, node: int, after: float) -> None:
        self._due[node] = self._agenda.now + after
        self._agenda.later(after, TimelineEvent.NODE, node, "", 0)

    def _wanted(self, waiting: Iterable[tuple[PodShape, int]]) -> list[tuple[_Pool, int]]:
        """The nodes to add, with their pools, by trying where the pods would run."""
        left = [*waiting]
        placed: list[tuple[PodShape, int]] = []
        opened = [node for pool in self._pools for node in pool.coming]
        for node in opened:
            self._kube.exists(node)
        left = self._fill(left, placed)
        wanted: list[tuple[_Pool, int]] = []
        for pool in self._pools:
            for node in pool.absent:
                self._kube.exists(node)
                opened.append(node)
                before = len(placed)
                left = self._fill(left, placed)
                if len(placed) == before:
                    break
                wanted.append((pool, node))
        for shape, node in placed:
            self._kube.remove(shape, node)
        for node in opened:
            self._kube.lacks(node)
        return wanted

    def _fill(
        self, waiting: Iterable[tuple[PodShape, int]], placed: list[tuple[PodShape, int]]
    ) -> list[tuple[PodShape, int]]:
        """Place pods as long as nodes have room; returns the others."""
        left = []
        for shape, count in waiting:
            more = count
            while more and (found := self._kube.place(shape)) is not None:
                placed.append((shape, found.node))
                more -= 1
            if more:
                left.append((shape, more))
        return left

    def _too_long(self, pool: _Pool) -> Iterator[int]:
        """The nodes of a pool that were empty for so long that they are removed."""
        for node in pool.exist:
            since = self._empty.get(node)
            if since is not None and self._agenda.now >= since + pool.of.growth.idle:
                yield node

    def _comes(self, node: int) -> None:
        blocker = self._kube.exists(node)
        self._hold(node, blocker, -1)
        self._bindings.full.clear()

    def _leaves(self, node: int) -> None:
        self._hold(node, self._kube.lacks(node), 1)

    def _hold(self, node: int, shape: PodShape, sign: int) -> None:
        if self._volcano is not None:
            self._volcano.state.nodes.hold(node, shape, sign)
        if self._kueue is not None and self._kueue.state.topologies:
            self._kueue.hold(self._kube.nodes.all[node].name, shape.requests, sign)
