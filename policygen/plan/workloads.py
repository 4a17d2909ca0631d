"""Where each model can run, how many GPUs it takes, and the pod group it needs."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.finding import Hit, Severity
from policygen.hardware import catalog, sizing
from policygen.plan import kubernetes, scheduler
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.kind import Meta
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Node, Tree
from policygen.plan.volcano import PodGroup
from policygen.spec.types import WHOLE, Model, Spec


class Fit(Struct, frozen=True):
    """One replica of a model on one pool."""

    facts: PoolFacts
    resource: str
    units: int
    """Of `resource`, for each replica or pod."""


class Seat(Struct, frozen=True):
    """A model, the pool it is planned for, and the queue that its pods join there."""

    model: Model
    fit: Fit
    node: Node | None
    queue: str | None


class Workloads(Struct, frozen=True):
    """What the plan knows of the models."""

    seats: tuple[Seat, ...]
    hits: tuple[Hit, ...]


def place(spec: Spec, pools: Mapping[str, PoolFacts], trees: Sequence[Tree]) -> Workloads:
    """Every model on the first of its pools that it fits, with what should be known about it."""
    hits: list[Hit] = []
    seats: list[Seat] = []
    by_pool = {facts.name: tree for tree in trees for facts in tree.pools}
    for model in spec.models:
        hits += _needs(model)
        allowed = list(_allowed(model, pools, hits))
        fits = [fit for facts in allowed if (fit := _fit(model, facts, hits)) is not None]
        entitled = [
            fit for fit in fits if model.team is None or _leaf(model, by_pool[fit.facts.name])
        ]
        if allowed and not fits:
            names = ", ".join(f'"{facts.name}"' for facts in allowed)
            hits.append(
                _warn(
                    "model-fits-no-pool",
                    f'a replica of model "{model.name}" fits no node of its pools ({names}); '
                    "nothing is rendered for it",
                    model,
                )
            )
        elif fits and not entitled:
            names = ", ".join(f'"{fit.facts.name}"' for fit in fits)
            hits.append(
                _warn(
                    "team-without-share",
                    f'model "{model.name}" fits {names}, where team "{model.team}" has no share; '
                    "add the pool to the team's quotas",
                    model,
                )
            )
        if entitled:
            fit = entitled[0]
            tree = by_pool[fit.facts.name]
            node = _leaf(model, tree)
            queue = f"{node.name}.{tree.queue}" if node else None
            seats.append(Seat(model, fit, node, queue))
            hits += _limits(model, fit, node)
    return Workloads(tuple(seats), tuple(hits))


def _warn(rule: str, message: str, model: Model, field: str | None = None) -> Hit:
    at = model.field(field) if field else model.at / "metadata" / "name"
    return Hit(rule, message, at, Severity.WARNING)


def _allowed(model: Model, pools: Mapping[str, PoolFacts], hits: list[Hit]) -> Iterator[PoolFacts]:
    """Pools that the placement admits, in its own order."""
    placement = model.placement
    named = placement.pools or tuple(pools)
    found = [pools[name] for name in named if name in pools]
    if placement.node_types:
        matched = []
        for index, kind in enumerate(placement.node_types):
            of_kind = [facts for facts in found if _is_of(facts, kind)]
            matched += [facts for facts in of_kind if facts not in matched]
            if not of_kind:
                hits.append(
                    Hit(
                        "node-type-not-offered",
                        f'no pool offers node type "{kind}" to model "{model.name}"; '
                        f"pools offer {_offers(found)}",
                        model.field("placement") / "nodeTypes" / index,
                        Severity.WARNING,
                    )
                )
        if not matched:
            hits.append(
                _warn(
                    "model-fits-no-pool",
                    f'model "{model.name}" can be placed nowhere: no pool offers any of its '
                    "node types; nothing is rendered for it",
                    model,
                )
            )
        found = matched
    firm = [
        facts for facts in found if placement.tolerate_preemptible or not facts.pool.preemptible
    ]
    if found and not firm:
        hits.append(
            _warn(
                "only-preemptible-pools",
                f'every pool that model "{model.name}" could use is preemptible, which it does '
                "not tolerate; allow another pool or write toleratePreemptible: true",
                model,
                "placement",
            )
        )
    yield from firm


def _is_of(facts: PoolFacts, kind: str) -> bool:
    """Whether a pool's nodes are of the type that a model names: product, label or instance."""
    if kind in (facts.name, facts.pool.capacity.node_type):
        return True
    if any(value == kind for _, value in facts.pool.node_selector):
        return True
    match = catalog.product(kind)
    return match is not None and facts.product is not None and match.product.id == facts.product.id


