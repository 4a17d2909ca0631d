"""How many devices a model needs: exact arithmetic over memory, explained in docs/hardware.md."""

from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import force_setattr

from policygen.core.quantity import GIBIBYTE
from policygen.hardware.catalog import MigProfile
from policygen.hardware.models import ModelFacts

BITS = {"fp32": 32, "fp16": 16, "bf16": 16, "fp8": 8, "int8": 8, "int4": 4}
"""Bits a number by precision; scales of quantised weights are not counted."""

DEFAULT_PRECISION = "bf16"
"""Of weights whose published precision is not known, and of the KV cache."""
DEFAULT_CONCURRENCY = 1
DEFAULT_CONTEXT_LENGTH = 2048
"""Tokens of one request, prompt and answer: a chat turn, and within every known model's limit."""
DEFAULT_RUNTIME_BYTES = GIBIBYTE
"""CUDA context, graphs and activations of a 7B to 8B model on one GPU."""
DEFAULT_UTILISATION = 90
"""What most documents of vLLM give as gpu_memory_utilization, in percent."""


class Workload(Struct, frozen=True):
    """What one replica, or one pod of a gang, holds in GPU memory.

    `gpu_memory_bytes`, where stated, is the whole need. Otherwise it is computed from `facts`.
    With neither, nothing is known of it. Raises ValueError on an unknown precision and on
    figures out of range.
    """

    gpu_memory_bytes: int | None = None
    facts: ModelFacts | None = None
    precision: str = ""
    """Of the weights, a key of BITS. Left empty, it becomes that of the published weights."""
    concurrency: int = DEFAULT_CONCURRENCY
    """Requests that one replica serves at a time."""
    context_length: int = DEFAULT_CONTEXT_LENGTH
    """Tokens of one request, prompt and answer."""
    kv_precision: str = DEFAULT_PRECISION
    """Of the KV cache, a key of BITS."""
    runtime_memory_bytes: int = DEFAULT_RUNTIME_BYTES
    """On each device, beside weights and KV cache."""
    utilisation: int = DEFAULT_UTILISATION
    """Percent of a device's memory that is used."""
    any_count: bool = False
    """Any number of devices, not only powers of two."""

    def __post_init__(self) -> None:
        if not self.precision:
            force_setattr(self, "precision", _published(self.facts))
        for name in ("precision", "kv_precision"):
            if getattr(self, name) not in BITS:
                raise ValueError(f"{name} {getattr(self, name)!r} is none of {', '.join(BITS)}")
        stated = 1 if self.gpu_memory_bytes is None else self.gpu_memory_bytes
        if min(stated, self.concurrency, self.context_length) < 1 or self.runtime_memory_bytes < 0:
            raise ValueError("memory, concurrency and context length must be positive")
        if not 1 <= self.utilisation <= 100:
            raise ValueError(f"utilisation is {self.utilisation}, it must be within 1 and 100")


def weights_bytes(workload: Workload) -> int | None:
    """Memory of the weights by family and size; None where these say nothing."""
    return None if workload.facts is None else _ceil(_weight_bits(workload), 8)


def kv_bytes(workload: Workload, devices: int = 1) -> int | None:
    """KV cache on that many devices together, by family and size; None where it is not known.

    Each device keeps at least one KV head, so beyond `kv_shards` devices it is kept again.
    """
    facts = workload.facts
    if facts is None or facts.kv_values_per_token is None:
        return None
    return _ceil(_kv_bits(workload) * max(devices, facts.kv_shards), 8 * facts.kv_shards)


def needed_bytes(workload: Workload, devices: int = 1) -> int | None:
    """Memory that this many devices must have together, to compare with what they offer.

    The stated memory as it is; else (weights + KV cache + runtime on each device), over the
    share of the memory that is used. None where nothing is known.
    """
    if workload.gpu_memory_bytes is not None:
        return workload.gpu_memory_bytes
    if workload.facts is None:
        return None
    shards = workload.facts.kv_shards
    # In bits times shards, so that nothing is rounded before the end.
    held = (_weight_bits(workload) + 8 * devices * workload.runtime_memory_bytes) * shards
    held += _kv_bits(workload) * max(devices, shards)
    return _ceil(held * 100, 8 * shards * workload.utilisation)


