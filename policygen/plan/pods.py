"""What the pods of each model must carry, and the pod groups of gangs under Volcano."""

from collections.abc import Iterator, Sequence

from policygen.finding import Hit, Severity
from policygen.plan import kubernetes, kueue, scheduler
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.fit import warn
from policygen.plan.kind import Meta
from policygen.plan.pool import PoolFacts
from policygen.plan.volcano import PodGroup
from policygen.plan.workloads import Seat, Workloads
from policygen.spec import derived
from policygen.spec.types import Model, Namespace, Spec
from policygen.well_known import HOSTNAME, POD_GROUP, VOLCANO_QUEUE


def pod_groups(
    spec: Spec, pools: Sequence[PoolFacts], workloads: Workloads
) -> tuple[list[PodGroup], list[Hit]]:
    """A pod group for each gang on a Volcano pool, and what its pods must carry."""
    groups: list[PodGroup] = []
    hits: list[Hit] = []
    for seat in workloads.seats:
        model, facts = seat.model, seat.facts
        hits += _carried(spec, pools, seat)
        if model.gang is None:
            continue
        if not facts.policy.gang_scheduling:
            hits.append(
                warn(
                    "gang-not-scheduled",
                    f'model "{model.name}" is a gang, and pool "{facts.name}" has '
                    "gangScheduling: false, so its pods start one by one",
                    model,
                )
            )
            continue
        if facts.scheduler == "kube-scheduler":
            hits.append(
                warn(
                    "gang-not-scheduled",
                    f'model "{model.name}" is a gang, and kube-scheduler starts the pods of pool '
                    f'"{facts.name}" one by one; use a pool under kueue or volcano',
                    model,
                )
            )
        if facts.scheduler != "volcano" or model.gang.run_as != "pods":
            continue
        namespace = _namespace(seat)
        if namespace is None or seat.queue is None:
            continue
        size = model.gang.size
        resources = {
            CPU: text(CPU, model.cpu_milli * size) if model.cpu_milli is not None else None,
            MEMORY: text(MEMORY, model.memory_bytes * size)
            if model.memory_bytes is not None
            else None,
            seat.size.resource: str(seat.size.units * size),
        }
        made = None
        if model.priority:
            made = kubernetes.priority_class_name(spec, pools, model.priority, facts)
        least = {name: amount for name, amount in resources.items() if amount}
        groups += [
            PodGroup(
                meta=Meta(name, spec.platform.name, namespace.name),
                queue=seat.queue,
                min_member=size,
                min_resources=least,
                priority_class_name=made,
            )
            for name in group_names(model)
        ]
    return groups, hits


def group_names(model: Model) -> list[str]:
    """Names of a model's pod groups: one for each gang, since each starts whole by itself."""
    return [derived.pod_group(model, index) for index in range(model.replicas or 1)]


def _namespace(seat: Seat) -> Namespace | None:
    """Where a model's pods run: the namespace that it names, or its team's first."""
    owned = seat.node.team.namespaces if seat.node else ()
    name = seat.model.namespace
    if name is None:
        return owned[0] if owned else None
    return next((it for it in owned if it.name == name), Namespace(name))


def _carried(spec: Spec, pools: Sequence[PoolFacts], seat: Seat) -> Iterator[Hit]:
    """What the pods of a model must carry for the policy to reach them."""
    model, facts = seat.model, seat.facts
    words = [f"{seat.size.resource}: {seat.size.units}"]
    namespace = _namespace(seat)
    name = scheduler.scheduler_name(spec.platform, facts)
    if name is not None:
        words.append(f"schedulerName: {name}")
    if facts.scheduler == "kueue" and seat.node is not None and namespace is not None:
        door = kueue.door(seat.tree, seat.node, namespace)
        words.append(f"label kueue.x-k8s.io/queue-name: {door}")
        if model.priority:
            words.append(f"label kueue.x-k8s.io/priority-class: {model.priority}")
        if facts.policy.topology_aware:
            level = (facts.pool.topology_levels or (HOSTNAME,))[-1]
            words.append(f"annotation kueue.x-k8s.io/podset-preferred-topology: {level}")
        if len(seat.pools) < len(seat.tree.pools):
            # The queue has pools that the model may not use; its flavors tolerate for everyone.
            words += [f"nodeSelector {key}: {value}" for key, value in facts.pool.node_selector]
    elif facts.scheduler == "volcano" and seat.queue is not None:
        words += _volcano_words(model, seat.queue)
    if model.priority:
        made = kubernetes.priority_class_name(spec, pools, model.priority, facts)
        words.append(f"priorityClassName: {made}")
    if facts.scheduler != "kueue":
        # Kueue adds the flavor's labels and tolerations to what it admits.
        words += [f"nodeSelector {key}: {value}" for key, value in facts.pool.node_selector]
        words += [f"a toleration of {taint.key}" for taint in facts.pool.taints]
    where = f" in namespace {namespace.name}" if namespace else ""
    yield Hit(
        "pods-must-carry",
        f'pods of model "{model.name}"{where} carry ' + "; ".join(words),
        model.at / "metadata" / "name",
        Severity.INFO,
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
