"""The jobs of manifests and snapshots."""

from tests.simulate.scenes import QUEUES, WORKLOAD, job, played


def test_annotations_set_the_times_of_a_job():
    text = job("a", 12, annotations="policygen.dev/arrives-after: 10m, policygen.dev/runs-for: 30s")
    found = played(QUEUES + text)["nlp/a"]
    assert (found.started, found.ended) == (600, 630)


def test_a_workload_of_the_input_is_not_counted_twice():
    found = played(QUEUES + WORKLOAD + job("a", 8) + job("b", 8))
    assert set(found) == {"nlp/a", "nlp/b"}
    assert found["nlp/a"].ended == 3600
    assert found["nlp/b"].started == 3601
