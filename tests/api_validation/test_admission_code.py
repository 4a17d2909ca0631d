"""What the API server refuses in admission policies; `tests/servers/families.py` asks a server for more."""

from copy import deepcopy

import pytest

from policygen.api_validation.refusal import Reason
from policygen.api_validation.refusals import refusals
from policygen.api_validation.schemas import served
from tests.servers.families import put

GROUP = "admissionregistration.k8s.io/v1"
RULE = {"apiGroups": [""], "apiVersions": ["v1"], "operations": ["CREATE"], "resources": ["pods"]}
POLICY = {
    "apiVersion": GROUP,
    "kind": "ValidatingAdmissionPolicy",
    "metadata": {"name": "gpu-quota"},
    "spec": {
        "paramKind": {"apiVersion": "v1", "kind": "ConfigMap"},
        "matchConstraints": {"resourceRules": [RULE], "namespaceSelector": {}},
        "matchConditions": [{"name": "gpu", "expression": "true"}],
        "variables": [{"name": "gpus", "expression": "1"}],
        "validations": [{"expression": "variables.gpus > 0", "message": "a", "reason": "Invalid"}],
        "auditAnnotations": [{"key": "gpus", "valueExpression": "'a'"}],
    },
}
BINDING = {
    "apiVersion": GROUP,
    "kind": "ValidatingAdmissionPolicyBinding",
    "metadata": {"name": "gpu-quota"},
    "spec": {
        "policyName": "gpu-quota",
        "paramRef": {"name": "limits", "parameterNotFoundAction": "Deny"},
        "matchResources": {"namespaceSelector": {"matchLabels": {"team": "a"}}},
        "validationActions": ["Deny", "Audit"],
    },
}
MUTATION = {"patchType": "JSONPatch", "jsonPatch": {"expression": "[]"}}
MUTATING = {
    **POLICY,
    "kind": "MutatingAdmissionPolicy",
    "spec": {
        **{it: POLICY["spec"][it] for it in ("paramKind", "matchConstraints", "variables")},
        "reinvocationPolicy": "Never",
        "mutations": [MUTATION],
    },
}
MUTATING_BINDING = {
    **BINDING,
    "kind": "MutatingAdmissionPolicyBinding",
    "spec": {it: BINDING["spec"][it] for it in ("policyName", "paramRef", "matchResources")},
}
RULES, SELECTOR = "matchConstraints resourceRules", "matchConstraints namespaceSelector"


def refusals_of(good, path="", value=None):
    thing = deepcopy(good)
    if path:
        assert put(thing["spec"], path.split(), value)
    kind = served(thing["apiVersion"], thing["kind"])
    return [(" ".join(map(str, it.path[1:])), it.reason) for it in refusals(thing, kind)]


@pytest.mark.parametrize("good", [POLICY, BINDING, MUTATING, MUTATING_BINDING])
def test_a_good_object_is_accepted(good):
    assert refusals_of(good) == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("paramKind apiVersion", "apps/v1"),
        (f"{RULES} 0 resources", ["pods", "pods/status"]),
        (f"{RULES} 0 resources", ["*", "pods/status"]),
        (f"{RULES} 0 resources", ["pods", "*", "pods/status"]),
        (f"{RULES} 0 resourceNames", ["a", ""]),
        (f"{SELECTOR}", {"matchExpressions": [{"key": "a", "operator": "Exists"}]}),
        ("validations 0", {"expression": "1 >\n0"}),
        ("validations 0", {"expression": "1 >\n0", "messageExpression": "'a'"}),
        ("validations", []),
        ("matchConditions 0 expression", "anything + that - the server compiles"),
    ],
)
def test_what_a_policy_can_have(path, value):
    assert refusals_of(POLICY, path, value) == []


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        ("failurePolicy", "", "failurePolicy", Reason.VALUE),
        ("failurePolicy", "fail", "failurePolicy", Reason.VALUE),
        ("paramKind", {}, "paramKind", Reason.MISSING_FIELD),
        ("paramKind apiVersion", "A/v1", "paramKind apiVersion", Reason.FORMAT),
        ("paramKind kind", "config map", "paramKind kind", Reason.FORMAT),
        ("matchConstraints", None, "", Reason.MISSING_FIELD),
        (RULES, [], "matchConstraints", Reason.MISSING_FIELD),
        (f"{RULES} 0 operations", ["*", "CREATE"], f"{RULES} 0 operations", Reason.VALUE),
        (f"{RULES} 0 apiVersions", [""], f"{RULES} 0 apiVersions 0", Reason.VALUE),
        (f"{RULES} 0 apiGroups", [], f"{RULES} 0", Reason.MISSING_FIELD),
        (f"{RULES} 0 resources", ["*", "pods"], f"{RULES} 0 resources", Reason.VALUE),
        (f"{RULES} 0 resources", ["*/*", "pods/status"], f"{RULES} 0 resources", Reason.VALUE),
        (f"{RULES} 0 resources", ["pods/*", "pods/status"], f"{RULES} 0 resources 1", Reason.VALUE),
        (f"{RULES} 0 resources", [""], f"{RULES} 0 resources 0", Reason.VALUE),
        (f"{RULES} 0 resourceNames", ["a/b"], f"{RULES} 0 resourceNames 0", Reason.NAME),
        (f"{RULES} 0 resourceNames", ["a", "a"], f"{RULES} 0 resourceNames 1", Reason.DUPLICATE_ENTRY),
        (f"{RULES} 0 scope", "", f"{RULES} 0 scope", Reason.VALUE),
        (f"{SELECTOR} matchLabels", {"a b": "c"}, f"{SELECTOR} matchLabels a b", Reason.LABEL),
        (f"{SELECTOR} matchLabels", {"a": "b c"}, f"{SELECTOR} matchLabels a", Reason.LABEL),
        (f"{SELECTOR} matchExpressions", [{"key": "a", "operator": "in", "values": ["b"]}], f"{SELECTOR} matchExpressions 0 operator", Reason.VALUE),
        (f"{SELECTOR} matchExpressions", [{"key": "a", "operator": "In"}], f"{SELECTOR} matchExpressions 0 values", Reason.MISSING_FIELD),
        (f"{SELECTOR} matchExpressions", [{"key": "a", "operator": "Exists", "values": ["b"]}], f"{SELECTOR} matchExpressions 0 values", Reason.VALUE),
        (f"{SELECTOR} matchExpressions", [{"key": "a", "operator": "In", "values": ["b c"]}], f"{SELECTOR} matchExpressions 0 values 0", Reason.LABEL),
        ("matchConditions", [{"name": f"c{i}", "expression": "true"} for i in range(65)], "matchConditions", Reason.LENGTH),
        ("matchConditions 0 name", "a b", "matchConditions 0 name", Reason.NAME),
        ("matchConditions 0 expression", " ", "matchConditions 0", Reason.MISSING_FIELD),
        ("matchConditions", [{"name": "a", "expression": "true"}] * 2, "matchConditions 1", Reason.DUPLICATE_ENTRY),
        ("variables 0 name", "a-b", "variables 0 name", Reason.NAME),
        ("variables 0 name", "in", "variables 0 name", Reason.NAME),
        ("variables 0 expression", "", "variables 0", Reason.MISSING_FIELD),
        ("validations 0 message", " ", "validations 0 message", Reason.FORMAT),
        ("validations 0 message", "a\nb", "validations 0 message", Reason.FORMAT),
        ("validations 0 reason", "Unauthorized", "validations 0 reason", Reason.VALUE),
        ("auditAnnotations", [{"key": f"k{i}", "valueExpression": "'a'"} for i in range(21)], "auditAnnotations", Reason.LENGTH),
        ("auditAnnotations 0 key", "a/b", "auditAnnotations 0 key", Reason.NAME),
        ("auditAnnotations", [{"key": "a", "valueExpression": "'a'"}] * 2, "auditAnnotations 1 key", Reason.DUPLICATE_ENTRY),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_policy(path, value, where, reason):
    assert {*refusals_of(POLICY, path, value)} == {(where, reason)}


