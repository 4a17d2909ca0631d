"""A Deployment fits on the nodes, but its update needs one more pod than they have room for."""

from policygen.core.finding import at_path
from policygen.core.quoting import counted
from policygen.lint.core.node_rooms import node_rooms
from policygen.lint.core.pod_demands import READS
from policygen.lint.core.queue_rooms import rooms_in_queues
from policygen.lint.core.rollouts import rollout
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """If no pod may be unavailable, a new one must run before an old one is deleted.

    By default, no pod of a Deployment with less than four replicas may be unavailable. Constraints with
    matchLabelKeys can count only new pods, so they are skipped. Nodes count as empty. Source:
    pkg/controller/deployment/rolling.go of Kubernetes 1.36.3.
    """
    in_queue = rooms_in_queues(facts, "rollout-exceeds-quota")
    for it, room in facts.derive(node_rooms):
        update = rollout(it.workload)
        if update is None or update.unavailable or not update.replicas:
            continue
        if room.path and at_path(
            it.workload.spec, ("template", "spec", *room.path, "matchLabelKeys")
        ):
            continue
        if in_queue.get(id(it.template)) == update.replicas:
            continue  # rollout-exceeds-quota reports it
        if room.pods == update.replicas == it.pods:
            yield Hit(
                RULE,
                f"{it.workload} has {counted(update.replicas, 'pod')}, and the nodes have no room for one more; an "
                "update first creates a new pod, which stays Pending, so the update never ends; "
                "write maxUnavailable: 1 and maxSurge: 0",
                it.workload.at.to("spec", "strategy"),
            )


RULE = ObjectRule(
    "rollout-exceeds-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write maxUnavailable: 1 and maxSurge: 0.",
    judges=("Deployment",),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=READS,
)
