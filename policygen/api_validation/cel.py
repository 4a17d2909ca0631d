"""The CEL rules of the CRDs, as Python.

A CRD's `x-kubernetes-validations` is text in the Common Expression Language. The tests compare
these functions with the runtime of the CEL project (`cel-expr-python`) and with a real server. The
runtime has 14 to 50 MB and no build for musl, too much for two dozen rules. A rule that is missing
here fails the tests.

Rules about `oldSelf` check an update and not an object; they are not here.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from policygen.api_validation.remedies import advised

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
}
"""By the text of the rule. A KeyError is an error in CEL, and the server refuses then, too."""


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
    """A rule of `x-kubernetes-validations`; None for a rule that checks only updates.

    Raises KeyError for a rule that is missing in RULES.
    """
    text = rule["rule"]
    if "oldSelf" in text:
        return None
    message = rule.get("message", text).rstrip(".")
    return CelRule(RULES[text], f"breaks a validation rule of its CRD: {advised(message, text)}")
