"""Pods and pod templates as they are written."""

from policygen.core.finding import At
from policygen.lint.core.pod_templates import label_faults, named, pod_specs, templates_of
from tests.objects import cluster

TEXT = """
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    metadata: {labels: {"a b": "c", d: "e f"}}
    spec: {containers: [{name: c}, {}], initContainers: [{name: i}]}
---
{apiVersion: v1, kind: Pod, metadata: {name: p}, spec: {containers: []}}
---
{apiVersion: kubeflow.org/v1, kind: MPIJob, metadata: {name: m}, spec: {mpiReplicaSpecs: {W: {template: {spec: {}}}}}}
"""


def test_templates_of_operators_kinds_are_not_checked():
    it = cluster(TEXT)
    assert [str(part.owner) for part in pod_specs(it)] == ["Job j", "Pod p"]
    assert [part.at for part in templates_of(it.workloads) if part.steps] == [
        At(0, ("spec", "template"))
    ]


def test_containers_and_their_names():
    spec, _ = pod_specs(cluster(TEXT))
    assert [named(part) for part in spec.containers] == [
        *("container i of Job j", "container c of Job j", "a container of Job j"),
    ]


def test_faults_of_labels_have_the_place_of_key_or_value():
    template, _ = templates_of(cluster(TEXT).workloads)
    one, other = label_faults(template.under("metadata").under("labels"))
    labels = At(0, ("spec", "template", "metadata", "labels"))
    assert (one[0], other[0]) == ((labels / "a b").on_key(), labels / "d")
    assert one[1].startswith('Job j: "a b" is not a valid label key')
    assert other[1].startswith('Job j: d "e f" is not a valid label value')


def test_a_part_that_is_missing_is_empty():
    template, _ = templates_of(cluster(TEXT).workloads)
    assert template.under("nope").under("deeper").data == {}
    assert list(template.under("metadata").items("labels")) == []
