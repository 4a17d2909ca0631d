"""What the code of servers and webhooks refuses in single objects, beyond schemas and metadata."""

import pytest

from policygen.api_validation.object_code import CONFIG_MAP_BYTES, check
from policygen.api_validation.refusal import Reason
from policygen.api_validation.schemas import served

SECURITY = "pod-security.kubernetes.io/"
AVOIDED = "scheduler.alpha.kubernetes.io/preferAvoidPods"
TAINT = {"key": "gpu", "value": "a", "effect": "NoSchedule"}
BUDGET = "policy/v1"
VCJOB = "batch.volcano.sh/v1alpha1"


def refusals_of(api_version, kind, **thing):
    out = []
    check({"metadata": {"name": "a"}, **thing}, served(api_version, kind), out)
    return [(it.path, it.reason) for it in out]


def labelled(**labels):
    return {"metadata": {"name": "a", "labels": {SECURITY + k: v for k, v in labels.items()}}}


def avoiding(text):
    return {"metadata": {"name": "a", "annotations": {AVOIDED: text}}}


def vcjob(**spec):
    return {"spec": {"tasks": [{"name": "worker"}], **spec}}


CLAIM = ("spec", "volumeClaimTemplates", 0, "spec")


def claims(modes=("ReadWriteOnce",), **resources):
    spec = {"accessModes": list(modes), "resources": resources}
    return {"spec": {"volumeClaimTemplates": [{"metadata": {"name": "a"}, "spec": spec}]}}


@pytest.mark.parametrize(
    ("api_version", "kind", "thing"),
    [
        ("v1", "ConfigMap", {"data": {"A_b-.c": "d"}, "binaryData": {"e": "YWJj"}}),
        ("v1", "ConfigMap", {"data": {"a": "x" * CONFIG_MAP_BYTES}}),
        ("v1", "ConfigMap", {"data": {".a": "b", "x" * 253: ""}}),
        ("v1", "ConfigMap", {"data": ["of a wrong type"], "binaryData": None}),
        ("v1", "Namespace", labelled(enforce="restricted", **{"enforce-version": "v1.36"})),
        ("v1", "Namespace", labelled(strange="x", **{"warn-version": "latest"})),
        ("v1", "Namespace", {"spec": {"finalizers": ["kubernetes", "a.b/c"]}}),
        ("v1", "Node", {"status": {"capacity": {"cpu": "500m", "nvidia.com/gpu": "8", "a/b/c": "0.5"}}}),
        ("v1", "Node", {"status": {"allocatable": {"nvidia.com/gpu": "m", "memory": " 1"}}}),
        ("v1", "Node", {"spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["10.0.0.0/24", "fd00::/64"]}}),
        ("v1", "Node", {"spec": {"podCIDR": "10.0.0.0/24", "podCIDRs": ["replaced"]}}),
        ("v1", "Node", {"spec": {"taints": [TAINT, {**TAINT, "effect": "NoExecute"}, {**TAINT, "key": 1}]}}),
        ("v1", "Node", avoiding("{}")),
        ("v1", "Node", avoiding('{"preferAvoidPods": [{"podSignature": {"podController": {}}}]}')),
        ("v1", "Pod", {"spec": {"overhead": {"cpu": 1}, "runtimeClassName": "kata"}}),
        ("v1", "Pod", {"spec": {"overhead": None}}),
        ("v1", "ResourceQuota", {"spec": {"scopes": ["BestEffort"]}}),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "America/Argentina/Buenos_Aires"}}),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "GMT+0"}}),
        ("apps/v1", "StatefulSet", claims(requests={"storage": "500m"})),
        ("apps/v1", "StatefulSet", claims(requests={"storage": "no amount"})),
        ("flow.volcano.sh/v1alpha1", "JobTemplate", vcjob(runningEstimate="1a")),
        (VCJOB, "Job", vcjob(runningEstimate="1h", policies=[{"timeout": "10s"}, {"timeout": None}])),
    ],
)  # fmt: skip
def test_what_is_taken(api_version, kind, thing):
    assert refusals_of(api_version, kind, **thing) == []


