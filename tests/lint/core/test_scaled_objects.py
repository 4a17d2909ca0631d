"""The messages about ScaledObjects that KEDA refuses, each with its place."""

import pytest

from policygen.lint.core.rules import scaled_object_refused
from tests.objects import facts

SCALED = """
apiVersion: keda.sh/v1alpha1
kind: ScaledObject
metadata: {{name: chat, namespace: web}}
spec: {{scaleTargetRef: {{name: chat}}, {bounds}, triggers: [{{type: {kind}, metadata: {{{metadata}}}}}]}}
"""
GOOD = 'serverAddress: "http://p:9090", query: sum(a), threshold: "16"'


@pytest.mark.parametrize(
    "bounds, metadata, kind, place, words",
    [
        ("minReplicaCount: 4, maxReplicaCount: 2", GOOD, "prometheus", "minReplicaCount", "4 above maxReplicaCount 2"),
        ("minReplicaCount: 101", GOOD, "prometheus", "minReplicaCount", "default 100 of maxReplicaCount"),
        ("idleReplicaCount: 0", GOOD, "prometheus", "idleReplicaCount", "minReplicaCount, which is not set"),
        ("idleReplicaCount: 2, minReplicaCount: 2", GOOD, "prometheus", "idleReplicaCount", "at least 3"),
        ("maxReplicaCount: 4", 'serverAddress: a, query: " ", threshold: "1"', "prometheus", "query", "without query"),
        ("maxReplicaCount: 4", "serverAddress: a, query: a", "prometheus", "metadata", "without threshold"),
        ("maxReplicaCount: 4", "serverAddress: a, query: a, threshold: 16", "prometheus", "threshold", 'write "16" in quotes'),
        ("maxReplicaCount: 4", 'serverAddress: a, query: a, threshold: "0"', "prometheus", "threshold", "not positive"),
        ("maxReplicaCount: 4", 'serverAddress: a, query: "sum(a", threshold: "1"', "prometheus", "query", "unmatched ("),
        ("maxReplicaCount: 4", "lagThreshold: true", "kafka", "lagThreshold", 'write "true" in quotes'),
    ],
)  # fmt: skip
def test_each_fault_has_its_place(bounds, metadata, kind, place, words):
    text = SCALED.format(bounds=bounds, metadata=metadata, kind=kind)
    (hit,) = scaled_object_refused.check(facts(text))
    assert hit.at.path[-1] == place
    assert words in hit.message


@pytest.mark.parametrize(
    "bounds, metadata, kind",
    [
        ("minReplicaCount: 100", GOOD, "prometheus"),
        ("minReplicaCount: 0, maxReplicaCount: 1", GOOD, "prometheus"),
        ("maxReplicaCount: 4", 'lagThreshold: "a"', "kafka"),
        ("idleReplicaCount: 0, minReplicaCount: 1", GOOD, "prometheus"),
    ],
)
def test_what_keda_accepts_is_not_reported(bounds, metadata, kind):
    text = SCALED.format(bounds=bounds, metadata=metadata, kind=kind)
    assert list(scaled_object_refused.check(facts(text))) == []
