"""The model that an object runs, with the fields that its pods need."""

from collections.abc import Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Fault, Path
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import pod_templates
from policygen.patch import containers
from policygen.plan.assignment import Assignment
from policygen.plan.model_names import MODEL, replica_names, runs
from policygen.plan.pods import PodFields
from policygen.plan.volcano import group_names


class RunModel(Struct, frozen=True, eq=False):
    """A model for an object."""

    assignment: Assignment
    needed: PodFields
    by_option: bool = False
    """Whether only an option names the model."""

    @property
    def model(self) -> str:
        """The name of the model."""
        return self.assignment.model.name

    @property
    def who(self) -> str:
        """Who needs the fields, in messages."""
        return f"pods of model {quoted(self.model)}"

    def pod_group(self, name: str, found: Any) -> str | None:
        """The PodGroup of an object of this name, which names the group `found`; None if it is not known.

        Each gang of a model has its own PodGroup.
        """
        groups = group_names(self.assignment.model)
        names = replica_names(self.assignment)
        if found in groups:
            return f"{found}"
        if len(groups) == 1:
            return groups[0]
        return dict(zip(names, groups, strict=False)).get(name)


class ModelFinder(Struct, frozen=True, eq=False):
    """The models of a spec, for objects to find theirs."""

    known: Sequence[RunModel]
    """The models that fit a pool."""
    models: Sequence[str]
    """The names of all models."""
    chosen: str | None = None
    """The model of objects whose label and name do not name one."""

    def of(self, object_: Object) -> RunModel | Fault | None:
        """The model of an object; None if it has none and needs none, because it requests no GPU."""
        label = object_.labels.get(MODEL, "")
        for it in self.known:
            space = object_.namespace or it.needed.namespace or ""
            if runs(it.assignment, label=label, name=object_.name, namespace=space):
                return it
        at: Path = ("metadata", "labels", MODEL)
        if label and label not in self.models:
            return at, f"model {quoted(label)} does not exist; {suggest(label, self.models)}"
        if label or self.chosen:
            return self._named(label or f"{self.chosen}", by_option=not label)
        if not any(containers.using_gpus(it) for _, it in pod_templates(object_)):
            return None
        message = f"the spec has no model {quoted(object_.name)}"
        if not object_.name:
            at, message = (
                ("metadata", "generateName"),
                "a generated name does not name the model",
            )
        elif object_.namespace:
            at, message = ("metadata", "name"), f"{message} in namespace {object_.namespace}"
        return at, f"{message}; write the label {MODEL} with the name of a model, or pass --model"

    def _named(self, name: str, *, by_option: bool) -> RunModel | Fault:
        for it in self.known:
            if it.model == name:
                return replace(it, by_option=by_option)
        message = (
            f"model {quoted(name)} fits no pool, so its pods have no policy; run policygen validate"
        )
        return ("metadata",), message