@pytest.mark.parametrize(
    ("api_version", "kind", "thing", "path", "reason"),
    [
        ("v1", "ConfigMap", {"data": {"a b": ""}}, ("data", "a b"), Reason.FORMAT),
        ("v1", "ConfigMap", {"data": {"..a": ""}}, ("data", "..a"), Reason.FORMAT),
        ("v1", "ConfigMap", {"binaryData": {".": ""}}, ("binaryData", "."), Reason.FORMAT),
        ("v1", "ConfigMap", {"data": {"x" * 254: ""}}, ("data", "x" * 254), Reason.FORMAT),
        ("v1", "ConfigMap", {"data": {"a": ""}, "binaryData": {"a": ""}}, ("binaryData", "a"), Reason.FORMAT),
        ("v1", "ConfigMap", {"data": {"a": "\u00e4" * (CONFIG_MAP_BYTES // 2), "b": "c"}}, (), Reason.LENGTH),
        ("v1", "ConfigMap", {"binaryData": {"a": "YWJj" * (CONFIG_MAP_BYTES // 3 + 1)}}, (), Reason.LENGTH),
        ("v1", "Namespace", labelled(enforce="Restricted"), ("metadata", "labels", SECURITY + "enforce"), Reason.LABEL),
        ("v1", "Namespace", labelled(**{"audit-version": "1.36"}), ("metadata", "labels", SECURITY + "audit-version"), Reason.LABEL),
        ("v1", "Namespace", {"spec": {"finalizers": ["mine"]}}, ("spec", "finalizers", 0), Reason.FORMAT),
        ("v1", "Node", {"status": {"capacity": {"nvidia.com/gpu": "1500m"}}}, ("status", "capacity", "nvidia.com/gpu"), Reason.RANGE),
        ("v1", "Node", {"spec": {"podCIDR": "10.0.0.1/24"}}, ("spec", "podCIDR"), Reason.FORMAT),
        ("v1", "Node", {"spec": {"podCIDR": "10.0.0.0"}}, ("spec", "podCIDR"), Reason.FORMAT),
        ("v1", "Node", {"spec": {"podCIDR": "::ffff:10.0.0.0/120"}}, ("spec", "podCIDR"), Reason.FORMAT),
        ("v1", "Node", {"spec": {"podCIDRs": ["10.0.0.0/24", "10.0.1.0/24"]}}, ("spec", "podCIDRs"), Reason.LENGTH),
        ("v1", "Node", {"spec": {"taints": [TAINT, {**TAINT, "value": "b"}]}}, ("spec", "taints", 1), Reason.DUPLICATE_ENTRY),
        ("v1", "Node", {"spec": {"taints": [{**TAINT, "value": "a b"}]}}, ("spec", "taints", 0, "value"), Reason.LABEL),
        ("v1", "Node", {"spec": {"taints": [{**TAINT, "key": "a b"}]}}, ("spec", "taints", 0, "key"), Reason.LABEL),
        ("v1", "Node", {"spec": {"taints": [{**TAINT, "effect": ""}]}}, ("spec", "taints", 0, "effect"), Reason.FORMAT),
        ("v1", "Node", avoiding("a"), ("metadata", "annotations", AVOIDED), Reason.ANNOTATION),
        ("v1", "Node", avoiding('{"preferAvoidPods": [{}]}'), ("metadata", "annotations", AVOIDED), Reason.ANNOTATION),
        ("v1", "Node", avoiding("[]"), ("metadata", "annotations", AVOIDED), Reason.ANNOTATION),
        ("v1", "Pod", {"spec": {"overhead": {}}}, ("spec", "overhead"), Reason.FORMAT),
        ("v1", "ResourceQuota", {"spec": {"scopes": [""]}}, ("spec", "scopes", 0), Reason.FORMAT),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "GMT+1"}}, ("spec", "timeZone"), Reason.FORMAT),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "europe/berlin"}}, ("spec", "timeZone"), Reason.FORMAT),
        ("v1", "Node", {"status": {"allocatable": {"cpu": -1}}}, ("status", "allocatable", "cpu"), Reason.RANGE),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "Local"}}, ("spec", "timeZone"), Reason.FORMAT),
        ("batch/v1", "CronJob", {"spec": {"timeZone": "../UTC"}}, ("spec", "timeZone"), Reason.FORMAT),
        ("batch/v1", "CronJob", {"spec": {"jobTemplate": {"spec": {"selector": {}}}}}, ("spec", "jobTemplate", "spec", "selector"), Reason.FORMAT),
        ("apps/v1", "StatefulSet", claims(requests={"storage": 0}), (*CLAIM, "resources", "requests", "storage"), Reason.RANGE),
        ("apps/v1", "StatefulSet", claims(requests={"cpu": 1}), CLAIM, Reason.MISSING_FIELD),
        ("apps/v1", "StatefulSet", claims(modes=[], requests={"storage": 1}), CLAIM, Reason.MISSING_FIELD),
        ("apps/v1", "StatefulSet", {"metadata": {"name": "a.b"}}, ("metadata", "name"), Reason.NAME),
        ("apps/v1", "StatefulSet", {"metadata": {"name": "a" * 64}}, ("metadata", "name"), Reason.NAME),
        (BUDGET, "PodDisruptionBudget", {"spec": {"minAvailable": 1, "maxUnavailable": 1}}, ("spec", "maxUnavailable"), Reason.VALUE),
        (BUDGET, "PodDisruptionBudget", {"spec": {"minAvailable": -1}}, ("spec", "minAvailable"), Reason.RANGE),
        (BUDGET, "PodDisruptionBudget", {"spec": {"maxUnavailable": "101%"}}, ("spec", "maxUnavailable"), Reason.RANGE),
        (BUDGET, "PodDisruptionBudget", {"spec": {"unhealthyPodEvictionPolicy": ""}}, ("spec", "unhealthyPodEvictionPolicy"), Reason.VALUE),
        (BUDGET, "PodDisruptionBudget", {"spec": {"maxUnavailable": "1"}}, ("spec", "maxUnavailable"), Reason.RANGE),
        (BUDGET, "PodDisruptionBudget", {"spec": {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}}}, ("spec", "selector", "matchExpressions", 0, "values"), Reason.MISSING_FIELD),
        (VCJOB, "Job", vcjob(runningEstimate="1d"), ("spec", "runningEstimate"), Reason.FORMAT),
        (VCJOB, "Job", vcjob(tasks=[{"policies": [{"timeout": "1H"}]}]), ("spec", "tasks", 0, "policies", 0, "timeout"), Reason.FORMAT),
        (VCJOB, "Job", {"metadata": {"name": "a" * 64}}, ("metadata", "name"), Reason.NAME),
        (VCJOB, "Job", vcjob(tasks=[{"name": "x" * 60}]), ("metadata", "name"), Reason.NAME),
        (VCJOB, "Job", {"metadata": {"name": "a" * 54}, "spec": {"tasks": [{}]}}, ("metadata", "name"), Reason.NAME),
        (VCJOB, "CronJob", {"metadata": {"name": "a" * 53}}, ("metadata", "name"), Reason.NAME),
    ],
)  # fmt: skip
def test_what_is_refused(api_version, kind, thing, path, reason):
    assert refusals_of(api_version, kind, **thing) == [(path, reason)]


def test_the_longest_name_of_a_pod():
    longest = {"metadata": {"name": "a" * 54}, **vcjob()}  # 54 + "-worker-0"
    assert refusals_of(VCJOB, "Job", **longest) == []
