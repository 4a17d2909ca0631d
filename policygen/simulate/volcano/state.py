"""What Volcano's scheduler knows between two sessions: queues, nodes and jobs.

Source: pkg/scheduler/api/{node_info,queue_info}.go of Volcano 1.14.1.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from policygen.kubernetes.node_groups import Node
from policygen.simulate.placement.nodes import NodeTable
from policygen.simulate.placement.shape import PodShape
from policygen.simulate.volcano.amounts import (
    CPU,
    LEAST,
    MEMORY,
    PODS,
    Amounts,
    counted,
    empty,
    total,
)
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob, VolcanoTask


class VolcanoQueue(Struct, frozen=True, eq=False):
    """A Queue."""

    name: str
    weight: int = 1
    priority: int = 0
    parent: str = ""
    capability: Amounts | None = None
    deserved: Amounts = field(default_factory=empty)
    guarantee: Amounts = field(default_factory=empty)
    reclaimable: bool = True
    open: bool = True
    created: float = 0.0


class VolcanoNodes:
    """The nodes, with what is idle, used and about to leave."""

    def __init__(self, nodes: Iterable[Node]) -> None:
        self.table = NodeTable(nodes)
        """What the plugins of Kubernetes see."""
        self.indexes = range(len(self.table.all))
        self.tasks: list[dict[str, VolcanoTask]] = [{} for _ in self.indexes]
        self._amounts = [counted(it.allocatable) for it in self.table.all]
        self.allocatable: dict[str, list[float]] = {}
        self.idle: dict[str, list[float]] = {}
        self.future: dict[str, list[float]] = {}
        """What is idle after the tasks that are about to leave, without what waiting tasks take."""
        self.used: dict[str, list[float]] = {}
        self.versions = [0 for _ in self.indexes]
        """Grows with each change of a node."""
        for name in {it for have in self._amounts for it in have}:
            self._column(name)

    @property
    def total(self) -> Amounts:
        """The sum of the nodes."""
        return total(self._amounts)

    @property
    def all_used(self) -> Amounts:
        """What tasks use on all nodes."""
        return {name: sum(it) for name, it in self.used.items()}

    def _column(self, name: str) -> None:
        have = [it.get(name, 0) for it in self._amounts]
        self.allocatable[name] = have
        self.idle[name], self.future[name] = [*have], [*have]
        self.used[name] = [0] * len(have)

    def known(self, amounts: Amounts) -> None:
        """Make columns for resources that no node lists."""
        for name in amounts:
            if name not in self.idle:
                self._column(name)

    def add(self, task: VolcanoTask) -> None:
        """A task comes to its node."""
        self._change(task, 1)
        self.tasks[task.at][task.name] = task

    def remove(self, task: VolcanoTask) -> None:
        """A task leaves its node."""
        self._change(task, -1)
        del self.tasks[task.at][task.name]

    def _change(self, task: VolcanoTask, count: int) -> None:
        node, status = task.at, task.status
        self.versions[node] += 1
        self.known(task.requests)
        for name, it in task.requests.items():
            amount = count * it
            if status is not TaskStatus.RELEASING:
                self.future[name][node] -= amount
            if status is not TaskStatus.PIPELINED:
                self.idle[name][node] -= amount
                self.used[name][node] += amount

    def hold(self, node: int, shape: PodShape, count: int) -> None:
        """Pods of another scheduler come to a node, or leave it if `count` is negative."""
        requests = {
            name: it if name in (CPU, MEMORY, PODS) else it * 1000 for name, it in shape.requests
        }
        self.known(dict(requests))
        self.versions[node] += 1
        for name, it in requests.items():
            self.idle[name][node] -= count * it
            self.future[name][node] -= count * it
            self.used[name][node] += count * it
        (self.table.add if count > 0 else self.table.remove)(node, shape)

    def with_room(
        self, columns: Mapping[str, list[float]], wanted: Amounts, nodes: Iterable[int]
    ) -> list[int]:
        """The nodes on which these columns have enough."""
        found = list(nodes)
        for name, amount in reversed(wanted.items()):
            column = columns[name]
            found = [it for it in found if amount - column[it] < LEAST]
        return found

    def has_room(self, columns: Mapping[str, list[float]], wanted: Amounts, node: int) -> bool:
        """Whether these columns have enough on a node."""
        return all(amount - columns[name][node] < LEAST for name, amount in wanted.items())

    def exceeded(self, task: VolcanoTask) -> bool:
        """Whether the node of a task has less than its pods hold now."""
        return any(self.idle[name][task.at] <= -LEAST for name in task.requests)

    def shortages(self, wanted: Amounts, node: int) -> list[str]:
        """The resources of which a node will have too little."""
        return [name for name, it in wanted.items() if it - self.future[name][node] >= LEAST]


class VolcanoState:
    """Queues, nodes and jobs."""

    def __init__(self, nodes: Iterable[Node], queues: Iterable[VolcanoQueue]) -> None:
        self.nodes = VolcanoNodes(nodes)
        self.queues = {it.name: it for it in queues}
        self.jobs: dict[str, VolcanoJob] = {}

    def add_task(self, task: VolcanoTask) -> None:
        """Note a task; one with a node holds it."""
        self.nodes.known(task.requests)
        self.nodes.table.know(task.shape)
        if task.node is not None and task.status not in (
            TaskStatus.SUCCEEDED,
            TaskStatus.FAILED,
        ):
            self.nodes.add(task)
            self.nodes.table.add(task.node, task.shape)

    def remove_task(self, task: VolcanoTask) -> None:
        """Forget a task, and free its node."""
        if task.node is not None and task.name in self.nodes.tasks[task.node]:
            self.nodes.remove(task)
            self.nodes.table.remove(task.node, task.shape)
        task.job.remove(task)
