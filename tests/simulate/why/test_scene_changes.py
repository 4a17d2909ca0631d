"""Labels with which Kueue manages a job."""

from policygen.simulate.why.changes import FieldChange
from policygen.simulate.why.scene_changes import (
    arrival_of,
    changed_scene,
    label_changes,
    with_object,
)
from tests.simulate.why.gangs import QUEUES, vcjob
from tests.simulate.why.waiting import PLAIN, explain, job, priority, scene

CLASS, QUEUE = "kueue.x-k8s.io/priority-class", "kueue.x-k8s.io/queue-name"


def label(key, before, after):
    return FieldChange("Job", "n", "a", ("metadata", "labels", key), before, after, group="batch")


def test_another_priority_class_or_no_class():
    found = explain("n/a", *PLAIN, priority("high", 9), job("a", rank="gone"))
    assert [it.changes for it in found.remedies] == [
        (label(CLASS, "gone", "high"),),
        (label(CLASS, "gone", None),),
    ]


def test_a_queue_for_a_suspended_job():
    suspended = job("a", to="")
    suspended["spec"]["suspend"] = True
    found = explain("n/a", *PLAIN, suspended)
    assert [it.changes for it in found.remedies] == [(label(QUEUE, None, "q"),)]


def test_only_the_named_object_changes():
    made = scene(*PLAIN, job("a", to=""), job("b", to=""))
    one, other = (it.object for it in made.cluster.workloads)
    assert list(label_changes(made.cluster, one)) == [label(QUEUE, None, "q")]
    after = changed_scene(made, [label(QUEUE, None, "q")])
    assert after.cluster.workloads[0].labels[QUEUE] == "q"
    assert after.cluster.workloads[1].object is other


def test_the_job_of_an_object_that_is_added():
    made = with_object(scene(*PLAIN, job("b")), job("a", pods=3))
    found = arrival_of(made, ("batch", "Job", "n", "a"))
    assert (found.name, [it.count for it in found.pods]) == ("n/a", [3])


def test_jobs_of_two_apis_with_one_name():
    made = with_object(scene(*PLAIN, *QUEUES, job("a", pods=3)), vcjob("a", 2, namespace="n"))
    for group, pods in (("batch", 3), ("batch.volcano.sh", 2)):
        found = arrival_of(made, (group, "Job", "n", "a"))
        assert [it.count for it in found.pods] == [pods]
    after = changed_scene(made, [label(QUEUE, None, "r")])
    assert [it.labels.get(QUEUE) for it in after.cluster.workloads] == ["r", None]


def test_an_object_that_makes_no_job():
    assert arrival_of(scene(*PLAIN), ("batch", "Job", "n", "a")) is None
