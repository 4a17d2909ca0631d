"""What the reader of the schemas refuses, at which place, and what it says."""

import copy
import re

import msgspec
import pytest

from policygen.api_validation import cel, structural, workload_code
from policygen.api_validation.refusal import Reason
from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import folder, index, object_meta, served

KUEUE = "kueue.x-k8s.io/v1beta2"
QUEUE = {
    "apiVersion": KUEUE,
    "kind": "ClusterQueue",
    "metadata": {"name": "nlp.a100"},
    "spec": {
        "cohortName": "a100",
        "resourceGroups": [
            {
                "coveredResources": ["nvidia.com/gpu"],
                "flavors": [
                    {
                        "name": "a100",
                        "resources": [
                            {"name": "nvidia.com/gpu", "nominalQuota": 8, "borrowingLimit": "8"}
                        ],
                    }
                ],
            }
        ],
    },
}
FLAVOR = ("spec", "resourceGroups", 0, "flavors", 0)
GPU = (*FLAVOR, "resources", 0)


def said(thing):
    return list(refusals(thing, served(thing["apiVersion"], thing["kind"])))


def changed(path, value, thing=QUEUE):
    """The object with this value there; `...` takes it away."""
    thing = copy.deepcopy(thing)
    holder = thing
    for step in path[:-1]:
        holder = holder[step]
    if value is ...:
        del holder[path[-1]]
    else:
        holder[path[-1]] = value
    return thing


def core(kind, api_version="v1", **fields):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **fields}


def test_a_good_object_is_not_refused():
    assert said(QUEUE) == []


@pytest.mark.parametrize(
    "path, value, where, reason, message",
    [
        (
            ("spec", "cohort"),
            "a100",
            ("spec", "cohort"),
            Reason.UNKNOWN_FIELD,
            'field "cohort" is unknown in spec; did you mean "cohortName"?',
        ),
        (
            ("spec", "queueingStrategy"),
            "StrictFifo",
            ("spec", "queueingStrategy"),
            Reason.VALUE,
            'queueingStrategy "StrictFifo" is not supported; did you mean "StrictFIFO"?',
        ),
        (
            ("spec", "cohortName"),
            7,
            ("spec", "cohortName"),
            Reason.TYPE,
            "cohortName must be a string, not 7; put it in quotes",
        ),
        (
            ("spec", "resourceGroups"),
            {},
            ("spec", "resourceGroups"),
            Reason.TYPE,
            "resourceGroups must be a list, not a mapping",
        ),
        (
            (*GPU, "nominalQuota"),
            ...,
            GPU,
            Reason.MISSING_FIELD,
            "required field nominalQuota is missing in resources[0]; write it",
        ),
        (
            (*GPU, "nominalQuota"),
            1.5,
            (*GPU, "nominalQuota"),
            Reason.TYPE,
            "nominalQuota must be an integer or a string, not 1.5; put it in quotes",
        ),
        (
            (*FLAVOR, "resources"),
            QUEUE["spec"]["resourceGroups"][0]["flavors"][0]["resources"] * 2,
            (*FLAVOR, "resources", 1),
            Reason.DUPLICATE_ENTRY,
            'resources[1] repeats name "nvidia.com/gpu" of resources[0]; remove one of them',
        ),
        (
            (*FLAVOR, "resources"),
            [],
            (*FLAVOR, "resources"),
            Reason.LENGTH,
            "resources has no entries; write at least 1",
        ),
        (
            ("spec", "cohortName"),
            "a" * 254,
            ("spec", "cohortName"),
            Reason.LENGTH,
            "cohortName has 254 characters; write at most 253",
        ),
        (
            ("spec", "cohortName"),
            ...,
            ("spec",),
            Reason.CRD_RULE,
            (
                "spec breaks a rule of its CRD: borrowingLimit must be nil when cohort is empty; "
                "write cohortName, or remove borrowingLimit"
            ),
        ),
        (
            ("metadata", "name"),
            "NLP",
            ("metadata", "name"),
            Reason.NAME,
            (
                'name "NLP" is not valid for a ClusterQueue; write lower-case letters, digits, "-" and ".", '
                "beginning and ending with a letter or digit"
            ),
        ),
        (
            ("metadata", "labels"),
            {"team": "a b"},
            ("metadata", "labels", "team"),
            Reason.LABEL,
            (
                'team "a b" is not a valid label value; write letters, digits, "-", "_" and ".", at most 63, '
                "beginning and ending with a letter or digit"
            ),
        ),
        (
            ("metadata", "labels"),
            {"team": 1},
            ("metadata", "labels", "team"),
            Reason.TYPE,
            "team must be a string, not 1; put it in quotes",
        ),
        (
            ("metadata", "annotations"),
            {"a": "x" * 300_000},
            ("metadata", "annotations"),
            Reason.ANNOTATION,
            "annotations have 300001 bytes together; write at most 262144 (256 KiB)",
        ),
    ],
)
def test_place_rule_and_message(path, value, where, reason, message):
    thing = changed(path, value)
    assert [(r.path, r.reason, r.message) for r in said(thing)] == [(where, reason, message)]


def test_a_pattern_that_many_schemas_have_is_described():
    [refusal] = said(changed((*GPU, "nominalQuota"), "8 Gi"))
    assert refusal.reason == Reason.FORMAT
    assert (
        refusal.message
        == 'nominalQuota "8 Gi" is not a valid quantity; write a number such as 500m or 80Gi'
    )


