"""The fields that the pods of each model need."""

from collections.abc import Iterator, Sequence

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.core.names import HOSTNAME, POD_GROUP, VOLCANO_QUEUE
from policygen.core.quantity import GIBIBYTE, MEBIBYTE
from policygen.hardware import catalog
from policygen.plan import kubernetes, kueue, scheduler
from policygen.plan.amounts import CPU, MEMORY, Vector, count, text
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.fit import Size, warn
from policygen.plan.node_instances import fullest_node
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import GANG_NOT_SCHEDULED, INERT_SETTING, PODS_MUST_CARRY
from policygen.plan.volcano import group_names
from policygen.plan.workload import forms
from policygen.spec.types import Model, RunAs, Spec, Taint

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
    amounts: tuple[tuple[str, str], ...]
    """Requests and limits of each pod: units, cpu and memory, as canonical quantities."""
    fields: tuple[PodField, ...]


def pod_fields(decided: Decisions) -> tuple[list[PodFields], list[Hit]]:
    """The pod fields of every model with a note, and warnings about gangs."""
    needed: list[PodFields] = []
    hits: list[Hit] = []
    for assignment in decided.workloads.assignments:
        model = assignment.model
        run_as = model.gang.run_as if model.gang else "pods"
        needed.append(fields_of(decided.spec, decided.pools, assignment, run_as))
        hits.append(_note(needed[-1], model))
        message = _one_by_one(model, assignment.facts)
        if model.gang is not None and message is not None:
            hits.append(warn(GANG_NOT_SCHEDULED, message, model))
        hits += _inert_form(assignment)
    return needed, hits


def _inert_form(assignment: Assignment) -> Iterator[Hit]:
    """A gang on Kueue whose runAs is a form in which it does not run."""
    model, facts = assignment.model, assignment.facts
    own = forms.default(assignment)
    run_as = model.gang.run_as if model.gang else "pods"
    serves = run_as == "job" and own in forms.SERVING
    if facts.scheduler == "kueue" and (run_as == "vcjob" or serves):
        why = "only Volcano runs its Jobs" if run_as == "vcjob" else "its pods do not end"
        yield Hit(
            INERT_SETTING,
            f'gang.runAs: {run_as} has no effect on model "{model.name}", because pool "{facts.name}" has scheduler '
            f"kueue and {why}, so the gang runs as a {forms.KIND_OF[own][1]}; remove runAs, or schedule the pool with volcano",
            model.field("gang") / "runAs",
        )


def _one_by_one(model: Model, facts: PoolFacts) -> str | None:
    """Why the pods of a gang do not start together on a pool; None if they do."""
    if not facts.policy.gang_scheduling:
        return (
            f'model "{model.name}" is a gang, but pool "{facts.name}" has gangScheduling: false, so '
            "the pods start one by one; write gangScheduling: true"
        )
    if facts.scheduler == "kube-scheduler":
        return (
            f'model "{model.name}" is a gang, but kube-scheduler starts the pods of pool '
            f'"{facts.name}" one by one; use a pool of kueue or volcano'
        )
    return None


def fields_of(
    spec: Spec, pools: Sequence[PoolFacts], assignment: Assignment, run_as: RunAs
) -> PodFields:
    """The fields that the pods of a model need, or the policy does not apply to them.

    `run_as` is the form of the object that creates the pods.
    """
    model, facts = assignment.model, assignment.facts
    found: list[PodField] = []
    namespace = assignment.namespace
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
        if assignment.pinned:
            # The queue has pools that the model may not use, and its flavors add tolerations for all.
            found += selector
    elif facts.scheduler == "volcano" and assignment.queue is not None:
        found += _volcano_fields(assignment, assignment.queue, run_as)
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
        amounts=tuple(_amounts(assignment)),
        fields=tuple(found),
    )


def requests(assignment: Assignment) -> Vector:
    """The amounts of a pod. cpu and memory that the model does not set are the share of its GPUs."""
    model, size = assignment.model, assignment.size
    stated = {CPU: model.cpu_milli, MEMORY: model.memory_bytes}
    written = {name: amount for name, amount in stated.items() if amount is not None}
    return {size.resource: size.units, **share(assignment.pools, size), **written}


def _amounts(assignment: Assignment) -> Iterator[tuple[str, str]]:
    resource = assignment.size.resource
    for name, amount in requests(assignment).items():
        if name == resource:
            yield name, count(amount)
        elif amount:
            yield name, text(name, amount)


def share(pools: Sequence[PoolFacts], size: Size) -> Vector:
    """The cpu and memory that belong to the GPUs of a pod, on a node of a pool.

    A share is that of a node without the reserve for DaemonSets, whose pods otherwise never start on a node
    whose GPUs are all used. It is rounded down to a readable amount. Of several pools, the smallest share counts.
    """
    shares = [_share(it, size) for it in pools]
    return {name: _readable(name, min(it[name] for it in shares)) for name in (CPU, MEMORY)}


def _share(facts: PoolFacts, size: Size) -> Vector:
    units = {**dict.fromkeys(facts.resources, 0), size.resource: size.units}
    whole = facts.vector(units)
    node = facts.node
    # Some nodes have more MIG instances than the mean, and all of their pods must have room.
    fullest = fullest_node(facts) if facts.pool.gpu.sharing == "mig" else 0
    if fullest:
        slices = size.units * facts.slices[size.resource]
        whole[CPU] = min(whole[CPU], node.cpu_milli * slices // fullest)
        whole[MEMORY] = min(whole[MEMORY], node.memory_bytes * slices // fullest)
    cpu, memory = catalog.for_daemon_sets(node.cpu_milli, node.memory_bytes)
    left = whole[MEMORY] * (node.memory_bytes - memory) // node.memory_bytes
    return {
        CPU: whole[CPU] * (node.cpu_milli - cpu) // node.cpu_milli,
        MEMORY: left // MEBIBYTE * MEBIBYTE,
    }


def _readable(resource: str, amount: int) -> int:
    """An amount rounded down to tenths of a core, or to Gi; less than one of these is not rounded."""
    step = 100 if resource == CPU else GIBIBYTE
    return amount // step * step or amount


def toleration(taint: Taint) -> dict[str, str]:
    """The toleration of a taint, in the form of the API."""
    exact = {"operator": "Equal", "value": taint.value} if taint.value else {"operator": "Exists"}
    return {"key": taint.key, **exact, "effect": taint.effect}


def _note(needed: PodFields, model: Model) -> Hit:
    """The fields of a model's pods as a note."""
    fields = "; ".join((f"{needed.resource}: {needed.units}", *map(_text, needed.fields)))
    message = f'pods of model "{needed.model}" need {fields}'
    if needed.namespace:
        message = f'pods of model "{needed.model}" in namespace {needed.namespace} need {fields}'
    return Hit(
        PODS_MUST_CARRY,
        message,
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
        return f"a toleration for taint {field.name}"
    comment = f" ({field.comment})" if field.comment else ""
    return f"{_SINGULAR[field.owner]}{field.name}: {field.value}{comment}"


def _volcano_fields(assignment: Assignment, queue: str, run_as: RunAs) -> list[PodField]:
    """The fields by which each form of workload joins queue and gang."""
    model = assignment.model
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
    if model.gang and assignment.facts.policy.gang_scheduling:
        first, *rest = group_names(model)
        comment = f"each gang has its own PodGroup; the last one is {rest[-1]}" if rest else ""
        return [PodField(ANNOTATIONS, POD_GROUP, first, comment)]
    return [PodField(ANNOTATIONS, VOLCANO_QUEUE, queue)]
