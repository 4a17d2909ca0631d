"""Plugin arguments that kube-scheduler refuses."""

import pytest

from policygen.core.finding import dotted
from policygen.lint.scheduler.arguments import faults

REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def affinity(**expression):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", **expression}]}]}
    return {"addedAffinity": {REQUIRED: terms}}


def spread(**constraint):
    made = {
        "maxSkew": 1,
        "topologyKey": "zone",
        "whenUnsatisfiable": "ScheduleAnyway",
        **constraint,
    }
    return {"defaultingType": "List", "defaultConstraints": [made]}


@pytest.mark.parametrize(
    ("plugin", "args", "path", "words"),
    [
        ("NodeAffinity", {"kind": "Other"}, "kind", "write NodeAffinityArgs"),
        ("InterPodAffinity", {"hardPodAffinityWeight": 101}, "hardPodAffinityWeight", "write 0 to 100"),
        ("VolumeBinding", {"bindTimeoutSeconds": -1}, "bindTimeoutSeconds", "write 0 or more"),
        ("DefaultPreemption", {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 0}, "minCandidateNodesPercentage", "write 1 or more in one of them"),
        ("DynamicResources", {"bindingTimeout": "0.5s"}, "bindingTimeout", "write 1s or more"),
        ("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu", "weight": 2}]}, "resources[0].weight", "accepts only 1"),
        ("NodeResourcesBalancedAllocation", {"resources": [{"name": "cpu"}, {"name": "cpu"}]}, "resources[1].name", "is listed twice"),
        ("PodTopologySpread", {"defaultingType": "Own"}, "defaultingType", "write System or List"),
        ("PodTopologySpread", {"defaultConstraints": [spread()["defaultConstraints"][0]]}, "defaultConstraints", "without defaultingType: List"),
        ("PodTopologySpread", spread(maxSkew=0), "defaultConstraints[0].maxSkew", "write 1 or more"),
        ("PodTopologySpread", spread(topologyKey=""), "defaultConstraints[0].topologyKey", "is missing"),
        ("PodTopologySpread", spread(labelSelector={}), "defaultConstraints[0].labelSelector", "remove labelSelector"),
        ("PodTopologySpread", spread(whenUnsatisfiable="Never"), "defaultConstraints[0].whenUnsatisfiable", "write DoNotSchedule or ScheduleAnyway"),
        ("NodeAffinity", affinity(operator="Like"), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].operator", "is refused"),
        ("NodeAffinity", affinity(operator="In"), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0]", "needs values"),
        ("NodeAffinity", affinity(operator="Exists", values=["b"]), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values", "accepts no values"),
        ("NodeAffinity", affinity(operator="In", values=["a b"]), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]", "is not a valid label value"),
        ("NodeAffinity", affinity(operator="Gt", values=["a"]), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values[0]", "needs an integer"),
        ("NodeAffinity", {"addedAffinity": {REQUIRED: {"nodeSelectorTerms": [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["a", "b"]}]}]}}}, f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchFields[0].values", "exactly one value"),
        ("NodeAffinity", {"apiVersion": "v1"}, "apiVersion", "write kubescheduler.config.k8s.io/v1"),
        ("NodeResourcesFit", {"ignoredResources": ["A b"]}, "ignoredResources[0]", "is not a valid name"),
        ("NodeResourcesFit", {"ignoredResourceGroups": ["a.b/c"]}, "ignoredResourceGroups[0]", "write only the part before /"),
        ("VolumeBinding", {"shape": []}, "shape", "feature gate StorageCapacityScoring"),
        ("PodTopologySpread", spread(maxSkew=None), "defaultConstraints[0].maxSkew", "write 1 or more"),
        ("NodeAffinity", affinity(operator="Gt", values=["1", "2"]), f"addedAffinity.{REQUIRED}.nodeSelectorTerms[0].matchExpressions[0].values", "needs exactly one value"),
    ],
)  # fmt: skip
def test_what_is_refused(plugin, args, path, words):
    ((at, message),) = faults(plugin, args)
    assert dotted(at) == path
    assert words in message


@pytest.mark.parametrize(
    ("plugin", "args"),
    [
        ("NodeAffinity", {"kind": "NodeAffinityArgs", **affinity(operator="In", values=["b"])}),
        ("InterPodAffinity", {"hardPodAffinityWeight": 100}),
        ("DefaultPreemption", {"minCandidateNodesPercentage": 0, "minCandidateNodesAbsolute": 1}),
        ("PodTopologySpread", spread()),
        ("Own", {"kind": "Anything"}),
    ],
)
def test_what_is_not(plugin, args):
    assert list(faults(plugin, args)) == []


def test_a_constraint_that_is_listed_twice():
    args = spread()
    args["defaultConstraints"] *= 2
    ((at, message),) = faults("PodTopologySpread", args)
    assert (dotted(at), "is listed twice" in message) == ("defaultConstraints[1]", True)
