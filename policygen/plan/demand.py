"""What one replica of a model needs of GPU memory, by the fields of the spec, with findings about them."""

import re
from collections.abc import Iterator
from typing import Any

from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.core.quoting import counted, listed, quoted
from policygen.hardware import models, sizing, training
from policygen.hardware.models import ModelFacts
from policygen.hardware.sizing import MemoryDemand
from policygen.hardware.training import Training
from policygen.plan import rules
from policygen.plan.amounts import readable_bytes
from policygen.spec.types import Model

_MEMORY = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?([KMGTkmgt])i?[Bb]")
"""An amount of memory, such as 140GB or 140 GiB."""
_SERVING = ("kvCachePrecision", "concurrency")
_TRAINING = (
    "training",
    "trainablePercent",
    "gradientPrecision",
    "optimizerBytes",
    "sharding",
    "activationMemory",
)
_STATE = ("precision", *_TRAINING[:-1])
"""Fields that change what weights, and in training gradients and optimizer states, need."""
_ON_EACH_GPU = ("runtimeMemory", "activationMemory", "gpuMemoryUtilization")


def demand(model: Model) -> MemoryDemand | None:
    """The input of the memory rule, or None if neither memory nor a known size is written."""
    facts = models.model(model.family, model.size)
    if model.gpu_memory_bytes is None and facts is None:
        return None
    sizes, stated = model.sizing, _stated(model)
    workload = MemoryDemand(
        gpu_memory_bytes=model.gpu_memory_bytes,
        facts=facts,
        batch=model.workload == "batch" and "concurrency" not in stated,
        any_count=sizes.any_gpu_count,
        pods=_pods(model) if model.workload != "training" else 1,
        training=_training(model) if model.workload == "training" else None,
    )
    return replace(workload, **stated)


def _stated(model: Model) -> dict[str, Any]:
    """The values that a model states, by the field of MemoryDemand that has a default."""
    sizes = model.sizing
    concurrency = sizes.concurrency
    if concurrency is None and model.autoscaling is not None:
        concurrency = model.autoscaling.target_concurrency
    stated = {
        "precision": sizes.precision,
        "kv_precision": sizes.kv_cache_precision,
        "concurrency": concurrency,
        "context_length": sizes.context_length,
        "runtime_memory_bytes": sizes.runtime_memory_bytes,
        "utilisation": sizes.gpu_memory_utilization,
    }
    return {name: it for name, it in stated.items() if it is not None}


def _training(model: Model) -> Training:
    sizes = model.sizing
    return Training(
        pods=_pods(model),
        method=sizes.training,
        trainable_percent=sizes.trainable_percent,
        gradient_precision=sizes.gradient_precision,
        optimizer_bytes=sizes.optimizer_bytes,
        sharding=sizes.sharding,
        activation_bytes=sizes.activation_memory_bytes,
    )


def _pods(model: Model) -> int:
    return model.gang.size if model.gang is not None else 1


def parts(workload: MemoryDemand) -> str | None:
    """How the memory of a training job is computed, for a message; None for other workloads."""
    facts, trained = workload.facts, workload.training
    if facts is None or trained is None or workload.gpu_memory_bytes is not None:
        return None
    each = readable_bytes(sizing.device_bytes(workload))
    return (
        f"{_state(facts, workload.precision, trained)}, plus {each} on each GPU, in "
        f"{workload.utilisation}% of the memory"
    )


