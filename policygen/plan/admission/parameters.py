"""The ConfigMap of each team namespace, which says to the admission policies what its pods need."""

from collections import defaultdict
from collections.abc import Iterator, Mapping

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE, POD_GROUP, VOLCANO_QUEUE
from policygen.plan import kubernetes, kueue, pool_taints, scheduler, volcano
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Meta
from policygen.plan.pods import (
    ANNOTATIONS,
    JOB_ANNOTATIONS,
    LABELS,
    LWS_ANNOTATIONS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
    PodField,
    fields_of,
)
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.spec import derived_names
from policygen.spec.types import Model, Platform, Taint, TeamNamespace

_OWNERS = {
    "": "spec",
    LABELS: "labels",
    ANNOTATIONS: "annotations",
    NODE_SELECTOR: "nodeSelector",
    TOLERATIONS: "tolerations",
    JOB_ANNOTATIONS: "Job.annotations",
    LWS_ANNOTATIONS: "LeaderWorkerSet.annotations",
    VCJOB_SPEC: "vcjob.spec",
}
_RULES = {
    "schedulerName": "scheduler",
    "priorityClassName": "priority",
    "kueue.x-k8s.io/priority-class": "priority",
    LOCAL_QUEUE: "queue",
    VOLCANO_QUEUE: "queue",
    "queue": "queue",
    "minAvailable": "gang",
    "scheduling.volcano.sh/group-min-member": "gang",
    POD_GROUP: "gang",
}
"""The rule of each field by its name; all others are about nodes."""


class AdmissionParameters(Struct, frozen=True):
    """The parameters of the policies in one namespace: a ConfigMap."""

    meta: Meta
    data: dict[str, str]


def rule_of(field: PodField) -> str:
    """The rule of the door that asks for a field."""
    return (
        "nodes" if field.owner in (NODE_SELECTOR, TOLERATIONS) else _RULES.get(field.name, "nodes")
    )


def team_namespaces(decided: Decisions) -> tuple[str, ...]:
    """The namespaces of all teams, by name."""
    return tuple(sorted({it.name for team in decided.spec.teams for it in team.namespaces}))


def parameters(decided: Decisions) -> Iterator[AdmissionParameters]:
    """One ConfigMap for each namespace of a team."""
    lanes = _lanes(decided)
    by_namespace: defaultdict[str, list[Assignment]] = defaultdict(list)
    for assignment in decided.workloads.assignments:
        for namespace in _namespaces(assignment):
            model = replace(assignment.model, namespace=namespace)
            by_namespace[namespace].append(replace(assignment, model=model))
    platform = decided.platform
    general = _general(decided)
    for name in team_namespaces(decided):
        mine = lanes.get(name, ())
        others = pool_taints.others(decided.pools, [it for lane in mine for it in lane.pools])
        data = {
            **general,
            "queues": "; ".join(lane.how for lane in mine) or "no pool",
            **({"otherTaints": " ".join(others)} if others else {}),
            **{lane.key: "\n".join(lane.lines) for lane in mine},
            **{
                key: "\n".join(lines)
                for it in by_namespace[name]
                for key, lines in _of_model(decided, it)
            },
        }
        yield AdmissionParameters(Meta(parameters_name(platform), platform.name, name), data)


def _namespaces(assignment: Assignment) -> Iterator[str]:
    """The namespaces in which a model can run: `workload -n` prints it for each of its team."""
    own = assignment.namespace
    owned = assignment.node.team.namespaces if assignment.node else ()
    yield from dict.fromkeys(it.name for it in (own, *owned) if it is not None)


def parameters_name(platform: Platform) -> str:
    """The name of the ConfigMap in every namespace."""
    return derived_names.component(platform, "admission")


def _general(decided: Decisions) -> dict[str, str]:
    resources = sorted({name for facts in decided.pools for name in facts.resources})
    classes = [it.meta.name for it in kubernetes.priority_classes(decided)]
    waiting = [it.meta.name for it in kueue.workload_priority_classes(decided)]
    return {
        "resources": " ".join(resources),
        **({"priorityClasses": " ".join(classes)} if classes else {}),
        **({"workloadPriorityClasses": " ".join(waiting)} if waiting else {}),
    }


