"""The simulator and Kueue's scheduler decide the same in drawn scenarios."""

import pytest

from .kueue_scenarios import API_VERSION
from .kueue_scheduler import compared, real
from .pages import bad, good
from .proofs.examples import documents


@pytest.mark.parametrize(
    ("kinds", "count"),
    [
        ({"fair": False}, 350),
        ({"fair": True}, 150),
        ({"fair": False, "ties": True}, 150),
        ({"fair": True, "ties": True}, 100),
        ({"fair": False, "events": True}, 150),
        ({"fair": False, "topology": True}, 100),
    ],
)
def test_the_simulator_decides_as_kueue(kinds, count):
    assert list(compared(0, count, **kinds)) == []


def workload(name, queue, gpus, created, resource="nvidia.com/gpu", **spec):
    resources = {"requests": {resource: gpus}}
    containers = [{"name": "c", "image": "i", "resources": resources}]
    pod = {"restartPolicy": "Never", "containers": containers, **spec}
    namespace, queue = queue.split("/")
    return {
        "apiVersion": API_VERSION,
        "kind": "Workload",
        "metadata": {
            "name": name,
            "namespace": namespace,
            "uid": name,
            "creationTimestamp": f"1970-01-01T00:00:{created:02d}Z",
        },
        "spec": {
            "queueName": queue,
            "priority": 0,
            "active": True,
            "podSets": [{"name": "main", "count": 1, "template": {"spec": pod}}],
        },
    }


def played(text, services, jobs):
    """Kueue's decisions about Workloads in the queues of an example: services first, then jobs."""
    things = [it for it in documents(text) if it["apiVersion"] == API_VERSION]
    kinds = {"ResourceFlavor": "flavors", "ClusterQueue": "clusterQueues"}
    kinds |= {"LocalQueue": "localQueues"}
    names = sorted({it["metadata"].get("namespace", "") for it in things} - {""})
    namespaces = [
        {
            "apiVersion": "v1",
            "kind": "Namespace",
            "metadata": {"name": it, "labels": {"kubernetes.io/metadata.name": it}},
        }
        for it in names
    ]
    steps = [(services, 1), (jobs, 30)]
    scenario = {
        "fairSharing": None,
        "cohorts": [],
        "namespaces": namespaces,
        "maxCycles": 300,
        "steps": [
            {
                "at": at,
                "finish": [],
                "create": [
                    workload(name, queue, gpus, at + i, **(more[0] if more else {}))
                    for i, (name, queue, gpus, *more) in enumerate(them)
                ],
            }
            for them, at in steps
        ],
    } | {key: [it for it in things if it["kind"] == kind] for kind, key in kinds.items()}
    ((*_, last),) = real([scenario])
    return {name for name, (flavors, *_) in last.workloads.items() if flavors}


STUCK = {
    "own-quota-not-reclaimed": (8, [("train", "vision/a100", 4)], "vision/train"),
    "strict-fifo-blocks-forever": (
        4,
        [("large", "vision/a100", 8), ("small", "vision/a100", 1)],
        "vision/small",
    ),
}


@pytest.mark.parametrize("rule", STUCK)
def test_jobs_that_lint_finds_stuck_never_start(rule):
    """Kueue's scheduler admits the job in the queues of the good example only."""
    replicas, jobs, waits = STUCK[rule]
    services = [(f"serve-{i}", "speech/a100", 1) for i in range(replicas)]
    assert waits not in played(bad(rule), services, jobs)
    assert waits in played(good(rule), services, jobs)


@pytest.mark.parametrize(
    "asked", [{}, {"resource": "nvidia.com/mig-1g.10gb"}, {"nodeSelector": {"pool": "h100"}}]
)
def test_a_first_job_that_is_never_admitted_blocks_a_strict_queue(asked):
    """It requests too much, a resource without quota, or other nodes."""
    loose = good("strict-fifo-blocks-forever")
    strict = bad("strict-fifo-blocks-forever")
    jobs = [("first", "vision/a100", 1 if asked else 99, asked), ("small", "vision/a100", 1)]
    assert strict != loose
    assert played(strict, [], jobs) == set()
    assert played(loose, [], jobs) == {"vision/small"}
