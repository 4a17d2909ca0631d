"""A pool of a scene."""

from msgspec import Struct


class ScenePool(Struct, frozen=True, eq=False):
    """Nodes with accelerators of one kind."""

    name: str
    flavors: frozenset[str]
    """The ResourceFlavors of its nodes."""
    nodes: frozenset[str]
    """The names of its nodes in the simulation."""
    gpus: int
    """All accelerators of its nodes."""
    unit: str = "GPU"
    """What one of them is (`accelerators.unit_of`)."""
