"""Parses the availability of a model, and checks what the schema cannot check."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.spec.fields import View
from policygen.spec.rules import INVALID_VALUE
from policygen.spec.types import Availability


def of_model(spec: View) -> Availability | None:
    """The availability of a model; None if it is not set. Adds hits about values that are not possible."""
    view = spec.view("availability")
    if not view:
        return None
    spec.hits += _faults(spec, view)
    return Availability(view.data["failureDomain"], view.number("minAvailable"))


def _faults(spec: View, view: View) -> Iterator[Hit]:
    if spec.data.get("workload", "serving") != "serving":
        message = (
            "only serving models have an availability, because the pods of other models end; remove "
            "availability, or write workload: serving"
        )
        yield Hit(INVALID_VALUE, message, view.at)
        return
    if spec.view("gang"):
        message = (
            "a gang serves only with all its pods, so no pod of it can be evicted alone; remove "
            "availability or gang"
        )
        yield Hit(INVALID_VALUE, message, view.at)
        return
    scaling = spec.view("autoscaling")
    field = "minReplicas" if scaling else "replicas"
    least = (scaling.number(field) if scaling else spec.number(field)) or 0
    least = least if scaling else max(least, 1)
    available = view.number("minAvailable")
    if least < 2:
        message = (
            f"a model with {field}: {least} is not available while its pod is replaced; write {field}: 2 "
            "or more, or remove availability"
        )
        yield Hit(INVALID_VALUE, message, view.at)
    elif available is not None and available >= least:
        message = (
            f"minAvailable: {available} of {least} pods blocks every drain of a node; write "
            f"minAvailable: {least - 1} or less"
        )
        yield Hit(INVALID_VALUE, message, view.at / "minAvailable")
