"""Whether Kueue would admit a pod in a flavor."""

import pytest
import yaml

from policygen.lint.kueue.flavor_fits import keys, refusal
from tests.objects import cluster

FLAVOR = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: f}
spec:
  nodeLabels: {gpu: h100}
  nodeTaints: [{key: gpu, effect: NoSchedule}, {key: soft, effect: PreferNoSchedule}]
---
"""
TOLERATIONS = [{"key": "gpu", "operator": "Exists"}]


def term(*expressions):
    terms = [{"matchExpressions": list(expressions)}]
    required = "requiredDuringSchedulingIgnoredDuringExecution"
    return {"nodeAffinity": {required: {"nodeSelectorTerms": terms}}}


def made(**spec):
    pod = {"apiVersion": "v1", "kind": "Pod", "spec": spec}
    it = cluster(FLAVOR + yaml.safe_dump(pod))
    return it.flavors[0].fields, it.workloads[0].templates[0].spec


TERMS = (
    "affinity",
    "nodeAffinity",
    "requiredDuringSchedulingIgnoredDuringExecution",
    "nodeSelectorTerms",
)
IS = {"key": "gpu", "operator": "In", "values": ["h100"]}
IS_NOT = {"key": "gpu", "operator": "NotIn", "values": ["h100"]}
ELSEWHERE = {"key": "zone", "operator": "In", "values": ["a"]}


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ({}, "taint gpu is not tolerated"),
        ({"tolerations": TOLERATIONS}, None),
        ({"tolerations": TOLERATIONS, "nodeSelector": {"gpu": "a100"}}, "gpu is h100, not a100"),
        ({"tolerations": TOLERATIONS, "nodeSelector": {"zone": "a"}}, None),
        ({"tolerations": TOLERATIONS, "affinity": term(IS)}, None),
        ({"tolerations": TOLERATIONS, "affinity": term(IS_NOT)}, "the required node affinity does not match"),
        ({"tolerations": TOLERATIONS, "affinity": term(ELSEWHERE)}, None),
        ({"tolerations": TOLERATIONS, "affinity": term({**IS, "values": ["H100"]})}, "gpu is h100, not H100"),
        ({"tolerations": TOLERATIONS, "affinity": term(IS_NOT, ELSEWHERE)}, "the required node affinity does not match"),
    ],
)  # fmt: skip
def test_why_a_flavor_is_skipped(spec, words):
    found = refusal(*made(**spec))
    assert (found and found.reason) == words


NEAR = [{"key": "gpu", "operator": "Exists", "effect": "NoExecute"}]
OTHER = {"key": "gpu", "operator": "In", "values": ["H100"]}


@pytest.mark.parametrize(
    ("spec", "path", "advice"),
    [
        ({}, ("tolerations",), "add a toleration for taint gpu:NoSchedule"),
        ({"tolerations": NEAR}, ("tolerations", 0, "effect"), "write effect: NoSchedule in the toleration of the pods"),
        ({"tolerations": TOLERATIONS, "nodeSelector": {"gpu": "H100"}}, ("nodeSelector", "gpu"), "write gpu: h100 in nodeSelector"),
        ({"tolerations": TOLERATIONS, "affinity": term(ELSEWHERE, OTHER)}, (*TERMS, 0, "matchExpressions", 1, "values"), "write h100 in nodeAffinity"),
        ({"tolerations": TOLERATIONS, "affinity": term(IS_NOT)}, TERMS, "change gpu in nodeAffinity"),
    ],
)  # fmt: skip
def test_what_to_change(spec, path, advice):
    assert refusal(*made(**spec))[1:3] == (path, advice)


def test_the_labels_by_which_a_pod_selects():
    _, pod = made(nodeSelector={"a": "b"}, affinity=term(IS, ELSEWHERE))
    assert keys(pod) == {"a", "gpu", "zone"}
