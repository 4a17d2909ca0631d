"""The steps to the bounds of a model's autoscaler, which are within the quota of its team and the nodes."""

from policygen.core.finding import At, Path
from policygen.explain.node_rooms import replicas_on_nodes
from policygen.explain.step import Step, Steps
from policygen.plan import model_limits
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.node_room import node_rooms
from policygen.plan.replicas import counted_resources
from policygen.plan.workload import scaling
from policygen.plan.workload.scaling import ScaleTarget

_LEAST = ("minReplicas", "minReplicaCount")
_MOST = ("maxReplicas", "maxReplicaCount")
"""The bounds in a HorizontalPodAutoscaler, and in a ScaledObject of KEDA."""
_UNITS = {CPU: "millicores of cpu", MEMORY: "bytes of memory"}


class Scaling:
    """Finds the steps to the fields of the autoscalers of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._assignments = {it.model.name: it for it in decided.workloads.assignments}

    def of(self, item: Item, path: Path) -> Steps:
        """The steps to a field; empty for all others, whose value is that of one place."""
        if found := self.of_target(item, path):
            return found
        assignment, name = self._assignments[item.fields.model], str(path[-1])
        if name in _LEAST:
            return _least(assignment, name)
        return _most(assignment, name) if name in _MOST else []

    @staticmethod
    def of_target(item: Item, path: Path) -> Steps:
        """The steps to the kind of the target of an autoscaler; empty for all others."""
        target: ScaleTarget = item.fields.target
        value = {"kind": target.kind, "apiVersion": target.api_version}.get(str(path[-1]))
        if value is None or len(path) < 3:
            return []
        return [Step(str(path[-1]), value, note="of the object that runs it")]


def _most(chosen: Assignment, name: str) -> Steps:
    stated, between = chosen.replicas.most, scaling.bounds(chosen)
    at = chosen.model.field("autoscaling")
    bounds, nodes = f"{stated}, {between.fitting}", []
    if between.placed is not None and between.placed < min(stated, between.fitting):
        bounds, nodes = f"{bounds}, {between.placed}", replicas_on_nodes(node_rooms(chosen) or ())
    return [
        *_room(chosen, "limit"),
        *nodes,
        Step("maxReplicas of the model", str(stated), at=at / "maxReplicas"),
        Step(name, str(between.most), f"max(1, min({bounds}))"),
    ]


def _least(chosen: Assignment, name: str) -> Steps:
    stated, between = chosen.replicas.least, scaling.bounds(chosen)
    at = chosen.model.field("autoscaling")
    formula = f"max(1, min({stated}, {between.covered}, {between.most}))"
    return [
        *_room(chosen, "guarantee"),
        Step("minReplicas of the model", str(stated), at=at / "minReplicas"),
        Step("most replicas of the autoscaler", str(between.most), note="see its maximum"),
        Step(name, str(between.least), formula),
    ]


def _room(chosen: Assignment, field: str) -> Steps:
    """How many replicas a guarantee or limit has room for, or what a queue of Volcano deserves."""
    steps: Steps = []
    rooms = []
    bounds = model_limits.bounds(chosen) if field == "limit" else scaling.guarded(chosen)
    # What a queue of Volcano deserves is more than the guarantee that the spec states.
    deserved = field == "guarantee" and chosen.tree.scheduler == "volcano"
    deserved = deserved and scaling.is_lent(chosen.facts)
    words = "deserved" if deserved else field
    for facts, bound in zip(chosen.pools, bounds, strict=True):
        counts = []
        for resource in counted_resources(chosen.facts):
            each = chosen.replicas.piece.get(resource)
            if not each:
                continue
            has, count = bound[resource], bound[resource] // each
            counts.append(str(count))
            steps += [
                Step(
                    f"{words}: {_UNITS.get(resource, resource)} on pool {facts.name}",
                    str(has),
                    at=_at(chosen, facts.name, field),
                ),
                Step(
                    f"replicas of {each} {_UNITS.get(resource, resource)}",
                    str(count),
                    f"floor({has} / {each})",
                ),
            ]
        rooms.append(f"min({', '.join(counts)})" if len(counts) > 1 else counts[0])
    total = scaling.bounds(chosen).fitting if field == "limit" else scaling.bounds(chosen).covered
    if len(rooms) > 1 or "min" in rooms[0]:
        room = "what the queue deserves" if deserved else f"the {field}"
        steps.append(Step(f"replicas within {room}", str(total), " + ".join(rooms)))
    return steps


def _at(chosen: Assignment, pool: str, field: str) -> At | None:
    return chosen.node.team.quota_at(pool, field) if chosen.node else None
