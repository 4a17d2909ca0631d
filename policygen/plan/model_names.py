"""Which objects run a model: those that name it in a label, or have its name."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:  # a lint without a spec needs only the label
    from policygen.plan.assignment import Assignment

MODEL = "policygen.dev/model"
"""The label by which an object names the model that it runs."""


def replica_names(assignment: "Assignment") -> tuple[str, ...]:
    """The names of the objects of a model: one object, or one for each gang or Job."""
    model = assignment.model
    serves = model.workload == "serving"
    if serves and model.gang is None:
        return (model.name,)
    count = assignment.replicas.least if serves else (model.replicas or 1)
    return (model.name,) if count == 1 else tuple(f"{model.name}-{i}" for i in range(count))


def object_names(assignment: "Assignment") -> tuple[str, ...]:
    """The names by which objects of a model are known: its own, and those of its replicas."""
    name = assignment.model.name
    return tuple(dict.fromkeys((name, *replica_names(assignment))))


def runs(assignment: "Assignment", *, label: str, name: str, namespace: str) -> bool:
    """Whether an object runs the model: its label names it, or its name is that of the model or a replica.

    A name counts only in the namespace of the model.
    """
    if label:
        return label == assignment.model.name
    own = assignment.namespace
    return own is not None and namespace == own.name and name in object_names(assignment)
