"""The schemas and their validator: valid documents pass, invalid ones do not."""

import copy
import json
import math
import re
from collections.abc import Iterator
from pathlib import Path

import hypothesis.strategies as st
import pytest
import yaml
from hypothesis import given, settings
from jsonschema import Draft202012Validator
from jsonschema.exceptions import ValidationError
from jsonschema.validators import extend

from policygen.core.finding import At, Hit
from policygen.documents.document import Header
from policygen.spec import forms, schema, schema_errors
from policygen.spec.forms import SCHEDULER_CONFIG, DocumentForm
from tests.spec.form_documents import ALL_FORMS, BAD, CORPUS, by_name

ROOT = Path(__file__).parents[2]
SCHEMAS = sorted((ROOT / "schemas" / "spec").glob("*.json"))
RULES_BESIDE_THE_SCHEMA = {"duplicate-entry"}


def header(data) -> Header:
    return Header(data.get("apiVersion"), data.get("kind"), data.get("metadata", {}).get("name"))


def inner(data):
    return yaml.safe_load(data["data"]["scheduler-config.yaml"])


def good() -> Iterator[tuple[str, DocumentForm, dict]]:
    for path in sorted((CORPUS / "good").glob("*.yaml")):
        for number, data in enumerate(yaml.safe_load_all(path.read_text(encoding="utf-8"))):
            form = SCHEDULER_CONFIG
            if path.stem != "scheduler-config":
                form = forms.form_of(header(data), 0)
            yield f"{path.stem} {number}", form, data
    for path in sorted((ROOT / "examples").glob("*/*.yaml")):
        for number, data in enumerate(yaml.safe_load_all(path.read_text(encoding="utf-8"))):
            form = forms.form_of(header(data), 0)
            yield f"{path.parent.name}/{path.stem} {number}", form, data
            if form is forms.ARTICLE_QUEUES:
                yield f"{path.parent.name}/{path.stem} inside", SCHEDULER_CONFIG, inner(data)


GOOD = list(good())


def pattern_of_json_schema(_, pattern, instance, __):
    # `$` of Python also matches before a final line break, `$` of JSON Schema does not.
    if isinstance(instance, str) and not re.search(pattern.replace("$", r"\Z"), instance):
        yield ValidationError("does not match")


def is_finite_number(_, instance):
    is_number = isinstance(instance, int | float) and not isinstance(instance, bool)
    return is_number and math.isfinite(instance)


OTHER_VALIDATOR = extend(
    Draft202012Validator,
    {"pattern": pattern_of_json_schema},
    type_checker=Draft202012Validator.TYPE_CHECKER.redefine("number", is_finite_number),
)
"""Another implementation of JSON Schema than policygen's."""


def slow_is_valid(form: DocumentForm, data) -> bool:
    return bool(OTHER_VALIDATOR(schema.read(form.schema)).is_valid(data))


def test_the_corpus_is_large_enough():
    assert len([name for name, *_ in GOOD if "/" not in name]) >= 40
    assert len(BAD) >= 80
    assert {form for _, form, *_ in GOOD} == set(ALL_FORMS) == {form for _, form, *_ in BAD}


@pytest.mark.parametrize("form, data", by_name(GOOD))
def test_good_documents_pass(form, data):
    assert schema.check(form, data, 0) == []
    assert slow_is_valid(form, data)


@pytest.mark.parametrize("form, data, expected", by_name(BAD))
def test_both_validators_agree_on_bad_documents(form, data, expected):
    valid = all(
        wanted["rule"] == "duplicate-entry" and isinstance(wanted["at"][-1], str)
        for wanted in expected
    )
    assert schema.is_valid(form, data) is valid
    assert slow_is_valid(form, data) is valid


def test_validators_that_disagree_are_an_error(monkeypatch):
    monkeypatch.setattr(schema, "is_valid", lambda *_: False)
    (hit,) = schema.check(
        forms.PLATFORM, {"apiVersion": forms.OWN, "kind": "Platform", "metadata": {"name": "a"}}, 3
    )
    assert (hit.rule.name, hit.at) == ("unexplained-refusal", At(3))


def read(path):
    return json.loads(path.read_text(encoding="utf-8"))


def places(node, path=()):
    """Every schema inside a schema, with its path."""
    yield path, node
    for keyword in ("properties", "$defs"):
        for name, below in node.get(keyword, {}).items():
            yield from places(below, (*path, keyword, name))
    for keyword in ("items", "additionalProperties"):
        if isinstance(node.get(keyword), dict):
            yield from places(node[keyword], (*path, keyword))


every_schema = pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.name)


def test_every_schema_has_a_form_and_a_name():
    files = {path.name for path in SCHEMAS}
    assert files == {form.schema for form in ALL_FORMS}
    assert files == set(forms.schema_names().values())
    assert all(json.loads(schema.source(file))["title"] for file in files)


