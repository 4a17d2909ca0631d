"""Jobs with pods that are larger than each node, so that no end of other jobs makes room for them."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from fractions import Fraction

from policygen.core.amounts import with_gpus
from policygen.core.quoting import some
from policygen.kubernetes.accelerators import gpus_of, is_one
from policygen.simulate.arrival import Arrival
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.scene import Scene
from policygen.simulate.why.causes import Cause, NearestNode, NeverPlaced


def oversized(
    scene: Scene, arrivals: Iterable[Arrival], causes: Mapping[str, Cause | None]
) -> Iterator[str]:
    """A sentence for each amount that a pod requests and no node has.

    `causes` are those of jobs that wait. Without a job whose cause names the amount, it is not repeated.
    """
    if not scene.nodes:
        return
    most = _most(scene)
    found: dict[tuple[str, Fraction], list[str]] = {}
    for it in arrivals:
        cause = causes.get(it.name)
        for key in _above(it, most, implied=scene.is_implied):
            if cause is None or not _names(cause, *key):
                found.setdefault(key, []).append(it.name)
    for (name, amount), jobs in sorted(found.items()):
        has = with_gpus(name, most.get(name, Fraction(0)))
        yield (
            f"no node has {with_gpus(name, amount)}, which a pod of {some(jobs, 'other job')} requests; "
            f"the largest node has {has}"
        )


def too_large(scene: Scene) -> Callable[[Arrival], NeverPlaced | None]:
    """Makes a function that returns why the pods of a job are larger than each node; None: they are not."""
    most, implied = _most(scene), scene.is_implied
    of_node = {
        name: next(it.name for it in scene.nodes if it.allocatable.get(name) == amount)
        for name, amount in most.items()
    }

    def found(job: Arrival) -> NeverPlaced | None:
        above = sorted(_above(job, most, implied=implied), key=lambda it: (not is_one(it[0]), it))
        if not above or not most:
            return None
        name, amount = above[0]
        largest = counted(name, most.get(name, Fraction(0)))
        near = NearestNode(of_node.get(name, ""), name, counted(name, amount), largest)
        return NeverPlaced(sum(it.count for it in job.pods), 0, alone=False, nearest=near)

    return found


def _most(scene: Scene) -> dict[str, Fraction]:
    """The most of each resource that a node has."""
    most: dict[str, Fraction] = {}
    for node in scene.nodes:
        for name, amount in node.allocatable.items():
            most[name] = max(amount, most.get(name, amount))
    return most


def _names(cause: Cause, resource: str, amount: Fraction) -> bool:
    """Whether a cause names the amount of a resource, and the node that has the most of it."""
    nearest = (cause.nearest, cause.never.nearest if cause.never is not None else None)
    return any(
        it is not None and (it.resource, it.asked) == (resource, counted(resource, amount))
        for it in nearest
    )


def _above(
    job: Arrival, most: Mapping[str, Fraction], *, implied: bool
) -> Iterator[tuple[str, Fraction]]:
    """The resources of which a pod requests more than each node has.

    Nodes of a spec have all that they do not list, and it has none for pods without accelerators.
    """
    if any(job.nodes) or job.refusal:
        return
    found: dict[str, Fraction] = {}
    for batch in job.pods:
        if implied and not gpus_of(batch.spec.requests):
            continue
        for name, amount in batch.spec.requests.items():
            if amount > most.get(name, 0) and (name in most or not implied):
                found[name] = max(amount, found.get(name, amount))
    yield from found.items()
