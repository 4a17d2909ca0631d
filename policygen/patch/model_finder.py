"""The model that an object runs, with the fields that its pods need."""

from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import pod_templates
from policygen.patch import containers, leftovers
from policygen.patch.draft import Contradiction
from policygen.plan import pool_taints
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.model_names import MODEL, object_names, replica_names
from policygen.plan.pods import PodFields, fields_of
from policygen.plan.pool import PoolFacts
from policygen.plan.volcano import group_names
from policygen.plan.workload import forms
from policygen.plan.workload.fields import ModelField, model_fields
from policygen.plan.workload.forms import WorkloadForm
from policygen.spec.types import Taint

_FORMS: Mapping[tuple[str, str], WorkloadForm] = {
    ("apps", "Deployment"): WorkloadForm.DEPLOYMENT,
    ("apps", "StatefulSet"): WorkloadForm.STATEFUL_SET,
    ("batch", "Job"): WorkloadForm.JOB,
    ("batch", "CronJob"): WorkloadForm.CRON_JOB,
    (VOLCANO_BATCH, "Job"): WorkloadForm.VOLCANO_JOB,
    ("jobset.x-k8s.io", "JobSet"): WorkloadForm.JOB_SET,
    ("leaderworkerset.x-k8s.io", "LeaderWorkerSet"): WorkloadForm.LEADER_WORKER_SET,
}
"""The form of an object by group and kind. `policygen workload` writes no objects of other kinds."""


class RunModel(Struct, frozen=True, eq=False):
    """The model that an object runs."""

    assignment: Assignment
    form: WorkloadForm | None
    needed: PodFields
    pools: tuple[PoolFacts, ...]
    """All pools of the spec."""
    other_taints: Mapping[str, Taint] = MappingProxyType({})
    """Taints of pools in which the team of the namespace has no share, by their texts."""
    fields: tuple[ModelField, ...] = ()
    """Those beside `needed`."""
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


class ModelFinder(Struct, frozen=True, eq=False, dict=True):
    """The models of a spec, for objects to find theirs."""

    decided: Decisions
    chosen: str | None = None
    """The model of objects whose label and name do not name one."""

    def of(self, object_: Object) -> RunModel | Contradiction | None:
        """The model of an object; None if it has no model and needs none, because it requests no GPU."""
        found = self._of(object_)
        if isinstance(found, Contradiction):  # a placeholder in the name or label is the cause
            return next(leftovers.faults(object_), found)
        return found

    def _of(self, object_: Object) -> RunModel | Contradiction | None:
        found = self.named(object_)
        if found is not None or self.chosen is None:
            return found or self._without_model(object_)
        assignment = self._by_model.get(self.chosen)
        if assignment is None:
            return _unplaced(self.chosen)
        return self._run(assignment, object_, by_option=True)

    def named(self, object_: Object) -> RunModel | Contradiction | None:
        """The model that the label or the name of an object names; None if they name none."""
        label = object_.labels.get(MODEL, "")
        if not label:
            assignment = self._by_name.get((object_.namespace, object_.name))
            return None if assignment is None else self._run(assignment, object_)
        if label in self._by_model:
            return self._run(self._by_model[label], object_)
        models = [it.name for it in self.decided.spec.models]
        if label in models:
            return _unplaced(label)
        at: Path = ("metadata", "labels", MODEL)
        return Contradiction(at, f"model {quoted(label)} does not exist", suggest(label, models))

    @cached_property
    def _by_model(self) -> Mapping[str, Assignment]:
        return {it.model.name: it for it in self.decided.workloads.assignments}

    @cached_property
    def _by_name(self) -> Mapping[tuple[str, str], Assignment]:
        """The models by namespace and name of their objects. An object can have no namespace."""
        found: dict[tuple[str, str], Assignment] = {}
        for it in self.decided.workloads.assignments:
            if it.namespace is not None:
                for name in object_names(it):
                    found.setdefault((it.namespace.name, name), it)
                    found.setdefault(("", name), it)
        return found

    def _without_model(self, object_: Object) -> Contradiction | None:
        if not any(containers.using_gpus(it) for _, it in pod_templates(object_)):
            return None
        at: Path = ("metadata", "name")
        reason = f"the spec has no model {quoted(object_.name)}"
        if not object_.name:
            at, reason = ("metadata", "generateName"), "a generated name does not name the model"
        elif object_.namespace:
            reason = f"{reason} in namespace {object_.namespace}"
        remedy = f"write the label {MODEL} with the name of a model, or pass --model"
        return Contradiction(at, reason, remedy)

    def _run(self, assignment: Assignment, object_: Object, *, by_option: bool = False) -> RunModel:
        owned = assignment.node.team.namespaces if assignment.node else ()
        is_free = assignment.model.namespace is None
        if is_free and any(it.name == object_.namespace for it in owned):  # each has its LocalQueue
            model = replace(assignment.model, namespace=object_.namespace)
            assignment = replace(assignment, model=model)
        form = _FORMS.get((object_.group, object_.kind))
        gang = assignment.model.gang
        run_as = forms.run_as(assignment, form) if form else gang.run_as if gang else "pods"
        needed = fields_of(self.decided.spec, self.decided.pools, assignment, run_as)
        fields = tuple(model_fields(self.decided, assignment, form))
        taints: Mapping[str, Taint] = {}
        if needed.namespace is not None:
            taints = self._other_taints(needed.namespace)
        return RunModel(assignment, form, needed, self.decided.pools, taints, fields, by_option)

    def _other_taints(self, namespace: str) -> Mapping[str, Taint]:
        if namespace not in self._taints:
            own = pool_taints.pools_of(self.decided, namespace)
            self._taints[namespace] = pool_taints.others(self.decided.pools, own)
        return self._taints[namespace]

    @cached_property
    def _taints(self) -> dict[str, Mapping[str, Taint]]:
        """By namespace, those of other teams' pools. A spec can have thousands of namespaces and pools."""
        return {}


def _unplaced(model: str) -> Contradiction:
    reason = f"model {quoted(model)} fits no pool, so its pods have no policy"
    return Contradiction(("metadata",), reason, "run policygen validate")
