"""The capability of a queue limits the pods that run at once."""

import json

from policygen.lint.volcano.capabilities import pod_limit
from tests.objects import cluster

POD = """
apiVersion: v1
kind: Pod
metadata: {name: a, namespace: a}
spec: {containers: [{name: a, image: a, resources: {limits: {cpu: 2, nvidia.com/gpu: 4}}}]}
"""


def queue(name, **spec):
    metadata = {"name": name}
    made = {"apiVersion": "scheduling.volcano.sh/v1beta1", "kind": "Queue", "metadata": metadata}
    return f"{json.dumps(made | {'spec': spec})}\n---\n"


def limit(*queues):
    made = cluster("".join(queues) + POD)
    [template] = made.workloads[0].templates
    found = pod_limit(made, "q", template)
    return found and (found.pods, found.resource, found.queue.name)


def test_the_lowest_limit_of_the_queue_and_those_above_it():
    assert limit(queue("q", capability={"cpu": 6, "nvidia.com/gpu": 16})) == (3, "cpu", "q")
    both = queue("q", parent="p", capability={"cpu": 6}), queue("p", capability={"cpu": 4})
    assert limit(*both) == (2, "cpu", "p")


def test_of_equal_limits_the_gpus_are_named():
    assert limit(queue("q", capability={"cpu": 4, "nvidia.com/gpu": 8})) == (
        2,
        "nvidia.com/gpu",
        "q",
    )


def test_0_cpu_is_no_limit_but_0_gpus_are():
    assert limit(queue("q", capability={"cpu": 0})) is None
    assert limit(queue("q", capability={"nvidia.com/gpu": 0})) == (0, "nvidia.com/gpu", "q")


def test_an_unknown_queue_has_no_limit():
    assert limit() is None