def assumptions(workload: Workload) -> tuple[str, ...]:
    """The defaults that a computed need rests on, in words; none where the memory is stated."""
    facts = workload.facts
    if facts is None or workload.gpu_memory_bytes is not None:
        return ()
    counted = [
        (facts.assumption or "", facts.assumed),
        (f"weights in {workload.precision}", workload.precision == _published(facts)),
        *_kv_assumptions(workload, facts),
        (
            f"{DEFAULT_RUNTIME_BYTES >> 30}Gi of runtime memory a GPU",
            workload.runtime_memory_bytes == DEFAULT_RUNTIME_BYTES,
        ),
        (
            f"{DEFAULT_UTILISATION} percent of a GPU's memory used",
            workload.utilisation == DEFAULT_UTILISATION,
        ),
    ]
    return tuple(words for words, holds in counted if holds)


def devices(workload: Workload, usable_bytes_per_device: int) -> int | None:
    """The fewest whole devices that hold the workload, whatever a node has; None: no number does.

    A power of two, as tensor parallelism wants it, unless the workload takes any count. None
    also where nothing is known of it. Raises ValueError on a device without memory.
    """
    if usable_bytes_per_device < 1:
        raise ValueError("a device has some memory")
    count = _required(workload, usable_bytes_per_device)
    if count is None or workload.any_count:
        return count
    return 1 << (count - 1).bit_length()


def mig_fit(need_bytes: int, profiles: Mapping[str, MigProfile]) -> MigProfile | None:
    """The smallest of the profiles whose instance holds the need; None: none does.

    A model cannot span MIG instances. Among equals the one with fewer compute slices, and
    without extras such as media engines.
    """
    return min(
        (profile for profile in profiles.values() if profile.memory_mib << 20 >= need_bytes),
        key=lambda one: (one.memory_mib, one.compute_slices, len(one.name), one.name),
        default=None,
    )


def shared_replica_bytes(usable_bytes: int, replicas: int) -> int:
    """The even share of one device among its replicas; time-slicing does not enforce it."""
    return usable_bytes // replicas


def _published(facts: ModelFacts | None) -> str:
    return facts.precision if facts else DEFAULT_PRECISION


def _kv_assumptions(workload: Workload, facts: ModelFacts) -> list[tuple[str, bool]]:
    if facts.kv_values_per_token is None:
        return [("no KV cache, since its size is not known", True)]
    length, limit = workload.context_length, facts.max_context
    return [
        (f"{DEFAULT_CONCURRENCY} request at a time", workload.concurrency == DEFAULT_CONCURRENCY),
        (f"{DEFAULT_CONTEXT_LENGTH} tokens a request", length == DEFAULT_CONTEXT_LENGTH),
        (
            f"{length} tokens a request, although {facts.name} takes {limit}",
            limit is not None and length > limit,
        ),
        (f"KV cache in {DEFAULT_PRECISION}", workload.kv_precision == DEFAULT_PRECISION),
    ]


def _ceil(amount: int, divisor: int) -> int:
    return -(-amount // divisor)


def _weight_bits(workload: Workload) -> int:
    return workload.facts.parameters * BITS[workload.precision] if workload.facts else 0


def _kv_bits(workload: Workload) -> int:
    """The KV cache, kept once."""
    values = workload.facts.kv_values_per_token if workload.facts else None
    tokens = workload.concurrency * workload.context_length
    return (values or 0) * tokens * BITS[workload.kv_precision]


def _required(workload: Workload, usable: int) -> int | None:
    """The fewest devices, of any count, with devices x usable >= needed_bytes(devices).

    If some count holds the workload, every greater one does too: past the KV cache's shards,
    what a device brings less what it keeps of the cache is the same for each.
    """
    if workload.gpu_memory_bytes is not None:
        return _ceil(workload.gpu_memory_bytes, usable)
    facts = workload.facts
    if facts is None:
        return None
    shards = facts.kv_shards
    # In hundredths of bits, as exact as needed_bytes.
    weights, kv = 100 * _weight_bits(workload), 100 * _kv_bits(workload)
    free = 8 * (usable * workload.utilisation - 100 * workload.runtime_memory_bytes)
    if free <= 0:
        return None
    count = _ceil(weights + kv, free)
    if count <= shards:
        return count
    left = free * shards - kv
    if left <= 0:
        return None
    return max(_ceil(weights * shards, left), shards + 1)
