from fractions import Fraction

import pytest

from policygen.simulate.volcano.gangs import gang_of
from tests.objects import cluster, workload

JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: ns}
spec:
  MORE
  queue: team
  tasks:
  - name: master
    replicas: 1
    template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]}}
  - name: worker
    replicas: 4
    minAvailable: 2
    template: {spec: {containers: [{name: c, resources: {limits: {nvidia.com/gpu: 8}}}]}}
"""


def gang(more, others=""):
    made = cluster(JOB.replace("MORE", more) + others)
    return gang_of(made, made.workloads[0])


def test_a_job_of_volcano_waits_for_the_minimum_of_its_tasks():
    found = gang("maxRetry: 3")
    assert (found.queue, found.least, found.enqueued_first) == ("team", 3, True)
    assert found.role_minimums == {"master": 1, "worker": 2}
    assert found.resources == {"nvidia.com/gpu": Fraction(17)}
    assert [it.role for it in found.tasks] == ["master", "worker"]


@pytest.mark.parametrize(("name", "priority"), [("", 7), ("high", 9), ("hihg", 7)])
def test_a_class_that_does_not_exist_is_the_default_class(name, priority):
    classes = "".join(
        f"""
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: {it}}}
value: {value}
globalDefault: {str(it == "usual").lower()}
"""
        for it, value in (("usual", 7), ("high", 9))
    )
    assert gang(f'priorityClassName: "{name}"', classes).priority == priority


def test_a_higher_minimum_is_filled_with_other_pods():
    assert gang("minAvailable: 4").resources == {"nvidia.com/gpu": Fraction(25)}


def test_a_lower_minimum_takes_the_first_pods():
    assert gang("minAvailable: 2").resources == {"nvidia.com/gpu": Fraction(9)}


def test_policies_can_restart_a_job():
    assert not gang("policies: [{event: PodFailed, action: RestartJob}]").restarts
    assert gang("policies: [{event: PodEvicted, action: RestartJob}]").restarts
    assert gang("policies: [{events: ['*'], action: RestartJob}]").restarts


PODS = """
apiVersion: apps/v1
kind: Deployment
metadata:
  name: serve
  namespace: ns
  annotations: {scheduling.volcano.sh/group-min-member: "2"}
spec:
  replicas: 3
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}, annotations: {scheduling.volcano.sh/queue-name: team}}
    spec:
      schedulerName: volcano
      containers: [{name: c, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


def test_pods_of_another_object_share_a_pod_group():
    made = cluster(PODS)
    found = gang_of(made, made.workloads[0])
    assert (found.queue, found.least, found.enqueued_first) == ("team", 2, False)
    assert found.resources == {"nvidia.com/gpu": Fraction(2)}


@pytest.mark.parametrize(
    ("written", "least"), [("+3", 3), ("²", 1), ("٣", 1), ("-2", 1), ("2147483648", 1)]
)
def test_a_minimum_is_read_as_volcano_reads_it(written, least):
    """As ParseInt of Go with 32 bits; else it is 1."""
    made = cluster(PODS.replace('min-member: "2"', f'min-member: "{written}"'))
    found = gang_of(made, made.workloads[0])
    assert found is not None
    assert found.least == least


def test_pods_that_name_a_pod_group_may_share_it_with_others():
    text = PODS.replace(
        "{a: b}, annotations: {", "{a: b}, annotations: {scheduling.k8s.io/group-name: g, "
    )
    made = cluster(text)
    assert gang_of(made, made.workloads[0]) is None
    assert workload(text).templates
