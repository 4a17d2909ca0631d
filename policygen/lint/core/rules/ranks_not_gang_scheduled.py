"""Ranks of a training job start separately, so some can hold GPUs while others wait."""

from collections import Counter
from collections.abc import Collection, Iterator

from policygen.core.finding import At
from policygen.core.names import LOCAL_QUEUE, POD_GROUP, VOLCANO_JOB_QUEUE
from policygen.kubernetes import accelerators
from policygen.kubernetes.cluster import VOLCANO_BATCH, Cluster
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.untyped import integer, mapping, mappings, texts
from policygen.kubernetes.workloads import PodTemplate, Workload, sum_of
from policygen.lint.core.rank_signs import is_rank
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity
from policygen.lint.volcano import jobs
from policygen.lint.volcano.queues import MIN_MEMBER, SCHEDULER, gang_size

_KINDS = ("StatefulSet", "Deployment", "ReplicaSet", "Job")
_OF_OPERATORS = (
    "JAXJob",
    "JobSet",
    "MPIJob",
    "PaddleJob",
    "PyTorchJob",
    "RayJob",
    "TFJob",
    "XGBoostJob",
)
"""Kinds whose pods work only together."""
_RAY_GANGS = ("ray.io/scheduler-name", "ray.io/gang-scheduling-enabled", VOLCANO_JOB_QUEUE)
"""Labels for which KubeRay creates a PodGroup. Source: its guide about Volcano."""
_FLAGS = ("--gang-scheduler-name=volcano", "--gang-scheduling=volcano")
"""With these, Kubeflow's training operator and MPI operator create a PodGroup of all pods of a job.

Source: Kubeflow's guide about job scheduling.
"""


def check(facts: Facts) -> Hits:
    """Checks the environment variables and options of torchrun and similar launchers; a queue of Kueue is a gang.

    A gang of Volcano must contain all ranks. For pods of operators, Volcano creates a PodGroup with minMember 1,
    unless the operator creates one. A schedulingPolicy shows that Kubeflow's operator does.

    Source: pkg/controller/statefulset/stateful_set_control.go; kube-scheduler, one pod a cycle;
    pkg/controllers/podgroup/pg_controller_handler.go and pkg/scheduler/plugins/gang of Volcano.
    """
    names_no_queue = "workload-names-no-queue" in facts.run
    queued = facts.cluster.local_queues.by_namespace if names_no_queue else ()
    for workload in facts.cluster.workloads:
        if workload.kind in _OF_OPERATORS:
            yield from _of_operator(facts.cluster, workload)
        elif workload.kind not in _KINDS or not any(
            accelerators.requested(facts.cluster, it) for it in workload.templates
        ):
            continue
        elif workload.object.group == VOLCANO_BATCH:
            if "min-task-member-ignored" in facts.run and jobs.ignored_minimums(
                jobs.spec_of(workload)
            ):
                continue  # with the same advice
            yield from _of_volcano(workload)
        elif workload.object.group in ("apps", "batch"):
            yield from _of_kubernetes(facts.cluster, workload, queued)
            yield from _of_indexes(facts.cluster, workload)
    yield from _of_pods(facts.cluster)


def _of_volcano(workload: Workload) -> Iterator[Hit]:
    """A Volcano Job whose minAvailable is below its number of pods.

    With minAvailable 1, a policy that restarts all pods after an eviction shows that they are ranks.
    """
    spec = jobs.spec_of(workload)
    total = sum_of(jobs.replicas(task) for _, task in jobs.tasks(spec))
    least = jobs.min_available(spec)
    if least is None or total is None:
        return
    if not 0 < least < total or any(task.data.get("dependsOn") for _, task in jobs.tasks(spec)):
        return
    plugins = spec.under("plugins").data.keys()
    restarts = least == 1 and jobs.ends_together(spec)
    if restarts or any(is_rank(workload, it, plugins) for it in workload.templates):
        field = "minAvailable" if "minAvailable" in workload.spec else "tasks"
        yield _hit(
            f"{workload} starts when {least} of its {total} ranks {'fits' if least == 1 else 'fit'}",
            f"set minAvailable to {total}",
            spec.at / field,
        )


