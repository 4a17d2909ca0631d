"""A gang waits for more pods than its workloads create."""

from policygen.core.names import POD_GROUP
from policygen.core.quoting import counted, listed
from policygen.kubernetes.untyped import integer, texts
from policygen.kubernetes.workloads import TEMPLATES, Workload, sum_of
from policygen.lint.core.autoscalers import autoscaler_of
from policygen.lint.core.pod_templates import Part
from policygen.lint.core.scheduling_policies import WrittenPolicy, scheduling_policies
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano import jobs, queues

_AT_ONCE = ("Deployment", "Job", "ReplicaSet", "StatefulSet")
"""Kinds of Kubernetes with a fixed number of pods at once."""

_TRAINING = tuple(sorted(kind for group, kind in TEMPLATES if group == "kubeflow.org"))


def check(facts: Facts) -> Hits:
    """Counts the pods of all workloads that name the group, if their number is known.

    Source: pkg/scheduler/plugins/gang/gang.go, NotEnoughPodsReason.
    """
    members = facts.cluster.derive(queues.groups)
    # A workload that could not be read may name the group too.
    unread = {workload.namespace for workload in facts.cluster.workloads if not workload.templates}
    for group in facts.cluster.pod_groups:
        own = members.get((group.namespace, group.name), ())
        pods = sum_of(template.replicas for _, template in own)
        if not own or pods is None:
            continue
        if pods < group.fields.min_member and group.namespace not in unread:
            yield Hit(
                RULE,
                f"{group} has minMember {group.fields.min_member}, but the workloads that name it run only "
                f"{counted(pods, 'pod')}, so the gang never starts; set minMember to the number of pods, or run more pods",
                group.at.to("spec", "minMember"),
                tuple(template.at for _, template in own[:5]),
            )
    for workload in facts.cluster.workloads_of("apps", "batch"):
        yield from _of_annotation(facts, workload)
    for spec in jobs.specs(facts.cluster):
        yield from _of_job(spec)
    for policy in scheduling_policies(facts.cluster):
        yield from _of_training(policy)


def _of_training(policy: WrittenPolicy) -> Hits:
    """A job of Kubeflow. Without gang scheduling in its operator, the field has no effect."""
    workload, needed = policy.workload, integer(policy.data.get("minAvailable"))
    pods = sum_of(it.replicas for it in workload.templates)
    if needed is None or pods is None or "elasticPolicy" in workload.spec:
        return
    if 0 < pods < needed:
        yield Hit(
            RULE,
            f"{workload} has minAvailable {needed} in its schedulingPolicy, but only {counted(pods, 'pod')}, so the gang "
            f"that its operator makes never starts; write minAvailable: {pods}, or run {counted(needed, 'pod')}",
            policy.at("minAvailable"),
            tuple(it.at for it in workload.templates),
        )


def _of_annotation(facts: Facts, workload: Workload) -> Hits:
    """A workload whose annotation states a larger gang than its pods.

    Source: pkg/controllers/podgroup/pg_controller_handler.go, which makes the PodGroup.
    """
    size = queues.gang_size(workload)
    if not size or workload.kind not in _AT_ONCE or len(workload.templates) != 1:
        return
    [template] = workload.templates
    pods = template.replicas
    if not pods or pods >= size or not queues.to_volcano(template):
        return
    if POD_GROUP not in template.annotations and autoscaler_of(facts.cluster, workload) is None:
        yield Hit(
            RULE,
            f"{workload} has annotation {queues.MIN_MEMBER} {size}, but runs only {counted(pods, 'pod')} at once, so "
            f"the gang never starts; write {pods} in the annotation, or run {counted(size, 'pod')}",
            workload.at.to("metadata", "annotations", queues.MIN_MEMBER),
            (template.at,),
        )


def _of_job(spec: Part) -> Hits:
    """A Job whose gang needs tasks that are created only after other tasks of the gang run.

    Source: pkg/controllers/job/job_controller_actions.go, waitDependsOnTaskMeetCondition; pkg/scheduler/
    api/job_info.go, CheckTaskValid.
    """
    every = list(jobs.tasks(spec))
    later = [(name, task) for name, task in every if texts(task.data, "dependsOn", "name")]
    counts = [jobs.task_minimum(task) for _, task in every]
    first = [jobs.replicas(task) for name, task in every if (name, task) not in later]
    known = [it for it in (*counts, *first) if it is not None]
    needed = jobs.min_available(spec)
    if not later or needed is None or len(known) < len(counts) + len(first):
        return
    start, total = sum(it or 0 for it in first), sum(it or 0 for it in counts)
    is_checked = any(jobs.task_minimum(task) for _, task in later)
    if not start or (needed <= start and not (needed >= total and is_checked)):
        return
    names = listed([name for name, _ in later], "and")
    changes = [f"write minAvailable: {start} in the Job"] if needed > start else []
    if is_checked and min(needed, start) >= total:
        changes.append(f"write minAvailable: 0 in {names}")
    written = "minAvailable" in spec.data
    yield Hit(
        RULE,
        f"the gang of {spec.owner} needs {counted(needed, 'pod')}, also of {names}, but Volcano creates these "
        f"pods only after others of the gang run, so it never starts; {' and '.join(changes)}",
        spec.at / "minAvailable" if written else later[0][1].at / "dependsOn",
    )


RULE = ObjectRule(
    "gang-larger-than-its-pods",
    Severity.ERROR,
    Family.INERT,
    __doc__,
    remedy="Set minMember, or minAvailable of a Job, to the number of pods that exist before it starts.",
    judges=("Deployment", "Job", "PodGroup", "ReplicaSet", "StatefulSet", *_TRAINING),
    check=check,
    needs=frozenset({Need.WORKLOADS, Need.WHOLE}),
    reads=("HorizontalPodAutoscaler", "ScaledObject"),
)
