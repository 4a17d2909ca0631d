"""Checks each model separately."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.core.quoting import listed, quoted
from policygen.core.suggest import Names, suggest
from policygen.hardware import models
from policygen.spec.rules import REPLICAS_REVERSED, UNKNOWN_MODEL
from policygen.spec.types import Model


def check(model: Model) -> Iterator[Hit]:
    """Faults of one model."""
    yield from reversed_bounds(model)
    yield from _unknown(model)


def reversed_bounds(model: Model) -> Iterator[Hit]:
    """A hit if the lower bound of the replicas is above the upper one."""
    scaling = model.autoscaling
    if scaling and scaling.min_replicas > scaling.max_replicas:
        yield Hit(
            REPLICAS_REVERSED,
            f"minReplicas {scaling.min_replicas} is above maxReplicas {scaling.max_replicas}; "
            "lower minReplicas, or raise maxReplicas",
            model.at / "spec" / "autoscaling" / "minReplicas",
        )


def _unknown(model: Model) -> Iterator[Hit]:
    """A hit for a model without known figures; its KV cache is not checked."""
    family, size = model.family, model.size
    if family is None:
        return
    facts = models.model(family, size)
    if facts is None and size is not None:
        return  # plan/demand.py reports an invalid size
    if facts is not None and facts.kv_values_per_token is not None:
        return
    # Without any other size, no number of GPUs is known.
    stated = model.gpu_memory_bytes is not None or model.gpus is not None
    lost = ", so the model is not rendered" if facts is None and not stated else ""
    sizes = models.sizes(family)
    if size is None and sizes:
        yield Hit(
            UNKNOWN_MODEL,
            f"the size of model family {quoted(family)} is missing{lost}; write size: "
            f"{listed(list(sizes))} (or omit the family and set resources.gpuMemory)",
            model.field("family"),
        )
        return
    name = f"{family} {size}" if size is not None else family
    known = {known.partition(" ")[0] for known in models.model_names()}
    near = _near(name, family) or "write a model that docs/hardware.md lists"
    yield Hit(
        UNKNOWN_MODEL,
        f"policygen has no data about model {quoted(name)}{lost}; {near} (or omit the family and set "
        "resources.gpuMemory)",
        model.field("size" if size is not None and family.lower() in known else "family"),
    )


def _near(name: str, family: str) -> str:
    """The advice to write a similar model; "" if no model of a similar family is similar."""
    names = models.model_names()
    known = {known.partition(" ")[0] for known in names}
    # An equal size alone does not make a model of another family similar.
    families = {family.lower(), *Names(known).similar(family, len(known))}
    near = suggest(name, [it for it in names if it.partition(" ")[0] in families])
    return near if near.startswith("did you mean") else ""


def is_misspelt(model: Model) -> bool:
    """Whether UNKNOWN_MODEL proposes a similar model, so that the memory of this one is doubtful."""
    family, size = model.family, model.size
    facts = models.model(family, size)
    if family is None or size is None or facts is None or facts.kv_values_per_token is not None:
        return False
    return bool(_near(f"{family} {size}", family))
