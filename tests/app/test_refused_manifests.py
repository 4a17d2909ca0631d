"""Faults of manifests for which nothing is simulated."""

import pytest

from policygen.app import refused_manifests
from policygen.core import versions
from policygen.core.errors import InvalidInputError
from policygen.documents.files import Source
from policygen.kubernetes import manifests
from tests.simulate.scenes import NODES, QUEUES, job
from tests.simulate.volcano.test_over_time import vcjob


def faults(text):
    """The lines of the error, without the file."""
    found = manifests.read([Source("x", text, None)])
    try:
        refused_manifests.check(found, versions.DEFAULT)
    except InvalidInputError as error:
        return [*error.details]
    return []


def test_sound_jobs_have_no_fault():
    assert faults(QUEUES + NODES + job("a", 8) + vcjob("v", "q", 2)) == []


def test_a_job_needs_no_image():
    text = job("a", 1)
    assert "image: example.com/train:1" in text
    assert faults(text.replace("image: example.com/train:1", 'image: ""')) == []
    assert faults(text.replace("image: example.com/train:1", "command: [run]")) == []


@pytest.mark.parametrize(
    "written, instead, words",
    [
        ("parallelism: 1", "parallelism: x", "parallelism must be an integer"),
        ("parallelism: 1", "parallelism: -1", "parallelism -1, which is refused; write 0 or more"),
        ("name: a,", "name: A,", 'name "A" is not valid for a Job'),
        ("annotations: {}", "annotations: {a: 1}", "a must be a string, not 1"),
        ("restartPolicy: Never", "restartPolicy: Always", "has restartPolicy Always"),
        ("completions: 1", "complettions: 1", 'did you mean "completions"?'),
        ("requests: {cpu: 4}, limits", "requests", "without a limit, which is refused"),
    ],
)
def test_jobs_that_a_server_refuses(written, instead, words):
    text = job("a", 1)
    assert written in text
    found = faults(text.replace(written, instead))
    assert any(words in it for it in found), found


def test_pods_without_containers():
    text = job("a", 1).partition("      containers:")[0] + "      containers: []\n"
    (line,) = faults(text)
    assert line == "x:12:7: Job nlp/a has no containers, which is refused; write a container"


def test_all_faults_are_reported_in_the_order_of_the_text():
    text = job("a", 1, pods=-1) + job("B", 8) + vcjob("v", "q", -2) + job("a", 1)
    found = faults(text)
    assert [int(it.split(":")[1]) for it in found] == sorted(int(it.split(":")[1]) for it in found)
    assert len(found) == 5
    assert "is in the input twice, first at x:5" in found[-1]


@pytest.mark.parametrize(
    "written, instead, words",
    [
        ("nominalQuota: 12", "nominalQuota: -2", "nominalQuota"),
        ("nominalQuota: 12", "nominalQuota: lots", "lots"),
        ("namespaceSelector", "nameSelector", 'field "nameSelector" is unknown'),
        ("clusterQueue: nlp", "clusterQueue: [nlp]", "clusterQueue must be a string"),
        ("memory: 1Ti", "memory: much", "much"),
    ],
)
def test_queues_and_nodes_that_a_server_refuses(written, instead, words):
    assert written in QUEUES + NODES
    found = faults((QUEUES + NODES).replace(written, instead))
    assert any(words in it for it in found), found


def test_configurations_that_are_not_loaded():
    text = "{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, featureGates: {Nogate: true}}"
    (line,) = faults(text)
    assert 'feature gate "Nogate" does not exist in Kueue 0.19' in line


def test_other_objects_do_not_count():
    assert faults("{apiVersion: v1, kind: Service, metadata: {name: A}, spec: {ports: x}}") == []


def test_many_faults_are_counted():
    found = faults("".join(job(f"a{i}", 1, pods=-1) for i in range(30)))
    assert len(found) == 21
    assert found[-1].endswith(" more faults")
