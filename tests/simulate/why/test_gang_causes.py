"""Why Volcano does not start gangs."""

import pytest

from policygen.report import cause_words
from policygen.simulate.why.causes import CauseKind
from tests.simulate.why.gangs import QUEUES, configuration, vcjob, vcqueue
from tests.simulate.why.waiting import explain, node

TAINT = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
CAPACITY = configuration("capacity")
WITHOUT_GPUS = {**node("x"), "status": {"allocatable": {"cpu": "8", "pods": "110"}}}
TREE = configuration("capacity", enableHierarchy=True)
ENQUEUES = configuration("capacity", actions="enqueue, allocate, backfill")


@pytest.mark.parametrize(
    "things, kind, words",
    [
        ((*QUEUES, vcjob("a", 1, "smal")), "volcano-queue-missing", "Did you mean Queue small?"),
        (
            (vcqueue("small", 2, state="Closed"), node("x"), CAPACITY, vcjob("a", 1)),
            "volcano-queue-closed",
            "Queue small is not open",
        ),
        (
            (vcqueue("top", 8), vcqueue("small", 8, parent="top"), node("x"), TREE, vcjob("a", 1, "top")),
            "volcano-queues-invalid",
            "PodGroup nlp/a is in the queue top, which has children",
        ),
        (
            (*QUEUES, CAPACITY, vcjob("a", 4)),
            "volcano-above-limit",
            "It requests 4 GPUs, and Queue small can use at most 2.",
        ),
        (
            (*QUEUES, CAPACITY, vcjob("0", 1), vcjob("a", 2)),
            "volcano-queue-full",
            "The limit of Queue small is 2, and 1 of it are used or reserved.",
        ),
        (
            (*QUEUES, ENQUEUES, vcjob("0", 1), vcjob("a", 2)),
            "volcano-queue-full",
            "It requests 2 GPUs, and 1 is free in Queue small.",
        ),
        (
            (
                vcqueue("top", 4), vcqueue("small", 4, parent="top"), vcqueue("r", 4, parent="top"),
                node("x"), TREE, vcjob("0", 3, "r"), vcjob("a", 2),
            ),
            "volcano-queue-full",
            "It requests 2 GPUs, and 1 is free in Queue top.",
        ),
        (
            (
                vcqueue("top", 8), vcqueue("small", 4, parent="top"), vcqueue("r", 8, parent="top"),
                node("x"), node("y"), TREE, vcjob("0", 5, "r"), vcjob("1", 3), vcjob("a", 2),
            ),
            "volcano-queue-full",
            "It requests 2 GPUs, and 0 are free in Queue top.",
        ),
        (
            (*QUEUES, configuration("overcommit", actions="enqueue, allocate"), vcjob("0", 8, "large"),
             vcjob("a", 2)),
            "volcano-overcommit",
            "Volcano enqueues jobs for 1 more",
        ),
        (
            (vcqueue("small", 8), WITHOUT_GPUS, configuration("overcommit", actions="enqueue, allocate"),
             vcjob("a", 1)),
            "volcano-overcommit",
            "Its gang requests 1 GPU, and Volcano enqueues jobs for 0 more (overcommit).",
        ),
        (
            (*QUEUES, CAPACITY, vcjob("a", 1, least=2)),
            "gang-incomplete",
            "2 of its pods must start together (minAvailable), and it has 1 pod.",
        ),
        (
            (vcqueue("small", 99), node("x"), CAPACITY, vcjob("a", 2, gpus=5)),
            "no-node-fits",
            "all nodes together have room for 1 of its 2 pods",
        ),
        (
            (vcqueue("small", 99), node("x"), CAPACITY, vcjob("a", 1, gpus=9)),
            "no-node-fits",
            "no node that its pods can use has 9 GPUs (the largest has 8)",
        ),
        (
            (vcqueue("small", 99), node("x"), CAPACITY, vcjob("0", 1, gpus=6), vcjob("a", 1, gpus=4)),
            "no-node-fits",
            "a pod requests 4 GPUs, and 2 are free; the rest is held by nlp/0",
        ),
        (
            (vcqueue("small", 99), node("x", taints=[TAINT]), CAPACITY, vcjob("a", 1)),
            "no-node-fits",
            "1 node: node(s) had untolerated taint(s).",
        ),
    ],
)  # fmt: skip
def test_each_cause_is_named_with_its_numbers(things, kind, words):
    found = explain("nlp/a", *things)
    assert (found.cause.kind.value, found.waits) == (kind, True)
    assert words in " ".join(cause_words.reasons(found))


def test_a_gang_that_starts():
    assert explain("nlp/a", *QUEUES, vcjob("a", 2)).cause.kind is CauseKind.ADMISSIBLE


def test_the_queue_of_a_gang_without_nodes_is_one_of_volcano():
    found = explain("nlp/a", vcqueue("small", 99), node("x"), CAPACITY, vcjob("a", 1, gpus=9))
    assert (found.cause.kind, found.cause.queue_kind) == (CauseKind.NO_NODES, "Queue")
    assert "(Queue small)" in cause_words.group([found])
