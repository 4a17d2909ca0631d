"""Gangs that Volcano does not start."""

from policygen.simulate.why.causes import CauseKind
from tests.simulate.why.waiting import GPU, explain, node, thing


def vcjob(name, pods, queue="small"):
    amounts = {GPU: "1"}
    containers = [{"name": "c", "resources": {"requests": amounts, "limits": amounts}}]
    template = {"spec": {"containers": containers, "restartPolicy": "Never"}}
    tasks = [{"name": "main", "replicas": pods, "template": template}]
    spec = {"schedulerName": "volcano", "queue": queue, "minAvailable": pods, "tasks": tasks}
    return thing("Job", name, spec, "nlp", "batch.volcano.sh/v1alpha1")


def vcqueue(name, gpus):
    spec = {"capability": {GPU: str(gpus)}, "weight": 1}
    return {**thing("Queue", name, spec, version="scheduling.volcano.sh/v1beta1")}


QUEUES = (vcqueue("small", 2), vcqueue("large", 8), node("x", 8))


def test_a_gang_that_its_queue_cannot_hold():
    found = explain("nlp/a", *QUEUES, vcjob("a", 4))
    assert found.cause.kind is CauseKind.VOLCANO
    assert found.cause.message
    texts = [[(it.path[-1], it.before, it.after) for it in one.changes] for one in found.remedies]
    assert [("queue", "small", "large")] in texts
    assert [(GPU, "2", "4")] in texts
    assert [("replicas", 4, 2), ("minAvailable", 4, 2)] in texts


def test_a_gang_that_starts():
    assert explain("nlp/a", *QUEUES, vcjob("a", 2)).cause.kind is CauseKind.ADMISSIBLE
