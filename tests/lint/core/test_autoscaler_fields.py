"""Autoscalers that API servers refuse; `tests/servers/autoscaler_families.py` asks a server for more."""

import pytest

from policygen.lint.core.autoscaler_fields import faults

PODS = {"metric": {"name": "a"}, "target": {"type": "AverageValue", "averageValue": 1}}
OBJECT = PODS | {"describedObject": {"kind": "Service", "name": "a"}}
POLICY = {"type": "Pods", "value": 1, "periodSeconds": 60}


def metric(kind="Pods", **sources):
    return {"metrics": [{"type": kind, **sources}]}


def scaling(**rules):
    return {"behavior": {"scaleUp": rules}}


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": ""}}, ("scaleTargetRef", "name"), 'scaleTargetRef.name "", which is refused'),
        ({"scaleTargetRef": {"apiVersion": "apps/v1", "kind": "a/b", "name": "a"}}, ("scaleTargetRef", "kind"), 'without "/" and "%"'),
        ({"scaleTargetRef": {"apiVersion": "a/b/c", "kind": "Deployment", "name": "a"}}, ("scaleTargetRef", "apiVersion"), "such as apps/v1"),
        (metric(), ("metrics", 0), "of type Pods without pods"),
        (metric(pods=PODS, external=PODS), ("metrics", 0), "with pods and external, which is refused; write only pods"),
        (metric(pods=PODS | {"metric": {"name": ".."}}), ("metrics", 0, "pods", "metric", "name"), 'metric.name ".."'),
        (metric(pods=PODS | {"target": {"type": "AverageValue", "averageValue": "0"}}), ("metrics", 0, "pods", "target", "averageValue"), "write more than 0"),
        (metric("Resource", resource={"name": "", "target": PODS["target"]}), ("metrics", 0, "resource", "name"), 'of resource ""'),
        (metric("ContainerResource", containerResource={"name": "cpu", "container": "A", "target": PODS["target"]}), ("metrics", 0, "containerResource", "container"), 'of container "A"'),
        (metric("Object", object=OBJECT | {"describedObject": {"kind": "Service", "name": "a%"}}), ("metrics", 0, "object", "describedObject", "name"), "describedObject.name"),
        (scaling(stabilizationWindowSeconds=3601), ("behavior", "scaleUp", "stabilizationWindowSeconds"), "write 0 to 3600"),
        (scaling(selectPolicy="max"), ("behavior", "scaleUp", "selectPolicy"), "write Max, Min or Disabled"),
        (scaling(policies=[]), ("behavior", "scaleUp", "policies"), "remove policies"),
        (scaling(tolerance="-1"), ("behavior", "scaleUp", "tolerance"), "write 0 or more"),
        (scaling(policies=[POLICY | {"periodSeconds": 1801}]), ("behavior", "scaleUp", "policies", 0, "periodSeconds"), "write 1 to 1800"),
        (scaling(policies=[POLICY | {"value": None}]), ("behavior", "scaleUp", "policies", 0), "without value"),
        (scaling(policies=[POLICY | {"type": "pods"}]), ("behavior", "scaleUp", "policies", 0, "type"), "write Pods or Percent"),
    ],
)  # fmt: skip
def test_what_is_refused(spec, path, words):
    ((at, message),) = faults("HorizontalPodAutoscaler a", spec)
    assert at == path
    assert words in message


def test_what_is_not():
    target = {"apiVersion": "v1", "kind": "ReplicationController", "name": "a"}
    spec = {"scaleTargetRef": target, **metric("Object", object=OBJECT)}
    assert [*faults("a", spec)] == []
    assert [*faults("a", scaling(policies=[POLICY], selectPolicy="Min", tolerance="0.1"))] == []