def _offers(pools: Sequence[PoolFacts]) -> str:
    kinds = sorted({facts.product.id if facts.product else facts.name for facts in pools})
    return ", ".join(kinds) or "none"


def _workload(model: Model) -> sizing.Workload | None:
    """The memory rule's input; None where neither memory nor a known size is stated."""
    facts = catalog.model(model.family, model.size)
    if model.gpu_memory_bytes is None and facts is None:
        return None
    said = model.sizing
    concurrency = said.concurrency
    if concurrency is None and model.autoscaling is not None:
        concurrency = model.autoscaling.target_concurrency
    workload = sizing.Workload(
        gpu_memory_bytes=model.gpu_memory_bytes, facts=facts, any_count=said.any_gpu_count
    )
    stated: dict[str, Any] = {
        "precision": said.precision,
        "kv_precision": said.kv_cache_precision,
        "concurrency": concurrency,
        "context_length": said.context_length,
        "runtime_memory_bytes": said.runtime_memory_bytes,
        "utilisation": said.gpu_memory_utilization,
    }
    return replace(workload, **{name: it for name, it in stated.items() if it is not None})


def _needs(model: Model) -> Iterator[Hit]:
    """Whether the stated GPU memory holds what family, size and concurrency ask for."""
    workload = _workload(model)
    if workload is None:
        if model.gpus is None:
            yield _warn(
                "model-size-unknown",
                f'nothing says how much GPU memory model "{model.name}" needs; write '
                "resources.gpuMemory, resources.gpus, or a family and size from docs/hardware.md",
                model,
            )
        return
    if model.gpus is not None or workload.facts is None:
        return
    if model.gpu_memory_bytes is None:
        words = "; ".join(sizing.assumptions(workload))
        if words:
            yield Hit(
                "assumption",
                f'model "{model.name}" is sized with {words}; write them under sizing',
                model.field("family"),
                Severity.INFO,
            )
        return
    weights = sizing.weights_bytes(workload) or 0
    cache = sizing.kv_bytes(workload) or 0
    if weights > model.gpu_memory_bytes:
        yield _warn(
            "gpu-memory-below-weights",
            f'model "{model.name}" states {_gib(model.gpu_memory_bytes)} of GPU memory, and its '
            f"weights alone take {_gib(weights)} in {workload.precision}; raise gpuMemory",
            model,
            "resources",
        )
    elif weights + cache > model.gpu_memory_bytes:
        plural = "s" if workload.concurrency > 1 else ""
        yield _warn(
            "gpu-memory-below-concurrency",
            f'model "{model.name}" states {_gib(model.gpu_memory_bytes)} of GPU memory; '
            f"weights take {_gib(weights)} in {workload.precision} and the KV cache of "
            f"{workload.concurrency} request{plural} of {workload.context_length} tokens "
            f"{_gib(cache)}; raise gpuMemory or lower the concurrency",
            model,
            "resources",
        )


def _gib(size: int) -> str:
    return f"{size / (1 << 30):.1f} GiB"


