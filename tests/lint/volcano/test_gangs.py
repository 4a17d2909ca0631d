"""The requests that a gang needs at the same time."""

from policygen.lint.volcano.gangs import gangs
from tests.objects import cluster

GROUP = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: g, namespace: n}
spec: %s
---
"""
MEMBER = """
apiVersion: v1
kind: Pod
metadata: {name: p%s, namespace: n, annotations: {scheduling.k8s.io/group-name: g}}
spec: {containers: [{resources: {requests: {cpu: %s}}}]}
---
"""
JOB = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: n}
spec:
  %s
  queue: q
  tasks:
  - {name: a, replicas: 2, template: {spec: {containers: [{resources: {requests: {cpu: 3}}}]}}}
  - {name: b, replicas: 3, minAvailable: 1, template: {spec: {containers: [{resources: {requests: {cpu: 1}}}]}}}
"""


def summaries(text):
    return [
        (it.owner, it.queue, dict(it.amounts), it.place("cpu").path[1:])
        for it in gangs(cluster(text.removesuffix("---\n")))
    ]


def test_a_group_needs_what_it_writes():
    assert summaries(GROUP % "{minMember: 9, queue: q, minResources: {cpu: 4}}") == [
        ("PodGroup n/g", "q", {"cpu": 4}, ("minResources", "cpu"))
    ]


def test_or_the_requests_of_its_smallest_members():
    """The lowest amount that is certain: each template may be that of all pods."""
    text = GROUP % "{minMember: 2}" + MEMBER % (1, 5) + MEMBER % (2, 1)
    assert summaries(text) == [("PodGroup n/g", "default", {"cpu": 2}, ("minMember",))]


def test_a_group_without_members_needs_nothing_that_is_known():
    assert summaries(GROUP % "{minMember: 2}") == [("PodGroup n/g", "default", {}, ("minMember",))]


def test_a_job_needs_its_minimum():
    assert summaries(JOB % "minAvailable: 4") == [("Job n/j", "q", {"cpu": 6}, ("minAvailable",))]
    assert summaries(JOB % "minAvailable: 9") == [("Job n/j", "q", {}, ("minAvailable",))]


def test_or_that_of_its_tasks():
    assert summaries(JOB % "") == [("Job n/j", "q", {"cpu": 3}, ("tasks",))]


def test_a_job_whose_gang_is_all_its_pods():
    found = [gangs(cluster(JOB % f"minAvailable: {it}"))[0].is_whole for it in (5, 4)]
    assert found == [True, False]
    assert not gangs(cluster(JOB % "maxRetry: 1"))[0].is_whole


def test_a_policy_with_fields_of_a_wrong_type_ends_nothing():
    for policy, ends in (
        ("{events: 5, action: RestartJob}", False),
        ("{events: [PodEvicted], action: [RestartJob]}", False),
        ("{events: [5, PodEvicted], action: RestartJob}", True),
    ):
        (gang,) = gangs(cluster(JOB % f"policies: [{policy}]"))
        assert gang.ends_together is ends