def test_a_policy_needs_validations_or_audit_annotations():
    empty = {**POLICY, "spec": {**POLICY["spec"], "auditAnnotations": []}}
    assert refusals_of(empty, "validations", []) == [("", Reason.MISSING_FIELD)]


def test_a_misspelled_field_has_one_refusal():
    validation = {"expresion": "true"}
    assert refusals_of(POLICY, "validations 0", validation) == [
        ("validations 0 expresion", Reason.UNKNOWN_FIELD)
    ]


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        ("policyName", "", "", Reason.MISSING_FIELD),
        ("policyName", "A b", "policyName", Reason.NAME),
        ("paramRef", {"parameterNotFoundAction": "Deny"}, "paramRef", Reason.MISSING_FIELD),
        ("paramRef selector", {}, "paramRef", Reason.VALUE),
        ("paramRef name", "a/b", "paramRef name", Reason.NAME),
        ("paramRef parameterNotFoundAction", None, "paramRef", Reason.MISSING_FIELD),
        ("paramRef parameterNotFoundAction", "deny", "paramRef parameterNotFoundAction", Reason.VALUE),
        ("matchResources matchPolicy", "exact", "matchResources matchPolicy", Reason.VALUE),
        ("matchResources resourceRules", [{**RULE, "resources": []}], "matchResources resourceRules 0", Reason.MISSING_FIELD),
        ("validationActions", [], "", Reason.MISSING_FIELD),
        ("validationActions", [""], "validationActions 0", Reason.VALUE),
        ("validationActions", ["Audit", "Audit"], "validationActions 1", Reason.DUPLICATE_ENTRY),
        ("validationActions", ["Deny", "Warn"], "validationActions", Reason.VALUE),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_binding(path, value, where, reason):
    assert {*refusals_of(BINDING, path, value)} == {(where, reason)}


@pytest.mark.parametrize(
    ("path", "value", "where", "reason"),
    [
        ("reinvocationPolicy", "", "", Reason.MISSING_FIELD),
        ("mutations", [], "", Reason.MISSING_FIELD),
        ("mutations 0 patchType", "", "mutations 0", Reason.MISSING_FIELD),
        ("mutations 0 jsonPatch", None, "mutations 0", Reason.MISSING_FIELD),
        ("mutations 0 jsonPatch expression", " ", "mutations 0 jsonPatch", Reason.MISSING_FIELD),
        ("mutations 0 applyConfiguration", {"expression": "Object{}"}, "mutations 0 applyConfiguration", Reason.VALUE),
        (f"{RULES} 0 operations", ["DELETE"], f"{RULES} 0 operations", Reason.VALUE),
        ("variables 0 name", "a-b", "variables 0 name", Reason.NAME),
    ],
)  # fmt: skip
def test_what_is_refused_in_a_mutating_policy(path, value, where, reason):
    assert {*refusals_of(MUTATING, path, value)} == {(where, reason)}


def test_what_is_refused_in_the_binding_of_a_mutating_policy():
    assert refusals_of(MUTATING_BINDING, "policyName", "A b") == [("policyName", Reason.NAME)]