def _fit(model: Model, facts: PoolFacts, hits: list[Hit]) -> Fit | None:
    """Units of the pool's resource for one replica; None where no node holds it."""
    node = facts.node
    if node is not None and (
        (model.cpu_milli or 0) > node.cpu_milli or (model.memory_bytes or 0) > node.memory_bytes
    ):
        return None
    if facts.pool.gpu.sharing == "mig":
        return _fit_mig(model, facts)
    resource = facts.resources[0]
    if model.gpus is not None:
        return Fit(facts, resource, model.gpus) if model.gpus <= facts.units_per_node else None
    if facts.memory_bytes is None:
        return None
    workload = _workload(model)
    if workload is None:
        return None
    if facts.pool.gpu.replicas > 1:
        # A shared replica sees the whole card; only the sum over its neighbours can be wrong.
        need = sizing.needed_bytes(workload)
        if need is None:
            return None
        shared = sizing.shared_fit(need, facts.memory_bytes, facts.pool.gpu.replicas)
        if not shared.fits or (facts.pool.gpu.sharing == "mps" and shared.exceeds_share):
            return None
        if shared.exceeds_share:
            hits.append(
                _warn(
                    "shared-memory-exceeded",
                    f'a replica of model "{model.name}" needs {_gib(need)}, and pool '
                    f'"{facts.name}" puts {facts.pool.gpu.replicas} on a card of '
                    f"{_gib(facts.memory_bytes)} with nothing that keeps them apart; "
                    "lower gpu.replicas or use MIG",
                    model,
                    "resources",
                )
            )
        return Fit(facts, resource, 1)
    sized = sizing.devices(workload, facts.memory_bytes, facts.per_node)
    return Fit(facts, resource, sized.devices) if sized.devices is not None else None


def _fit_mig(model: Model, facts: PoolFacts) -> Fit | None:
    if model.gpus is not None:
        resource = facts.resources[0]
        return Fit(facts, resource, model.gpus) if len(facts.resources) == 1 else None
    workload = _workload(model)
    if workload is None:
        return None
    cut = dict(facts.pool.gpu.instances)
    offered = {name: profile for name, profile in facts.mig.items() if name in cut}
    need = sizing.needed_bytes(workload)
    chosen = sizing.mig_fit(need, offered) if need is not None else None
    if chosen is None:
        return None
    if facts.profiles == (WHOLE,):
        return Fit(facts, facts.resources[0], 1)
    return Fit(facts, facts.resources[facts.profiles.index(chosen.name)], 1)


def _leaf(model: Model, tree: Tree) -> Node | None:
    """The leaf that takes a model's pods: its team's, or the team's `.own`."""
    if model.team is None:
        return None
    node = tree.by_team.get(model.team)
    if node is None or node.leaf:
        return node
    own = f"{model.team}.own"
    return next((leaf for leaf in tree.nodes if leaf.name == own), None)


def _limits(model: Model, fit: Fit, node: Node | None) -> Iterator[Hit]:
    """Whether the team's share holds what the model wants at its least and at its most."""
    if node is None:
        return
    pool = fit.facts.name
    limit = node.limit[pool][fit.resource]
    guarantee = node.guarantee[pool][fit.resource]
    if model.gang is not None:
        least, most = model.gang.size, model.gang.size * (model.replicas or 1)
    elif model.autoscaling is not None:
        least, most = model.autoscaling.min_replicas, model.autoscaling.max_replicas
    else:
        least = most = model.replicas or 1
    if least * fit.units > limit:
        yield _warn(
            "model-above-limit",
            f'model "{model.name}" needs {least * fit.units} {fit.resource} at the least, and '
            f'team "{model.team}" may have {limit} of pool "{pool}"; it will never run whole',
            model,
        )
    elif most * fit.units > limit:
        yield _warn(
            "model-above-limit",
            f'model "{model.name}" takes {most * fit.units} {fit.resource} at its most, and '
            f'team "{model.team}" may have {limit} of pool "{pool}"; lower its replicas or raise '
            "the limit",
            model,
        )
    lends = fit.facts.scheduler != "kube-scheduler"
    if lends and model.workload == "serving" and guarantee < least * fit.units <= limit:
        yield _warn(
            "serving-on-borrowed-gpus",
            f'model "{model.name}" serves with {least * fit.units} {fit.resource} at the least, '
            f'and team "{model.team}" is guaranteed {guarantee} of pool "{pool}": the rest can '
            "be reclaimed at any time; raise the guarantee",
            model,
        )
    for name, asked in ((CPU, model.cpu_milli), (MEMORY, model.memory_bytes)):
        share = fit.facts.vector({**dict.fromkeys(fit.facts.resources, 0), fit.resource: fit.units})
        if asked is not None and asked > share[name]:
            yield Hit(
                "host-share-exceeded",
                f'a replica of model "{model.name}" asks {text(name, asked)} {name}, and '
                f'{fit.units} {fit.resource} of pool "{pool}" come with {text(name, share[name])}: '
                "the queue's GPUs cannot all be used",
                model.field("resources"),
                Severity.INFO,
            )


