"""Combinations of fields that API servers refuse."""

import pytest
import yaml

from policygen.lint.core.field_pairs import of_pod, of_workload
from policygen.lint.core.pod_templates import pod_specs
from tests.api_validation.test_plain_pods import is_plain
from tests.objects import cluster, workload


def pod(spec):
    text = yaml.safe_dump(
        {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": "p"}, "spec": spec}
    )
    (part,) = pod_specs(cluster(text))
    found = [(at.path[1:], message) for at, message in of_pod(part)]
    assert not (found and is_plain(spec))
    return found


def of_kind(api_version, kind, spec):
    data = {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, "spec": spec}
    return [(at.path[1:], message) for at, message in of_workload(workload(yaml.safe_dump(data)))]


@pytest.mark.parametrize(
    ("api_version", "kind", "spec", "path", "words"),
    [
        ("apps/v1", "Deployment", {"minReadySeconds": 600}, ("progressDeadlineSeconds",), "write 601 or more"),
        ("apps/v1", "Deployment", {"strategy": {"type": "Recreate", "rollingUpdate": {"maxSurge": 1}}}, ("strategy", "rollingUpdate"), "remove rollingUpdate"),
        ("apps/v1", "StatefulSet", {"updateStrategy": {"type": "OnDelete", "rollingUpdate": {"partition": 1}}}, ("updateStrategy", "rollingUpdate"), "updateStrategy OnDelete"),
        ("batch/v1", "Job", {"manualSelector": True}, ("manualSelector",), "or write selector"),
        ("batch/v1", "Job", {"podFailurePolicy": {"rules": [{"action": "Ignore"}]}}, ("podFailurePolicy", "rules", 0), "neither onExitCodes nor onPodConditions"),
        ("batch/v1", "Job", {"podFailurePolicy": {"rules": [{"onExitCodes": {"operator": "In", "values": [3, 0]}}]}}, ("podFailurePolicy", "rules", 0, "onExitCodes", "values", 1), "exit code 0"),
        ("batch/v1", "CronJob", {"jobTemplate": {"spec": {"manualSelector": True, "selector": {"a": "b"}}}}, ("jobTemplate", "spec", "manualSelector"), "remove manualSelector"),
    ],
)  # fmt: skip
def test_workloads_that_are_refused(api_version, kind, spec, path, words):
    ((at, message),) = of_kind(api_version, kind, spec)
    assert at == path
    assert words in message
    assert "which is refused" in message


@pytest.mark.parametrize(
    ("api_version", "kind", "spec"),
    [
        ("apps/v1", "Deployment", {"minReadySeconds": 600, "progressDeadlineSeconds": 601}),
        ("apps/v1", "Deployment", {"strategy": {"rollingUpdate": {"maxSurge": 1}}}),
        ("batch/v1", "Job", {"manualSelector": True, "selector": {"matchLabels": {"a": "b"}}}),
        ("batch/v1", "Job", {"podFailurePolicy": {"rules": [{"onPodConditions": [{}]}]}}),
    ],
)
def test_workloads_that_are_not(api_version, kind, spec):
    assert of_kind(api_version, kind, spec) == []


@pytest.mark.parametrize(
    ("spec", "path", "words"),
    [
        ({"resources": {"limits": {"x.com/gpu": 1, "cpu": 1}}}, ("resources", "limits", "x.com/gpu"), "in the resources of a container"),
        ({"dnsPolicy": "None"}, ("dnsPolicy",), "without nameservers"),
        ({"containers": [{"name": "c", "securityContext": {"privileged": True, "allowPrivilegeEscalation": False}}]}, ("containers", 0, "securityContext", "allowPrivilegeEscalation"), "container c of Pod p"),
        ({"initContainers": [{"resources": {"limits": {"hugepages-2Mi": "3Mi"}}}]}, ("initContainers", 0, "resources", "limits", "hugepages-2Mi"), "write a multiple of 2Mi"),
    ],
)  # fmt: skip
def test_pods_that_are_refused(spec, path, words):
    ((at, message),) = pod(spec)
    assert at == path
    assert words in message


def test_pods_that_are_not():
    assert pod({"dnsPolicy": "None", "dnsConfig": {"nameservers": ["1.1.1.1"]}}) == []
    assert pod({"containers": [{"resources": {"limits": {"hugepages-2Mi": "4Mi"}}}]}) == []


@pytest.mark.parametrize(
    ("overhead", "words"),
    [
        ({"limits.cpu": 1}, "write cpu or memory"),
        ({"cpu": "-1"}, "write 0 or more"),
        ({"nvidia.com/gpu": "1500m"}, "write a whole number"),
        ({"cpu": 1, "hugepages-2Mi": "3Mi"}, "write a multiple of 2Mi"),
        ({"hugepages-2Mi": "2Mi"}, "write cpu or memory too"),
    ],
)
def test_an_overhead_that_is_refused(overhead, words):
    ((at, message),) = pod({"overhead": overhead})
    assert "overhead" in at
    assert words in message


def test_a_fraction_of_an_extended_resource():
    limits = {"resources": {"limits": {"rdma/hca": "0.5", "cpu": "0.5"}}}
    ((_, message),) = pod({"containers": [{"name": "a", **limits}]})
    assert "write a whole number" in message


@pytest.mark.parametrize(
    ("resources", "path", "words"),
    [
        ({"requests": {"cpu": "1m"}}, ("requests", "cpu"), "request at least the sum of the containers"),
        ({"limits": {"cpu": "400m"}}, ("limits", "cpu"), "raise the limit of the pod"),
        ({"limits": {"cpu": "700m"}}, ("limits", "cpu"), "one of its containers to 1"),
        ({"requests": {"memory": "-1"}}, ("requests", "memory"), "write 0 or more"),
    ],
)  # fmt: skip
def test_resources_of_a_pod_below_those_of_its_containers(resources, path, words):
    container = {"name": "a", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": 1}}}
    found = of_kind("v1", "Pod", {"containers": [container], "resources": resources})
    ((where, message),) = found
    assert where == ("resources", *path)
    assert words in message


def test_resources_of_a_pod_above_those_of_its_containers():
    container = {"name": "a", "resources": {"requests": {"cpu": "500m"}, "limits": {"cpu": 1}}}
    spec = {"containers": [container], "resources": {"requests": {"cpu": 1}, "limits": {"cpu": 2}}}
    assert of_kind("v1", "Pod", spec) == []


@pytest.mark.parametrize(
    ("resources", "words"),
    [
        ({"limits": {"hugepages-2Mi": "3Mi"}}, "write a multiple of 2Mi"),
        ({"limits": {"hugepages-2Mi": "-2Mi"}}, "write 0 or more"),
        ({"limits": {"hugepages-": "2Mi"}}, "write a size, such as hugepages-2Mi"),
        ({"requests": {"hugepages-2Mi": "2Mi"}}, "write the same amount in requests and limits"),
    ],
)
def test_huge_pages_of_a_pod(resources, words):
    ((_, message),) = pod({"containers": [], "resources": resources})
    assert words in message


def test_valid_huge_pages_of_a_pod():
    assert pod({"containers": [], "resources": {"limits": {"hugepages-2Mi": "4Mi"}}}) == []
