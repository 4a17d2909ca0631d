"""Jobs of Volcano over time, with hand-computed times."""

import pytest

from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes
from policygen.simulate.scene_schedulers import timeline
from tests.client.looks import snapshot
from tests.simulate.scenes import NODES, played

QUEUES = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {deserved: {nvidia.com/gpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: b}
spec: {deserved: {nvidia.com/gpu: 8}}
"""


def conf(actions):
    return f"""
---
apiVersion: v1
kind: volcano-scheduler.conf
actions: "{actions}"
tiers:
- plugins:
  - name: priority
  - name: gang
  - name: conformance
  - name: capacity
- plugins:
  - name: predicates
  - name: nodeorder
"""


def vcjob(name, queue, pods, gpus=1, *, after="0s", runs="1h", more=""):
    return f"""
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata:
  name: {name}
  namespace: ns
  annotations: {{policygen.dev/arrives-after: {after}, policygen.dev/runs-for: {runs}}}
spec:
  queue: {queue}
  schedulerName: volcano
  {more}
  tasks:
  - name: worker
    replicas: {pods}
    template:
      spec:
        restartPolicy: Never
        containers: [{{name: c, image: c:1, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]
"""


def test_a_gang_waits_until_all_its_pods_have_room():
    found = played(
        NODES
        + QUEUES
        + conf("enqueue, allocate")
        + vcjob("first", "a", 2, 6)
        + vcjob("second", "b", 3, 4, after="10m")
    )
    first, second = found["ns/first"], found["ns/second"]
    assert (first.started, first.ended) == (0.0, 3600.0)
    assert (second.started, second.ended) == (3600.0, 7200.0)
    assert second.waited == pytest.approx(3000.0)


def test_a_queue_reclaims_and_the_victim_begins_again():
    found = played(
        NODES
        + QUEUES
        + conf("allocate, reclaim")
        + vcjob("borrower", "a", 16, more="minAvailable: 1")
        + vcjob("claimant", "b", 8, after="10m")
    )
    borrower, claimant = found["ns/borrower"], found["ns/claimant"]
    assert (claimant.started, claimant.ended) == (600.0, 4200.0)
    assert list(claimant.preempts) == ["ns/borrower"]
    assert [it.by for it in borrower.preemptions] == ["ns/claimant"]
    assert borrower.preempted == 0  # eight of its pods go on until 3600, and the others begin then
    assert borrower.ended == 7200.0
    assert borrower.pod_starts == {0.0: 8, 3600.0: 8}
    assert (borrower.work.ran, borrower.work.lost) == (16 * 3600.0 + 8 * 600.0, 8 * 600.0)


def test_a_job_restarts_if_its_policy_says_so():
    policy = "minAvailable: 1\n  policies: [{event: PodEvicted, action: RestartJob}]"
    found = played(
        NODES
        + QUEUES
        + conf("allocate, reclaim")
        + vcjob("borrower", "a", 16, more=policy)
        + vcjob("claimant", "b", 8, after="10m")
    )
    borrower = found["ns/borrower"]
    assert borrower.preempted == 1
    assert borrower.lost == 600.0
    assert borrower.pod_starts == {600.0: 8, 4200.0: 8}
    assert borrower.ended == 7800.0
    assert (borrower.work.ran, borrower.work.lost) == (16 * 4200.0, 16 * 600.0)


def test_pods_that_start_later_run_as_long_as_the_others():
    found = played(
        NODES
        + QUEUES
        + conf("enqueue, allocate")
        + vcjob("first", "a", 12, runs="30m")
        + vcjob("parts", "b", 10, after="10m", more="minAvailable: 1")
    )
    parts = found["ns/parts"]  # 4 GPUs are free at 600, all at 1800
    assert parts.pod_starts == {600.0: 4, 1800.0: 6}
    assert (parts.started, parts.ended, parts.waited) == (600.0, 5400.0, 0.0)
    assert (parts.work.ran, parts.work.lost) == (10 * 3600.0, 0.0)


def test_pods_that_find_no_room_while_others_run_wait_for_their_nodes():
    found = played(
        NODES + QUEUES + conf("enqueue, allocate") + vcjob("parts", "a", 40, more="minAvailable: 1")
    )
    parts = found["ns/parts"]
    assert parts.pod_starts == {0.0: 16, 3600.0: 16, 7200.0: 8}
    assert (parts.ended, parts.waited, parts.ran) == (10800.0, 0.0, 10800.0)
    assert parts.work.ran == 40 * 3600.0


@pytest.mark.parametrize(
    ("more", "ended"),
    [
        ("minAvailable: 1\n  minSuccess: 20", 7200.0),
        ("minAvailable: 1\n  minSuccess: 16", 3600.0),
        ("minAvailable: 1\n  policies: [{event: TaskCompleted, action: CompleteJob}]", 10800.0),
    ],
)
def test_what_completes_a_job_ends_its_other_pods(more, ended):
    """Of 40 pods, 16 run at once."""
    found = played(NODES + QUEUES + conf("enqueue, allocate") + vcjob("a", "a", 40, more=more))
    assert found["ns/a"].ended == ended


def test_a_task_that_completes_the_job_ends_the_others():
    """One master and 16 workers on 16 GPUs: the master has the higher priority, so one worker is late."""
    text = vcjob("a", "a", 16, more="minAvailable: 1").replace(
        "  tasks:\n",
        """  tasks:
  - name: master
    replicas: 1
    policies: [{event: TaskCompleted, action: CompleteJob}]
    template:
      spec:
        priorityClassName: high
        containers: [{name: c, image: c:1, resources: {limits: {nvidia.com/gpu: 1}}}]
""",
    )
    high = """
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: high}
value: 100
"""
    run = played(NODES + QUEUES + high + conf("enqueue, allocate") + text)["ns/a"]
    assert run.ended == 3600.0
    assert run.pod_starts == {0.0: 16}
    assert run.work.ran == 16 * 3600.0


def test_a_job_of_an_unknown_queue_waits_for_ever():
    found = played(NODES + vcjob("lost", "nowhere", 1))
    assert found["ns/lost"].message == "Volcano's queue nowhere does not exist"
    assert found["ns/lost"].started is None


def test_without_nodes_it_is_not_simulated():
    found = played(QUEUES + vcjob("lost", "a", 1))
    assert (found["ns/lost"].reason, found["ns/lost"].message) == (
        "NotSimulated",
        "the nodes are not known",
    )


GROUP = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: pair, namespace: ns}
spec: {minMember: 2, queue: a}
"""


def member(name, gpus, group="pair"):
    return f"""
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: ns
  annotations: {{scheduling.k8s.io/group-name: {group}, policygen.dev/runs-for: 1h}}
spec:
  schedulerName: volcano
  restartPolicy: Never
  containers: [{{name: c, image: c:1, resources: {{limits: {{nvidia.com/gpu: {gpus}}}}}}}]
"""


def test_pods_that_join_a_pod_group_by_name_start_together():
    state = NODES + QUEUES + conf("enqueue, allocate") + vcjob("first", "a", 1, 8)
    found = played(state + GROUP + member("p", 8) + member("q", 8))
    assert set(found) == {"ns/first", "ns/pair"}
    assert sorted(it.started for it in found.values()) == [0.0, 3600.0]


def test_a_pod_group_that_does_not_exist():
    (found,) = played(NODES + QUEUES + GROUP + member("p", 1, "pear")).values()
    assert (found.started, found.message) == (
        None,
        'PodGroup pear does not exist; did you mean "pair"?',
    )


def running(job, number, node, phase="Running"):
    name = f"{job}-worker-{number}"
    return f"""
---
apiVersion: v1
kind: Pod
metadata:
  name: {name}
  namespace: ns
  annotations: {{volcano.sh/task-spec: worker}}
  ownerReferences: [{{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, name: {job}, uid: u, controller: true}}]
spec:
  {f"nodeName: {node}" if node else ""}
  schedulerName: volcano
  containers: [{{name: c, image: c:1, resources: {{limits: {{nvidia.com/gpu: 8}}}}}}]
status: {{phase: {phase}}}
"""


def of_snapshot(text):
    seen = snapshot(text)
    objects = Cluster(seen.objects, seen.seen, seen.pods)
    it = Scene(objects, first(objects, DEFAULT["kueue"]), cluster_nodes(objects))
    made = timeline(it, arrivals(it, 3600.0))
    for _ in made.run():
        pass
    return {job.arrival.name: job for job in made.jobs}


def test_jobs_of_volcano_in_a_snapshot_go_on():
    """One job runs, and one waits with one pod on a node."""
    text = NODES + QUEUES + conf("enqueue, allocate")
    text += vcjob("runs", "a", 1, 8) + running("runs", 0, "n0")
    text += vcjob("part", "a", 2, 8) + running("part", 0, "n1") + running("part", 1, "", "Pending")
    found = of_snapshot(text)
    assert (found["ns/runs"].ended, found["ns/part"].started) == (3600.0, 3600.0)
    assert found["ns/part"].ended == 7200.0
    assert found["ns/runs"].workload is None


def test_jobs_run_on_whose_queue_a_snapshot_does_not_have():
    """The other job uses the node that is left, and the pods without a node wait for ever."""
    text = NODES + QUEUES + conf("enqueue, allocate") + vcjob("b", "a", 1, 8)
    text += vcjob("runs", "gone", 1, 8) + running("runs", 0, "n0")
    found = of_snapshot(text)
    assert found["ns/runs"].ended == 3600.0
    assert found["ns/b"].last_nodes == {1: 1}
    text += (
        vcjob("part", "gone", 2, 8) + running("part", 0, "n1") + running("part", 1, "", "Pending")
    )
    found = of_snapshot(text)
    assert (found["ns/runs"].ended, found["ns/part"].started) == (3600.0, None)
    assert found["ns/part"].message == "Volcano's queue gone does not exist"


def test_an_owner_with_the_same_kind_and_name_in_another_group():
    owner = "{apiVersion: flows.example.com/v1, kind: Job, name: runs, uid: v, controller: true}"
    line = "  namespace: ns\n"
    own = vcjob("runs", "a", 1, 8).replace(line, f"{line}  ownerReferences: [{owner}]\n")
    assert owner in own
    found = of_snapshot(NODES + QUEUES + conf("enqueue") + own + running("runs", 0, "n0"))
    assert found["ns/runs"].ended == 3600.0
