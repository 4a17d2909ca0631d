"""The model that an object runs, with the fields that its pods need."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Fault, Path
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import pod_templates
from policygen.patch import containers
from policygen.plan.assignment import Assignment
from policygen.plan.decisions import Decisions
from policygen.plan.model_names import MODEL, replica_names, runs
from policygen.plan.pods import PodFields, fields_of
from policygen.plan.volcano import group_names
from policygen.plan.workload import forms
from policygen.plan.workload.forms import WorkloadForm

_FORMS: Mapping[tuple[str, str], WorkloadForm] = {
    ("apps", "Deployment"): WorkloadForm.DEPLOYMENT,
    ("apps", "StatefulSet"): WorkloadForm.STATEFUL_SET,
    ("batch", "Job"): WorkloadForm.JOB,
    ("batch", "CronJob"): WorkloadForm.JOB,
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

    decided: Decisions
    chosen: str | None = None
    """The model of objects whose label and name do not name one."""

    def of(self, object_: Object) -> RunModel | Fault | None:
        """The model of an object; None if it has no model and needs none, because it requests no GPU."""
        label = object_.labels.get(MODEL, "")
        for it in self.decided.workloads.assignments:
            own = it.namespace.name if it.namespace else ""
            space = object_.namespace or own
            if runs(it, label=label, name=object_.name, namespace=space):
                return self._run(it, object_)
        at: Path = ("metadata", "labels", MODEL)
        models = [it.name for it in self.decided.spec.models]
        if label and label not in models:
            return at, f"model {quoted(label)} does not exist; {suggest(label, models)}"
        if label or self.chosen:
            return self._named(label or f"{self.chosen}", object_, by_option=not label)
        if not any(containers.using_gpus(it) for _, it in pod_templates(object_)):
            return None
        message = f"the spec has no model {quoted(object_.name)}"
        if not object_.name:
            at, message = ("metadata", "generateName"), "a generated name does not name the model"
        elif object_.namespace:
            at, message = ("metadata", "name"), f"{message} in namespace {object_.namespace}"
        return at, f"{message}; write the label {MODEL} with the name of a model, or pass --model"

    def _named(self, name: str, object_: Object, *, by_option: bool) -> RunModel | Fault:
        for it in self.decided.workloads.assignments:
            if it.model.name == name:
                return self._run(it, object_, by_option=by_option)
        message = (
            f"model {quoted(name)} fits no pool, so its pods have no policy; run policygen validate"
        )
        return ("metadata",), message

    def _run(self, assignment: Assignment, object_: Object, *, by_option: bool = False) -> RunModel:
        owned = assignment.node.team.namespaces if assignment.node else ()
        if any(it.name == object_.namespace for it in owned):  # each has its own LocalQueue
            model = replace(assignment.model, namespace=object_.namespace)
            assignment = replace(assignment, model=model)
        form = _FORMS.get((object_.group, object_.kind))
        gang = assignment.model.gang
        run_as = forms.run_as(assignment, form) if form else gang.run_as if gang else "pods"
        needed = fields_of(self.decided.spec, self.decided.pools, assignment, run_as)
        return RunModel(assignment, form, needed, by_option)
