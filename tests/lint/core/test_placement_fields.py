"""Fields that place a pod and that API servers refuse; `tests/servers/workload_families.py` asks a server for more."""

import pytest
import yaml

from policygen.lint.core.placement_fields import of_pod
from policygen.lint.core.pod_templates import pod_specs
from tests.objects import cluster

HARD = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "DoNotSchedule"}
SOFT = {**HARD, "whenUnsatisfiable": "ScheduleAnyway"}
SELECTED = {**HARD, "labelSelector": {"matchLabels": {"app": "a"}}}
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"


def faults(spec, kind="Pod"):
    metadata = {"name": "p", "labels": {"app": "a"}}
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}
    if kind == "Deployment":
        template = {"metadata": {"labels": {"app": "a"}}, "spec": spec}
        data |= {"apiVersion": "apps/v1", "kind": kind, "spec": {"template": template}}
    if kind == "Volcano Job":
        task = {"template": {"metadata": {"labels": {"app": "a"}}, "spec": spec}}
        data |= {
            "apiVersion": "batch.volcano.sh/v1alpha1",
            "kind": "Job",
            "spec": {"tasks": [task]},
        }
    (part,) = pod_specs(cluster(yaml.safe_dump(data)))
    return [message for _, message in of_pod(part)]


def spread(*constraints):
    return {"topologySpreadConstraints": list(constraints)}


def apart(**term):
    return {"affinity": {"podAntiAffinity": {REQUIRED: [{"topologyKey": "zone", **term}]}}}


def listening(*ports, network=False):
    return {"hostNetwork": network, "containers": [{"name": "a", "ports": [it]} for it in ports]}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (spread(HARD, HARD), 'two topologySpreadConstraints with topologyKey "zone"'),
        (spread(SOFT | {"minDomains": 2}), "minDomains with whenUnsatisfiable ScheduleAnyway"),
        (spread(HARD | {"matchLabelKeys": ["app"]}), "matchLabelKeys without labelSelector"),
        (spread(SELECTED | {"matchLabelKeys": ["app"]}), '"app" in matchLabelKeys and in another'),
        (apart(mismatchLabelKeys=["app"]), "mismatchLabelKeys without labelSelector"),
        (apart(labelSelector={}, matchLabelKeys=["b"], mismatchLabelKeys=["b"]), '"b" in matchLabel'),
        (apart(labelSelector={}, namespaces=["A b"]), 'pods of namespace "A b"'),
        ({"schedulingGates": [{"name": "a"}, {"name": "a"}]}, 'scheduling gate "a" twice'),
        ({"schedulingGates": [{"name": "a b"}]}, '"a b"'),
        (listening(*[{"containerPort": 80, "hostPort": 80}] * 2), "port 80 of its node"),
        (listening(*[{"containerPort": 80}] * 2, network=True), "port 80 of its node"),
        (listening({"containerPort": 80, "hostPort": 81}, network=True), "write hostPort: 80"),
    ],
)  # fmt: skip
def test_refused(spec, words):
    (message,) = faults(spec)
    assert words in message


@pytest.mark.parametrize(
    ("spec", "kind"),
    [
        (spread(HARD, SOFT, HARD | {"topologyKey": "rack"}), "Pod"),
        (spread(HARD | {"minDomains": 2}), "Pod"),
        (spread(SELECTED | {"matchLabelKeys": ["b"]}), "Pod"),
        (spread(SELECTED | {"matchLabelKeys": ["app"]}), "Deployment"),  # refused only of its pods
        (apart(labelSelector={}, namespaces=["a"]), "Pod"),
        ({"schedulingGates": [{"name": "a"}, {"name": "a.b/c"}]}, "Pod"),
        (listening({"containerPort": 80, "hostPort": 81}), "Pod"),
        (
            listening(
                {"containerPort": 80, "hostPort": 81}, {"containerPort": 80, "hostPort": 81, "protocol": "UDP"}
            ),
            "Pod",
        ),
        (listening(*[{"containerPort": 80}] * 2, network=True), "Deployment"),
    ],
)  # fmt: skip
def test_accepted(spec, kind):
    assert faults(spec, kind) == []


def test_volcano_also_refuses_keys_of_the_selector_in_a_spread():
    (message,) = faults(spread(SELECTED | {"matchLabelKeys": ["app", "app"]}), "Volcano Job")
    assert '"app" in matchLabelKeys and in another field' in message
