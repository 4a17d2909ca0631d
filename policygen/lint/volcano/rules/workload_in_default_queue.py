"""A workload of Volcano requests GPUs but uses the queue default, where the limits of the other queues do not apply."""

from collections.abc import Collection, Mapping

from msgspec import Struct

from policygen.core.finding import At
from policygen.core.names import POD_GROUP, VOLCANO_JOB_QUEUE, VOLCANO_QUEUE
from policygen.core.quoting import listed
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.kueue_jobs import queued
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.other_rules import places
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
)
from policygen.lint.volcano import queues
from policygen.lint.volcano.rules import pod_group_without_pods
from policygen.lint.volcano.team_queues import team_queues


class NamedQueue(Struct, frozen=True):
    """The queue that the pods of a template name."""

    name: str
    """Empty if they name none."""
    at: At
    """Where the name is, or would be."""
    field: str


def check(facts: Facts) -> Hits:
    """The scheduler creates `default` without limits. Any pod without a queue goes there.

    In manifests, `queue: default` can be intended; then it is reported only if a spec has a queue of the
    team. A server writes this default, so on a cluster both are equal.
    Source: pkg/scheduler/cache/cache.go; pg_controller_handler.go, buildPodGroupFromPod; CRDs of Volcano 1.14.1.
    """
    cluster = facts.cluster
    limits = cluster.derive(_limits)
    if not limits or queues.DEFAULT in limits:
        return
    teams = facts.derive(team_queues)
    of_kueue = _in_pools_of_kueue(facts)
    without_pods = {
        (it.document, it.path[:-2]) for it in places(facts, [pod_group_without_pods.RULE])
    }
    waiting = {
        it.namespace for it in cluster.pod_groups if (it.at.document, it.at.path) in without_pods
    }
    for workload in cluster.workloads:
        if _annotated(cluster, workload.namespace):
            continue  # namespace-queue-ignored reports it
        if workload.namespace in waiting:
            continue  # pod-group-without-pods reports the group that it does not name
        if id(workload) in of_kueue:
            continue  # two-schedulers-one-pool reports its scheduler
        for template in workload.templates:
            named = _queue(cluster, workload, template)
            if named is None or named.name not in ("", queues.DEFAULT):
                continue
            requested = accelerators.requested(cluster, template).keys()
            limited = sorted({it for names in limits.values() for it in names} & requested)
            own = teams.of(workload.namespace, requested)
            if limited and (not named.name or own or cluster.seen):
                found = _misplaced(workload, template)
                words, at = (found.words, found.at) if found else ("names no queue", named.at)
                known = {found.queue} & limits.keys() if found else ()
                uses = "uses" if named.name else f"{words}. Volcano then uses"
                right = _proposed(cluster, workload, known or own)
                yield Hit(
                    RULE,
                    f"{workload} requests {listed(limited, 'and')} but {uses} queue default, {_allows(cluster, limited)}; "
                    f"set {named.field} to {right}",
                    named.at if named.name else at,
                    meant=(Edit(Verb.ADD, named.at, right),) if known else (),
                )
                break


def _allows(cluster: Cluster, names: list[str]) -> str:
    """How much of resources the queue default allows: none, or it has no limit."""
    default = cluster.queues.get(queues.DEFAULT)
    without = [it for it in names if default is not None and default.fields.capability.get(it) == 0]
    if without:
        return f"which has a capability of 0 {listed(without, 'and')}, so no pod starts"
    return f"which has no limit of {listed(names, 'and')}"


def _limits(cluster: Cluster) -> Mapping[str, Collection[str]]:
    """The accelerators that each queue without children counts; for `cluster.derive`."""
    inner = cluster.derive(queues.tree).inner
    return {
        queue.name: names
        for queue in cluster.queues
        if not inner(queue.name)
        and (
            names := {
                name
                for amounts in queues.amounts(queue.fields).values()
                for name, amount in amounts.items()
                if amount > 0 and accelerators.is_one(name)
            }
        )
    }


