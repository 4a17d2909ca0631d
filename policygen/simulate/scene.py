"""The state that a simulation starts from: queues, nodes, and jobs that run or wait.

It comes from a spec, manifests or a snapshot. Times are seconds, and 0 is the time of the snapshot.
"""

from collections.abc import Iterable, Mapping

from msgspec import Struct, field

from policygen.core.names import HOSTNAME, NODE_NAME
from policygen.kubernetes.accelerators import gpus_of
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import Settings
from policygen.kubernetes.node_filters import Placed, demand
from policygen.kubernetes.node_groups import Node, Stated
from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.assumptions import NOTHING_ASSUMED, Assumptions
from policygen.simulate.growing_pools import GrowingPool
from policygen.simulate.model_objects import ModelObjects
from policygen.simulate.result import Unmodelled
from policygen.simulate.scene_pools import ScenePool
from policygen.simulate.spec_quotas import SpecQuotas
from policygen.spec.types import Spec


class Scene(Struct, frozen=True, eq=False):
    """All that a simulation starts from."""

    cluster: Cluster
    """All objects, also those that a spec renders."""
    settings: Settings
    nodes: tuple[Node, ...] = ()
    """Empty: nodes are not known, and pods start when they are admitted."""
    pools: tuple[ScenePool, ...] = ()
    teams: Mapping[str, str] = field(default_factory=dict)
    """The team of each namespace; other namespaces are teams of their own."""
    unmodelled: tuple[Unmodelled, ...] = ()
    spec: Spec | None = None
    """The spec that renders some of the objects; None: there is none."""
    models: ModelObjects | None = None
    """The models of the spec that are jobs; None: only the jobs of the input count."""
    assumptions: Assumptions = NOTHING_ASSUMED
    quotas: SpecQuotas = field(default_factory=SpecQuotas)
    """Of the spec, for pools without Kueue."""
    schedulers: Mapping[str, str] = field(default_factory=dict)
    """The schedulerName that a spec gives the pods of each pool that Volcano does not schedule; "": the default."""
    growing: tuple[GrowingPool, ...] = ()
    """Those of the pools to which an autoscaler adds nodes. `nodes` are all that can exist."""

    @property
    def missing(self) -> frozenset[str]:
        """The nodes that an autoscaler has not added yet."""
        return frozenset(name for it in self.growing for name in it.missing)

    def team(self, namespace: str) -> str:
        """The team of a namespace."""
        return self.teams.get(namespace, namespace)

    @property
    def knows_topologies(self) -> bool:
        """Whether Kueue places pods in topologies, and the nodes of these are known."""
        return bool(self.nodes) and self.settings.gate("TopologyAwareScheduling")

    @property
    def has_topologies(self) -> bool:
        """Whether a flavor has a topology whose nodes are known."""
        return self.knows_topologies and any(it.fields.topology_name for it in self.cluster.flavors)

    def topology_levels(self) -> Mapping[str, tuple[str, ...]]:
        """The node labels of the levels of each flavor with a topology whose nodes are known."""
        of_name = {
            it.object.name: tuple(level.node_label for level in it.fields.levels)
            for it in self.cluster.topologies
        }
        return {
            it.object.name: of_name[it.fields.topology_name]
            for it in (self.cluster.flavors if self.knows_topologies else ())
            if it.fields.topology_name in of_name
        }

    @property
    def is_implied(self) -> bool:
        """Whether the nodes are those of pools of a spec, which has no nodes without accelerators."""
        return any(it.stated is Stated.PART for it in self.nodes)


def implied_names(scene: Scene) -> frozenset[str]:
    """The names that a scene made up for its nodes; empty: they have their own names."""
    return frozenset(it.name for it in scene.nodes) if scene.is_implied else frozenset()


def names_other_nodes(known: frozenset[str], spec: PodSpec) -> bool:
    """Whether pods must run on nodes of given names, and these are not the `implied_names`."""
    return bool(known and gpus_of(spec.requests)) and names_nodes(spec, known)


def names_nodes(spec: PodSpec, known: frozenset[str] = frozenset()) -> bool:
    """Whether pods must run on nodes of given names that are not `known`."""
    wanted = demand(spec, {})

    def names_others(placed: Iterable[Placed]) -> bool:
        return any(
            it.requirement.key in (HOSTNAME, NODE_NAME)
            and it.requirement.operator == "In"
            and known.isdisjoint(it.requirement.values)
            for it in placed
        )

    either = wanted.terms or ()
    return (
        (bool(wanted.node_name) and wanted.node_name not in known)
        or names_others(wanted.selector)
        or (bool(either) and all(names_others(it.requirements) for it in either))
    )