class _Lane(Struct, frozen=True):
    """A way of a namespace to GPUs: a queue, or a pool without queues."""

    key: str
    how: str
    """How a pod takes it, for messages."""
    pools: tuple[PoolFacts, ...]
    lines: tuple[str, ...]


def _lanes(decided: Decisions) -> Mapping[str, list[_Lane]]:
    found: defaultdict[str, list[_Lane]] = defaultdict(list)
    for tree in decided.trees:
        for node in tree.leaves:
            for namespace in node.team.namespaces:
                found[namespace.name] += _lane(decided, tree, node, namespace)
    return found


def _lane(
    decided: Decisions, tree: Tree, node: TeamNode, namespace: TeamNamespace
) -> Iterator[_Lane]:
    if tree.scheduler == "kueue":
        queue = kueue.local_queue_name(tree, node, namespace)
        how = f"label {LOCAL_QUEUE}={queue}"
        yield _Lane(
            f"kueue.{queue}",
            how,
            tree.pools,
            (_line(PodField(LABELS, LOCAL_QUEUE, queue)), *_common(decided, tree.pools)),
        )
        return
    for facts in tree.pools:
        lines = tuple(_common(decided, (facts,)))
        if tree.scheduler == "volcano":
            queue = tree.name_of(node)
            yield _Lane(f"volcano.{queue}", f"annotation {VOLCANO_QUEUE}={queue}", (facts,), lines)
        else:
            selector = ", ".join(f"{key}={value}" for key, value in facts.pool.node_selector)
            yield _Lane(f"pool.{facts.name}", f"nodeSelector {selector}", (facts,), lines)


def _common(decided: Decisions, pools: tuple[PoolFacts, ...]) -> Iterator[str]:
    """The fields that all pods on the pools of a queue need."""
    names = {scheduler.scheduler_name(decided.platform, facts) for facts in pools}
    if len(names) == 1:
        yield f"scheduler spec schedulerName {names.pop() or DEFAULT_SCHEDULER}"
    if pools[0].scheduler != "kueue":
        facts = pools[0]
        for key, value in facts.pool.node_selector:
            yield _line(PodField(NODE_SELECTOR, key, value))
        for taint in facts.pool.taints:
            yield _line(PodField(TOLERATIONS, taint.key, taint))


def _of_model(decided: Decisions, assignment: Assignment) -> Iterator[tuple[str, list[str]]]:
    """The entries of a model: fields that it always needs, and those by which a form names its queue.

    The form of a gang is fixed, since it decides who creates the PodGroup.
    """
    model = assignment.model
    run_as = model.gang.run_as if model.gang else "pods"
    needed = fields_of(decided.spec, decided.pools, assignment, run_as)
    of_form = [it for it in needed.fields if model.gang is None and it.name == VOLCANO_QUEUE]
    lines = [_line(_of_all_replicas(it, model)) for it in needed.fields if it not in of_form]
    # A PodGroup has the priority of the vcjob, not that of its pods.
    of_vcjob = [
        _line(PodField(VCJOB_SPEC, it.name, it.value))
        for it in needed.fields
        if it.owner == "" and it.name == "priorityClassName"
    ]
    if run_as == "vcjob":
        lines += of_vcjob
    if not any(it.name == "schedulerName" for it in needed.fields):
        lines.append(f"scheduler spec schedulerName {DEFAULT_SCHEDULER}")
    yield f"model.{model.name}", [*lines, f"resources limits {needed.resource} {needed.units}"]
    if of_form:
        yield f"model.{model.name}_pods", [_line(it) for it in of_form]
        yield (
            f"model.{model.name}_vcjob",
            [*(_line(PodField(VCJOB_SPEC, "queue", it.value)) for it in of_form), *of_vcjob],
        )


def _of_all_replicas(field: PodField, model: Model) -> PodField:
    """A field with the values of all replicas: the pods of each are a group of their own."""
    if field.name != POD_GROUP:
        return field
    return replace(field, value="|".join(volcano.group_names(model)))


def _line(field: PodField) -> str:
    """One field as `rule owner name value`; of a taint, the value and effect, `value:effect`."""
    value = field.value
    if isinstance(value, Taint):
        value = f"{value.value or ''}:{value.effect}"
    return f"{rule_of(field)} {_OWNERS[field.owner]} {field.name} {value}"
