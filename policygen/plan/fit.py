"""How many units of a pool one replica of a model takes, by the memory rule."""

from collections.abc import Iterator
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.finding import Hit, Severity
from policygen.hardware import catalog, sizing
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.pool import PoolFacts
from policygen.spec.echo import quoted
from policygen.spec.types import WHOLE, Model


class Fit(Struct, frozen=True):
    """One replica of a model on one pool."""

    facts: PoolFacts
    resource: str
    units: int
    """Of `resource`, for each replica or pod."""


def warn(rule: str, message: str, model: Model, field: str | None = None) -> Hit:
    """A warning about a model, at its name or at a field of its spec."""
    at = model.field(field) if field else model.at / "metadata" / "name"
    return Hit(rule, message, at, Severity.WARNING)


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


def needs(model: Model) -> Iterator[Hit]:
    """Whether the stated GPU memory holds what family, size and concurrency ask for."""
    workload = _workload(model)
    if model.size is not None and catalog.model(model.family, model.size) is None:
        yield Hit(
            "unknown-model-size",
            f"size {quoted(model.size)} is no number of parameters, so nothing is known of the "
            "model's memory; write it as in 7b, 1.5b or 8x7b",
            model.field("size"),
            Severity.WARNING,
        )
    elif workload is None and model.gpus is None:
        yield warn(
            "model-size-unknown",
            f'nothing says how much GPU memory model "{model.name}" needs; write '
            "resources.gpuMemory, resources.gpus, or a family and size from docs/hardware.md",
            model,
        )
    if workload is None or model.gpus is not None or workload.facts is None:
        return
    if model.gpu_memory_bytes is None:
        words = "; ".join(sizing.assumptions(workload))
        if words:
            yield Hit(
                "assumption",
                f'the size of model "{model.name}" assumes: {words}; say otherwise under sizing',
                model.field("family"),
                Severity.INFO,
            )
        return
    weights = sizing.weights_bytes(workload) or 0
    cache = sizing.kv_bytes(workload) or 0
    if weights > model.gpu_memory_bytes:
        yield warn(
            "gpu-memory-below-weights",
            f'model "{model.name}" states {_gib(model.gpu_memory_bytes)} of GPU memory, and its '
            f"weights alone take {_gib(weights)} in {workload.precision}; raise gpuMemory",
            model,
            "resources",
        )
    elif weights + cache > model.gpu_memory_bytes:
        plural = "s" if workload.concurrency > 1 else ""
        yield warn(
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


def fit(model: Model, facts: PoolFacts, hits: list[Hit]) -> Fit | None:
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
                warn(
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


def reason(model: Model, facts: PoolFacts) -> str:
    """Why a replica fits no node of a pool, in words."""
    node = facts.node
    for name, asked, has in (
        (CPU, model.cpu_milli, node.cpu_milli if node else 0),
        (MEMORY, model.memory_bytes, node.memory_bytes if node else 0),
    ):
        if node is not None and asked is not None and asked > has:
            return f"it asks {text(name, asked)} {name}, a node has {text(name, has)}"
    if model.gpus is not None and facts.pool.gpu.sharing != "mig":
        return f"it asks {model.gpus} GPUs, a node has {facts.units_per_node}"
    workload = _workload(model)
    need = sizing.needed_bytes(workload) if workload is not None else None
    if need is None:
        return "its GPU memory is not known"
    if facts.pool.gpu.sharing == "mig":
        return f"it needs {_gib(need)}, more than any of the pool's MIG instances"
    if facts.memory_bytes is None:
        return "the memory of the pool's GPUs is not known; write gpu.memory"
    if facts.pool.gpu.replicas > 1:
        return f"it needs {_gib(need)}, more than a share of {_gib(facts.memory_bytes)}"
    return f"it needs {_gib(need)}, a node has {facts.per_node} x {_gib(facts.memory_bytes)}"
