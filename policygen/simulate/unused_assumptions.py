"""Assumptions about admission checks, scheduling gates and nodes that the input does not have."""

from collections.abc import Iterable, Iterator

from policygen.core.suggest import suggest
from policygen.simulate.arrival import Arrival
from policygen.simulate.assumptions import CHECK, GATE, NODES
from policygen.simulate.scene import Scene


def unused_assumptions(scene: Scene, arrivals: Iterable[Arrival]) -> Iterator[str]:
    """A sentence for each assumption that changes nothing, with the name that is meant."""
    strategies = (it.fields.admission_checks_strategy for it in scene.cluster.cluster_queues)
    checks = {it.name for one in strategies if one is not None for it in one.admission_checks}
    gates = {gate for it in arrivals for one in it.pods for gate in one.gates}
    for name in sorted(scene.assumptions.checks.keys() - checks):
        advice = suggest(name, checks, "admission check")
        yield f"--assume {CHECK}/{name}: no ClusterQueue has this admission check; {advice}"
    for name in sorted(scene.assumptions.gates.keys() - gates):
        advice = suggest(name, gates, "scheduling gate")
        yield f"--assume {GATE}/{name}: no pod has this scheduling gate; {advice}"
    pools = [it.name for it in scene.pools if it.nodes]
    for name in sorted(scene.assumptions.nodes.keys() - pools):
        advice = suggest(name, pools, "pool")
        yield f"--assume {NODES}/{name}: no pool with nodes has this name; {advice}"
