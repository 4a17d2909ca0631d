from policygen.kubernetes.workloads import PodSpec
from policygen.simulate.placement.shape import shape_of
from policygen.simulate.volcano.build import scheduler_settings, task_of, volcano_state
from policygen.simulate.volcano.settings import BUILT_IN
from tests.objects import cluster

QUEUES = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: team}
spec:
  weight: 3
  priority: 2
  reclaimable: false
  capability: {nvidia.com/gpu: 8, cpu: 500m, gpu: 4}
  deserved: {nvidia.com/gpu: 4}
  guarantee: {resource: {nvidia.com/gpu: 2}}
status: {state: Closed}
"""


def test_queues_are_read_and_the_built_in_ones_are_added():
    found = volcano_state(cluster(QUEUES), ()).queues
    assert sorted(found) == ["default", "root", "team"]
    team = found["team"]
    assert (team.weight, team.priority, team.reclaimable, team.open) == (3, 2, False, False)
    assert team.capability == {"cpu": 500, "memory": 0, "nvidia.com/gpu": 8000}
    assert team.deserved["nvidia.com/gpu"] == 4000
    assert team.guarantee["nvidia.com/gpu"] == 2000
    assert found["default"].open


def test_without_a_file_the_built_in_settings_are_used():
    assert scheduler_settings(cluster(QUEUES)) is BUILT_IN


def test_pods_know_their_task_and_what_protects_them():
    spec = PodSpec(priority_class_name="system-node-critical")
    marks = {"volcano.sh/task-spec": "worker", "volcano.sh/preemptable": "no"}
    found = task_of("ns/job-worker-12", shape_of(spec, {}), spec, marks)
    assert (found.role, found.index, found.preemptable, found.protected) == (
        "worker",
        12,
        False,
        True,
    )
    assert found.best_effort
    assert found.requests["pods"] == 1
