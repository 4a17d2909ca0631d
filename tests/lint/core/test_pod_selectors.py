"""Selectors of pods and nodes that API servers refuse; tests/lint/cases/pod-field-refused has others."""

import pytest
import yaml

from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.lint.core.pod_selectors import of_pod
from policygen.lint.core.pod_templates import pod_specs
from tests.objects import cluster


def faults(affinity=None, **spec):
    data = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}}
    data["spec"] = {"affinity": affinity or {}, **spec}
    (part,) = pod_specs(cluster(yaml.safe_dump(data)))
    return [message for _, message in of_pod(part)]


def required(**term):
    return {"nodeAffinity": {REQUIRED: {"nodeSelectorTerms": [term]}}}


def field(**changed):
    return {"key": "metadata.name", "operator": "In", "values": ["a"], **changed}


def label(**changed):
    return {"key": "zone", "operator": "In", "values": ["a"], **changed}


@pytest.mark.parametrize(
    ("affinity", "words"),
    [
        (required(matchFields=[field(values=["a", "b"])]), "by a field with 2 values"),
        (required(matchFields=[field(values=None)]), "by a field with 0 values"),
        (required(matchFields=[field(operator="Exists")]), "write In or NotIn"),
        (required(matchFields=[field(values=["A b"])]), 'the node "A b"'),
        (required(matchExpressions=[label(operator="")]), "by an empty operator"),
        (required(matchExpressions=[label(operator="Gt", values=["-1"])]), '"-1"'),
        ({"nodeAffinity": {PREFERRED: [{"weight": None, "preference": {}}]}}, "weight 0"),
        ({"nodeAffinity": {PREFERRED: [{"preference": {}}]}}, "weight 0"),
    ],
)
def test_refused(affinity, words):
    (message,) = faults(affinity)
    assert words in message


def test_a_skew_that_is_null():
    assert "maxSkew 0" in faults(topologySpreadConstraints=[{"maxSkew": None}])[0]


def test_accepted():
    assert faults(required(matchFields=[field()], matchExpressions=[label()])) == []
