"""Labels and annotations by the level of the object at which they are."""

from policygen.core.finding import At
from policygen.lint.core.metadata_keys import MetadataOwner, of_workload
from tests.objects import workload


def places(text):
    return [(it.place, it.kind, it.at.path, dict(it.keys)) for it in of_workload(workload(text))]


def test_an_object_and_its_pods():
    assert places("""
apiVersion: batch/v1
kind: Job
metadata: {name: j, labels: {a: b}}
spec: {template: {metadata: {annotations: {c: d}}, spec: {}}}
""") == [
        (MetadataOwner.OBJECT, "label", ("metadata", "labels"), {"a": "b"}),
        (MetadataOwner.PODS, "annotation", ("spec", "template", "metadata", "annotations"), {"c": "d"}),
    ]  # fmt: skip


def test_a_pod_is_both():
    (it,) = of_workload(
        workload("{apiVersion: v1, kind: Pod, metadata: {labels: {a: b}}, spec: {}}")
    )
    assert (it.place, it.at) == (MetadataOwner.POD, At(0, ("metadata", "labels")))


def test_a_cron_job_is_above_its_jobs():
    assert [(place, path[0]) for place, _, path, _ in places("""
apiVersion: batch/v1
kind: CronJob
metadata: {name: j, labels: {a: b}}
spec: {jobTemplate: {metadata: {labels: {c: d}}, spec: {template: {spec: {}}}}}
""")] == [(MetadataOwner.OBJECT, "spec"), (MetadataOwner.ABOVE, "metadata")]  # fmt: skip
