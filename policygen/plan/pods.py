"""The fields that the pods of each model need, and the pod groups of gangs under Volcano."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.names import HOSTNAME, POD_GROUP, VOLCANO_QUEUE
from policygen.plan import kubernetes, kueue, scheduler
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.fit import warn
from policygen.plan.kind import Meta
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import GANG_NOT_SCHEDULED, PODS_MUST_CARRY
from policygen.plan.volcano import PodGroup
from policygen.plan.workloads import Assignment, Workloads
from policygen.spec import derived_names
from policygen.spec.types import Model, Namespace, Spec


def pod_groups(
    spec: Spec, pools: Sequence[PoolFacts], workloads: Workloads
) -> tuple[list[PodGroup], list[Hit]]:
    """A pod group for each gang on a Volcano pool, and a note on the pod fields of every model."""
    groups: list[PodGroup] = []
    hits: list[Hit] = []
    for assignment in workloads.assignments:
        hits += _carried(spec, pools, assignment)
        model, facts = assignment.model, assignment.facts
        if model.gang is None:
            continue
        why = _one_by_one(facts)
        if why is not None:
            message = f'model "{model.name}" is a gang, but {why}'
            hits.append(warn(GANG_NOT_SCHEDULED, message, model))
        elif facts.scheduler == "volcano" and model.gang.run_as == "pods":
            groups += _groups(spec, pools, assignment, model.gang.size)
    return groups, hits


def _one_by_one(facts: PoolFacts) -> str | None:
    """Why the pods of a gang do not start together on a pool; None if they do."""
    if not facts.policy.gang_scheduling:
        return f'pool "{facts.name}" has gangScheduling: false, so its pods start one by one; write true'
    if facts.scheduler == "kube-scheduler":
        return (
            f'kube-scheduler starts the pods of pool "{facts.name}" one by one; use a pool of kueue '
            "or volcano"
        )
    return None


def _groups(
    spec: Spec, pools: Sequence[PoolFacts], assignment: Assignment, size: int
) -> Iterator[PodGroup]:
    """The pod groups of a model, each of `size` pods."""
    model, namespace = assignment.model, _namespace(assignment)
    if namespace is None or assignment.queue is None:
        return
    least: dict[str, str] = {}
    if model.cpu_milli:
        least[CPU] = text(CPU, model.cpu_milli * size)
    if model.memory_bytes:
        least[MEMORY] = text(MEMORY, model.memory_bytes * size)
    least[assignment.size.resource] = str(assignment.size.units * size)
    made = None
    if model.priority:
        made = kubernetes.priority_class_name(spec, pools, model.priority, assignment.facts)
    for name in group_names(model):
        yield PodGroup(
            meta=Meta(name, spec.platform.name, namespace.name),
            queue=assignment.queue,
            min_member=size,
            min_resources=least,
            priority_class_name=made,
        )


def group_names(model: Model) -> list[str]:
    """Names of a model's pod groups: one for each gang, since each gang starts on its own."""
    return [derived_names.pod_group(model, index) for index in range(model.replicas or 1)]


def _namespace(assignment: Assignment) -> Namespace | None:
    """The namespace of a model's pods: the one that it names, or its team's first."""
    owned = assignment.node.team.namespaces if assignment.node else ()
    name = assignment.model.namespace
    if name is None:
        return owned[0] if owned else None
    return next((it for it in owned if it.name == name), Namespace(name))


def _carried(spec: Spec, pools: Sequence[PoolFacts], assignment: Assignment) -> Iterator[Hit]:
    """What the pods of a model must carry for the policy to reach them."""
    model, facts = assignment.model, assignment.facts
    words = [f"{assignment.size.resource}: {assignment.size.units}"]
    namespace = _namespace(assignment)
    name = scheduler.scheduler_name(spec.platform, facts)
    if name is not None:
        words.append(f"schedulerName: {name}")
    if facts.scheduler == "kueue" and assignment.node is not None and namespace is not None:
        queue = kueue.local_queue_name(assignment.tree, assignment.node, namespace)
        words.append(f"label kueue.x-k8s.io/queue-name: {queue}")
        if model.priority:
            words.append(f"label kueue.x-k8s.io/priority-class: {model.priority}")
        if facts.policy.topology_aware:
            level = (facts.pool.topology_levels or (HOSTNAME,))[-1]
            words.append(f"annotation kueue.x-k8s.io/podset-preferred-topology: {level}")
        if len(assignment.pools) < len(assignment.tree.pools):
            # The queue has pools that the model may not use; its flavors tolerate for everyone.
            words += [f"nodeSelector {key}: {value}" for key, value in facts.pool.node_selector]
    elif facts.scheduler == "volcano" and assignment.queue is not None:
        words += _volcano_words(model, assignment.queue)
    if model.priority:
        made = kubernetes.priority_class_name(spec, pools, model.priority, facts)
        words.append(f"priorityClassName: {made}")
    if facts.scheduler != "kueue":
        # Kueue adds the flavor's labels and tolerations to what it admits.
        words += [f"nodeSelector {key}: {value}" for key, value in facts.pool.node_selector]
        words += [f"a toleration of {taint.key}" for taint in facts.pool.taints]
    where = f" in namespace {namespace.name}" if namespace else ""
    yield Hit(
        PODS_MUST_CARRY,
        f'pods of model "{model.name}"{where} carry ' + "; ".join(words),
        model.at / "metadata" / "name",
    )


def _volcano_words(model: Model, queue: str) -> list[str]:
    """The field or annotation by which each form of workload joins queue and gang."""
    run_as = model.gang.run_as if model.gang else "pods"
    if run_as == "vcjob":
        size = model.gang.size if model.gang else 1
        return [f"vcjob spec.queue: {queue}", f"vcjob spec.minAvailable: {size}"]
    if run_as == "lws":
        return [f"LeaderWorkerSet annotation {VOLCANO_QUEUE}: {queue}"]
    if run_as == "job" and model.gang:
        return [
            f"Job annotation scheduling.volcano.sh/group-min-member: {model.gang.size}",
            f"pod annotation {VOLCANO_QUEUE}: {queue}",
        ]
    if model.gang:
        first, *rest = group_names(model)
        last = f" to {rest[-1]}, one for each gang" if rest else ""
        return [f"annotation {POD_GROUP}: {first}{last}"]
    return [f"annotation {VOLCANO_QUEUE}: {queue}"]
