"""Prevalidation accepts valid objects, and never accepts an object that the full check refuses."""

import json
import random

import pytest

from policygen.api_validation.prevalidate import acceptor
from policygen.api_validation.refusals import refusals_with_apply
from policygen.api_validation.schemas import index, served
from policygen.documents import fast_json
from policygen.documents.parsed import UNUSUAL
from tests.servers.mutations import changes
from tests.servers.samples import samples

SAMPLES = samples()
PER_SAMPLE = 150


def kind_of(thing):
    return served(thing["apiVersion"], thing["kind"])


def accepts(thing):
    return acceptor(thing["apiVersion"], thing["kind"]).accepts(thing)


def is_refused(thing):
    return bool(list(refusals_with_apply(thing, kind_of(thing))))


def name(thing):
    return f"{thing['apiVersion']}/{thing['kind']}"


def test_every_kind_has_an_acceptor():
    for group, kinds in index().kinds.items():
        for kind in kinds:
            assert not acceptor(group.removeprefix("core/"), kind).accepts({})


@pytest.mark.parametrize("thing", SAMPLES, ids=name)
def test_a_good_object_is_accepted(thing):
    assert accepts(thing)


@pytest.mark.parametrize("thing", SAMPLES, ids=name)
def test_what_is_refused_is_never_accepted(thing):
    draw = random.Random(json.dumps(thing))
    possible = changes(thing)
    accepted = refused = 0
    for change in draw.sample(possible, min(PER_SAMPLE, len(possible))):
        # As it is read: a number without a fraction is an integer.
        changed = fast_json.read(json.dumps(change.of(thing)))
        assert changed is not UNUSUAL
        if accepts(changed):
            accepted += 1
            assert not is_refused(changed), change
        else:
            refused += is_refused(changed)
    assert accepted
    assert refused


@pytest.mark.parametrize("thing", SAMPLES, ids=name)
def test_other_faults_than_those_of_labels_are_found_with_prevalidation(thing):
    draw = random.Random(json.dumps(thing))
    possible = changes(thing)
    for change in draw.sample(possible, min(PER_SAMPLE // 3, len(possible))):
        changed = fast_json.read(json.dumps(change.of(thing)))
        metadata = changed.get("metadata")
        if isinstance(metadata, dict):
            metadata[draw.choice(("labels", "annotations"))] = {"a b": "c"}
        full = list(refusals_with_apply(changed, kind_of(thing)))
        assert list(refusals_with_apply(changed, kind_of(thing), accepts)) == full


def test_a_rule_about_several_entries_is_judged():
    limited = [{"name": "cpu", "nominalQuota": 1, "borrowingLimit": 1}]
    plain = [{"name": "cpu", "nominalQuota": 1}]
    specs = [
        {
            **cohort,
            "resourceGroups": [
                {"coveredResources": ["cpu"], "flavors": [{"name": "a", "resources": it}]}
            ],
        }
        for it in (limited, plain)
        for cohort in ({"cohortName": "one"}, {})
    ]
    queue = {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "ClusterQueue"}
    items = [{**queue, "metadata": {"name": f"q{n}"}, "spec": it} for n, it in enumerate(2 * specs)]
    assert [accepts(it) for it in items] == 2 * [True, False, True, True]
