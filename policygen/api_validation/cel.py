"""The CEL rules of the CRDs, as Python.

A CRD's `x-kubernetes-validations` is text in the Common Expression Language. The tests compare
these functions with the runtime of the CEL project (`cel-expr-python`) and with a real server. The
runtime has 14 to 50 MB and no build for musl, too much for two dozen rules. A rule that is missing
here fails the tests.

Rules about `oldSelf` check an update: TRANSITIONS names the field that each of them freezes, and when.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from policygen.api_validation.remedies import advised
from policygen.core.finding import Path
from policygen.core.go_values import integer

_EFFECTS = ("NoSchedule", "PreferNoSchedule", "NoExecute")


def _own_quota_only(spec: Any, cohort: str) -> bool:
    return cohort in spec or not any(
        "borrowingLimit" in resource
        for group in spec.get("resourceGroups", ())
        for flavor in group["flavors"]
        for resource in flavor["resources"]
    )


def _assigned(workload: Any) -> bool:
    status = workload.get("status", {})
    reserved = any(
        condition["type"] == "QuotaReserved" and condition["status"] == "True"
        for condition in status.get("conditions", ())
    )
    if not reserved or "admission" not in status:
        return True
    return len(workload["spec"]["podSets"]) == len(status["admission"]["podSetAssignments"])


_ALLOWED = (
    'self in ["karpenter.sh/capacity-type", "karpenter.sh/nodepool"] || !self.find("^([^/]+)")'
    '.endsWith("karpenter.sh")'
)
_COMPARES = ("Gt", "Lt", "Gte", "Lte")


def _not_of_karpenter(label: str) -> bool:
    """Whether a NodePool can have a label: it is known, or its domain is not that of Karpenter."""
    known = ("karpenter.sh/capacity-type", "karpenter.sh/nodepool")
    return label in known or not label.partition("/")[0].endswith("karpenter.sh")


def _one_number(values: Sequence[str]) -> bool:
    number = integer(values[0]) if len(values) == 1 else None
    return number is not None and number >= 0


def _number_given(value: Any, *names: str) -> int:
    return sum(name in value for name in names)


RULES: Mapping[str, Callable[[Any], bool]] = {
    # ClusterQueue and Cohort
    "!has(self.cohort) && has(self.resourceGroups) ? self.resourceGroups.all(rg, rg.flavors.all("
    "f, f.resources.all(r, !has(r.borrowingLimit)))) : true": lambda self: _own_quota_only(
        self, "cohort"
    ),
    "!has(self.cohortName) && has(self.resourceGroups) ? self.resourceGroups.all(rg, rg.flavors."
    "all(f, f.resources.all(r, !has(r.borrowingLimit)))) : true": lambda self: _own_quota_only(
        self, "cohortName"
    ),
    "!has(self.preference) || (self.whenCanBorrow == 'TryNextFlavor' && self.whenCanPreempt == "
    "'TryNextFlavor')": lambda self: (
        "preference" not in self
        or self["whenCanBorrow"] == self["whenCanPreempt"] == "TryNextFlavor"
    ),
    "!(self.reclaimWithinCohort == 'Never' && has(self.borrowWithinCohort) &&  "
    "self.borrowWithinCohort.policy != 'Never')": lambda self: (
        not (
            self["reclaimWithinCohort"] == "Never"
            and "borrowWithinCohort" in self
            and self["borrowWithinCohort"]["policy"] != "Never"
        )
    ),
    "self.flavors.all(x, size(x.resources) == size(self.coveredResources))": lambda self: all(
        len(flavor["resources"]) == len(self["coveredResources"]) for flavor in self["flavors"]
    ),
    # ResourceFlavor
    "!has(self.topologyName) || self.nodeLabels.size() >= 1": lambda self: (
        "topologyName" not in self or len(self["nodeLabels"]) >= 1
    ),
    "self.all(x, x.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])": lambda self: all(
        taint["effect"] in _EFFECTS for taint in self
    ),
    "self.all(x, !has(x.key) ? x.operator == 'Exists' : true)": lambda self: all(
        "key" in each or each["operator"] == "Exists" for each in self
    ),
    "self.all(x, has(x.tolerationSeconds) ? x.effect == 'NoExecute' : true)": lambda self: all(
        "tolerationSeconds" not in each or each["effect"] == "NoExecute" for each in self
    ),
    "self.all(x, !has(x.operator) || x.operator in ['Equal', 'Exists'])": lambda self: all(
        "operator" not in each or each["operator"] in {"Equal", "Exists"} for each in self
    ),
    "self.all(x, has(x.operator) && x.operator == 'Exists' ? !has(x.value) : true)": (
        lambda self: not any(each.get("operator") == "Exists" and "value" in each for each in self)
    ),
    "self.all(x, !has(x.effect) || x.effect in ['NoSchedule', 'PreferNoSchedule', 'NoExecute'])": (
        lambda self: all("effect" not in each or each["effect"] in _EFFECTS for each in self)
    ),
    # Topology and MultiKueueConfig
    "size(self.filter(i, size(self.filter(j, j == i)) > 1)) == 0": lambda self: all(
        self.count(each) == 1 for each in self
    ),
    "size(self.filter(i, i.nodeLabel == 'kubernetes.io/hostname')) == 0 || self[size(self) - 1]."
    "nodeLabel == 'kubernetes.io/hostname'": lambda self: (
        all(level["nodeLabel"] != "kubernetes.io/hostname" for level in self)
        or self[-1]["nodeLabel"] == "kubernetes.io/hostname"
    ),
    # MultiKueueCluster
    "[has(self.kubeConfig),has(self.clusterProfileRef)].filter(x,x==true).size() == 1": (
        lambda self: _number_given(self, "kubeConfig", "clusterProfileRef") == 1
    ),
    # Workload
    "has(self.status) && has(self.status.conditions) && self.status.conditions.exists(c, c.type == "
    "'QuotaReserved' && c.status == 'True') && has(self.status.admission) ? size(self.spec.podSets) "
    "== size(self.status.admission.podSetAssignments) : true": _assigned,
    "has(self.priorityClassName) ? has(self.priority) : true": lambda self: (
        "priorityClassName" not in self or "priority" in self
    ),
    "!has(self.priorityClassRef) || has(self.priority)": lambda self: (
        "priorityClassRef" not in self or "priority" in self
    ),
    "(self.group == 'scheduling.k8s.io') ? self.kind == 'PriorityClass' : true": lambda self: (
        self["group"] != "scheduling.k8s.io" or self["kind"] == "PriorityClass"
    ),
    "(self.group == 'kueue.x-k8s.io') ? self.kind == 'WorkloadPriorityClass' : true": lambda self: (
        self["group"] != "kueue.x-k8s.io" or self["kind"] == "WorkloadPriorityClass"
    ),
    "has(self.minCount) ? self.minCount <= self.count : true": lambda self: (
        "minCount" not in self or self["minCount"] <= self["count"]
    ),
    # Volcano's HyperNode
    "has(self.exactMatch) || has(self.regexMatch) || has(self.labelMatch)": lambda self: (
        _number_given(self, "exactMatch", "regexMatch", "labelMatch") >= 1
    ),
    "(has(self.exactMatch) ? 1 : 0) + (has(self.regexMatch) ? 1 : 0) + (has(self.labelMatch) ? 1 "
    ": 0) <= 1": lambda self: _number_given(self, "exactMatch", "regexMatch", "labelMatch") <= 1,
    # Karpenter's NodePool
    "!has(self.replicas) || (!has(self.limits) || size(self.limits) == 0 || (size(self.limits) == 1 "
    "&& 'nodes' in self.limits))": lambda self: (
        "replicas" not in self or set(self.get("limits", ())) <= {"nodes"}
    ),
    "!has(self.replicas) || !has(self.weight)": lambda self: (
        not {"replicas", "weight"} <= set(self)
    ),
    "self.all(x, has(x.schedule) == has(x.duration))": lambda self: all(
        ("schedule" in each) == ("duration" in each) for each in self
    ),
    f"self.all(x, {_ALLOWED.replace('self', 'x')})": lambda self: all(map(_not_of_karpenter, self)),
    'self.all(x, x != "karpenter.sh/nodepool")': lambda self: "karpenter.sh/nodepool" not in self,
    'self.all(x, x != "kubernetes.io/hostname")': lambda self: "kubernetes.io/hostname" not in self,
    "self != ''": lambda self: self != "",
    "self.all(x, x.operator == 'In' ? x.values.size() != 0 : true)": lambda self: all(
        each["operator"] != "In" or each["values"] for each in self
    ),
    "self.all(x, (x.operator == 'Gt' || x.operator == 'Lt' || x.operator == 'Gte' || x.operator == "
    "'Lte') ? (x.values.size() == 1 && int(x.values[0]) >= 0) : true)": lambda self: all(
        each["operator"] not in _COMPARES or _one_number(each["values"]) for each in self
    ),
    "self.all(x, (x.operator == 'In' && has(x.minValues)) ? x.values.size() >= x.minValues : true)": (
        lambda self: all(
            each["operator"] != "In"
            or "minValues" not in each
            or len(each["values"]) >= each["minValues"]
            for each in self
        )
    ),
    # JobSet
    "!(has(self.startupPolicy) && self.startupPolicy.startupPolicyOrder == 'InOrder' && "
    "self.replicatedJobs.exists(x, has(x.dependsOn)))": lambda self: (
        "startupPolicy" not in self
        or self["startupPolicy"]["startupPolicyOrder"] != "InOrder"
        or not any("dependsOn" in each for each in self["replicatedJobs"])
    ),
    "self.templates.all(t, !has(t.metadata.namespace) || size(t.metadata.namespace) == 0)": (
        lambda self: not any(each["metadata"].get("namespace") for each in self["templates"])
    ),
    # TrainJob and TrainingRuntime
    "self in ['trainer.kubeflow.org/trainjob-controller', 'kueue.x-k8s.io/multikueue']": (
        lambda self: (
            self in {"trainer.kubeflow.org/trainjob-controller", "kueue.x-k8s.io/multikueue"}
        )
    ),
    "[has(self.torch), has(self.mpi), has(self.jax), has(self.xgboost),has(self.flux)].filter(x, x)"
    ".size() <= 1": lambda self: _number_given(self, "torch", "mpi", "jax", "xgboost", "flux") <= 1,
    "self >= 1": lambda self: self >= 1,
    # RayCluster and RayJob
    "self in ['ray.io/kuberay-operator', 'kueue.x-k8s.io/multikueue']": lambda self: (
        self in {"ray.io/kuberay-operator", "kueue.x-k8s.io/multikueue"}
    ),
    "!((has(self.onSuccess) || has(self.onFailure)) && has(self.deletionRules))": lambda self: (
        "deletionRules" not in self or _number_given(self, "onSuccess", "onFailure") == 0
    ),
    "((has(self.onSuccess) && has(self.onFailure)) || has(self.deletionRules))": lambda self: (
        "deletionRules" in self or _number_given(self, "onSuccess", "onFailure") == 2
    ),
    "!(has(self.jobStatus) && has(self.jobDeploymentStatus))": lambda self: (
        not {"jobStatus", "jobDeploymentStatus"} <= set(self)
    ),
    "has(self.jobStatus) || has(self.jobDeploymentStatus)": lambda self: (
        _number_given(self, "jobStatus", "jobDeploymentStatus") >= 1
    ),
    _ALLOWED: _not_of_karpenter,
    'self != "karpenter.sh/nodepool"': lambda self: self != "karpenter.sh/nodepool",
    'self != "kubernetes.io/hostname"': lambda self: self != "kubernetes.io/hostname",
}
"""By the text of the rule. A KeyError is an error in CEL, and the server refuses then, too."""


def _has(workload: Any, condition: str) -> bool:
    """Whether a condition of a Workload is true."""
    return any(
        each["type"] == condition and each["status"] == "True"
        for each in workload.get("status", {}).get("conditions", ())
    )


def _both_have(new: Any, old: Any, field: str) -> bool:
    """Whether both Workloads have a field of spec, and the old one has its quota reserved."""
    return _has(old, "QuotaReserved") and field in old["spec"] and field in new["spec"]


class Frozen(NamedTuple):
    """The field that a rule about `oldSelf` freezes."""

    field: Path
    """Below the value that has the rule; empty: the value itself."""
    when: Callable[[Any, Any], bool] = lambda new, old: True  # noqa: ARG005 - frozen in every case
    """Whether it is frozen, given the new value and the old one."""
    presence: bool = False
    """Only setting or removing the field is refused."""


_RESERVED = (
    "has(oldSelf.status) && has(oldSelf.status.conditions) && oldSelf.status.conditions.exists(c, "
    "c.type == 'QuotaReserved' && c.status == 'True')"
)
_BOTH_RESERVED = (
    f"(({_RESERVED}) && (has(self.status) && has(self.status.conditions) && "
    "self.status.conditions.exists(c, c.type == 'QuotaReserved' && c.status == 'True')))"
)
_BOTH_ADMITTED = _BOTH_RESERVED.replace("QuotaReserved", "Admitted")
_OLD_REF, _NEW_REF = "oldSelf.spec.priorityClassRef", "self.spec.priorityClassRef"
_OLD_SOURCE, _NEW_SOURCE = "oldSelf.spec.priorityClassSource", "self.spec.priorityClassSource"
_OLD_NAME, _NEW_NAME = "oldSelf.spec.priorityClassName", "self.spec.priorityClassName"
_OLD_TIME, _NEW_TIME = (f"{each}.spec.maximumExecutionTimeSeconds" for each in ("oldSelf", "self"))
_OLD_QUEUE, _NEW_QUEUE = "oldSelf.spec.queueName", "self.spec.queueName"

TRANSITIONS: Mapping[str, Frozen] = {
    "self == oldSelf": Frozen(()),
    # ResourceFlavor
    **{
        f"!has(oldSelf.topologyName) || (has(self.{name}) == has(oldSelf.{name}) && "
        f"(!has(self.{name}) || self.{name} == oldSelf.{name}))": Frozen(
            (name,), lambda _, old: "topologyName" in old
        )
        for name in ("nodeLabels", "tolerations")
    },
    "!has(oldSelf.topologyName) || (has(self.topologyName) && self.topologyName == "
    "oldSelf.topologyName)": Frozen(("topologyName",), lambda _, old: "topologyName" in old),
    # NodePool
    "self.group == oldSelf.group": Frozen(("group",)),
    "self.kind == oldSelf.kind": Frozen(("kind",)),
    "has(self.replicas) == has(oldSelf.replicas)": Frozen(("replicas",), presence=True),
    # Workload
    f"({_RESERVED} && has({_OLD_SOURCE}) && has({_NEW_SOURCE})) ? ({_OLD_SOURCE} == {_NEW_SOURCE}) "
    ": true": Frozen(
        ("spec", "priorityClassSource"),
        lambda new, old: _both_have(new, old, "priorityClassSource"),
    ),
    f"({_RESERVED} && has({_OLD_SOURCE}) && has({_NEW_SOURCE}) && ({_NEW_SOURCE} != "
    f"'kueue.x-k8s.io/workloadpriorityclass') && has({_OLD_NAME}) && has({_NEW_NAME})) ? "
    f"({_OLD_NAME} == {_NEW_NAME}) : true": Frozen(
        ("spec", "priorityClassName"),
        lambda new, old: (
            _both_have(new, old, "priorityClassSource")
            and new["spec"]["priorityClassSource"] != "kueue.x-k8s.io/workloadpriorityclass"
            and _both_have(new, old, "priorityClassName")
        ),
    ),
    f"{_BOTH_RESERVED} ? ((has({_OLD_QUEUE}) == has({_NEW_QUEUE})) && (!has({_OLD_QUEUE}) || "
    f"{_OLD_QUEUE} == {_NEW_QUEUE})) : true": Frozen(
        ("spec", "queueName"),
        lambda new, old: _has(old, "QuotaReserved") and _has(new, "QuotaReserved"),
    ),
    f"{_BOTH_ADMITTED}?((has({_OLD_TIME})?{_OLD_TIME}:0) ==  (has({_NEW_TIME})?{_NEW_TIME}:0)):true": (
        Frozen(
            ("spec", "maximumExecutionTimeSeconds"),
            lambda new, old: _has(old, "Admitted") and _has(new, "Admitted"),
        )
    ),
    f"({_RESERVED}) ? (!has({_OLD_REF}) && !has({_NEW_REF})) || (has({_OLD_REF}) && has({_NEW_REF})) "
    ": true": Frozen(
        ("spec", "priorityClassRef"), lambda _, old: _has(old, "QuotaReserved"), presence=True
    ),
    **{
        f"({_RESERVED} && has({_OLD_REF}) && has({_NEW_REF})) ? {_OLD_REF}.{name} == "
        f"{_NEW_REF}.{name} : true": Frozen(
            ("spec", "priorityClassRef", name),
            lambda new, old: _both_have(new, old, "priorityClassRef"),
        )
        for name in ("group", "kind")
    },
    f"({_RESERVED} && has({_OLD_REF}) && has({_NEW_REF}) && {_NEW_REF}.group == "
    f"'scheduling.k8s.io' && {_NEW_REF}.kind == 'PriorityClass') ? {_OLD_REF}.name == "
    f"{_NEW_REF}.name : true": Frozen(
        ("spec", "priorityClassRef", "name"),
        lambda new, old: (
            _both_have(new, old, "priorityClassRef")
            and new["spec"]["priorityClassRef"].get("kind") == "PriorityClass"
        ),
    ),
}
"""By the text of the rule: the rules about `oldSelf`."""


class CelRule(NamedTuple):
    """One rule of a schema."""

    accepts: Callable[[Any], bool]
    message: str
    """The end of a sentence that begins with the field."""

    def holds(self, value: Any) -> bool:
        """Whether the server accepts a value that fits its schema and has its defaults."""
        try:
            return self.accepts(value)
        except KeyError:
            return False


def compiled(rule: Mapping[str, str]) -> CelRule | None:
    """A rule of `x-kubernetes-validations`; None for a rule about updates (`TRANSITIONS`).

    Raises KeyError for a rule that is missing in RULES.
    """
    text = rule["rule"]
    if "oldSelf" in text:
        return None
    message = rule.get("message", text).rstrip(".")
    return CelRule(RULES[text], f"breaks a validation rule of its CRD: {advised(message, text)}")
