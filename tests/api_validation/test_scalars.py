"""Validation of scalars by their schemas."""

import pytest

from policygen.api_validation import structural
from policygen.api_validation.refusal import Reason
from tests.api_validation.objects import GPU, changed, refusals_of


def core(kind, api_version="v1", **fields):
    return {"apiVersion": api_version, "kind": kind, "metadata": {"name": "a"}, **fields}


def test_a_pattern_that_many_schemas_have_is_described():
    [refusal] = refusals_of(changed((*GPU, "nominalQuota"), "8 Gi"))
    assert refusal.reason == Reason.FORMAT
    assert (
        refusal.message
        == 'nominalQuota "8 Gi" is not a valid quantity; write a number such as 500m or 80Gi'
    )


def test_an_amount_of_a_built_in_kind_with_an_informal_unit():
    found = []
    structural.check({"x-policygen-type": "quantity"}, custom=False)(
        "64GB", (None, "memory"), found
    )
    [refusal] = found
    assert refusal.message == 'memory "64GB" is not a valid quantity; write 64Gi or 64G'


@pytest.mark.parametrize("text", ["0x" + "f" * 5000, "1" * 5000 + " Gi"])
def test_an_amount_of_thousands_of_characters(text):
    found = []
    structural.check({"x-policygen-type": "quantity"}, custom=False)(text, None, found)
    assert [each.reason for each in found] == [Reason.FORMAT]


def test_another_pattern_is_quoted():
    found = []
    structural.check({"type": "string", "pattern": "^[^:]+$"}, custom=True)("a:b", None, found)
    assert [each.message for each in found] == [
        '"a:b" is not valid; write a value that matches ^[^:]+$'
    ]


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
    assert [(r.path, r.reason) for r in refusals_of(thing)] == [(path, reason)]


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
    assert refusals_of(thing) == []
