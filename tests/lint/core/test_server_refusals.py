"""Refusals by API servers, computed once for all rules."""

import json

import pytest

from policygen.api_validation.refusal import Reason
from policygen.core.finding import At, Edit, Verb
from policygen.lint.core.server_refusals import MANY, component, refusals, refused
from tests.objects import cluster, facts, objects

QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec: %s
"""


def only(spec, text=QUEUE):
    found = refused(cluster(text % spec)).found
    ((it,),) = found.values()
    return next(iter(found)), it


def test_a_refusal_has_its_place_and_its_edit():
    reason, it = only("{cohrtName: b}")
    assert (reason, it.at) == (Reason.UNKNOWN_FIELD, At(0, ("spec", "cohrtName")).on_key())
    assert it.message.startswith('ClusterQueue a: field "cohrtName" is unknown in spec')
    assert it.edits == ()
    _, it = only("{queueingStrategy: strictFIFO}")
    assert it.edits == (Edit(Verb.REWRITE, At(0, ("spec", "queueingStrategy")), "StrictFIFO"),)


def test_a_misspelt_field_is_missing_unless_it_is_there_too():
    misspelt = {At(0): {("spec", "cohrtName"): "cohortName"}}
    assert refused(cluster(QUEUE % "{cohrtName: b}")).misspelt == misspelt
    assert refused(cluster(QUEUE % "{cohrtName: b, cohortName: c}")).misspelt == {}


def test_a_field_of_an_older_version_is_reported_as_such():
    _, it = only("{cohort: b}")
    assert (
        it.message
        == "ClusterQueue a: cohort is a field of v1beta1 that does not exist in v1beta2; write cohortName"
    )


@pytest.mark.parametrize("weight", ["0.5", "9223372036854775808"])
def test_a_correction_by_a_webhook_on_create_is_reported(weight):
    _, it = only(f"{{fairSharing: {{weight: {weight}}}}}")
    assert it.message.endswith(
        " (Kueue corrects the value when the object is created, but every update is refused); put the value in quotes"
    )


@pytest.mark.parametrize(
    ("version", "spec", "corrected"),
    [
        ("v1beta1", "{admissionChecks: [null]}", True),
        ("v1beta1", "{admissionChecksStrategy: {admissionChecks: [null]}}", True),
        ("v1beta2", "{admissionChecksStrategy: {admissionChecks: [null]}}", False),
        (
            "v1beta2",
            "{namespaceSelector: {matchExpressions: [{key: a, operator: In, values: [null]}]}}",
            True,
        ),
        (
            "v1beta1",
            "{admissionChecksStrategy: {admissionChecks: [{name: a, onFlavors: [null]}]}}",
            False,
        ),
    ],
)
def test_null_in_a_list_of_texts_is_an_empty_text_on_create(version, spec, corrected):
    found = refused(cluster((QUEUE % spec).replace("v1beta2", version))).found
    assert {*found} == {Reason.UPDATE if corrected else Reason.TYPE}


def test_validation_rules_run_on_the_corrected_value():
    group = "{coveredResources: [cpu, a], flavors: [{name: f, resources: [{name: cpu, nominalQuota: %s}]}]}"
    for amount in ("1.5", "'1 '", "null"):
        spec = f"{{cohortName: b, resourceGroups: [{group % amount}]}}"
        found = refused(cluster(QUEUE % spec)).found
        assert {*found} - {Reason.SERVER_SIDE_APPLY} == {Reason.UPDATE, Reason.CRD_RULE}


def test_objects_of_a_cluster_are_not_applied(monkeypatch):
    text = "{apiVersion: v1, kind: ConfigMap, metadata: {name: a, uid: b}}"
    assert list(refused(cluster(text)).found) == [Reason.SERVER_SIDE_APPLY]
    assert refused(cluster(text)).objects == frozenset()
    made = cluster(text)
    monkeypatch.setattr(made, "seen", object())
    assert refused(made).found == {}


def test_a_sound_object_is_not_refused():
    made = refused(cluster(QUEUE % "{cohortName: b}"))
    assert (made.found, made.objects) == ({}, frozenset())


def test_many_objects_have_the_same_refusals():
    text = "---".join([QUEUE % "{cohortName: b}"] * MANY + [QUEUE % "{cohrtName: b}"])
    assert refused(cluster(text)).objects == {At(MANY)}


def test_a_release_later_than_the_recorded_servers_may_have_the_field():
    text = QUEUE % "{cohrtName: b}"
    reason = Reason.UNKNOWN_FIELD
    assert len(list(refusals(facts(text), reason, known_releases=True))) == 1
    assert list(refusals(facts(text, kueue=99), reason, known_releases=True)) == []
    assert len(list(refusals(facts(text, kueue=99), reason, known_releases=False))) == 1


@pytest.mark.parametrize(
    ("api_version", "name"),
    [
        ("kueue.x-k8s.io/v1beta2", "kueue"),
        ("scheduling.volcano.sh/v1beta1", "volcano"),
        ("v1", "kubernetes"),
    ],
)
def test_the_component_of_a_kind(api_version, name):
    (it,) = objects(f"{{apiVersion: {api_version}, kind: X}}")
    assert component(it) == name


@pytest.mark.parametrize(("limit", "reason"), [("m", Reason.UPDATE), ("1Gii", Reason.FORMAT)])
def test_volcano_corrects_the_size_of_a_volume_on_create(limit, reason):
    volume = {"name": "a", "emptyDir": {"sizeLimit": limit}}
    containers = [{"name": "a", "image": "a"}]
    task = {"replicas": 1, "template": {"spec": {"containers": containers, "volumes": [volume]}}}
    job = {"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "a"}, "spec": {"tasks": [task]}}  # fmt: skip
    assert reason in refused(cluster(json.dumps(job))).found