def _of_kubernetes(cluster: Cluster, workload: Workload, queued: Collection[str]) -> Iterator[Hit]:
    """A workload of Kubernetes. `queued` are the namespaces in which it should name a queue of Kueue."""
    for template in workload.templates:
        count = template.replicas or 0
        if count <= 1 or _in_other_gang(workload, template):
            continue
        if not accelerators.requested(cluster, template) or not is_rank(workload, template):
            continue
        ordered = (
            workload.kind == "StatefulSet"
            and workload.spec.get("podManagementPolicy", "OrderedReady") == "OrderedReady"
        )
        how = f"{workload} starts its {count} ranks {'one by one' if ordered else 'independently'}"
        if template.spec.scheduler_name != SCHEDULER:
            if workload.namespace in queued:
                continue  # workload-names-no-queue reports it
            if MIN_MEMBER not in workload.annotations and POD_GROUP not in template.annotations:
                advice = (
                    "name a queue of Kueue, or use a gang of Volcano"
                    if workload.kind == "Job"
                    else "use one pod with all GPUs of a node, or a JobSet or LeaderWorkerSet in a queue"
                )
                yield _hit(how, advice, workload.at / "spec")
            continue
        name = template.annotations.get(POD_GROUP)
        group = cluster.pod_groups.get(name, workload.namespace) if name else None
        if group is not None and 0 < group.fields.min_member < count:
            size, at = group.fields.min_member, group.at.to("spec", "minMember")
            advice = f"set minMember of {group} to {count}"
        elif name is None and gang_size(workload) < count:
            size = gang_size(workload)
            at = workload.at.to("metadata", "annotations", MIN_MEMBER)
            advice = f'set annotation {MIN_MEMBER}: "{count}" on the {workload.kind}'
        else:
            continue
        if size > 1:
            how = f"{workload} starts when {size} of its {count} ranks fit"
        yield _hit(how, advice, at)


def _of_indexes(cluster: Cluster, workload: Workload) -> Iterator[Hit]:
    """An Indexed Job without signs of ranks, all pods of which can run at once.

    Beside a PodGroup, its pods may only lack the annotation: `pod-group-without-pods` reports that.
    """
    spec = workload.spec
    count = integer(spec.get("completions"))
    if spec.get("completionMode") != "Indexed" or count is None or count < 2:
        return
    if workload.namespace in cluster.pod_groups.by_namespace:
        return
    for template in workload.templates if spec.get("parallelism") == count else ():
        if (
            template.spec.scheduler_name == SCHEDULER
            and MIN_MEMBER not in workload.annotations
            and POD_GROUP not in template.annotations
            and not (_in_other_gang(workload, template) or is_rank(workload, template))
        ):
            yield Hit(
                RULE,
                f"{workload} starts its {count} pods independently, because Volcano creates a gang of one pod; if they "
                f'work only together, set annotation {MIN_MEMBER}: "{count}" on the Job',
                workload.at / "spec",
                severity=Severity.INFO,
            )


def _of_pods(cluster: Cluster) -> Iterator[Hit]:
    """PodGroups of single pods that are ranks."""
    ranks: Counter[tuple[str, str]] = Counter()
    for workload in cluster.workloads_of("") if cluster.pod_groups.any else ():
        for template in workload.templates if workload.kind == "Pod" else ():
            name = template.annotations.get(POD_GROUP)
            if name and accelerators.requested(cluster, template):
                ranks[name, workload.namespace] += is_rank(workload, template)
    for place, count in ranks.items():
        group = cluster.pod_groups.get(*place)
        if group is not None and 0 < group.fields.min_member < count:
            how = f"{group} starts when {group.fields.min_member} of its {count} ranks fit"
            yield _hit(how, f"set minMember to {count}", group.at.to("spec", "minMember"))


