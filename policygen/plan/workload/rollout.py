"""Decides whether an update of a Deployment can begin with a pod more than its replicas."""

from collections import Counter

from msgspec import Struct

from policygen.plan import model_limits
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.node_room import replicas_on_nodes
from policygen.plan.replicas import counted_resources
from policygen.plan.workload import availability
from policygen.plan.workload.scaling import most_replicas


class FullBound(Struct, frozen=True):
    """What is full when all replicas of a Deployment run, so that an update has no room for one more."""

    resource: str | None
    """None: nodes."""
    has: int
    """The replicas that the nodes of the pools hold, or the limit of the team."""
    others: int
    """What other serving models of the team use all the time."""
    each: int
    """What one replica needs."""


def shortage(decided: Decisions, assignment: Assignment) -> FullBound | None:
    """What prevents one more pod of a Deployment; None if the nodes and the limit have room.

    By default an update of up to three replicas first creates a new pod, and deletes an old one only
    when the new one is ready. Without room, it never ends.
    Source: pkg/controller/deployment/rolling.go.
    """
    pods = most_replicas(assignment) + 1
    on_nodes = replicas_on_nodes(assignment)
    if availability.is_apart(assignment):
        on_nodes = availability.nodes(assignment)
    if on_nodes is not None and pods > on_nodes:
        return FullBound(None, on_nodes, 0, 1)
    limits, others = model_limits.bounds(assignment), _others(decided, assignment)
    for resource in counted_resources(assignment.facts) if limits else ():
        each = assignment.replicas.piece.get(resource, 0)
        has = sum(it[resource] for it in limits)
        if each and pods * each + others[resource] > has:
            return FullBound(resource, has, others[resource], each)
    return None


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
