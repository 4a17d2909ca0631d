"""Which controllers run, in which version, with which ConfigMaps."""

import pytest

from policygen.core.finding import At
from policygen.core.versions import Version
from policygen.kubernetes.controllers import controllers, detected
from policygen.kubernetes.object import Object


def deployment(image, labels=None, volumes=()):
    return Object.read(
        {
            "apiVersion": "apps/v1",
            "kind": "Deployment",
            "metadata": {"name": "d", "namespace": "n", "labels": labels or {}},
            "spec": {
                "template": {
                    "spec": {"containers": [{"image": image}], "volumes": list(volumes)},
                }
            },
        },
        At(0),
    )


@pytest.mark.parametrize(
    "image, labels, component, version",
    [
        ("registry.k8s.io/kueue/kueue:v0.19.2", {}, "kueue", Version(0, 19, 2)),
        ("mirror:5000/x/kueue:v0.18.0-gke.1", {}, "kueue", Version(0, 18, 0)),
        ("kueue@sha256:0123", {"app.kubernetes.io/version": "v0.17.1"}, "kueue", Version(0, 17, 1)),
        ("kueue:main", {}, "kueue", None),
        ("docker.io/volcanosh/vc-scheduler:v1.14.1", {}, "volcano", Version(1, 14, 1)),
        ("volcanosh/vc-webhook-manager:latest", {}, "volcano", None),
        ("registry.k8s.io/kube-scheduler:v1.36.3", {}, "kube-scheduler", Version(1, 36, 3)),
    ],
)
def test_a_controller_is_recognised_by_its_image(image, labels, component, version):
    (found,) = controllers([deployment(image, labels)])
    assert (found.component, found.version) == (component, version)


@pytest.mark.parametrize("image", ["kueue-viz:v1.0.0", "nginx", None, 5, ""])
def test_other_images_are_not_controllers(image):
    assert list(controllers([deployment(image)])) == []


def test_the_config_maps_are_those_that_it_mounts():
    volumes = [{"name": "c", "configMap": {"name": "mine"}}, {"name": "s", "secret": {}}]
    (found,) = controllers([deployment("kueue:v0.19.2", volumes=volumes)])
    assert found.config_maps == ("mine",)


def test_of_controllers_that_differ_the_oldest_counts():
    several = [deployment(f"vc-scheduler:{tag}") for tag in ("v1.14.1", "v1.13.2", "dev")]
    assert detected("v1.36.3-eks-1", several) == {
        "kubernetes": Version(1, 36, 3),
        "volcano": Version(1, 13, 2),
    }
    assert detected("", []) == {}


@pytest.mark.parametrize(
    "words, gates",
    [
        ({"args": ["--config=/x", "--feature-gates=A=true, B=F"]}, {"A": True, "B": False}),
        ({"args": ["--feature-gates", "A=1"]}, {"A": True}),
        ({"command": ["kueue", "-feature-gates=A=false"]}, {"A": False}),
        ({"args": ["--feature-gates=A=true", "--feature-gates=A=false"]}, {"A": False}),
        ({"args": ["--feature-gates=A=perhaps,=true,,B", "--feature-gates"]}, {}),
        ({"args": ["feature-gates=A=true"]}, {}),
        ({"args": ["--other-feature-gates=A=true"]}, {}),
        ({"args": 5, "command": [None]}, {}),
    ],
)
def test_feature_gates_are_read_as_the_program_reads_them(words, gates):
    it = deployment("kueue:v0.19.2")
    it.data["spec"]["template"]["spec"]["containers"][0].update(words)
    (found,) = controllers([it])
    assert found.gates == gates