def pod_groups(
    spec: Spec, pools: Sequence[PoolFacts], workloads: Workloads
) -> tuple[list[PodGroup], list[Hit]]:
    """A pod group for each gang on a Volcano pool, and what its pods must carry."""
    groups: list[PodGroup] = []
    hits: list[Hit] = []
    for seat in workloads.seats:
        model, facts = seat.model, seat.fit.facts
        hits += _carried(spec, pools, seat)
        if model.gang is None:
            continue
        if not facts.policy.gang_scheduling:
            hits.append(
                _warn(
                    "gang-not-scheduled",
                    f'model "{model.name}" is a gang, and pool "{facts.name}" has '
                    "gangScheduling: false, so its pods start one by one",
                    model,
                )
            )
            continue
        if facts.scheduler == "kube-scheduler":
            hits.append(
                _warn(
                    "gang-not-scheduled",
                    f'model "{model.name}" is a gang, and kube-scheduler starts the pods of pool '
                    f'"{facts.name}" one by one; use a pool under kueue or volcano',
                    model,
                )
            )
        if facts.scheduler != "volcano" or model.gang.run_as != "pods":
            continue
        namespace = _namespace(model, seat)
        if namespace is None or seat.queue is None:
            continue
        size = model.gang.size
        resources = {
            CPU: text(CPU, model.cpu_milli * size) if model.cpu_milli is not None else None,
            MEMORY: text(MEMORY, model.memory_bytes * size)
            if model.memory_bytes is not None
            else None,
            seat.fit.resource: str(seat.fit.units * size),
        }
        groups.append(
            PodGroup(
                meta=Meta(model.name, spec.platform.name, namespace),
                queue=seat.queue,
                min_member=size,
                min_resources={name: amount for name, amount in resources.items() if amount},
                priority_class_name=kubernetes.priority_class_name(
                    spec, pools, model.priority, facts
                )
                if model.priority
                else None,
            )
        )
    return groups, hits


def _namespace(model: Model, seat: Seat) -> str | None:
    if model.namespace is not None:
        return model.namespace
    namespaces = seat.node.team.namespaces if seat.node else ()
    return namespaces[0].name if namespaces else None


def _carried(spec: Spec, pools: Sequence[PoolFacts], seat: Seat) -> Iterator[Hit]:
    """What the pods of a model must carry for the policy to reach them."""
    model, facts = seat.model, seat.fit.facts
    words = [f"{seat.fit.resource}: {seat.fit.units}"]
    name = scheduler.scheduler_name(spec.platform, facts)
    if name is not None:
        words.append(f"schedulerName: {name}")
    if facts.scheduler == "kueue" and seat.queue is not None and seat.node is not None:
        door = seat.queue if seat.node.team.shares_namespace else facts.queue
        words.append(f"label kueue.x-k8s.io/queue-name: {door}")
        if model.priority:
            words.append(f"label kueue.x-k8s.io/priority-class: {model.priority}")
    elif facts.scheduler == "volcano" and seat.queue is not None:
        words += _volcano_words(model, seat.queue)
    if model.priority:
        made = kubernetes.priority_class_name(spec, pools, model.priority, facts)
        words.append(f"priorityClassName: {made}")
    if facts.scheduler != "kueue":
        # Kueue adds the flavor's labels and tolerations to what it admits.
        words += [f"nodeSelector {key}: {value}" for key, value in facts.pool.node_selector]
        words += [f"a toleration of {taint.key}" for taint in facts.pool.taints]
    yield Hit(
        "pods-must-carry",
        f'pods of model "{model.name}" in namespace {_namespace(model, seat)} carry '
        + "; ".join(words),
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
        return [f"LeaderWorkerSet annotation scheduling.volcano.sh/queue-name: {queue}"]
    if run_as == "job" and model.gang:
        return [
            f"Job annotation scheduling.volcano.sh/group-min-member: {model.gang.size}",
            f"pod annotation scheduling.volcano.sh/queue-name: {queue}",
        ]
    if model.gang:
        return [f"annotation scheduling.k8s.io/group-name: {model.name}"]
    return [f"annotation scheduling.volcano.sh/queue-name: {queue}"]
