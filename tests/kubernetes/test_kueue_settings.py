"""What follows from Kueue's Configuration. tests/lint/kueue/test_configuration.py reads each form."""

from policygen.core.versions import DEFAULT, Version
from policygen.kubernetes.kueue_settings import first, identifier
from tests.objects import cluster

CONFIGURATION = """
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  excludeResourcePrefixes: [net]
  transformations:
  - {input: gpu, strategy: Replace, multiplyBy: n, outputs: {credits: 10}}
  - {input: spot, strategy: Retain, outputs: {credits: -4, own: -1}}
"""


def test_transformed_amounts():
    charged = first(cluster(CONFIGURATION), DEFAULT["kueue"]).charged
    assert charged({"net/a": 1, "cpu": 2}) == {"cpu": 2}
    assert charged({"gpu": 2, "spot": 3}) == {"credits": 8, "spot": 3, "own": 0}
    assert charged({"gpu": 2, "n": 3}) == {"credits": 60, "n": 3}


def test_outputs_below_zero_reduce_no_request():
    charged = first(cluster(CONFIGURATION), DEFAULT["kueue"]).charged
    assert charged({"spot": 3, "credits": 5, "own": 2}) == {"spot": 3, "credits": 5, "own": 2}


def test_an_annotation_precedes_the_label_since_0_18():
    for minor, found in ((17, ("labels", "l")), (18, ("annotations", "a"))):
        settings = first(cluster(CONFIGURATION), Version(0, minor))
        assert identifier({"k": "l"}, {"k": "a"}, "k", settings) == found
    assert identifier({}, {}, "k", settings) == ("labels", "")
