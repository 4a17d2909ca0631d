"""The PriorityClass of a gang has preemptionPolicy Never, so the gang cannot reclaim the share of its Queue."""

from policygen.kubernetes.workloads import KINDS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import settings


def check(facts: Facts) -> Hits:
    """Neither preempt nor reclaim acts for a pod whose preemptionPolicy is Never.

    Source: pkg/scheduler/actions/{preempt,reclaim}; volcano-sh/volcano#3739.
    """
    configuration = settings(facts)
    if configuration is None or not configuration.evicts:
        return
    members = facts.cluster.derive(queues.groups)
    classes = facts.cluster.priority_classes
    for group in facts.cluster.pod_groups:
        queue = queues.queue_of(facts.cluster, group)
        if queue is None or not queue.fields.deserved:
            continue
        pods = members.get((group.namespace, group.name), ())
        names = {template.spec.priority_class_name for _, template in pods}
        for name in sorted(names or {group.fields.priority_class_name}):
            found = classes.get(name)
            if found is not None and found.fields.preemption_policy == "Never":
                yield Hit(
                    RULE,
                    f'{group} has PriorityClass "{name}" with preemptionPolicy Never, so no pod is evicted for this gang, although'
                    f" {queue} deserves a share; use a PriorityClass with "
                    "preemptionPolicy: PreemptLowerPriority",
                    group.at.to("spec", "priorityClassName"),
                    (found.at.to("preemptionPolicy"), queue.at.to("spec", "deserved")),
                )


RULE = ObjectRule(
    "gang-cannot-reclaim",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a PriorityClass with preemptionPolicy PreemptLowerPriority.",
    judges=("PodGroup",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("PriorityClass", "Queue", *KINDS),
    aliases=("gang-never-claims",),
)
