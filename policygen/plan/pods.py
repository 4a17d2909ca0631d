"""The fields that the pods of each model need, and the pod groups of gangs under Volcano."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

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
from policygen.spec.types import Model, Spec, Taint, TeamNamespace

LABELS = "labels"
ANNOTATIONS = "annotations"
NODE_SELECTOR = "nodeSelector"
TOLERATIONS = "tolerations"
JOB_ANNOTATIONS = "Job annotations"
LWS_ANNOTATIONS = "LeaderWorkerSet annotations"
VCJOB_SPEC = "vcjob spec"


class PodField(Struct, frozen=True):
    """A field that a pod needs, or the object that creates it."""

    owner: str
    """The mapping or list that contains it, such as `labels`; empty for a field of the pod's spec."""
    name: str
    value: str | int | Taint
    """A taint is to be tolerated."""
    comment: str = ""


class PodFields(Struct, frozen=True):
    """The fields that the pods of a model need."""

    model: str
    namespace: str | None
    resource: str
    """The extended resource that each pod requests."""
    units: int
    """The number of units of it."""
    fields: tuple[PodField, ...]


def pod_groups(
    spec: Spec, pools: Sequence[PoolFacts], workloads: Workloads
) -> tuple[list[PodGroup], list[PodFields], list[Hit]]:
    """A pod group for each gang on a Volcano pool, and the pod fields of every model with a note."""
    groups: list[PodGroup] = []
    needed: list[PodFields] = []
    hits: list[Hit] = []
    for assignment in workloads.assignments:
        model, facts = assignment.model, assignment.facts
        needed.append(_fields(spec, pools, assignment))
        hits.append(_note(needed[-1], model))
        if model.gang is None:
            continue
        why = _one_by_one(facts)
        if why is not None:
            message = f'model "{model.name}" is a gang, but {why}'
            hits.append(warn(GANG_NOT_SCHEDULED, message, model))
        elif facts.scheduler == "volcano" and model.gang.run_as == "pods":
            groups += _groups(spec, pools, assignment, model.gang.size)
    return groups, needed, hits


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


def _namespace(assignment: Assignment) -> TeamNamespace | None:
    """The namespace of a model's pods: the one that it names, or its team's first."""
    owned = assignment.node.team.namespaces if assignment.node else ()
    name = assignment.model.namespace
    if name is None:
        return owned[0] if owned else None
    return next((it for it in owned if it.name == name), TeamNamespace(name))


def _fields(spec: Spec, pools: Sequence[PoolFacts], assignment: Assignment) -> PodFields:
    """The fields that the pods of a model need, or the policy does not apply to them."""
    model, facts = assignment.model, assignment.facts
    found: list[PodField] = []
    namespace = _namespace(assignment)
    name = scheduler.scheduler_name(spec.platform, facts)
    if name is not None:
        found.append(PodField("", "schedulerName", name))
    selector = [PodField(NODE_SELECTOR, key, value) for key, value in facts.pool.node_selector]
    if facts.scheduler == "kueue" and assignment.node is not None and namespace is not None:
        queue = kueue.local_queue_name(assignment.tree, assignment.node, namespace)
        found.append(PodField(LABELS, "kueue.x-k8s.io/queue-name", queue))
        if model.priority:
            found.append(PodField(LABELS, "kueue.x-k8s.io/priority-class", model.priority))
        if facts.policy.topology_aware:
            level = (facts.pool.topology_levels or (HOSTNAME,))[-1]
            found.append(PodField(ANNOTATIONS, "kueue.x-k8s.io/podset-preferred-topology", level))
        if len(assignment.pools) < len(assignment.tree.pools):
            # The queue has pools that the model may not use, and its flavors add tolerations for all.
            found += selector
    elif facts.scheduler == "volcano" and assignment.queue is not None:
        found += _volcano_fields(model, assignment.queue)
    if model.priority:
        made = kubernetes.priority_class_name(spec, pools, model.priority, facts)
        found.append(PodField("", "priorityClassName", made))
    if facts.scheduler != "kueue":
        # Kueue adds the flavor's labels and tolerations to the workloads that it admits.
        found += selector
        found += [PodField(TOLERATIONS, taint.key, taint) for taint in facts.pool.taints]
    return PodFields(
        model=model.name,
        namespace=namespace.name if namespace else None,
        resource=assignment.size.resource,
        units=assignment.size.units,
        fields=tuple(found),
    )


def _note(needed: PodFields, model: Model) -> Hit:
    """The fields of a model's pods as a note."""
    where = f" in namespace {needed.namespace}" if needed.namespace else ""
    parts = [f"{needed.resource}: {needed.units}", *map(_text, needed.fields)]
    return Hit(
        PODS_MUST_CARRY,
        f'pods of model "{needed.model}"{where} need ' + "; ".join(parts),
        model.at / "metadata" / "name",
    )


_SINGULAR = {
    "": "",
    LABELS: "label ",
    ANNOTATIONS: "annotation ",
    NODE_SELECTOR: "nodeSelector ",
    JOB_ANNOTATIONS: "Job annotation ",
    LWS_ANNOTATIONS: "LeaderWorkerSet annotation ",
    VCJOB_SPEC: "vcjob spec.",
}


def _text(field: PodField) -> str:
    if isinstance(field.value, Taint):
        return f"a toleration of {field.name}"
    comment = f" {field.comment}" if field.comment else ""
    return f"{_SINGULAR[field.owner]}{field.name}: {field.value}{comment}"


def _volcano_fields(model: Model, queue: str) -> list[PodField]:
    """The fields by which each form of workload joins queue and gang."""
    run_as = model.gang.run_as if model.gang else "pods"
    if run_as == "vcjob":
        size = model.gang.size if model.gang else 1
        return [
            PodField(VCJOB_SPEC, "queue", queue),
            PodField(VCJOB_SPEC, "minAvailable", size),
        ]
    if run_as == "lws":
        return [PodField(LWS_ANNOTATIONS, VOLCANO_QUEUE, queue)]
    if run_as == "job" and model.gang:
        least = str(model.gang.size)
        return [
            PodField(JOB_ANNOTATIONS, "scheduling.volcano.sh/group-min-member", least),
            PodField(ANNOTATIONS, VOLCANO_QUEUE, queue),
        ]
    if model.gang:
        first, *rest = group_names(model)
        comment = f"to {rest[-1]}, one for each gang" if rest else ""
        return [PodField(ANNOTATIONS, POD_GROUP, first, comment)]
    return [PodField(ANNOTATIONS, VOLCANO_QUEUE, queue)]