def _state(facts: ModelFacts, precision: str, trained: Training) -> str:
    """`8B parameters x 16 bytes = 120 GiB, divided over 4 pods`."""
    held = training.state(facts, precision, trained)
    each = f"{float(held.bytes_per_trained):g} bytes"
    size = readable_bytes(-(-held.trained * held.bytes_per_trained // 1))
    text = f"{_billions(held.trained)} parameters × {each} = {size}"
    if trained.method == "lora":
        frozen = readable_bytes(-(-held.frozen // 8))
        text = f"{_billions(facts.parameters)} parameters in {precision} = {frozen}, and adapters of {text}"
    if trained.pods == 1:
        return text
    divided = {
        "none": "on each pod",
        "optimizer": f"only the optimizer states divided over {trained.pods} pods",
        "gradients": f"only gradients and optimizer states divided over {trained.pods} pods",
        "full": f"divided over {trained.pods} pods",
    }[trained.sharding or "full"]
    return f"{text}, {divided}"


def _billions(parameters: int) -> str:
    """A number of parameters for people: `70.6B`, `494M`."""
    units = ((10**6, "M"), (10**9, "B"), (10**12, "T"))
    # Of 999.6M, three digits are 1B.
    unit, name = next((it for it in units if parameters < 999.5 * it[0]), units[-1])
    return f"{parameters / unit:.3g}{name}"


def _as_memory(size: str) -> str:
    """Advice for a size that is an amount of memory: `140GB`."""
    amount = _MEMORY.fullmatch(size.strip())
    return (
        f", or the memory as resources.gpuMemory: {amount[1]}{amount[2].upper()}i" if amount else ""
    )


def assumptions(model: Model, workload: MemoryDemand) -> tuple[str, ...]:
    """The defaults that the memory of a model assumes, because the spec does not set them."""
    return sizing.assumptions(workload, _stated(model))


def check(model: Model, workload: MemoryDemand | None) -> Iterator[Hit]:
    """Whether the memory is known, which values are assumed, and whether gpuMemory is enough."""
    if model.size is not None and models.model(model.family, model.size) is None:
        yield Hit(
            rules.UNKNOWN_MODEL_SIZE,
            f"size {quoted(model.size)} is not a number of parameters, so the memory of the model "
            f"is unknown; write the size as in 7b, 1.5b or 8x7b{_as_memory(model.size)}",
            model.field("size"),
        )
    elif workload is None and model.gpus is None and model.family is None:
        yield Hit(
            rules.MODEL_SIZE_UNKNOWN,
            f'the GPU memory that model "{model.name}" needs is unknown; write '
            "resources.gpuMemory, resources.gpus, or a family and size from docs/hardware.md",
            model.at / "metadata" / "name",
        )
    yield from _unused(model, workload)
    yield from _long_context(model, workload)
    if workload is None or model.gpus is not None or workload.facts is None:
        return
    if model.gpu_memory_bytes is None:
        assumed = ", ".join(assumptions(model, workload))
        if assumed:
            yield Hit(
                rules.ASSUMPTION,
                f'the GPU memory of model "{model.name}" is calculated with assumed values: '
                f"{assumed}; write other values under sizing",
                model.field("family"),
            )
    elif workload.training is not None:
        yield from _below_training(model, workload, workload.facts, workload.training)
    else:
        yield from _below_serving(model, workload)
    if workload.training is not None and workload.training.method != "lora":
        yield from _quantized(model, workload.precision)


def _long_context(model: Model, workload: MemoryDemand | None) -> Iterator[Hit]:
    """Requests longer than the model supports; vLLM refuses to start with such a max_model_len.

    Training can extend the context, so it is not checked.
    """
    length = model.sizing.context_length
    facts = workload.facts if workload is not None else None
    if length is None or facts is None or facts.max_context is None or model.gpus is not None:
        return
    if length > facts.max_context and model.workload != "training":
        yield Hit(
            rules.CONTEXT_LENGTH_ABOVE_MODEL,
            f'model "{model.name}" has sizing.contextLength {length}, but {facts.name} supports only '
            f"{facts.max_context} tokens; lower contextLength",
            model.field("sizing") / "contextLength",
        )


def _below_training(
    model: Model, workload: MemoryDemand, facts: ModelFacts, trained: Training
) -> Iterator[Hit]:
    memory = workload.gpu_memory_bytes or 0
    held = training.state(facts, workload.precision, trained)
    need = -(-training.pod_bits(held, trained) // 8)
    if need > memory:
        one = "one pod" if model.gang is not None else "training"
        lower = "" if trained.method == "lora" else ", or write sizing.training: lora"
        yield Hit(
            rules.GPU_MEMORY_BELOW_TRAINING,
            f'model "{model.name}" has gpuMemory {readable_bytes(memory, need)}, but {one} needs '
            f"{readable_bytes(need, memory)} for weights, gradients and optimizer states "
            f"({_state(facts, workload.precision, trained)}); raise gpuMemory{lower}",
            model.field("resources"),
        )


def below_stated_gpus(
    model: Model, workload: MemoryDemand, has: int, where: str, gpus: int | None
) -> Iterator[Hit]:
    """A warning if the stated number of GPUs has too little memory.

    `has`: bytes of these GPUs. `gpus`: how many are enough; None if a node has too few.
    """
    facts, trained, stated = workload.facts, workload.training, model.gpu_memory_bytes
    if model.gpus is not None and stated is not None and stated > has:
        remedy = f"write gpus: {gpus}" if gpus else "use larger GPUs"
        yield Hit(
            rules.GPUS_BELOW_GPU_MEMORY,
            f'model "{model.name}" has gpuMemory {readable_bytes(stated, has)}, but gpus: {model.gpus} has '
            f"{readable_bytes(has, stated)} of GPU memory on {where}; {remedy}, or remove one of the two fields",
            model.field("resources") / "gpus",
        )
        return
    if facts is None or model.gpus is None:
        return
    if trained is not None:
        held = training.state(facts, workload.precision, trained)
        rule, need = rules.GPU_MEMORY_BELOW_TRAINING, -(-training.pod_bits(held, trained) // 8)
        other = "" if trained.method == "lora" else ", or write sizing.training: lora"
        what = f"({_state(facts, workload.precision, trained)})"
        needs = f"weights, gradients and optimizer states need {readable_bytes(need, has)} {what}"
    else:
        rule, need = rules.GPU_MEMORY_BELOW_WEIGHTS, sizing.weights_bytes(workload) or 0
        other = ", or write sizing.precision if the weights are quantized"
        needs = f"{_weights(workload)} need {readable_bytes(need, has)} in {workload.precision}"
    if need > has:
        remedy = (
            f"write gpus: {gpus}"
            if gpus
            else "use larger GPUs, or a gang whose pods divide the model"
        )
        yield Hit(
            rule,
            f'model "{model.name}" has gpus: {model.gpus}, with {readable_bytes(has, need)} of GPU '
            f"memory on {where}, but its {needs}; {remedy}{other}",
            model.field("resources") / "gpus",
        )


def _weights(workload: MemoryDemand) -> str:
    """The weights of one pod, after `its`."""
    return "weights alone" if workload.pods == 1 else f"weights divided over {workload.pods} pods"


def _below_serving(model: Model, workload: MemoryDemand) -> Iterator[Hit]:
    memory = workload.gpu_memory_bytes or 0
    weights = sizing.weights_bytes(workload) or 0
    cache = sizing.kv_bytes(workload) or 0
    if weights > memory:
        yield Hit(
            rules.GPU_MEMORY_BELOW_WEIGHTS,
            f'model "{model.name}" has gpuMemory {readable_bytes(memory, weights)}, but its '
            f"{_weights(workload)} need {readable_bytes(weights, memory)} in {workload.precision}; raise gpuMemory",
            model.field("resources"),
        )
    elif weights + cache > memory:
        yield Hit(
            rules.GPU_MEMORY_BELOW_CONCURRENCY,
            f'model "{model.name}" has gpuMemory {readable_bytes(memory)}, but its weights '
            f"need {readable_bytes(weights)} in {workload.precision}, and its KV cache needs {readable_bytes(cache)} "
            f"for {counted(workload.concurrency, 'request')} of {workload.context_length} tokens; "
            "raise gpuMemory, or lower the concurrency",
            model.field("resources"),
        )


def _quantized(model: Model, precision: str) -> Iterator[Hit]:
    """Integers have no gradients: Transformers refuses to train a quantized model without adapters."""
    if precision in {"int8", "int4"}:
        yield Hit(
            rules.QUANTIZED_FULL_TRAINING,
            f'model "{model.name}" trains all its weights, but {precision} weights cannot be trained; '
            "write sizing.training: lora, or another precision",
            model.field("sizing") / "precision",
        )


def _unused(model: Model, workload: MemoryDemand | None) -> Iterator[Hit]:
    """Fields under sizing without effect: one finding for all with the same reason."""
    stated = model.sizing
    fields = {
        "precision": stated.precision,
        "kvCachePrecision": stated.kv_cache_precision,
        "concurrency": stated.concurrency,
        "contextLength": stated.context_length,
        "runtimeMemory": stated.runtime_memory_bytes,
        "gpuMemoryUtilization": stated.gpu_memory_utilization,
        "anyGpuCount": stated.any_gpu_count or None,
        "training": stated.training,
        "trainablePercent": stated.trainable_percent,
        "gradientPrecision": stated.gradient_precision,
        "optimizerBytes": stated.optimizer_bytes,
        "sharding": stated.sharding,
        "activationMemory": stated.activation_memory_bytes,
    }
    unused: dict[str, list[str]] = {}
    for name, value in fields.items():
        reason = _reason(model, workload, name) if value is not None else None
        if reason is not None:
            unused.setdefault(reason, []).append(name)
    for reason, names in unused.items():
        first, *others = [(model.field("sizing") / it).on_key() for it in names]
        yield Hit(
            rules.INERT_SETTING,
            f"{listed([f'sizing.{it}' for it in names], 'and')} {'have' if others else 'has'} no effect, "
            f"because {reason}; remove {listed(names, 'and')}",
            first,
            tuple(others),
        )


def _reason(model: Model, workload: MemoryDemand | None, name: str) -> str | None:
    """Why a field under sizing has no effect; None if it has one, or if the memory is unknown."""
    trains = model.workload == "training"
    if name in _TRAINING and not trains:
        return f"the workload is {model.workload}, not training"
    if name in _SERVING and trains:
        return "the workload is training, which has no requests and no KV cache"
    held = name in _STATE and workload is not None and workload.facts is not None
    if model.gpus is not None and not held:
        return "resources.gpus sets the number of GPUs"
    if name == "trainablePercent" and model.sizing.training != "lora":
        return "sizing.training is not lora"
    if name == "sharding" and _pods(model) == 1:
        return "the GPUs of one pod divide everything, and the model has no gang of several pods"
    if workload is None or name == "anyGpuCount":
        return None
    if name == "contextLength" and trains and model.sizing.activation_memory_bytes is not None:
        return "sizing.activationMemory sets the memory of activations"
    if workload.gpu_memory_bytes is not None and (
        workload.facts is None or name in _ON_EACH_GPU or (trains and name == "contextLength")
    ):
        return "resources.gpuMemory sets the memory"
    return None
