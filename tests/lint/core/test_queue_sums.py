"""Sums of workloads in queues; tests/servers/proofs/test_queue_rooms.py shows them on Kueue and Volcano."""

import pytest

from policygen.lint.core.queue_sums import queue_sums
from policygen.lint.core.rules import replicas_exceed_queue, workloads_exceed_queue
from tests.objects import facts

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec: {namespaceSelector: {}, cohortName: %s, resourceGroups: [{coveredResources: [gpu.com/x], flavors: [%s]}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: %s, namespace: n}
spec: {clusterQueue: %s}
"""
FLAVORS = "".join(
    f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {{name: {name}}}
spec: {{nodeLabels: {{pool: {name}}}}}
"""
    for name in ("a", "b")
)
WORK = """
apiVersion: %s
kind: %s
metadata: {name: %s, namespace: n, labels: {kueue.x-k8s.io/queue-name: %s}}
spec: {%s, template: {spec: {nodeSelector: {%s}, containers: [
  {name: main, image: a, resources: {limits: {gpu.com/x: %s}}}]}}}
"""
SCALER = """
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: n}
spec: {scaleTargetRef: {kind: Deployment, name: %s}, minReplicas: %s, maxReplicas: 9}
"""


def queue(name, cohort="", **flavors):
    listed = ", ".join(
        f"{{name: {flavor}, resources: [{{name: gpu.com/x, nominalQuota: {amount}}}]}}"
        for flavor, amount in flavors.items()
    )
    return QUEUE % (name, cohort or '""', listed, name, name)


def work(name, pods, queue="q", kind="Deployment", each=1, pool=""):
    version, field = ("batch/v1", "parallelism") if kind == "Job" else ("apps/v1", "replicas")
    selector = f"pool: {pool}" if pool else ""
    return WORK % (version, kind, name, queue, f"{field}: {pods}", selector, each)


def found(*texts):
    return [
        ([it.workload.name for it in each.members], int(one.requested), int(one.have), each.queue)
        for each in queue_sums(facts("---".join((*texts, FLAVORS.removeprefix("\n---")))))
        for one in each.sums
    ]


def test_workloads_that_do_not_end_are_added_up():
    both = work("one", 3), work("two", 2, kind="StatefulSet")
    assert found(queue("q", a=5), *both) == []
    assert found(queue("q", a=4), *both) == [(["one", "two"], 5, 4, "ClusterQueue q")]
    assert found(queue("q", a=4), work("one", 1), work("two", 3, kind="Job")) == []


def test_who_alone_requests_too_much_does_not_count():
    assert found(queue("q", a=4), work("one", 5), work("two", 4)) == []
    assert found(queue("q", a=4), work("one", 1, each=5), work("two", 4)) == []


def test_the_minimum_of_an_autoscaler_counts():
    both = work("one", 2), work("two", 2)
    assert found(queue("q", a=4), *both, SCALER % ("two", 2)) == []
    assert found(queue("q", a=4), *both, SCALER % ("two", 3))[0][1] == 5


@pytest.mark.parametrize(
    ("pool", "excess"), [("a", [(["one", "two"], 6, 4, "ClusterQueue q")]), ("", [])]
)
def test_a_selector_limits_the_flavors(pool, excess):
    """Both flavors have room for all pods, but pods that select one of them need its quota."""
    assert (
        found(queue("q", a=4, b=4), work("one", 3, pool=pool), work("two", 3, pool=pool)) == excess
    )


def test_a_cohort_limits_its_queues_together():
    queues = queue("q", "c", a=2), queue("r", "c", a=2)
    assert found(*queues, work("one", 2), work("two", 2, "r")) == []
    excess = (["one", "two"], 5, 4, "cohort c")
    assert found(*queues, work("one", 2), work("two", 3, "r")) == [excess]
    lowest = found(*queues, work("one", 3), work("two", 2), work("three", 2, "r"))
    assert lowest == [(["one", "two"], 5, 4, "ClusterQueue q")]


def test_what_a_queue_does_not_lend_counts_beside_the_quota_of_its_cohort():
    kept = queue("q", "c", a=2).replace("nominalQuota: 2", "nominalQuota: 2, lendingLimit: 0")
    queues = kept, queue("r", "c", a=2)
    assert found(*queues, work("one", 2), work("two", 2, "r")) == []
    excess = (["one", "two"], 5, 4, "cohort c")
    assert found(*queues, work("one", 3), work("two", 2, "r")) == [excess]