def _in_pools_of_kueue(facts: Facts) -> Collection[int]:
    """The ids of workloads in a ClusterQueue that the spec renders."""
    if facts.plan is None or facts.cluster.seen or "two-schedulers-one-pool" not in facts.run:
        return ()
    rendered = {
        tree.name_of(leaf)
        for tree in facts.plan.trees
        if tree.scheduler != queues.SCHEDULER
        for leaf in tree.leaves
    }
    return {
        id(it.workload)
        for it in facts.cluster.derive(queued)
        if it.cluster_queue is not None and it.cluster_queue.name in rendered
    }


def _annotated(cluster: Cluster, namespace: str) -> bool:
    found = cluster.namespaces.get(namespace)
    return found is not None and VOLCANO_QUEUE in found.annotations


def _queue(cluster: Cluster, workload: Workload, template: PodTemplate) -> NamedQueue | None:
    """The queue of Volcano that the pods name; None if they do not use Volcano or it is unknown."""
    if workload.scheduler_name(template) != queues.SCHEDULER:
        return None
    group = workload.object.group
    if group == VOLCANO_BATCH:
        job = cluster.volcano_jobs.get(workload.name, workload.namespace)
        if job is None:
            return None
        return NamedQueue(job.fields.queue, job.at.to("spec", "queue"), "spec.queue")
    at = template.at.to("metadata", "annotations", VOLCANO_QUEUE)
    where = "" if workload.kind == "Pod" else " of its pod template"
    field = f"annotation {VOLCANO_QUEUE}{where}"
    if name := template.annotations.get(POD_GROUP):
        pod_group = cluster.pod_groups.get(name, workload.namespace)
        if pod_group is None:
            return None
        if cluster.seen:  # the controller may have created it
            return NamedQueue(pod_group.fields.queue, at, field)
        at = pod_group.at.to("spec", "queue")
        return NamedQueue(pod_group.fields.queue, at, f"spec.queue of {pod_group}")
    if _of_operator(workload):
        return None
    written = {**template.labels, **template.annotations}
    for key, value in written.items():
        if (
            "volcano" in key
            and "queue" in key
            and key not in (VOLCANO_QUEUE, VOLCANO_JOB_QUEUE)
            and value
        ):
            return None  # workload-key-unknown reports misspelled keys
    named = template.annotations.get(VOLCANO_QUEUE, "")
    return NamedQueue(named, at, field)


class MisplacedQueue(Struct, frozen=True):
    """A queue that is named where Volcano does not look."""

    words: str
    queue: str
    at: At


def _misplaced(workload: Workload, template: PodTemplate) -> MisplacedQueue | None:
    """The queue that the workload itself, or another key of the pods, names; None: no queue.

    Of objects that create pods, Volcano reads only the template.
    """
    own = () if workload.kind == "Pod" else ((workload, f"{workload.kind} itself"),)
    for owner, name in ((template, ""), *own):
        for kind, keys in (("annotation", owner.annotations), ("label", owner.labels)):
            ignored = (VOLCANO_JOB_QUEUE, *((VOLCANO_QUEUE,) if name or kind == "label" else ()))
            for key in ignored:
                if key in keys:
                    of = f" of the {name}" if name else ""
                    words = f"names its queue in the {kind} {key}{of}, which has no effect"
                    at = owner.at.to("metadata", f"{kind}s", key)
                    return MisplacedQueue(words, keys[key], at)
    return None


def _of_operator(workload: Workload) -> bool:
    """Whether its operator creates the PodGroup, and may take the queue from another field."""
    if workload.object.group in ("", "apps", "batch"):
        return False
    found = {**workload.labels, **workload.annotations}
    policy = mapping(workload.spec, "runPolicy", "schedulingPolicy")
    return bool(text(policy, "queue")) or any("queue" in key for key in found)


def _proposed(cluster: Cluster, workload: Workload, known: Collection[str]) -> str:
    """The queue to write; a queue that only other namespaces or teams use is never proposed."""
    if known:
        return listed(sorted(known), "or")
    users = cluster.derive(queues.users)
    used = [name for name, them in users.items() if them == {workload.namespace}]
    found = [it for it in used if it in cluster.derive(_limits)]
    return found[0] if len(found) == 1 else "a queue of its team"


RULE = ObjectRule(
    "workload-in-default-queue",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Name the queue of the team in the field that the finding names.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Queue", "PodGroup", "Namespace"),
)
