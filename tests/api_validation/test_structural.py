"""Validation supports every part of a schema, and reports an unknown field at its key."""

import copy

from policygen.api_validation import schemas, structural
from policygen.api_validation.refusal import Reason
from policygen.api_validation.refusals import refusals
from tests.api_validation.objects import changed, every_node, refusals_of


def test_every_fault_is_reported():
    thing = changed(("spec", "preemptoin"), {})
    thing["spec"]["queueingStrategy"] = "x"
    del thing["spec"]["resourceGroups"][0]["coveredResources"]
    assert [r.reason for r in refusals_of(thing)] == [
        Reason.MISSING_FIELD,
        Reason.UNKNOWN_FIELD,
        Reason.VALUE,
    ]


def test_an_unknown_field_is_reported_at_its_key():
    [refusal] = refusals_of(changed(("spec", "cohort"), "a"))
    assert refusal.key


def test_an_unknown_field_always_has_a_remedy():
    def message(policy, job=()):
        runtime = {"mlPolicy": policy, "template": {"spec": {"replicatedJobs": []}}}
        kind, spec = ("TrainJob", dict(job)) if job else ("TrainingRuntime", runtime)
        thing = {"metadata": {"name": "a"}, "spec": spec}
        served = schemas.served("trainer.kubeflow.org/v1alpha1", kind)
        [refusal] = [it for it in refusals(thing, served) if it.reason is Reason.UNKNOWN_FIELD]
        return refusal.message.replace("Kubeflow ", "")

    assert message({"jax": {"a": 1}}) == 'field "a" is unknown in jax; remove this field'
    assert message({"torch": {"numProcPerNode": "auto"}}) == (
        'field "numProcPerNode" is unknown in torch since Trainer 2.2; '
        "remove this field, or write it in spec.trainer of TrainJobs"
    )
    former = {"runtimeRef": {"name": "a"}, "podTemplateOverrides": []}
    assert message({}, former) == (
        'field "podTemplateOverrides" is unknown in spec since Trainer 2.2; write runtimePatches'
    )


def test_rules_are_judged_with_the_defaults_that_the_server_fills_in():
    thing = changed(("spec", "preemption"), {"borrowWithinCohort": {"policy": "LowerPriority"}})
    [refusal] = refusals_of(thing)  # reclaimWithinCohort is Never by default
    assert (refusal.path, refusal.reason) == (("spec", "preemption"), Reason.CRD_RULE)


def test_the_object_itself_is_left_as_it_was():
    thing = changed(("spec", "queueingStrategy"), None)
    before = copy.deepcopy(thing)
    assert refusals_of(thing) == []
    assert thing == before


JUDGED = {
    "additionalProperties", "default", "enum", "format", "items", "maxItems", "maxLength",
    "maxProperties", "maximum", "minItems", "minLength", "minProperties", "minimum", "pattern", "properties",
    "required", "type", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    "x-policygen-type",
}  # fmt: skip

WITHOUT_EFFECT = {
    "anyOf",  # repeats x-kubernetes-int-or-string
    "x-kubernetes-map-type",  # matters to server-side apply only
    "x-kubernetes-embedded-resource",  # an object in an AppWrapper, of which all fields are accepted
    "x-policygen-pod",  # where lint checks a pod itself
    "x-policygen-dropped",  # the API server drops the field; Volcano checks it
}


def test_every_keyword_is_judged():
    for node in every_node():
        assert set(node) <= JUDGED | WITHOUT_EFFECT
        if "anyOf" in node:
            assert node["x-kubernetes-int-or-string"]
        for rule in node.get("x-kubernetes-validations", ()):
            assert set(rule) <= {"rule", "message"}


def test_every_node_can_be_judged():
    for custom in (True, False):
        for node in every_node():
            if custom or "x-kubernetes-validations" not in node:
                structural.check(node, custom=custom)
