"""Jobs of one Queue have different priorities, but Volcano never preempts the lower ones."""

from collections.abc import Mapping

from policygen.core.quoting import listed
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.table import Entry
from policygen.kubernetes.untyped import text
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.priorities import preempts
from policygen.lint.other_rules import places
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import queues
from policygen.lint.volcano.configuration import VolcanoFile, all_settings
from policygen.lint.volcano.rules import (
    enqueue_blocks_preemption,
    gang_plugin_blocks_preemption,
    volcano_configuration_not_loaded,
)

_ACTIONS = frozenset({"preempt", "gangpreempt"})


def check(facts: Facts) -> Hits:
    """Only preempt and gangpreempt evict pods of lower jobs of the same Queue. No default configuration has them.

    Checked if the highest class of a Queue preempts; high-priority-never-preempts reports other classes.
    Source: pkg/scheduler/actions/preempt/preempt.go of Volcano 1.14.1; installer/helm/chart/volcano/config.
    """
    without = [it for it in all_settings(facts) if _ACTIONS.isdisjoint(it.actions)]
    if not without:
        return
    for queue, used in facts.cluster.derive(_classes_by_queue).items():
        low, *_, top = sorted(used, key=lambda it: it.fields.value)
        if low.fields.value == top.fields.value or not preempts(top):
            continue
        dropped = set(places(facts, (volcano_configuration_not_loaded.RULE,)))
        for configuration in without:
            if configuration.actions_at not in dropped:
                yield Hit(
                    RULE,
                    f"actions do not include preempt, so no pod of {used[low]} is evicted for {used[top]}, although both are in "
                    f"Queue {queue} and PriorityClass {top.name} is higher; {_advice(facts, configuration)} if urgent jobs must "
                    "preempt others",
                    configuration.actions_at,
                    (used[top].at, used[low].at),
                )
        return


def _advice(facts: Facts, configuration: VolcanoFile) -> str:
    """To add preempt, and to change what would keep it from evicting pods."""
    gang = configuration.plugin("gang")
    switch = gang_plugin_blocks_preemption.SWITCHES["preempt"]
    steps = ["add preempt"]
    if enqueue_blocks_preemption.holds(configuration, "preempt"):
        steps.append("remove enqueue")
    if (
        gang
        and gang.on(switch)
        and gang_plugin_blocks_preemption.blocked(facts, configuration, gang.tier, _ACTIONS)
    ):
        steps.append(f"write {switch}: false at plugin gang")
    return listed(steps, "and")


def _classes_by_queue(
    cluster: Cluster,
) -> Mapping[str, Mapping[Entry[PriorityClassView], Workload]]:
    """The known classes of the pods of each queue with at least two, each with a workload that has it."""
    found: dict[str, dict[Entry[PriorityClassView], Workload]] = {}
    classes = cluster.priority_classes
    for workload in cluster.workloads if classes.any else ():
        own = text(workload.spec, "priorityClassName")
        for template in workload.templates:
            entry = classes.get(template.spec.priority_class_name or own)
            queue = queues.queue_of_pods(cluster, workload, template) if entry else ""
            if entry and queue:
                found.setdefault(queue, {}).setdefault(entry, workload)
    return {queue: used for queue, used in found.items() if len(used) > 1}


RULE = ObjectRule(
    "preempt-never-runs",
    Severity.INFO,
    Family.INERT,
    __doc__,
    remedy="Add preempt to the actions if urgent jobs must preempt others.",
    judges=("volcano-scheduler.conf",),
    check=check,
    needs=frozenset({Need.VOLCANO_CONFIGURATION}),
    reads=("PodGroup", "PriorityClass", "Queue", *KINDS),
)
