"""A starter spec with comments, for those who have no policy yet."""

from collections.abc import Mapping

from msgspec import Struct

from policygen.adopt.nodes import PRODUCT
from policygen.adopt.quotas import HERE
from policygen.adopt.spec_data import documents
from policygen.adopt.write import Comments, write
from policygen.hardware.catalog import Product
from policygen.spec.types import (
    WHOLE,
    Capacity,
    Gpu,
    Platform,
    Pool,
    Priority,
    Quota,
    Scheduler,
    Spec,
    Team,
    TeamNamespace,
)

_NODES = (
    "For other nodes, replace this by nodeAllocatable: {cpu, memory}, as a Node shows them in "
    "status.allocatable."
)
_GUARANTEE = (
    "The team can always use these GPUs; other teams can borrow idle ones. Add limit, the most GPUs "
    "that the team can use with borrowed ones."
)
_LIMIT = "The team can never use more GPUs. kube-scheduler has limits only, and lends nothing."
_PLATFORM: Comments = {
    (): ["Settings of the complete set. `policygen schema Platform` describes every field."],
    ("spec", "priorities"): [
        "Priorities that workloads can request. Workloads of a higher priority can preempt others."
    ],
}
_POOL: Comments = {
    (): ["A set of equal GPU nodes. `policygen schema ResourcePool` describes every field."],
    ("spec", "nodeSelector"): ["The labels that only the nodes of this pool have."],
    ("spec", "gpu", "perNode"): ["GPUs on one node."],
    ("spec", "capacity", "nodeType"): [_NODES],
    ("spec", "scheduler"): ["kueue, volcano or kube-scheduler."],
}
_TEAM: Comments = {
    ("spec", "namespaces"): ["Add create: true if policygen should render the Namespace."],
    ("spec", "quotas", 0, "guarantee"): [_GUARANTEE],
    ("spec", "quotas", 0, "limit"): [_LIMIT],
}


class StarterRequest(Struct, frozen=True):
    """What a starter spec contains."""

    name: str
    pool: str
    product: Product
    nodes: int
    scheduler: Scheduler
    teams: tuple[str, ...]


def starter(request: StarterRequest) -> str:
    """The text of a spec with one pool, whose GPUs the teams share in equal parts."""
    product = request.product
    share = request.nodes * product.per_node // len(request.teams)
    pool = Pool(
        name=request.pool,
        at=HERE,
        node_selector=((PRODUCT, product.labels[0]),),
        scheduler=request.scheduler,
        gpu=Gpu(product=product.labels[0], per_node=product.per_node),
        capacity=Capacity(nodes=request.nodes, node_type=product.shape),
    )
    teams = [
        Team(
            name=name,
            at=HERE,
            namespaces=(TeamNamespace(name),),
            quotas=(_quota(request, share),),
        )
        for name in sorted(request.teams)
    ]
    priorities = (Priority("high", HERE, 1000), Priority("low", HERE, 100))
    spec = Spec(Platform(request.name, HERE, priorities=priorities), (pool,), tuple(teams))
    return write(documents(spec), _comments(request, first=teams[0].name))


def _quota(request: StarterRequest, share: int) -> Quota:
    """A part of the pool: its guarantee, or its limit where no scheduler enforces guarantees."""
    units = ((WHOLE, share),)
    if request.scheduler == "kube-scheduler":
        return Quota(request.pool, HERE, limit=units)
    return Quota(request.pool, HERE, guarantee=units)


def _comments(request: StarterRequest, first: str) -> Mapping[tuple[str, str], Comments]:
    """The comments of each document; those of teams only once."""
    field = "limit" if request.scheduler == "kube-scheduler" else "guarantee"
    quota = ("spec", "quotas", 0)
    team = {path: it for path, it in _TEAM.items() if path[:3] != quota or path[3] == field}
    return {
        ("Platform", request.name): _PLATFORM,
        ("ResourcePool", request.pool): _POOL,
        ("Team", first): team,
    }
