"""The replicas that one object or one model of a spec makes, so that its owner changes all of them at once."""

from collections.abc import Iterable, Iterator

from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene


def siblings(scene: Scene, arrivals: Iterable[Arrival], arrival: Arrival) -> Iterator[Arrival]:
    """The other replicas of the object, or of the model of the spec, that makes a workload."""
    key = _maker(scene, arrival)
    for it in arrivals if key else ():
        if it.name != arrival.name and _maker(scene, it) == key:
            yield it


def _maker(scene: Scene, arrival: Arrival) -> str:
    """Empty: it has no replicas."""
    models = scene.models
    if models is not None and arrival.model in models.names:
        return f"model {arrival.namespace}/{arrival.model}"
    return arrival.replica_of
