"""Autoscalers in v2beta1 become equal ones in v2, or stay as they are.

tests/servers/test_version_upgrade.py compares random ones with what Kubernetes converts them to.
"""

import pytest
import yaml

from policygen.core.finding import At
from policygen.documents.edit.apply import applied
from policygen.kubernetes.autoscaler_upgrade import upgraded
from policygen.kubernetes.object import Object

TARGET = "target: {kind: Service, name: s}"


def an_autoscaler(*metrics, annotations=None, **spec):
    return {
        "apiVersion": "autoscaling/v2beta1",
        "kind": "HorizontalPodAutoscaler",
        "metadata": {"name": "a", "annotations": annotations},
        "spec": {"maxReplicas": 2, "metrics": [yaml.safe_load(it) for it in metrics], **spec},
    }


def after(data):
    """The data after the edits; None if there are none."""
    edits = upgraded(Object.read(data, At(0)))
    return applied(data, edits, {}) if edits else None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (
            "{type: Resource, resource: {name: cpu, targetAverageUtilization: 60}}",
            "{type: Resource, resource: {name: cpu, target: {type: Utilization, averageUtilization: 60}}}",
        ),
        (
            "{type: ContainerResource, containerResource: {container: c, name: cpu, targetAverageValue: 1}}",
            (
                "{type: ContainerResource, containerResource: {container: c, name: cpu, "
                "target: {type: AverageValue, averageValue: 1}}}"
            ),
        ),
        (
            "{type: Pods, pods: {metricName: m, targetAverageValue: 1, selector: {}}}",
            (
                "{type: Pods, pods: {metric: {name: m, selector: {}}, "
                "target: {type: AverageValue, averageValue: 1}}}"
            ),
        ),
        (
            f"{{type: Object, object: {{{TARGET}, metricName: m, targetValue: 1}}}}",
            (
                "{type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: m}, "
                "target: {type: Value, value: 1}}}"
            ),
        ),
        (
            f"{{type: Object, object: {{{TARGET}, metricName: m, targetValue: 1, averageValue: 2}}}}",
            (
                "{type: Object, object: {describedObject: {kind: Service, name: s}, metric: {name: m}, "
                "target: {type: AverageValue, value: 1, averageValue: 2}}}"
            ),
        ),
        (
            "{type: External, external: {metricName: m, metricSelector: {}, targetValue: 1}}",
            "{type: External, external: {metric: {name: m, selector: {}}, target: {type: Value, value: 1}}}",
        ),
    ],
)
def test_each_metric_has_its_fields_of_v2(old, new):
    made = after({**an_autoscaler(old), "status": {"desiredReplicas": 1}})
    assert (made["apiVersion"], "status" in made) == ("autoscaling/v2", False)
    assert made["spec"] == {"maxReplicas": 2, "metrics": [yaml.safe_load(new)]}


@pytest.mark.parametrize(
    "metric",
    [
        "{type: Resource, resource: {name: cpu}}",
        "{type: Resource, resource: {name: cpu, targetAverageUtilization: 1, targetAverageValue: 1}}",
        "{type: Resource, resource: {name: cpu, targetAverageUtilization: null}}",
        "{type: Resource, resource: {name: cpu, targetAverageUtilization: [1]}}",
        "{type: Resource, resource: {name: cpu, target: {type: Utilization}}}",
        "{type: Resource, pods: {metricName: m, targetAverageValue: 1}}",
        "{type: Resource, resource: {name: cpu, targetAverageValue: 1}, pods: {}}",
        "{type: Pods, pods: {targetAverageValue: 1}}",
        "{type: Pods, pods: {metricName: m, selector: s, targetAverageValue: 1}}",
        "{type: Object, object: {metricName: m, targetValue: 1}}",
        f"{{type: Object, object: {{{TARGET}, metricName: m, averageValue: 1}}}}",
        "{type: Custom}",
        "text",
    ],
)
def test_a_metric_that_is_not_certain_stays(metric):
    assert after(an_autoscaler(metric)) is None
    good = "{type: Resource, resource: {name: cpu, targetAverageValue: 1}}"
    assert after(an_autoscaler(good, metric)) is None


def test_fields_without_effect_in_v2beta1_do_not_get_one():
    assert after(an_autoscaler()) is not None
    assert after(an_autoscaler(behavior={})) is None
    hidden = {"autoscaling.alpha.kubernetes.io/behavior": "{}"}
    assert after(an_autoscaler(annotations=hidden)) is None
    assert after({**an_autoscaler(), "spec": None}) is None
    assert after(an_autoscaler(metrics={})) is None
