"""The models of a spec that a simulation adds to the jobs of its input."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct

from policygen.kubernetes.object import Object
from policygen.plan.assignment import Assignment
from policygen.plan.model_names import MODEL, runs


class ModelObjects(Struct, frozen=True):
    """The models that a simulation adds, and the others."""

    data: tuple[Mapping[str, Any], ...]
    """The objects."""
    names: tuple[str, ...] = ()
    """Of these models."""
    own: tuple[str, ...] = ()
    """Models that objects of the input run, so that they are not added."""
    unplaced: tuple[str, ...] = ()
    """Models that fit no pool, or have no namespace."""


def not_written(
    assignments: Sequence[Assignment], written: Iterable[Object]
) -> tuple[list[Assignment], list[str]]:
    """The models that no written object runs, and the names of those that one runs.

    Models without a namespace are in neither.
    """
    known = [(it.namespace or "default", it.name, it.labels.get(MODEL, "")) for it in written]
    added, own = [], []
    for it in assignments:
        if it.namespace is None:
            continue
        if any(
            runs(it, label=label, name=name, namespace=namespace)
            for namespace, name, label in known
        ):
            own.append(it.model.name)
        else:
            added.append(it)
    return added, own
