"""What a training job holds in GPU memory: exact arithmetic, explained in docs/hardware.md."""

from collections.abc import Iterator
from fractions import Fraction
from math import ceil
from typing import Literal

from msgspec import Struct

from policygen.core.amounts import readable
from policygen.hardware.models import BITS, ModelFacts

Sharding = Literal["none", "optimizer", "gradients", "full"]

DEFAULT_TRAINABLE_PERCENT = Fraction(1)
"""Parameters of LoRA adapters, in percent of the model's: about rank 32 on all layers of an 8B model."""
_TRAINED = "bf16"
"""Precision of trained weights, and of gradients except those of fp32 weights."""
_MASTER, _MOMENTS = 4, 8
"""Bytes a parameter of Adam's fp32 copy of the weights and of its two moments (ZeRO, section 3.1).

Weights that are fp32 themselves need no copy.
"""


class Training(Struct, frozen=True):
    """How one pod of a training job trains. None: the default of docs/hardware.md."""

    pods: int = 1
    """Pods of the gang that the pod belongs to."""
    method: Literal["full", "lora"] | None = None
    """full trains all parameters, lora only adapters beside the frozen weights."""
    trainable_percent: Fraction | None = None
    """Parameters of the adapters, in percent of the model's parameters."""
    gradient_precision: str | None = None
    optimizer_bytes: int | None = None
    """Bytes of optimizer states for each trained parameter; K in ZeRO's formula."""
    sharding: Sharding | None = None
    """What the pods of the gang divide. The devices of one pod always divide everything."""
    activation_bytes: int | None = None
    """Bytes of activations on each device."""


class State(Struct, frozen=True):
    """What all devices together hold of a model, stored once, in bits."""

    frozen: int
    """Weights that LoRA does not train."""
    trained: int
    """Number of trained parameters."""
    weights: int
    """Bits of one trained parameter. Also below."""
    gradients: int
    optimizer: int

    @property
    def bytes_per_trained(self) -> Fraction:
        """Bytes of weights, gradients and optimizer states for one trained parameter."""
        return Fraction(self.weights + self.gradients + self.optimizer, 8)


def state(facts: ModelFacts, precision: str, training: Training) -> State:
    """Weights in `precision`, gradients and optimizer states of a model.

    Adam with mixed precision holds 16 bytes a parameter: 2 of weights, 2 of gradients, 12 of
    optimizer states (Rajbhandari et al., ZeRO, 2020, section 3.1). Gradients in fp32 make it 18
    (Hugging Face Transformers: GPU memory usage).
    """
    lora = training.method == "lora"
    weights = _TRAINED if lora else precision
    full = BITS[weights] >= BITS["fp32"]
    gradients = training.gradient_precision or ("fp32" if full else _TRAINED)
    optimizer = training.optimizer_bytes
    if optimizer is None:
        optimizer = _MOMENTS if full else _MASTER + _MOMENTS
    percent = training.trainable_percent or DEFAULT_TRAINABLE_PERCENT
    return State(
        frozen=facts.parameters * BITS[precision] if lora else 0,
        trained=ceil(facts.parameters * percent / 100) if lora else facts.parameters,
        weights=BITS[weights],
        gradients=BITS[gradients],
        optimizer=8 * optimizer,
    )


def pod_bits(held: State, training: Training) -> int:
    """Bits of the state that one pod holds; its devices divide them."""
    sharding = training.sharding or "full"
    weights = held.frozen + held.trained * held.weights
    divided = {
        "none": 0,
        "optimizer": held.trained * held.optimizer,
        "gradients": held.trained * (held.optimizer + held.gradients),
        "full": held.trained * (held.optimizer + held.gradients) + weights,
    }[sharding]
    complete = weights + held.trained * (held.optimizer + held.gradients) - divided
    return complete - (-divided // training.pods)


def activation_bytes(facts: ModelFacts, tokens: int, training: Training) -> int:
    """Bytes of activations on each device, which processes one sequence of `tokens` at a time.

    0 if the dimensions of the model are unknown.
    """
    if training.activation_bytes is not None:
        return training.activation_bytes
    return (facts.activation_bytes_per_token or 0) * tokens


def assumptions(
    facts: ModelFacts, precision: str, tokens: int, training: Training
) -> Iterator[tuple[str, bool]]:
    """Each default as text, and whether it is assumed. Without runtime and utilization."""
    held = state(facts, precision, training)
    per = f"{float(held.bytes_per_trained):g} bytes per"
    optimizer = training.gradient_precision is None or training.optimizer_bytes is None
    yield "training of all parameters (not LoRA)", training.method is None
    if training.method == "lora":
        percent = training.trainable_percent is None
        yield f"adapters with {float(DEFAULT_TRAINABLE_PERCENT):g}% of the parameters", percent
        yield f"{per} adapter parameter", optimizer
    else:
        yield f"{per} parameter for weights, gradients and Adam", optimizer
    sharding = training.sharding is None and training.pods > 1
    yield f"all of it divided over {training.pods} pods (sharding full)", sharding
    if training.activation_bytes is not None:
        return
    if facts.activation_bytes_per_token is None:
        yield "no memory for activations, because the model's dimensions are unknown", True
        return
    size = readable("memory", Fraction(activation_bytes(facts, tokens, training)))
    yield f"{size} of activations per GPU for one sequence of {tokens} tokens", True
