"""Topology annotations that Kueue's webhooks refuse."""

import pytest

from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.topology_requests import (
    GROUP,
    LAYERS,
    PREFERRED,
    REQUIRED,
    SLICE_REQUIRED,
    SLICE_SIZE,
    UNCONSTRAINED,
    faults,
)
from tests.objects import facts


def faults_of(annotations, count=8, gates=""):
    head = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    it = settings(facts(f"{head}featureGates: {{{gates}}}\n"))
    return list(faults(annotations, count, it))


@pytest.mark.parametrize(
    "annotations",
    [
        {},
        {"other": "x"},
        {REQUIRED: "example.com/rack"},
        {UNCONSTRAINED: "true"},
        {REQUIRED: "a", SLICE_REQUIRED: "b", SLICE_SIZE: "8"},
        {PREFERRED: "a", GROUP: "g"},
    ],
)
def test_what_is_right(annotations):
    assert faults_of(annotations) == []


@pytest.mark.parametrize(
    ("annotations", "key", "words"),
    [
        ({REQUIRED: "a", PREFERRED: "b"}, PREFERRED, "exclude each other"),
        ({REQUIRED: "a b"}, REQUIRED, "is not a valid label key"),
        ({UNCONSTRAINED: "yes"}, UNCONSTRAINED, 'write "true"'),
        ({REQUIRED: "a", GROUP: "7"}, GROUP, "must not be a number"),
        ({GROUP: "g"}, GROUP, f"requires {REQUIRED} or {PREFERRED}"),
        ({SLICE_REQUIRED: "a"}, SLICE_REQUIRED, f"requires {SLICE_SIZE}"),
        ({SLICE_REQUIRED: "a", SLICE_SIZE: "0"}, SLICE_SIZE, "write an integer, 1 or more"),
        ({SLICE_REQUIRED: "a", SLICE_SIZE: "9"}, SLICE_SIZE, "creates 8 pods; write at most 8"),
        ({SLICE_SIZE: "2"}, SLICE_SIZE, f"requires {SLICE_REQUIRED}"),
    ],
)
def test_what_is_refused(annotations, key, words):
    ((at, message),) = faults_of(annotations)
    assert at == key
    assert words in message


@pytest.mark.parametrize(
    ("layers", "words"),
    [
        ('[{"topology": "a", "size": 4}, {"Topology": "b", "size": 2}]', None),
        ("{}", "is not a list of layers"),
        ("[", "is not a list of layers"),
        ('[{"topology": 1}]', "is not a list of layers"),
        ("[]", "has 0 layers; write 1 to 3"),
        ('[{"topology": "a", "size": 4}, {"topology": "a", "size": 2}]', 'lists level "a" twice'),
        ('[{"topology": "a", "size": 0}]', "has a layer of size 0; write a size of 1 or more"),
        (
            '[{"topology": "a", "size": 4}, {"topology": "b", "size": 3}]',
            "which is not a multiple of the size 3 of the next layer; change one of the two sizes",
        ),
        ('[{"topology": "a", "size": 16}]', "creates 8 pods; write at most 8"),
        ('[{"topology": "a b", "size": 1}]', "is not a valid label key"),
    ],
)
def test_layers(layers, words):
    found = [
        message for _, message in faults_of({LAYERS: layers}, gates="TASMultiLayerTopology: true")
    ]
    assert len(found) == (words is not None)
    assert words is None or words in found[0]


def test_the_number_of_pods_may_be_unknown():
    assert faults_of({SLICE_REQUIRED: "a", SLICE_SIZE: "9"}, count=None) == []


def test_layers_need_their_gate():
    ((key, message),) = faults_of({LAYERS: "[]"}, gates="TASMultiLayerTopology: false")
    assert key == LAYERS
    assert "requires feature gate TASMultiLayerTopology" in message
