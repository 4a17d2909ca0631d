"""Kueue and kube-scheduler rank the same jobs in opposite orders."""

from collections.abc import Iterator, Sequence
from itertools import groupby

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.quoting import some
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.core import PriorityClassView
from policygen.kubernetes.kueue import ClusterQueueView
from policygen.kubernetes.kueue_jobs import PRIORITY, labels, queued
from policygen.kubernetes.priorities import default
from policygen.kubernetes.table import Entry
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.kueue.cohorts import forest
from policygen.lint.kueue.flavor_fits import refusal
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


_Pair = tuple[_Ranks, _Ranks]
"""A job, and one that Kueue ranks higher and whose pods its own pods can evict."""


def check(facts: Facts) -> Hits:
    """Kueue uses the WorkloadPriorityClass, kube-scheduler the PriorityClass of the pods.

    Pods whose class has preemptionPolicy Never evict no pods. Of queues that share no quota, but a flavor and thus
    its nodes, compares jobs with a WorkloadPriorityClass.
    Source: concepts/workload_priority_class.md of Kueue's documentation.
    """
    yield from _classes(facts.cluster)
    by_tree: dict[str, list[_Ranks]] = {}
    by_flavor: dict[str, list[_Ranks]] = {}
    for tree, flavors, ranks in _jobs(facts.cluster):
        by_tree.setdefault(tree, []).append(ranks)
        for flavor in flavors:
            by_flavor.setdefault(flavor, []).append(ranks)
    reported: set[At] = set()
    for found in by_tree.values():
        wrong = _wrong(found)
        reported.update(it.at for it, _ in wrong)
        yield from _of_jobs(facts.cluster, wrong)
    for flavor, found in by_flavor.items():
        wrong = [each for each in _wrong(found) if each[0].at not in reported]
        reported.update(it.at for it, _ in wrong)
        yield from _of_jobs(facts.cluster, wrong, flavor)


def _wrong(jobs: list[_Ranks]) -> list[_Pair]:
    """The jobs that can evict one which Kueue ranks higher: of these, the one whose pods have the lowest priority."""
    found: list[_Pair] = []
    victim: _Ranks | None = None
    for _, level in groupby(sorted(jobs, key=_from_highest), key=_from_highest):
        equal = [*level]
        if victim is not None:
            found += [(it, victim) for it in equal if it.evicts and victim.of_pods < it.of_pods]
        victim = min(filter(None, (victim, *equal)), key=lambda it: it.of_pods)
    return found


def _from_highest(ranks: _Ranks) -> int:
    return -ranks.in_kueue


def _of_jobs(cluster: Cluster, wrong: Sequence[_Pair], flavor: str = "") -> Hits:
    """A hit for each job, or one for all jobs of a PriorityClass: then its value is probably wrong.

    `flavor`: the jobs are in queues without a common cohort, and can run on the nodes of this flavor.
    """
    where = f", and both can run on nodes of flavor {flavor}" if flavor else ""
    by_class: dict[str, list[_Pair]] = {}
    for each in wrong:
        by_class.setdefault(each[0].name, []).append(each)
    for name, found in by_class.items():
        entry = cluster.priority_classes.get(name)
        if entry is not None and len(found) > 1:
            yield _of_class(entry, found)
            continue
        for ranks, victim in found:
            yield Hit(
                RULE,
                f"Kueue ranks {ranks.workload} below {victim.workload}{where}, but the pods of {ranks.workload} "
                f"have priority {ranks.of_pods} and those of {victim.workload} have {victim.of_pods}, so "
                f"kube-scheduler can evict the job that Kueue ranks first; "
                f"{_remedy(ranks, victim, default(cluster))}",
                ranks.at,
                related=(victim.at,),
            )


def _of_class(entry: Entry[PriorityClassView], found: Sequence[_Pair]) -> Hit:
    lower = list(dict.fromkeys(str(it.workload) for it, _ in found))
    higher = {str(it.workload): it for _, it in found}
    most = min(it.of_pods for it in higher.values())
    return Hit(
        RULE,
        f"Kueue ranks {some(lower, 'other job')} below {some([*higher], 'other job')}, but {entry} gives the pods "
        f"of the former priority {entry.fields.value} and those of the latter have {most}, so kube-scheduler can "
        f"evict jobs that Kueue ranks first; lower the value of {entry} to at most {most}, or write "
        "preemptionPolicy: Never in it",
        entry.at / "value",
        related=tuple(it.at for it in (*(one for one, _ in found), *higher.values())),
    )


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


def _jobs(cluster: Cluster) -> Iterator[tuple[str, Sequence[str], _Ranks]]:
    """The queued jobs whose priorities are known, each with the root of its queues.

    Those with a WorkloadPriorityClass also have the flavors that they can use.
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
                _flavors(cluster, job.cluster_queue, template) if ranked else (),
                _Ranks(
                    ranked.fields.value if ranked else value,
                    value,
                    written,
                    evicts,
                    job.workload,
                    template.at.to("spec", "priorityClassName"),
                ),
            )


def _flavors(
    cluster: Cluster, queue: Entry[ClusterQueueView], template: PodTemplate
) -> Sequence[str]:
    """The flavors of a queue whose nodes the pods can use."""
    return [
        it.name
        for group in queue.fields.resource_groups
        for it in group.flavors
        if (flavor := cluster.flavors.get(it.name)) and flavor.fields.node_labels
        if not refusal(flavor.fields, template.spec)
    ]


RULE = ObjectRule(
    "priority-orders-disagree",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give the PriorityClasses of pods the same order as the WorkloadPriorityClasses.",
    judges=("WorkloadPriorityClass", "PriorityClass", *KINDS),
    check=check,
    reads=("LocalQueue", "ClusterQueue", "Cohort", "ResourceFlavor"),
)
