"""Prevalidation accepts valid objects, and never accepts an object that the full check refuses."""

import json
import random

import pytest

from policygen.api_validation import workload_code
from policygen.api_validation.prevalidate import acceptor
from policygen.api_validation.refusals import refusals_with_apply
from policygen.api_validation.schemas import index, served
from policygen.api_validation.structural import below
from policygen.core.finding import at_path
from policygen.documents import fast_json
from policygen.documents.parsed import UNUSUAL
from tests.api_validation.test_workload_code import wrong
from tests.servers.mutations import changes
from tests.servers.probing import placing
from tests.servers.samples import samples

PER_SAMPLE = 150


def usual(data):
    """The data without fields of pods that `plain_pods` never accepts, and without entries about them."""
    if isinstance(data, dict):
        kept = {key: it for key, it in data.items() if key not in {"lifecycle", "sysctls"}}
        return {key: usual(it) for key, it in kept.items()}
    if isinstance(data, list):
        return [usual(it) for it in data if not is_rare(it)]
    return data


def is_rare(entry):
    source = at_path(entry, ("valueFrom",)) or entry
    return isinstance(source, dict) and bool({"projected", "resourceFieldRef"} & source.keys())


SAMPLES = [
    usual(it) if f"{it['apiVersion']} {it['kind']}" in workload_code.tree() else it
    for it in samples()
]


def kind_of(thing):
    return served(thing["apiVersion"], thing["kind"])


def of_kind(thing):
    return acceptor(thing["apiVersion"], thing["kind"])


def accepts(thing):
    return of_kind(thing).accepts(thing)


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
def test_an_invalid_namespace_is_not_accepted(thing):
    """Tests that change objects for a server keep the namespace, so that it exists."""
    changed = {**thing, "metadata": {**thing["metadata"], "namespace": "a b"}}
    assert accepts(changed) != is_refused(changed)
    assert is_refused(changed) == kind_of(thing).namespaced


@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("thing", SAMPLES, ids=name)
def test_prevalidation_finds_the_same_refusals_as_the_full_check(thing, labels):
    draw = random.Random(json.dumps(thing))
    possible = changes(thing)
    parts = 0
    for change in draw.sample(possible, min(PER_SAMPLE // 3, len(possible))):
        changed = fast_json.read(json.dumps(change.of(thing)))
        metadata = changed.get("metadata")
        if labels and isinstance(metadata, dict):
            metadata[draw.choice(("labels", "annotations"))] = {"a b": "c", "d": "e"}
        full = list(refusals_with_apply(changed, kind_of(thing)))
        part = of_kind(thing).unsure_part(changed)
        assert list(refusals_with_apply(changed, kind_of(thing), part or ())) == full, change
        parts += bool(part)
    assert parts or not labels


@pytest.mark.parametrize(
    "metadata", [{"finalizers": ["a b", "c d"]}, {"labels": {"01": 1, "1": 2}}]
)
def test_faults_in_entries_of_a_list_and_under_numbers_are_found_with_prevalidation(metadata):
    changed = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a", **metadata}}
    full = list(refusals_with_apply(changed, kind_of(changed)))
    assert len(full) == 2
    part = of_kind(changed).unsure_part(changed)
    assert list(refusals_with_apply(changed, kind_of(changed), part)) == full


def pods(schema):
    """The schemas of pods inside a schema."""
    if "containers" in schema.get("properties", {}):
        yield schema
        return
    for part in (*schema.get("properties", {}).values(), *filter(None, [schema.get("items")])):
        yield from pods(part)


def test_built_in_kinds_have_the_same_pods():
    """So that they can share one validator."""
    first, *others = map(served_kind, workload_code.tree())
    (pod,) = pods(served_kind(workload_code.POD).schema)
    assert all([*pods(it.schema)] == [pod] for it in (first, *others))


def served_kind(name):
    return served(*name.split(" "))


CHECKED = {*workload_code.tree(), "batch.volcano.sh/v1alpha1 Job"}
WORKLOADS = [it for it in SAMPLES if f"{it['apiVersion']} {it['kind']}" in CHECKED]


@pytest.mark.parametrize("thing", WORKLOADS, ids=name)
def test_no_accepted_workload_has_a_value_that_the_code_of_the_server_refuses(thing):
    """In its own fields, and in those of its pods."""
    schema = kind_of(thing).schema
    own = workload_code.known().get(f"{thing['apiVersion']} {thing['kind']}", {})
    of_pods = workload_code.known()[workload_code.POD]
    tried = 0
    for facts, ways in ((own, [("spec",)]), (of_pods, [*pod_paths(thing)])):
        for field, fact in facts.items():
            for start in ways:
                path = (*start, *field.split("."))
                part = at_schema(schema, path)
                for value in wrong(fact, is_list=part.get("type") == "array"):
                    changed, _ = placing(thing, schema, path, value, alone=False)
                    assert not accepts(changed), (path, value)
                    tried += 1
    assert tried


def pod_paths(value, path=()):
    """The paths of the pods in an object: of the first entry of each list."""
    if isinstance(value, dict) and "containers" in value:
        yield path
    elif isinstance(value, dict):
        for key, entry in value.items():
            yield from pod_paths(entry, (*path, key))
    elif isinstance(value, list) and value:
        yield from pod_paths(value[0], (*path, "*"))


def at_schema(schema, path):
    for step in path:
        schema = below(schema, 0 if step == "*" else step)
    return schema


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
