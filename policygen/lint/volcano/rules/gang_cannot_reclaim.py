"""The PriorityClass of a gang has preemptionPolicy Never, so the gang cannot reclaim the share of its Queue."""

from collections.abc import Sequence

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import PodGroupView, QueueView
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
    found: dict[At, list[tuple[Entry[PodGroupView], Entry[QueueView]]]] = {}
    for group in facts.cluster.pod_groups:
        queue = queues.queue_of(facts.cluster, group)
        if queue is None or not queue.fields.deserved:
            continue
        pods = members.get((group.namespace, group.name), ())
        names = {template.spec.priority_class_name for _, template in pods}
        for name in sorted(names or {group.fields.priority_class_name}):
            entry = classes.get(name)
            if entry is not None and entry.fields.preemption_policy == "Never":
                found.setdefault(entry.at, []).append((group, queue))
    for entry in classes if found else ():
        if gangs := found.get(entry.at):
            yield _hit(entry, gangs)


def _hit(
    entry: Entry[PriorityClassView], gangs: Sequence[tuple[Entry[PodGroupView], Entry[QueueView]]]
) -> Hit:
    """At the gang, or at the class if it has several."""
    (group, queue), *others = gangs
    deserved = queue.at.to("spec", "deserved")
    policy = entry.at / "preemptionPolicy"
    places = [it.at.to("spec", "priorityClassName") for it, _ in gangs]
    fault = f'PriorityClass "{entry.name}" with preemptionPolicy Never, so no pod is evicted for'
    remedy = "preemptionPolicy: PreemptLowerPriority"
    if not others:
        return Hit(
            RULE,
            f"{group} has {fault} this gang, although {queue} deserves a share; use a PriorityClass with {remedy}",
            places[0],
            (policy, deserved),
        )
    return Hit(
        RULE,
        f"{some([str(it) for it, _ in gangs], 'other PodGroup')} have {fault} these gangs, although their queues "
        f"deserve a share; write {remedy}",
        policy,
        (*places, deserved),
    )


RULE = ObjectRule(
    "gang-cannot-reclaim",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Use a PriorityClass with preemptionPolicy PreemptLowerPriority.",
    judges=("PodGroup", "PriorityClass"),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("Queue", *KINDS),
    aliases=("gang-never-claims",),
)
