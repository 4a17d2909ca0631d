"""Faults of objects that a simulation refuses."""

from policygen.simulate.input_faults import input_faults
from tests.objects import cluster
from tests.simulate.scenes import QUEUES, job


def faults(text):
    return [(it.at.path, it.message) for it in input_faults(cluster(text).objects)]


def test_sound_objects_have_no_faults():
    assert faults(QUEUES + QUEUES + job("a", 8, annotations="policygen.dev/runs-for: 0s")) == []


def test_objects_of_one_name():
    other = QUEUES.replace("nominalQuota: 12", "nominalQuota: 8")
    assert faults(QUEUES + other + job("a", 8) + job("a", 8)) == [
        (
            ("metadata", "name"),
            f"{it} is in the input twice, first at {{there}}; rename or remove one of the two",
        )
        for it in ("ClusterQueue nlp", "Job nlp/a")
    ]


def test_a_job_of_a_kind_without_a_schema_needs_a_name():
    text = """
apiVersion: argoproj.io/v1alpha1
kind: Rollout
metadata: {name: 5}
spec: {replicas: 1}
"""
    assert [it[1][:41] for it in faults(text)] == ["Rollout has no name that is text; write a"]
    assert faults(text.replace("name", "generateName").replace("5", "a-")) == []


def test_metadata_of_a_wrong_type():
    """No schema of this kind refuses it."""
    text = "{apiVersion: argoproj.io/v1alpha1, kind: Rollout, metadata: x}"
    assert [it[1][:41] for it in faults(text)] == ["Rollout has no name that is text; write a"]


def test_a_time_that_is_too_long():
    for length in ("9" * 400, "9" * 5000):
        ((path, message),) = faults(job("a", 8, annotations=f"policygen.dev/runs-for: {length}s"))
        assert path == ("metadata", "annotations", "policygen.dev/runs-for")
        assert message.endswith("is not a duration; write for example 90, 90s, 1h30m or 7d")
