"""What the replicas of a model request together, and which limits count it."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from policygen.core.quantity import MEBIBYTE
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector, part
from policygen.plan.fit import Size
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode
from policygen.spec.types import Model, TeamNamespace


class Replicas(Struct, frozen=True):
    """The requests of a model. A piece is one replica, or all pods of one gang: they start together."""

    piece: Vector
    """Requests of one piece: units of the pool's resource, and cpu and memory if they are set."""
    least: int
    """Pieces that must run at one time."""
    most: int
    """Pieces that can run at one time."""
    always: int
    """Pieces that run all the time: those of serving models."""

    def pieces(self, bounds: Sequence[Vector], resources: Sequence[str]) -> int:
        """How many pieces run within bounds. A piece must be within one of them."""
        counted = [(name, self.piece[name]) for name in resources if self.piece.get(name)]
        return sum(min(bound[name] // amount for name, amount in counted) for bound in bounds)


def replicas(model: Model, size: Size) -> Replicas:
    """The requests of a model whose replicas have a size."""
    pods = model.gang.size if model.gang is not None else 1
    each = {
        size.resource: size.units,
        CPU: model.cpu_milli or 0,
        MEMORY: model.memory_bytes or 0,
    }
    piece = {name: amount * pods for name, amount in each.items() if amount}
    serving = model.workload == "serving"
    most = model.replicas or 1
    least = most
    if model.gang is None and model.autoscaling is not None:
        least, most = model.autoscaling.min_replicas, model.autoscaling.max_replicas
    elif model.workload == "batch":
        least = 1  # independent jobs: those above the limit wait
    elif model.gang is not None and not serving:
        least = 1
    return Replicas(piece, least, most, least if serving else 0)


def range_of(model: Model, found: Replicas) -> str:
    """How many pieces a model has: `4`, or `4 to 24` if an autoscaler decides.

    Not `least` for a batch model: all its jobs exist, and those above a limit wait.
    """
    fixed = model.gang is not None or model.autoscaling is None or found.least == found.most
    return f"{found.most}" if fixed else f"{found.least} to {found.most}"


def counted_resources(facts: PoolFacts) -> tuple[str, ...]:
    """The resources that the quotas of a pool count."""
    if facts.scheduler != "kube-scheduler" or facts.pool.quota_cpu_and_memory:
        return (*facts.resources, *HOST)
    return facts.resources


def limit_of(facts: PoolFacts, node: TeamNode, namespace: TeamNamespace | None) -> Vector:
    """The limit of a team on a pool for pods of one namespace.

    On a pool of kube-scheduler, each namespace has its part of the limit.
    """
    limit = node.limit[facts.name]
    names = [it.name for it in node.team.namespaces]
    if facts.scheduler != "kube-scheduler" or namespace is None or namespace.name not in names:
        return limit
    return divided(limit, len(names), names.index(namespace.name))


def divided(limit: Mapping[str, int], count: int, index: int) -> dict[str, int]:
    """The part of one of several namespaces in a limit."""
    steps = {MEMORY: MEBIBYTE}
    return {name: part(it, count, index, steps.get(name, 1)) for name, it in limit.items()}
