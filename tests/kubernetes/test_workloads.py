"""Pod templates of every kind: their number, and what one pod requests."""

from fractions import Fraction

import pytest
import yaml

from policygen.core.finding import At
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import is_checked, pod_templates, raw_templates
from tests.objects import workload


def read(api_version, kind, **fields):
    return Object.read({"apiVersion": api_version, "kind": kind, **fields}, At(0))


def counts(it):
    return [(path[-2:], count) for path, _, count in raw_templates(it)]


@pytest.mark.parametrize(
    ("spec", "count"),
    [
        ({}, 1),
        ({"parallelism": 4}, 4),
        ({"parallelism": 4, "completions": 2}, 2),
        ({"parallelism": 0}, 0),
        ({"parallelism": "4"}, None),
        ({"parallelism": 4, "completions": None}, 4),
    ],
)
def test_pods_of_a_job(spec, count):
    assert counts(read("batch/v1", "Job", spec={"template": {}, **spec})) == [
        (("spec", "template"), count)
    ]


def test_pods_of_groups():
    jobs = [{"replicas": 3, "template": {"spec": {"parallelism": 2, "template": {}}}}]
    assert counts(read("jobset.x-k8s.io/v1alpha2", "JobSet", spec={"replicatedJobs": jobs})) == [
        (("spec", "template"), 6)
    ]
    parts = {"leaderTemplate": {}, "workerTemplate": {}, "size": 4}
    spec = {"replicas": 2, "leaderWorkerTemplate": parts}
    found = counts(read("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec=spec))
    assert [count for _, count in found] == [2, 6]
    del parts["leaderTemplate"]
    found = counts(read("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", spec=spec))
    assert [count for _, count in found] == [8]


def test_a_template_of_a_wrong_type_is_not_passed_over():
    it = read("apps/v1", "Deployment", spec=[])
    assert [(path, data) for path, data, _ in raw_templates(it)] == [(("spec",), [])]
    assert list(pod_templates(it)) == []


def requests(spec):
    text = yaml.safe_dump({"apiVersion": "v1", "kind": "Pod", "spec": spec})
    (template,) = workload(text).templates
    return dict(template.spec.requests)


def container(cpu, **more):
    return {"resources": {"requests": {"cpu": cpu}}, **more}


def test_a_pod_requests_the_sum_of_its_containers_or_what_one_init_container_needs():
    assert requests({"containers": [container(1), container("500m")]}) == {"cpu": Fraction(3, 2)}
    several = {"containers": [container(1)], "initContainers": [container(3), container(2)]}
    assert requests(several) == {"cpu": 3}


def test_a_sidecar_counts_beside_all_that_starts_after_it():
    sidecar = container(1, restartPolicy="Always")
    assert requests({"containers": [container(1)], "initContainers": [sidecar]}) == {"cpu": 2}
    before = {"containers": [container(1)], "initContainers": [container(3), sidecar]}
    assert requests(before) == {"cpu": 3}
    after = {"containers": [container(1)], "initContainers": [sidecar, container(3)]}
    assert requests(after) == {"cpu": 4}


def test_a_limit_is_a_request_and_the_pod_has_its_own():
    limits = {"resources": {"limits": {"cpu": 2, "x.com/gpu": 1}}}
    assert requests({"containers": [limits]}) == {"cpu": 2, "x.com/gpu": 1}
    of_pod = {"containers": [limits], "resources": {"requests": {"cpu": 5}}}
    assert requests({**of_pod, "overhead": {"cpu": 1}}) == {"cpu": 6, "x.com/gpu": 1}


def test_without_a_pod_level_request_the_containers_count_and_else_the_limit():
    level = {"limits": {"cpu": 4, "memory": 8, "hugepages-2Mi": 4}}
    pages = {"resources": {"limits": {"hugepages-2Mi": 2}}}
    want = {"cpu": 1, "memory": 8, "hugepages-2Mi": 4}
    assert requests({"containers": [container(1), pages], "resources": level}) == want
    assert requests({"containers": [{}], "resources": level}) == {**want, "cpu": 4}
    level["requests"] = {"cpu": 3}
    assert requests({"containers": [container(1)], "resources": level}) == {**want, "cpu": 3}


@pytest.mark.parametrize(
    ("fields", "checked"),
    [
        ({}, True),
        ({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "controller": True}]}}, False),
        ({"metadata": {"ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job"}]}}, True),
        ({"metadata": {"ownerReferences": [{"apiVersion": "x.com/v1", "kind": "Job", "controller": True}]}}, True),
        ({"status": {"phase": "Running"}}, True),
        ({"status": {"phase": "Succeeded"}}, False),
        ({"status": {"state": {"phase": "Aborted"}}}, False),
        ({"status": {"conditions": [{"type": "Complete", "status": "True"}]}}, False),
        ({"status": {"conditions": [{"type": "Complete", "status": "False"}]}}, True),
    ],
)  # fmt: skip
def test_what_is_over_or_of_another_workload_is_not_checked(fields, checked):
    assert is_checked(read("v1", "Pod", **fields)) is checked
