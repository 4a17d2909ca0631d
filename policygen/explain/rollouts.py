"""The steps to the fields of Deployments of models that depend on other models and on the pool."""

from policygen.core.finding import Path
from policygen.core.quoting import listed
from policygen.explain.node_rooms import replicas_on_nodes
from policygen.explain.step import Step, Steps, exact, minus
from policygen.plan.amounts import amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.node_room import node_rooms
from policygen.plan.workload import availability
from policygen.plan.workload.rollout import FullBound, shortage
from policygen.plan.workload.scaling import most_replicas


class Rollouts:
    """Finds the steps to `maxSurge` in the Deployments of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided
        self._assignments = {it.model.name: it for it in decided.workloads.assignments}

    def of(self, item: Item, path: Path) -> Steps:
        """The steps to a field; empty for all others, whose value is that of one place."""
        if path != ("spec", "strategy", "rollingUpdate", "maxSurge"):
            return []
        assignment = self._assignments[item.fields.model]
        full = shortage(self._decided, assignment)
        return [] if full is None else _steps(assignment, full)


def _steps(assignment: Assignment, full: FullBound) -> Steps:
    model, most = assignment.model, most_replicas(assignment)
    field = "autoscaling" if model.autoscaling else "replicas"
    replicas = Step("most replicas of the model", str(most), at=model.field(field))
    pools = listed([it.name for it in assignment.pools], "and")
    if full.resource is None and not availability.is_apart(assignment):
        left = Step("further replicas on the nodes", str(full.has - most), f"{full.has} - {most}")
        nodes = replicas_on_nodes(node_rooms(assignment) or ())
        return [
            replicas,
            *nodes,
            left,
            Step("maxSurge", "0", note="no pod can be divided over nodes"),
        ]
    if full.resource is None:
        own = Step(
            f"nodes of pool {pools}",
            str(full.has),
            at=assignment.facts.pool.at.to("spec", "capacity"),
        )
        left = Step("nodes without a replica", str(full.has - most), f"{full.has} - {most}")
        need = "each replica needs its own node"
        return [replicas, own, left, Step("maxSurge", "0", note=need)]
    resource, node = full.resource, assignment.node
    needed = exact(resource, most * full.each)
    steps = [
        replicas,
        Step(f"{resource} of all replicas", needed, f"{most} × {exact(resource, full.each)}"),
    ]
    amounts = [most * full.each]
    if full.others:
        amounts.append(full.others)
        note = "what they use all the time"
        others = "other serving models of the team"
        steps.append(Step(others, exact(resource, full.others), note=note))
    at = node.team.quota_at(assignment.facts.name, "limit") if node else None
    steps.append(Step(f"limit on pool {pools}", exact(resource, full.has), at=at))
    unused = exact(resource, full.has - sum(amounts))
    steps.append(Step("left in the limit", unused, minus(resource, full.has, amounts)))
    note = f"one more replica needs {amount_of(resource, full.each)}"
    return [*steps, Step("maxSurge", "0", note=note)]
