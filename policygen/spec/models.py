"""What a model says about itself."""

from collections.abc import Iterator

from policygen.finding import Hit, Severity
from policygen.hardware import catalog
from policygen.spec.echo import quoted
from policygen.spec.nearest import suggest
from policygen.spec.types import Model


def check(model: Model) -> Iterator[Hit]:
    """Faults of a model by itself."""
    scaling = model.autoscaling
    if scaling and scaling.min_replicas > scaling.max_replicas:
        yield Hit(
            "replicas-reversed",
            f"minReplicas {scaling.min_replicas} is above maxReplicas {scaling.max_replicas}; "
            "lower it or raise maxReplicas",
            model.at / "spec" / "autoscaling" / "minReplicas",
        )
    yield from _unknown(model)


def _unknown(model: Model) -> Iterator[Hit]:
    """A family or size without figures: nothing is compared with the stated memory then."""
    family, size = model.family, model.size
    if family is None and size is None:
        return
    facts = catalog.model(family, size)
    if facts is not None and (facts.kv_values_per_token is not None or family is None):
        return
    name = " ".join(word for word in (family, size) if word)
    if facts is None and size is not None and catalog.model(None, size) is None:
        at, words = "size", f"{quoted(size)} is no number of parameters; write it as in 7b"
    else:
        known = {names.partition(" ")[0] for names in catalog.model_names()}
        at = "size" if size is not None and (family or "").lower() in known else "family"
        near = suggest(name, catalog.model_names())
        if not near.startswith("did you mean"):
            near = "docs/hardware.md lists those that are known"
        words = f"there are no figures for {quoted(name)}; {near} (or leave the family out and "
        words += "state the GPU memory)"
    yield Hit(
        "unknown-model",
        f'model "{model.name}": {words}',
        model.field(at),
        Severity.WARNING,
    )
