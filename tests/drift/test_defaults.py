"""Defaults that no schema contains, filled into a copy."""

import copy

import pytest

from policygen.drift.defaults import filled, foreign


def test_missing_fields_are_filled_and_written_ones_stay():
    it = {"globalDefault": True}
    made = filled(it, "scheduling.k8s.io/v1", "PriorityClass")
    assert made == {"globalDefault": True, "preemptionPolicy": "PreemptLowerPriority"}
    assert it == {"globalDefault": True}


@pytest.mark.parametrize(
    ("limits", "wanted"),
    [
        ({"max": {"cpu": "4"}}, {"default": {"cpu": "4"}, "defaultRequest": {"cpu": "4"}}),
        ({"min": {"cpu": "1"}}, {"defaultRequest": {"cpu": "1"}}),
        (
            {"min": {"cpu": "1"}, "default": {"cpu": "2"}, "defaultRequest": {"memory": "1"}},
            {"defaultRequest": {"cpu": "2", "memory": "1"}},
        ),
        ({}, {}),
    ],
)
def test_defaults_of_containers_follow_from_their_bounds(limits, wanted):
    limits = {"type": "Container", **limits}
    made = filled({"spec": {"limits": [limits]}}, "v1", "LimitRange")
    assert made == {"spec": {"limits": [{**limits, **wanted}]}}


def test_bounds_of_pods_have_no_defaults():
    it = {"spec": {"limits": [{"type": "Pod", "max": {"cpu": "4"}}]}}
    assert filled(it, "v1", "LimitRange") == it


@pytest.mark.parametrize(
    ("image", "policy"),
    [
        ("a", "Always"),
        ("a:latest", "Always"),
        ("a:1", "IfNotPresent"),
        ("a@sha256:1", "IfNotPresent"),
        ("registry:5000/a", "Always"),
    ],
)
def test_a_deployment_and_its_pods(image, policy):
    container = {
        "name": "kube-scheduler",
        "image": image,
        "ports": [{"containerPort": 80}],
        "resources": {"limits": {"cpu": "1"}},
        "livenessProbe": {"httpGet": {"port": 80}},
    }
    spec = {"containers": [container], "serviceAccountName": "s", "volumes": [{"secret": {}}]}
    it = {"spec": {"template": {"spec": spec}}}
    before = copy.deepcopy(it)
    made = filled(it, "apps/v1", "Deployment")["spec"]
    assert it == before
    assert (made["replicas"], made["strategy"]["rollingUpdate"]["maxSurge"]) == (1, "25%")
    pod = made["template"]["spec"]
    assert (pod["serviceAccount"], pod["volumes"]) == ("s", [{"secret": {"defaultMode": 0o644}}])
    (found,) = pod["containers"]
    assert found["imagePullPolicy"] == policy
    assert found["ports"] == [{"containerPort": 80, "protocol": "TCP"}]
    assert found["resources"]["requests"] == {"cpu": "1"}
    assert found["livenessProbe"]["httpGet"] == {"port": 80, "path": "/", "scheme": "HTTP"}


def test_a_recreated_deployment_has_no_rolling_update():
    made = filled({"spec": {"strategy": {"type": "Recreate"}}}, "apps/v1", "Deployment")
    assert made["spec"]["strategy"] == {"type": "Recreate"}


def test_who_is_bound_has_the_group_of_its_kind():
    subjects = [{"kind": "ServiceAccount", "name": "a"}, {"kind": "User", "name": "b"}]
    it = {"roleRef": {"kind": "Role"}, "subjects": subjects}
    made = filled(it, "rbac.authorization.k8s.io/v1", "RoleBinding")
    assert made["roleRef"]["apiGroup"] == "rbac.authorization.k8s.io"
    assert [each["apiGroup"] for each in made["subjects"]] == ["", "rbac.authorization.k8s.io"]


def test_fields_of_others():
    assert foreign("Namespace") == (("spec",),)
    assert foreign("ClusterQueue") == ()