def of_volcano(name):
    """Pods in Queue low."""
    pods = work(name, 3, "").replace(
        "{spec: {", "{metadata: {annotations: {scheduling.volcano.sh/queue-name: low}}, "
        "spec: {schedulerName: volcano, "
    )  # fmt: skip
    return pods.replace("limits: {", "limits: {cpu: 1, ")


def test_the_queues_above_limit_pods_of_volcano():
    queues = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: top}
spec: {capability: {cpu: 0, gpu.com/x: 4}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: %s}
spec: {parent: top}
"""
    one, two = of_volcano("one"), of_volcano("two")
    assert found(queues % "low", one, two) == [(["one", "two"], 6, 4, "Queue top")]
    assert found(queues % "other", one, two) == []


def test_queues_of_volcano_in_a_cycle_are_counted_once():
    queues = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: low}
spec: {parent: top}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: top}
spec: {parent: low, capability: {gpu.com/x: 4}}
"""
    one, two = of_volcano("one"), of_volcano("two")
    assert found(queues, one, two) == [(["one", "two"], 6, 4, "Queue top")]


def jobs(*texts):
    """The jobs without room, and what runs beside them."""
    read = facts("---".join((*texts, FLAVORS.removeprefix("\n---"))))
    return [
        ([it.workload.name for it in each.jobs], int(one.requested), each.queue)
        for each in queue_sums(read)
        for one in each.sums
        if each.jobs
    ]


def test_each_job_must_have_room_beside_workloads_that_do_not_end():
    """Jobs wait for each other, so they are not added up."""
    both = work("one", 2, kind="Job"), work("two", 2, kind="Job")
    assert jobs(queue("q", a=5), work("serve", 3), *both) == []
    assert jobs(queue("q", a=4), work("serve", 3), *both) == [(["one", "two"], 3, "ClusterQueue q")]
    assert jobs(queue("q", a=4, b=1), work("serve", 3, pool="a"), *both) == []
    # too large for the queue, which another rule reports
    assert jobs(queue("q", a=4), work("serve", 3), work("one", 5, kind="Job")) == []


def test_only_what_runs_in_the_queue_of_a_job_counts():
    """It can reclaim what other queues of its cohort borrow."""
    queues = queue("q", "c", a=2), queue("r", "c", a=2)
    assert jobs(*queues, work("serve", 3), work("one", 2, "r", kind="Job")) == []
    assert jobs(*queues, work("serve", 3), work("one", 2, kind="Job")) == [
        (["one"], 3, "ClusterQueue q")
    ]


@pytest.mark.parametrize(
    ("job", "remedy"),
    [
        (2, "set replicas to 2, because Job n/one also needs this queue, or raise"),
        (4, "set replicas to 4, or raise"),  # it never runs beside any pod
        (5, "set replicas to 4, or raise"),  # another rule reports it
    ],
)
def test_the_number_of_pods_that_is_proposed_leaves_room_for_jobs(job, remedy):
    texts = queue("q", a=4), work("serve", 6), work("one", job, kind="Job")
    read = facts("---".join((*texts, FLAVORS.removeprefix("\n---"))))
    [hit] = replicas_exceed_queue.check(read)
    assert hit.message.endswith(f"; {remedy} the quota or borrowingLimit")


@pytest.mark.parametrize(
    ("beside", "remedy"),
    [
        (
            1,
            "set replicas to 3 with maxUnavailable: 1 and maxSurge: 0, because Deployment n/other also needs this queue, or raise",
        ),
        (4, "raise"),
        (5, "set replicas to 4, or raise"),  # another rule reports it
    ],
)
def test_the_number_of_pods_that_is_proposed_leaves_room_for_other_workloads(beside, remedy):
    texts = queue("q", a=4), work("serve", 6), work("other", beside)
    read = facts("---".join((*texts, FLAVORS.removeprefix("\n---"))))
    hit, *_ = replicas_exceed_queue.check(read)
    assert hit.message.endswith(f"; {remedy} the quota or borrowingLimit")


@pytest.mark.parametrize(
    ("beside", "remedy"),
    [
        (3, "set maxReplicas to 1, because Deployment n/other also needs this queue, or raise"),
        (4, "raise"),
    ],
)
def test_the_maximum_of_an_autoscaler_that_is_proposed_leaves_room(beside, remedy):
    scaler = SCALER % ("serve", 1)
    texts = queue("q", a=4), work("serve", 1), work("other", beside), scaler
    [hit] = replicas_exceed_queue.check(facts("---".join((*texts, FLAVORS.removeprefix("\n---")))))
    assert hit.message.endswith(f"; {remedy} the quota or borrowingLimit")