def _of_operator(cluster: Cluster, workload: Workload) -> Iterator[Hit]:
    """A job of an operator whose pods Volcano schedules."""
    counts = [template.replicas for template in workload.templates]
    ranks = [it for it in workload.templates if accelerators.requested(cluster, it)]
    total = sum(count or 0 for count in counts)
    pods = sum(it.replicas or 0 for it in ranks)
    if None in counts or pods <= 1 or any(it.spec.scheduler_name != SCHEDULER for it in ranks):
        return
    if "elasticPolicy" in workload.spec or any(_in_other_gang(workload, it) for it in ranks):
        return
    policy = mapping(workload.spec, "runPolicy", "schedulingPolicy")
    names = {it.annotations.get(POD_GROUP) for it in ranks}
    group = cluster.pod_groups.get(names.pop() or "", workload.namespace)
    how, at = f"{workload} starts its {total} pods independently", workload.at / "spec"
    if policy:
        least = integer(policy.get("minAvailable"))
        if least is not None and 0 < least < total:
            how = f"{workload} starts when {least} of its {total} pods fit"
            at = at.to("runPolicy", "schedulingPolicy", "minAvailable")
            yield _hit(how, f"set minAvailable to {total}", at)
    elif group is not None:
        least = group.fields.min_member
        if 0 < least < total:
            how = f"{workload} starts when {least} of its {total} pods fit"
            at = group.at.to("spec", "minMember")
            yield _hit(how, f"set minMember of {group} to {total}", at)
    elif all(POD_GROUP not in it.annotations for it in ranks) and not any(
        key in workload.labels for key in _RAY_GANGS
    ):
        if workload.object.group == "kubeflow.org" and cluster.derive(_creates_gangs):
            return
        yield _hit(how, _advice(workload, total), at)


def _advice(workload: Workload, total: int) -> str:
    """How to make a gang of the pods of an operator."""
    match workload.kind:
        case "RayJob":
            return f"set label {_RAY_GANGS[0]}: volcano on the RayJob"
        case "JobSet":
            return (
                f"create a PodGroup with minMember: {total}, and write its name in annotation {POD_GROUP} of "
                "every pod template"
            )
    flag = _FLAGS[workload.object.version == "v2beta1"]
    return f"start its operator with {flag}, and set runPolicy.schedulingPolicy.minAvailable to {total}"


def _creates_gangs(cluster: Cluster) -> bool:
    """Whether an operator of Kubeflow in the input creates PodGroups."""
    for deployment in cluster.of("apps", "Deployment"):
        for container in mappings(deployment.data, "spec", "template", "spec", "containers"):
            if not set(_FLAGS).isdisjoint(
                (*texts(container, "command"), *texts(container, "args"))
            ):
                return True
    return False


def _hit(how: str, advice: str, at: At) -> Hit:
    return Hit(RULE, f"{how}, so some can hold GPUs while others wait; {advice}", at)


def _in_other_gang(workload: Workload, template: PodTemplate) -> bool:
    """Whether Kueue or another scheduler than Volcano starts the pods together."""
    return (
        LOCAL_QUEUE in labels(workload)
        or LOCAL_QUEUE in template.labels
        or "kueue.x-k8s.io/pod-group-name" in template.labels
        or "scheduling.x-k8s.io/pod-group" in template.labels
        or "kai.scheduler/queue" in workload.labels
        or "kai.scheduler/queue" in template.labels
    )


RULE = ObjectRule(
    "ranks-not-gang-scheduled",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Start all ranks together: name a queue of Kueue, or set the size of a Volcano gang to their number.",
    judges=(*_KINDS, *_OF_OPERATORS, "Pod", "PodGroup"),
    check=check,
    reads=("Deployment",),
    aliases=("ranks-start-without-gang",),
)
