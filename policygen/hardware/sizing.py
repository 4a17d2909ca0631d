"""How many devices a model needs: exact arithmetic over memory, explained in docs/hardware.md."""

from collections.abc import Collection, Mapping

from msgspec import Struct
from msgspec.structs import force_setattr

from policygen.core.quantity import GIBIBYTE
from policygen.core.quoting import counted
from policygen.hardware import training
from policygen.hardware.catalog import MigProfile
from policygen.hardware.models import BITS, ModelFacts
from policygen.hardware.training import Training

DEFAULT_PRECISION = "bf16"
"""Precision of weights if the published one is unknown, of trained weights, and of the KV cache."""
DEFAULT_CONCURRENCY = 1
DEFAULT_BATCH_CONCURRENCY = 16
"""Requests of a batch job at one time. Each step reads all weights once, for all requests together.

With 16 requests, the KV cache is still smaller than the weights for most known models.
"""
DEFAULT_CONTEXT_LENGTH = 2048
"""Tokens of one request or training sequence: a chat turn, within the limit of every known model."""
DEFAULT_RUNTIME_BYTES = GIBIBYTE
"""CUDA context, graphs and activations of a 7B to 8B model on one GPU."""
DEFAULT_UTILISATION = 90
"""gpu_memory_utilization in most documents of vLLM, in percent."""


class MemoryDemand(Struct, frozen=True):
    """What one replica, or one pod of a gang, holds in GPU memory.

    It serves requests; with `training`, it trains instead and has no KV cache.

    `gpu_memory_bytes`, if set, is the total. Otherwise it is calculated from `facts`. Without
    both, the need is unknown. Raises ValueError on an unknown precision or a value out of range.
    """

    gpu_memory_bytes: int | None = None
    facts: ModelFacts | None = None
    precision: str = ""
    """Precision of the weights, a key of BITS.

    The default is that of the published weights, or bf16 if all weights are trained.
    """
    batch: bool = False
    """True: a batch job without a stated concurrency, so it is DEFAULT_BATCH_CONCURRENCY."""
    concurrency: int = DEFAULT_CONCURRENCY
    """Requests that one replica serves at one time."""
    context_length: int = DEFAULT_CONTEXT_LENGTH
    """Tokens of prompt and answer of one request, or of one training sequence."""
    kv_precision: str = DEFAULT_PRECISION
    """Precision of the KV cache, a key of BITS."""
    runtime_memory_bytes: int = DEFAULT_RUNTIME_BYTES
    """Bytes on each device in addition to weights, KV cache, and everything of `training`."""
    utilisation: int = DEFAULT_UTILISATION
    """Percent of a device's memory that is used."""
    any_count: bool = False
    """True allows any number of devices, not only powers of two."""
    training: Training | None = None
    pods: int = 1
    """Pods of a gang that serves together: they divide weights and KV cache by layers."""

    def __post_init__(self) -> None:
        if not self.precision:
            force_setattr(self, "precision", _default_precision(self))
        if self.batch:
            force_setattr(self, "concurrency", DEFAULT_BATCH_CONCURRENCY)
        for name in ("precision", "kv_precision"):
            if getattr(self, name) not in BITS:
                raise ValueError(
                    f"{name} must be one of {', '.join(BITS)}, not {getattr(self, name)!r}"
                )
        stated = 1 if self.gpu_memory_bytes is None else self.gpu_memory_bytes
        if min(stated, self.concurrency, self.context_length) < 1 or self.runtime_memory_bytes < 0:
            raise ValueError("memory, concurrency and context length must be positive")
        if not 1 <= self.utilisation <= 100:
            raise ValueError(f"utilisation must be between 1 and 100, not {self.utilisation}")


def weights_bytes(workload: MemoryDemand) -> int | None:
    """Bytes of the weights of one pod by family and size; None if these are unknown."""
    return None if workload.facts is None else _ceil(_weight_bits(workload), 8)


def kv_bytes(workload: MemoryDemand, devices: int = 1) -> int | None:
    """Bytes of the KV cache on all devices together, by family and size; None if unknown, or training.

    Each device stores at least one KV head, so with more than `kv_shards` devices it is stored again.
    """
    facts = workload.facts
    if facts is None or facts.kv_values_per_token is None or workload.training is not None:
        return None
    return _ceil(_kv_bits(workload) * max(devices, facts.kv_shards), 8 * facts.kv_shards)


def needed_bytes(workload: MemoryDemand, devices: int = 1) -> int | None:
    """Bytes that `devices` devices must have together.

    The stated memory, else (weights + KV cache + runtime on each device), divided by the share of
    the memory that is used; in training, gradients, optimizer states and activations instead of the
    KV cache. None if unknown.
    """
    if workload.gpu_memory_bytes is not None:
        return workload.gpu_memory_bytes
    if workload.facts is None:
        return None
    shards = workload.facts.kv_shards
    # In bits times shards, so that only the result is rounded.
    held = (_held_bits(workload) + 8 * devices * device_bytes(workload)) * shards
    held += _kv_bits(workload) * max(devices, shards)
    return _ceil(held * 100, 8 * shards * workload.utilisation)


def device_bytes(workload: MemoryDemand) -> int:
    """Bytes on each device, however many there are: the runtime, and in training the activations."""
    facts, held = workload.facts, workload.runtime_memory_bytes
    if facts is None or workload.training is None:
        return held
    return held + training.activation_bytes(facts, workload.context_length, workload.training)