def test_another_pattern_is_quoted():
    found = []
    structural.check({"type": "string", "pattern": "^[^:]+$"}, custom=True)("a:b", None, found)
    assert [each.message for each in found] == [
        '"a:b" is not valid; write a value that matches ^[^:]+$'
    ]


def test_every_fault_is_reported():
    thing = changed(("spec", "preemptoin"), {})
    thing["spec"]["queueingStrategy"] = "x"
    del thing["spec"]["resourceGroups"][0]["coveredResources"]
    assert [r.reason for r in said(thing)] == [
        Reason.MISSING_FIELD,
        Reason.UNKNOWN_FIELD,
        Reason.VALUE,
    ]


def test_an_unknown_field_is_told_at_its_key():
    [refusal] = said(changed(("spec", "cohort"), "a"))
    assert refusal.key


def test_rules_are_judged_with_the_defaults_that_the_server_fills_in():
    thing = changed(("spec", "preemption"), {"borrowWithinCohort": {"policy": "LowerPriority"}})
    [refusal] = said(thing)  # reclaimWithinCohort is Never by default
    assert (refusal.path, refusal.reason) == (("spec", "preemption"), Reason.CRD_RULE)


def test_the_object_itself_is_left_as_it_was():
    thing = changed(("spec", "queueingStrategy"), None)
    before = copy.deepcopy(thing)
    assert said(thing) == []
    assert thing == before


def test_status_is_not_judged_where_the_server_drops_it():
    assert said({**QUEUE, "status": {"anything": 1}}) == []


@pytest.mark.parametrize(
    "thing, path, reason",
    [
        (core("PriorityClass", "scheduling.k8s.io/v1", value=1.0), ("value",), Reason.TYPE),
        (core("PriorityClass", "scheduling.k8s.io/v1", value=1 << 31), ("value",), Reason.RANGE),
        (
            core("ResourceQuota", spec={"hard": {"pods": "1 Gi"}}),
            ("spec", "hard", "pods"),
            Reason.FORMAT,
        ),
        (core("ConfigMap", data={"a": True}), ("data", "a"), Reason.TYPE),
        (core("ConfigMap", binaryData={"a": "!"}), ("binaryData", "a"), Reason.FORMAT),
        (core("LimitRange", spec={"limits": [{}]}), ("spec", "limits", 0), Reason.MISSING_FIELD),
        (core("Pod"), ("spec",), Reason.MISSING_FIELD),
        (core("Namespace", metadata={"name": "a.b"}), ("metadata", "name"), Reason.NAME),
        (core("Namespace", metadata={}), ("metadata",), Reason.MISSING_FIELD),
        (core("Namespace", metadata=[]), ("metadata",), Reason.TYPE),
    ],
)
def test_built_in_kinds_are_judged_as_go_reads_them(thing, path, reason):
    assert [(r.path, r.reason) for r in said(thing)] == [(path, reason)]


@pytest.mark.parametrize(
    "thing",
    [
        core("PriorityClass", "scheduling.k8s.io/v1"),  # Go reads 0
        core("PriorityClass", "scheduling.k8s.io/v1", value=1, preemptionPolicy=None),
        core("LimitRange", spec={}),
        core("ResourceQuota", spec={"hard": {"cpu": 1.5, "memory": "+"}}),
        core("Role", "rbac.authorization.k8s.io/v1", metadata={"name": "system:A_b"}),
    ],
)
def test_what_go_takes_is_taken(thing):
    assert said(thing) == []


def test_unserved_kinds_and_versions_have_no_schema():
    assert served("kueue.x-k8s.io/v1alpha1", "Topology") is None
    assert served(KUEUE, "Queue") is None
    assert served("../../spec", "x") is None
    stranger = msgspec.structs.replace(served(KUEUE, "Cohort"), version="v9")
    with pytest.raises(LookupError):
        list(refusals(QUEUE, stranger))


# What keeps the reader honest when the schemas change

JUDGED = {
    "additionalProperties", "default", "enum", "format", "items", "maxItems", "maxLength",
    "maxProperties", "maximum", "minItems", "minLength", "minimum", "pattern", "properties",
    "required", "type", "x-kubernetes-int-or-string", "x-kubernetes-list-map-keys",
    "x-kubernetes-list-type", "x-kubernetes-preserve-unknown-fields", "x-kubernetes-validations",
    "x-policygen-type",
}  # fmt: skip
WITHOUT_EFFECT = {
    "anyOf",  # beside x-kubernetes-int-or-string, and says the same
    "x-kubernetes-map-type",  # matters to server-side apply only
}


def nodes(schema):
    yield schema
    for part in schema.get("properties", {}).values():
        yield from nodes(part)
    for key in ("items", "additionalProperties"):
        if key in schema:
            yield from nodes(schema[key])


def every_node():
    yield from nodes(object_meta())
    for at, kinds in index().kinds.items():
        for kind in kinds:
            yield from nodes(served(at.removeprefix("core/"), kind).schema)


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


def test_every_cel_rule_that_judges_an_object_is_here_and_no_other():
    told = {r["rule"] for node in every_node() for r in node.get("x-kubernetes-validations", ())}
    assert {rule for rule in told if not re.search(r"\boldSelf\b", rule)} == set(cel.RULES)


def test_index_lists_the_files():
    there = {
        path.relative_to(folder()).with_suffix("").as_posix()
        for path in folder().rglob("*.json")
        if path.name not in {workload_code.FILE, "index.json", "ObjectMeta.json"}
    }
    assert there == {f"{at}/{kind}" for at, kinds in index().kinds.items() for kind in kinds}
