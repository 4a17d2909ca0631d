"""The room in the queue of workloads whose pods it counts one by one."""

import pytest
from msgspec.structs import replace

from policygen.lint.core.queue_rooms import queue_rooms, rooms_in_queues
from policygen.lint.core.rules import replicas_exceed_nodes, replicas_exceed_queue
from tests.objects import facts

TEXT = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {pool: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohortName: all
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 7, borrowingLimit: 4}]}
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 3}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  cohortName: all
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 16}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: vision, namespace: a}
spec: {clusterQueue: vision}
---
"""
DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: llm, namespace: a, labels: {kueue.x-k8s.io/queue-name: vision}}
spec:
  replicas: 9
  template:
    spec:
      nodeSelector: {%s}
      containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: %d}}}]
"""
GROUPS = """
apiVersion: leaderworkerset.x-k8s.io/v1
kind: LeaderWorkerSet
metadata: {name: llm, namespace: a, labels: {kueue.x-k8s.io/queue-name: vision}}
spec:
  replicas: 2
  leaderWorkerTemplate:
    size: 3
    leaderTemplate:
      spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 1}}}]}
    workerTemplate:
      spec: {containers: [{name: a, image: a, resources: {limits: {nvidia.com/gpu: 2}}}]}
"""


def rooms(text):
    return [(room.pods, room.unit, room.each) for room in queue_rooms(facts(TEXT + text))]


def test_pods_fill_each_flavor_up_to_its_limit():
    """Flavor a100 has 7 GPUs and borrows 4, h100 has 3."""
    assert rooms(DEPLOYMENT % ("", 1)) == [(14, "pod", 1)]
    assert rooms(DEPLOYMENT % ("", 2)) == [(5 + 1, "pod", 2)]


def test_flavors_that_refuse_the_pods_do_not_count():
    assert rooms(DEPLOYMENT % ("pool: h100", 1)) == [(3, "pod", 1)]


def test_groups_of_a_leader_worker_set_count():
    assert rooms(GROUPS) == [(14 // 5, "group", 5)]


def test_groups_without_pods_have_no_room_to_count():
    """The webhook refuses such sizes; here they must not stop a rule."""
    for size in (0, -1):
        alone = GROUPS.replace("size: 3", f"size: {size}").replace("leaderTemplate", "other")
        assert rooms(alone) == []


def test_rooms_are_known_by_template_if_their_rule_runs():
    input_ = facts(TEXT + DEPLOYMENT % ("", 1))
    assert rooms_in_queues(input_, "replicas-exceed-queue") == {}


NODES = """---
apiVersion: v1
kind: Node
metadata: {name: n%d, labels: {pool: a100}}
status: {allocatable: {pods: %d, nvidia.com/gpu: 8}}
"""
RUN = frozenset({"replicas-exceed-queue"})


@pytest.mark.parametrize(
    ("pods", "nodes", "advice"),
    [
        (110, 2, "set replicas to 5, or raise the quota or borrowingLimit"),
        (2, 2, "set replicas to 4, because the nodes have room for only 4 pods"),
        (110, 1, "set replicas to 4, because the nodes have room for only 4 pods"),
        (0, 1, "set replicas to 5, or raise the quota or borrowingLimit"),
    ],
)
def test_no_more_replicas_are_proposed_than_the_nodes_hold(pods, nodes, advice):
    text = TEXT + DEPLOYMENT % ("pool: a100", 2) + "".join(NODES % (i, pods) for i in range(nodes))
    given = replace(facts(text), run=RUN)
    [hit] = replicas_exceed_queue.check(given)
    assert hit.message.rpartition("; ")[2] == advice
    assert not [*replicas_exceed_nodes.check(given)]


def test_no_higher_maximum_of_an_autoscaler_is_proposed_than_the_nodes_hold():
    scaler = """---
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: a}
spec: {scaleTargetRef: {kind: Deployment, name: llm}, minReplicas: 1, maxReplicas: 9}
"""
    serving = (DEPLOYMENT % ("pool: a100", 2)).replace("replicas: 9", "replicas: 1")
    given = replace(facts(TEXT + serving + scaler + NODES % (0, 96)), run=RUN)
    [hit] = replicas_exceed_queue.check(given)
    assert hit.message.endswith(
        "; set maxReplicas to 4, because the nodes have room for only 4 pods"
    )
