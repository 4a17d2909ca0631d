"""The steps to the number of replicas of a model that the nodes of its pools hold."""

from collections.abc import Sequence

from policygen.explain.step import Step, Steps, exact
from policygen.plan.node_room import PodRoom


def replicas_on_nodes(rooms: Sequence[PodRoom]) -> Steps:
    """The pods of a node, times the nodes; of several pools their sum."""
    steps: Steps = []
    for it in rooms:
        capacity = it.facts.pool.at.to("spec", "capacity")
        has, each = exact(it.resource, it.has), exact(it.resource, it.each)
        name = it.facts.name
        steps += [
            Step(f"{it.resource} of a node of pool {name}", has),
            Step(f"pods of {each} {it.resource} on a node", str(it.pods), f"floor({has} / {each})"),
            Step(f"nodes of pool {name}", str(it.facts.node_count), at=capacity),
        ]
    total = sum(it.facts.node_count * it.pods for it in rooms)
    formula = " + ".join(f"{it.facts.node_count} × {it.pods}" for it in rooms)
    return [*steps, Step("replicas that the nodes hold", str(total), formula)]
