"""Queues of Volcano that do not exist."""

from policygen.lint.volcano.missing_queues import missing_queues
from tests.objects import facts

TEXT = """
{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: vision}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: gang, namespace: n}
spec: {queue: visoin}
---
apiVersion: v1
kind: Pod
metadata: {name: one, namespace: n, annotations: {scheduling.volcano.sh/queue-name: %s}}
spec: {schedulerName: volcano, containers: [{name: main}]}
"""


def found(queue, *, of_pods):
    return [
        (use.owner, advice) for use, advice in missing_queues(facts(TEXT % queue), of_pods=of_pods)
    ]


def test_pods_and_gangs_are_reported_apart():
    [(gang, advice)] = found("visionn", of_pods=False)
    assert gang == "PodGroup n/gang"
    assert "visi" in advice or "create" in advice
    [(pod, _)] = found("visionn", of_pods=True)
    assert pod == "Pod n/one"
    assert found("vision", of_pods=True) == []
    assert found("default", of_pods=True) == []