def assumptions(workload: MemoryDemand, stated: Collection[str] = ()) -> tuple[str, ...]:
    """The defaults that a calculated need assumes, as text; empty if the memory is stated.

    `stated`: names of fields of the workload that the user wrote, so a default there is not assumed.
    """
    facts = workload.facts
    if facts is None or workload.gpu_memory_bytes is not None:
        return ()
    counted = [
        ("", facts.assumption or "", facts.assumed),
        (
            "precision",
            f"weight precision {workload.precision}",
            workload.precision == _default_precision(workload),
        ),
        *_working_assumptions(workload, facts),
        (
            "runtime_memory_bytes",
            f"{DEFAULT_RUNTIME_BYTES >> 30} GiB of memory per GPU for the runtime",
            workload.runtime_memory_bytes == DEFAULT_RUNTIME_BYTES,
        ),
        (
            "utilisation",
            f"{DEFAULT_UTILISATION}% of GPU memory for the model",
            workload.utilisation == DEFAULT_UTILISATION,
        ),
    ]
    return tuple(text for field, text, holds in counted if holds and field not in stated)


def devices(workload: MemoryDemand, usable_bytes_per_device: int) -> int | None:
    """The fewest devices that hold the workload, without regard to nodes; None if no number does.

    A power of two for tensor parallelism, unless the workload allows any count. None also if the
    need is unknown. Raises ValueError on a device without memory.
    """
    if usable_bytes_per_device < 1:
        raise ValueError("the memory of a device must be at least 1 byte")
    count = _required(workload, usable_bytes_per_device)
    if count is None or workload.any_count:
        return count
    return 1 << (count - 1).bit_length()


def mig_fit(need_bytes: int, profiles: Mapping[str, MigProfile]) -> MigProfile | None:
    """The smallest of the profiles whose instance holds `need_bytes`; None if all are too small.

    A model cannot span MIG instances. Of equal sizes, the one with fewer compute slices and
    without extras such as media engines is preferred.
    """
    return min(
        (profile for profile in profiles.values() if profile.memory_mib << 20 >= need_bytes),
        key=lambda one: (one.memory_mib, one.compute_slices, len(one.name), one.name),
        default=None,
    )


def shared_replica_bytes(usable_bytes: int, replicas: int) -> int:
    """The equal share of each replica in one device, in bytes. Time-slicing does not enforce it."""
    return usable_bytes // replicas


def _default_precision(workload: MemoryDemand) -> str:
    trained = workload.training is not None and workload.training.method != "lora"
    return DEFAULT_PRECISION if trained or workload.facts is None else workload.facts.precision


def _working_assumptions(workload: MemoryDemand, facts: ModelFacts) -> list[tuple[str, str, bool]]:
    """The assumptions about the KV cache, or about everything that only training holds.

    Each with its field of the workload, or "", and with whether the field has the default.
    """
    length = workload.context_length
    if workload.training is not None:
        found = training.assumptions(facts, workload.precision, length, workload.training)
        return [("", text, assumed) for text, assumed in found]
    divided = ("", f"everything divided over {workload.pods} pods by layers", workload.pods > 1)
    if facts.kv_values_per_token is None:
        return [divided, ("", "no memory for the KV cache, because its size is unknown", True)]
    assumed = workload.batch or workload.concurrency == DEFAULT_CONCURRENCY
    kind = " of a batch job" if workload.batch else ""
    return [
        divided,
        (
            "concurrency",
            f"{counted(workload.concurrency, 'concurrent request')}{kind}",
            assumed,
        ),
        (
            "context_length",
            f"{DEFAULT_CONTEXT_LENGTH} tokens per request",
            length == DEFAULT_CONTEXT_LENGTH,
        ),
        (
            "kv_precision",
            f"KV cache precision {DEFAULT_PRECISION}",
            workload.kv_precision == DEFAULT_PRECISION,
        ),
    ]


def _ceil(amount: int, divisor: int) -> int:
    return -(-amount // divisor)


def _weight_bits(workload: MemoryDemand) -> int:
    bits = workload.facts.parameters * BITS[workload.precision] if workload.facts else 0
    return _ceil(bits, workload.pods)


def _held_bits(workload: MemoryDemand) -> int:
    """Bits that the devices divide, without the KV cache."""
    facts = workload.facts
    if facts is None or workload.training is None:
        return _weight_bits(workload)
    held = training.state(facts, workload.precision, workload.training)
    return training.pod_bits(held, workload.training)


def _kv_bits(workload: MemoryDemand) -> int:
    """Bits of the KV cache, stored once; 0 in training."""
    serves = workload.facts is not None and workload.training is None
    values = workload.facts.kv_values_per_token if workload.facts and serves else None
    tokens = workload.concurrency * workload.context_length
    return _ceil((values or 0) * tokens * BITS[workload.kv_precision], workload.pods)


def _required(workload: MemoryDemand, usable: int) -> int | None:
    """The fewest devices, of any count, with devices x usable >= needed_bytes(devices).

    If some count holds the workload, every greater one does too: above the KV cache's shards,
    each further device adds the same memory and stores the same part of the cache.
    """
    if workload.gpu_memory_bytes is not None:
        return _ceil(workload.gpu_memory_bytes, usable)
    facts = workload.facts
    if facts is None:
        return None
    shards = facts.kv_shards
    # In hundredths of bits, so that it is as exact as needed_bytes.
    held, kv = 100 * _held_bits(workload), 100 * _kv_bits(workload)
    free = 8 * (usable * workload.utilisation - 100 * device_bytes(workload))
    if free <= 0:
        return None
    count = _ceil(held + kv, free)
    if count <= shards:
        return count
    left = free * shards - kv
    if left <= 0:
        return None
    return max(_ceil(held * shards, left), shards + 1)
