"""Small clusters of Volcano for tests."""

from fractions import Fraction

from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_groups import Node
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.simulate.placement.shape import shape_of
from policygen.simulate.volcano.amounts import counted
from policygen.simulate.volcano.build import task_of
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob
from policygen.simulate.volcano.scheduler import VolcanoScheduler
from policygen.simulate.volcano.settings import SchedulerSettings, settings_of
from policygen.simulate.volcano.state import VolcanoQueue, VolcanoState

GPU = "nvidia.com/gpu"


def node(name: str, gpus: int = 8, *, taints: tuple[TaintView, ...] = ()) -> Node:
    """A node with 64 cores."""
    amounts = {"cpu": 64, "memory": 512 << 30, "pods": 110, GPU: gpus}
    return Node(
        name,
        {"kubernetes.io/hostname": name},
        taints=taints,
        allocatable={key: Fraction(it) for key, it in amounts.items()},
    )


def queue(name: str, **fields: object) -> VolcanoQueue:
    """A queue; amounts are numbers of GPUs."""
    for it in ("deserved", "guarantee", "capability"):
        if it in fields:
            fields[it] = counted({GPU: Fraction(fields[it])})
    return VolcanoQueue(name, **fields)


def job(name: str, in_queue: str, pods: int, gpus: int = 1, **fields: object) -> VolcanoJob:
    """A gang of pods, each with GPUs; `least` is its minimum."""
    least = fields.pop("least", pods)
    made = VolcanoJob(f"ns/{name}", in_queue, min_available=least, **fields)
    resources = Resources(requests={GPU: Fraction(gpus)} if gpus else {})
    spec = PodSpec(containers=(Container(resources=resources),))
    shape = shape_of(spec, {"job": name}, "ns")
    for i in range(pods):
        made.add(task_of(f"ns/{name}-worker-{i}", shape, spec, {"volcano.sh/task-spec": "worker"}))
    if made.min_resources is None:
        made.min_resources = counted({GPU: Fraction(gpus * least)})
    return made


def settings(actions: str, *plugins: object) -> SchedulerSettings:
    """Settings with gang and predicates, and more plugins: names, or entries."""
    more = [{"name": it} if isinstance(it, str) else it for it in plugins]
    first = [{"name": "priority"}, {"name": "gang", "enablePreemptable": False}]
    return settings_of(
        {
            "actions": actions,
            "tiers": [{"plugins": [*first, *more]}, {"plugins": [{"name": "predicates"}]}],
        }
    )


def scheduler(
    nodes: list[Node], queues: list[VolcanoQueue], used: SchedulerSettings
) -> VolcanoScheduler:
    """A scheduler that takes the first of equal nodes."""
    return VolcanoScheduler(VolcanoState(nodes, queues), used, Choices(None))


def places(it: VolcanoJob) -> list[int | None]:
    """The node of each pod."""
    return [task.node for task in it.tasks.values()]


def running(it: VolcanoJob) -> int:
    """How many pods run."""
    return it.count(TaskStatus.RUNNING)