@every_schema
def test_a_schema_is_one(path):
    data = read(path)
    Draft202012Validator.check_schema(data)
    assert data["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert data["$id"] == f"https://policygen.dev/schemas/v1alpha1/{path.name}"
    assert path.read_text(encoding="utf-8") == json.dumps(data, indent=2, ensure_ascii=False) + "\n"


@every_schema
def test_keywords_are_those_that_are_walked_and_explained(path):
    known = {"$schema", "$id", "$defs", "$ref", "title", "description", "examples", "default"}
    known |= {"properties", "items", "format", "contentMediaType", *schema_errors.EXPLANATIONS}
    for _, node in places(read(path)):
        assert set(node) <= known


@every_schema
def test_every_property_and_definition_is_described(path):
    for where, node in places(read(path)):
        if where and where[-1] != "items":
            sentence = node["description"]
            assert len(sentence) > 12, where
            assert sentence[0].isupper(), where
            assert sentence.endswith("."), where


@every_schema
def test_optional_properties_state_their_default(path):
    data = read(path)
    for where, node in places(data):
        for name, below in node.get("properties", {}).items():
            resolved = {**data.get("$defs", {}).get(below.get("$ref", "")[8:], {}), **below}
            if name in node.get("required", ()) or where[-1:] == ("metadata",):
                continue
            stated = "default" in resolved or "Default: " in resolved["description"]
            assert stated or resolved.get("type") == "object", (where, name)


@every_schema
def test_mappings_are_closed_and_references_stay_inside(path):
    data = read(path)
    used = set(re.findall(r'"#/\$defs/(\w+)"', json.dumps(data)))
    assert used == set(data.get("$defs", {}))
    for where, node in places(data):
        if "properties" in node:
            assert node["additionalProperties"] is False, where
        if node.get("type") == "object":
            assert "additionalProperties" in node, where
        if node.get("type") == "integer":
            assert {"minimum", "maximum"} <= set(node), where
        for example in node.get("examples", []) + [node[k] for k in ("default",) if k in node]:
            root = {**node, "$defs": data.get("$defs", {})}
            assert Draft202012Validator(root).is_valid(example), (where, example)


def test_definitions_of_one_name_are_equal_everywhere():
    seen: dict[str, tuple[str, object]] = {}
    for path in SCHEMAS:
        for name, definition in read(path).get("$defs", {}).items():
            file, first = seen.setdefault(name, (path.name, definition))
            assert definition == first, f"{name} differs between {file} and {path.name}"


@every_schema
def test_lists_with_a_key_are_checked_for_duplicates(path):
    keyed = set()
    for where, node in places(read(path)):
        names = node.get("items", {}).get("required", [])
        if "items" not in where:  # spec/clusters.py checks lists in lists
            keyed |= {(where[1::2], key) for key in ("name", "pool") if key in names}
    assert keyed == set(schema.KEYED.get(path.name, ()))


scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**20) + 1, 10**20 - 1),
    st.floats(),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=80),
    st.sampled_from(["64", "1.5", "yes", "kueue", "a", "name", "spec", "", "80Gi", "A"]),
)

values = st.recursive(
    scalars,
    lambda inside: (
        st.lists(inside, max_size=3) | st.dictionaries(st.text(max_size=5), inside, max_size=3)
    ),
    max_leaves=6,
)


def ways(data, path=()):
    yield path
    entries = (
        data.items()
        if isinstance(data, dict)
        else enumerate(data)
        if isinstance(data, list)
        else ()
    )
    for step, below in entries:
        yield from ways(below, (*path, step))


@st.composite
def mutated(draw):
    _, form, data = draw(st.sampled_from(GOOD))
    data = copy.deepcopy(data)
    for _ in range(draw(st.integers(1, 4))):
        path = draw(st.sampled_from(list(ways(data))))
        if not path:
            continue
        parent = data
        for step in path[:-1]:
            parent = parent[step]
        action = draw(st.sampled_from(["replace", "remove", "repeat", "rename", "add"]))
        if action == "replace":
            parent[path[-1]] = draw(values)
        elif action == "remove":
            del parent[path[-1]]
        elif action == "repeat" and isinstance(parent, list):
            parent.append(parent[path[-1]])
        elif action == "rename" and isinstance(parent, dict):
            parent[draw(st.text(max_size=12))] = parent.pop(path[-1])
        elif action == "add" and isinstance(parent, dict):
            parent[draw(st.sampled_from(["name", "Spec", "gpus", "x", "pools"]))] = draw(values)
    return form, data


@settings(max_examples=200, deadline=None)
@given(mutated())
def test_mutations_are_judged_alike_and_never_crash(case):
    form, data = case
    hits = schema.check(form, data, 0)
    assert all(isinstance(hit, Hit) and hit.message.isprintable() for hit in hits)
    assert "unexplained-refusal" not in {hit.rule.name for hit in hits}
    valid = schema.is_valid(form, data)
    assert valid is slow_is_valid(form, data)
    if not valid:
        assert hits
    else:
        assert {hit.rule.name for hit in hits} <= RULES_BESIDE_THE_SCHEMA


@settings(max_examples=100, deadline=None)
@given(values)
def test_any_value_is_judged(data):
    for form in ALL_FORMS:
        hits = schema.check(form, data, 0)
        assert not hits or "unexplained-refusal" not in {hit.rule.name for hit in hits}
