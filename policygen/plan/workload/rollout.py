"""Decides whether an update of a Deployment can begin with a pod more than its replicas."""

from collections import Counter

from policygen.plan import model_limits
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.replicas import counted_resources
from policygen.plan.workload import availability


def has_room(decided: Decisions, assignment: Assignment) -> bool:
    """Whether the pool and the limit of the team have room for one more pod of a Deployment.

    By default an update of up to three replicas first creates a new pod, and deletes an old one only
    when the new one is ready. Without room, it never ends.
    Source: pkg/controller/deployment/rolling.go.
    """
    pods = assignment.replicas.most + 1
    if availability.is_apart(assignment) and pods > availability.nodes(assignment):
        return False
    limits, others = model_limits.bounds(assignment), _others(decided, assignment)
    for resource in counted_resources(assignment.facts) if limits else ():
        need = pods * assignment.replicas.piece.get(resource, 0)
        if need and need + others[resource] > sum(it[resource] for it in limits):
            return False
    return True


def _others(decided: Decisions, assignment: Assignment) -> Counter[str]:
    """What the other serving models that share the limit need all the time."""
    total: Counter[str] = Counter()
    divided = assignment.facts.scheduler == "kube-scheduler"
    for it in decided.workloads.assignments:
        if it is assignment or it.model.name == assignment.model.name:
            continue
        if it.node is assignment.node and not (divided and it.namespace != assignment.namespace):
            for resource, amount in it.replicas.piece.items():
                total[resource] += amount * it.replicas.always
    return total