TWO_RESOURCES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, gpu.com/x]
    flavors:
    - {name: a, resources: [{name: cpu, nominalQuota: 10}, {name: gpu.com/x, nominalQuota: 4}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: n}
spec: {clusterQueue: q}
---
"""


def _with_cpu(name, pods, cores, kind="Deployment"):
    return work(name, pods, kind=kind).replace("limits: {", f"limits: {{cpu: {cores}, ")


def test_all_resources_of_which_workloads_request_too_much_are_one_finding():
    texts = TWO_RESOURCES + _with_cpu("one", 3, 2), _with_cpu("two", 2, 3)
    read = facts("---".join((*texts, FLAVORS.removeprefix("\n---"))))
    [hit] = workloads_exceed_queue.check(read)
    assert hit.message == (
        "Deployment n/one (3 gpu.com/x) and Deployment n/two (2 gpu.com/x) together request 5 gpu.com/x "
        "and 12 cores, but ClusterQueue q can have at most 4 and 10 cores; run fewer pods, request less, "
        "or raise the quota or borrowingLimit"
    )
    assert {it.resource for it in hit.exceeds} == {"gpu.com/x", "cpu"}


def test_all_resources_without_room_for_a_job_are_one_finding():
    texts = TWO_RESOURCES + _with_cpu("one", 3, 3), _with_cpu("two", 2, 3, "Job")
    read = facts("---".join((*texts, FLAVORS.removeprefix("\n---"))))
    [hit] = workloads_exceed_queue.check(read)
    assert hit.message.startswith(
        "Job n/two (2 gpu.com/x) never starts while Deployment n/one (3 gpu.com/x) runs, because the "
        "latter requests 3 gpu.com/x and 9 cores, and ClusterQueue q can have at most 4 and 10 cores; "
    )


CLASSES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: high}
value: 5
"""


@pytest.mark.parametrize(
    ("policy", "of_job", "of_serving", "found"),
    [
        ("Never", "high", "", 1),
        ("LowerPriority", "high", "", 0),
        ("LowerPriority", "high", "high", 1),
        ("LowerPriority", "", "high", 1),
        ("LowerOrNewerEqualPriority", "", "", 0),
        ("LowerPriority", "missing", "", 0),
    ],
)
def test_a_job_that_may_preempt_is_skipped(policy, of_job, of_serving, found):
    def of_class(text, name):
        more = f", kueue.x-k8s.io/priority-class: {name}" if name else ""
        return text.replace("queue-name: q", f"queue-name: q{more}")

    preempting = queue("q", a=4).replace(
        "spec: {", f"spec: {{preemption: {{withinClusterQueue: {policy}}}, ", 1
    )
    serve, job = (
        of_class(work("serve", 3), of_serving),
        of_class(work("one", 2, kind="Job"), of_job),
    )
    assert len(jobs(preempting, serve, job, CLASSES)) == found


def test_a_job_that_may_start_with_fewer_pods_is_skipped():
    annotated = work("one", 2, kind="Job").replace(
        "namespace: n,", "namespace: n, annotations: {kueue.x-k8s.io/job-min-parallelism: '1'},"
    )
    assert jobs(queue("q", a=4), work("serve", 3), annotated) == []


GANG = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: gang, namespace: n}
spec:
  queue: low
  minAvailable: %s
  priorityClassName: %s
  tasks: [{replicas: 3, template: {spec: {containers: [{name: a, image: a, resources: {limits: {gpu.com/x: 1}}}]}}}]
"""
VOLCANO = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: low}
spec: {capability: {gpu.com/x: 4}}
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 5
"""
SCHEDULER = """
kind: volcano-scheduler.conf
apiVersion: v1
actions: "allocate, %s, backfill"
tiers: [{plugins: [{name: priority}, {name: gang}, {name: capacity}]}]
"""


def test_the_gang_of_a_job_of_volcano_must_have_room_beside_pods_that_do_not_end():
    assert jobs(VOLCANO, of_volcano("serve"), GANG % (1, "")) == []
    assert jobs(VOLCANO, of_volcano("serve"), GANG % (2, "")) == [(["gang"], 3, "Queue low")]
    assert jobs(VOLCANO.replace("low", "other"), of_volcano("serve"), GANG % (2, "")) == []


@pytest.mark.parametrize(
    ("action", "priority", "found"),
    [("preempt", "high", 0), ("preempt", "''", 1), ("reclaim", "high", 1), ("preempt", "gone", 0)],
)
def test_a_gang_that_may_preempt_is_skipped(action, priority, found):
    texts = VOLCANO, SCHEDULER % action, of_volcano("serve"), GANG % (2, priority)
    assert len(jobs(*texts)) == found
