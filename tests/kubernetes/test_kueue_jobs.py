"""The LocalQueue that a workload names, where Kueue reads the name."""

import pytest

from policygen.kubernetes.kueue_jobs import (
    counted,
    labels,
    labels_at,
    local_queues,
    managed,
    queued,
)
from tests.objects import cluster, workload

NAME = "kueue.x-k8s.io/queue-name"
QUEUES = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: c}, spec: {}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: c}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: r, namespace: n}, spec: {clusterQueue: gone}}
---
"""


def job(queue="", kind="Job", pod_queue="", group="batch/v1"):
    own = f"labels: {{{NAME}: {queue}}}" if queue else ""
    pods = f"metadata: {{labels: {{{NAME}: {pod_queue}}}}}, " if pod_queue else ""
    return (
        f"{{apiVersion: {group}, kind: {kind}, metadata: {{name: j, namespace: n, {own}}}, "
        f"spec: {{template: {{{pods}spec: {{}}}}}}}}\n"
    )


@pytest.mark.parametrize(
    ("text", "path", "queue"),
    [
        (job("q"), ("metadata", "labels", NAME), "c"),
        (job("r"), ("metadata", "labels", NAME), None),
        (job("gone"), ("metadata", "labels", NAME), None),
        (job(pod_queue="q"), ("spec", "template", "metadata", "labels", NAME), "c"),
        (job("q", "Deployment", "", "apps/v1"), ("metadata", "labels", NAME), "c"),
        (job("", "Deployment", "q", "apps/v1"), ("spec", "template", "metadata", "labels", NAME), "c"),
    ],
)  # fmt: skip
def test_where_the_name_is_and_what_it_leads_to(text, path, queue):
    (it,) = queued(cluster(QUEUES + text))
    assert it.at.path == path
    assert (it.cluster_queue and it.cluster_queue.name) == queue


@pytest.mark.parametrize(
    "text", [job(), job("q", "DaemonSet", "q", "apps/v1"), job("", "StatefulSet", "q", "apps/v1")]
)
def test_who_names_no_queue_that_kueue_reads(text):
    assert queued(cluster(QUEUES + text)) == ()


def test_what_an_integration_manages():
    assert [it.kind for it in managed(cluster(job()))] == ["Job"]
    assert list(managed(cluster(job(kind="ReplicaSet", group="apps/v1")))) == []


def test_a_cron_job_names_it_in_its_template():
    it = workload(
        "{apiVersion: batch/v1, kind: CronJob, metadata: {labels: {a: b}}, "
        "spec: {jobTemplate: {metadata: {labels: {c: d}}, spec: {template: {}}}}}"
    )
    assert (labels_at(it).path, dict(labels(it))) == (
        ("spec", "jobTemplate", "metadata", "labels"),
        {"c": "d"},
    )


def test_a_queue_without_a_namespace_may_be_in_any():
    it = cluster(QUEUES.removesuffix("---\n"))
    assert [entry.name for entry in local_queues(it, "q", "n")] == ["q"]
    assert [entry.name for entry in local_queues(it, "q", "")] == ["q"]
    assert list(local_queues(it, "q", "m")) == []


def test_defaults_of_limit_ranges_are_counted():
    text = """
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [
  {type: Container, defaultRequest: {cpu: 2, memory: 1Gi}}, {type: Pod, max: {cpu: 9}}]}}
---
{apiVersion: v1, kind: Pod, metadata: {name: p, namespace: n}, spec: {containers: [
  {resources: {requests: {cpu: 1}}}, {}]}}
"""
    it = cluster(text)
    assert counted(it, it.workloads[0], *it.workloads[0].templates) == {
        "cpu": 3,
        "memory": 2 * 2**30,
    }
    other = cluster(text.replace("name: l, namespace: n", "name: l, namespace: m"))
    assert counted(other, other.workloads[0], *other.workloads[0].templates) == {"cpu": 1}
