"""Kueue and kube-scheduler rank the same jobs in opposite orders."""

from collections.abc import Iterator

from msgspec import Struct

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, queued
from policygen.kubernetes.priorities import default
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.kueue.cohorts import forest
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity


class _Ranks(Struct, frozen=True):
    """The priorities of a job."""

    in_kueue: int
    of_pods: int
    name: str
    """The PriorityClass of its pods; empty: the default."""
    evicts: bool
    """Whether its pods may evict others."""
    workload: Workload
    at: At


def check(facts: Facts) -> Hits:
    """Kueue uses the WorkloadPriorityClass, kube-scheduler the PriorityClass of the pods.

    Pods whose class has preemptionPolicy Never evict no pods.
    Source: concepts/workload_priority_class.md of Kueue's documentation.
    """
    yield from _classes(facts.cluster)
    by_tree: dict[str, list[_Ranks]] = {}
    for tree, ranks in _jobs(facts.cluster):
        by_tree.setdefault(tree, []).append(ranks)
    for found in by_tree.values():
        found.sort(key=lambda it: -it.in_kueue)
        victim = found[
            0
        ]  # of the jobs that Kueue ranks highest so far, the one with the lowest pods
        for ranks in found:
            if ranks.evicts and victim.of_pods < ranks.of_pods and victim.in_kueue > ranks.in_kueue:
                yield Hit(
                    RULE,
                    f"Kueue ranks {ranks.workload} below {victim.workload}, but the pods of {ranks.workload} "
                    f"have priority {ranks.of_pods} and those of {victim.workload} have {victim.of_pods}, so "
                    f"kube-scheduler can evict the job that Kueue ranks first; "
                    f"{_remedy(ranks, victim, default(facts.cluster))}",
                    ranks.at,
                    related=(victim.at,),
                )
            if ranks.of_pods < victim.of_pods:
                victim = ranks


def _remedy(ranks: _Ranks, victim: _Ranks, usual: int) -> str:
    """What gives the pods of two jobs the order of Kueue; `usual` is the priority of pods without a class."""
    if ranks.name and usual <= victim.of_pods:
        order = f"remove priorityClassName from {ranks.workload}"
    elif victim.name and usual >= ranks.of_pods:
        order = f"remove priorityClassName from {victim.workload}"
    else:
        order = f"use a PriorityClass with a value of at most {victim.of_pods} in {ranks.workload}"
    if not ranks.name:
        return order
    return f"{order}, or write preemptionPolicy: Never in PriorityClass {ranks.name}"


def _classes(cluster: Cluster) -> Hits:
    """WorkloadPriorityClasses and PriorityClasses of the same names."""
    both = [
        (entry.fields.value, other.fields.value, entry, other)
        for entry in cluster.workload_priority_classes
        if (other := cluster.priority_classes.get(entry.name)) is not None
    ]
    both.sort(key=lambda it: it[:2])
    top = None
    for here in both:
        # `top`: of the classes that Kueue ranks lower, the one that kube-scheduler ranks highest.
        if top is not None and top[0] < here[0] and top[1] > here[1]:
            value, of_pods, entry, other = here
            yield Hit(
                RULE,
                f"{entry} has value {value} and {top[2].name} has {top[0]}, but {other} has value {of_pods} and "
                f"{top[3].name} has {top[1]}, so kube-scheduler evicts pods that Kueue ranks first; raise the value "
                f"of {other} to {top[1]} or more, or write preemptionPolicy: Never in {top[3]}",
                entry.at / "value",
                related=(other.at / "value", top[2].at / "value", top[3].at / "value"),
            )
        if (top is None or here[1] > top[1]) and here[3].fields.preemption_policy != "Never":
            top = here


def _jobs(cluster: Cluster) -> Iterator[tuple[str, _Ranks]]:
    """The queued jobs whose priorities are known, each with the root of its queues.

    Jobs whose two classes have the same name are omitted, because the classes are reported.
    """
    trees, usual = cluster.derive(forest), default(cluster)
    for job in cluster.derive(queued):
        if job.cluster_queue is None or trees.queues[job.cluster_queue.name].cyclic:
            continue
        name = labels(job.workload).get(PRIORITY, "")
        ranked = cluster.workload_priority_classes.get(name)
        for template in job.workload.templates[:1]:
            written = template.spec.priority_class_name
            of_pods = cluster.priority_classes.get(written)
            if (name and ranked is None) or (written and of_pods is None) or name == written != "":
                continue
            value = of_pods.fields.value if of_pods else usual
            evicts = of_pods is None or of_pods.fields.preemption_policy != "Never"
            yield (
                trees.queues[job.cluster_queue.name].root().name,
                _Ranks(
                    ranked.fields.value if ranked else value,
                    value,
                    written,
                    evicts,
                    job.workload,
                    template.at.to("spec", "priorityClassName"),
                ),
            )


RULE = ObjectRule(
    "priority-orders-disagree",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give the PriorityClasses of pods the same order as the WorkloadPriorityClasses.",
    judges=("WorkloadPriorityClass", *KINDS),
    check=check,
    reads=("PriorityClass", "LocalQueue", "ClusterQueue", "Cohort"),
)
