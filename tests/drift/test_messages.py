"""The message of a difference: the field, both values, and the author on the cluster."""

import pytest
from msgspec import UNSET

from policygen.core.finding import At
from policygen.drift.compare import FieldDifference
from policygen.drift.messages import NOT_KEPT, amounts, author, message, subject, value
from policygen.kubernetes.object import Object

QUOTA = ("spec", "flavors", 0, "resources", 1, "nominalQuota")
NAMED = ("spec", "flavors", "a100", "resources", "memory", "nominalQuota")


def cell(flavor, resource):
    return (*NAMED[:2], flavor, NAMED[3], resource, NAMED[5])


def difference(wanted, found, path=QUOTA, named=NAMED, **more):
    return FieldDifference(path, wanted, found, path, named=named, **more)


def thing(**metadata):
    return Object(At(0), "v1", "Thing", "a", "", {"metadata": metadata})


@pytest.mark.parametrize(
    ("path", "named", "words"),
    [
        (QUOTA, NAMED, "nominalQuota of resource memory of flavor a100"),
        (("spec", "stopPolicy"), ("spec", "stopPolicy"), "stopPolicy"),
        (("metadata", "labels", "a.b/c"), (), "label a.b/c"),
        (("spec", "nodeLabels", "a.b/c"), ("spec", "nodeLabels", "a.b/c"), 'nodeLabels["a.b/c"]'),
        (("spec", "levels", 1), ("spec", "levels", 1), "levels[1]"),
        (("spec", "deserved", "cpu"), (), "deserved.cpu"),
        (("spec", "deserved", "a/b"), (), 'deserved["a/b"]'),
        (("spec", "guarantee", "resource", "cpu"), (), "guarantee.resource.cpu"),
        (("spec", "guarantee", "resource", "a/b"), (), 'guarantee.resource["a/b"]'),
    ],
)
def test_the_subject(path, named, words):
    assert subject(difference(1, 2, path, named)) == words


@pytest.mark.parametrize(
    ("wanted", "found", "planned", "words"),
    [
        (1, 2, 1, "is 2 on the cluster, but the spec renders 1; "),
        (1, UNSET, 1, "is not set on the cluster, but the spec renders 1; "),
        (UNSET, 2, UNSET, "is 2 on the cluster, but the spec does not set it; "),
        (
            1,
            2,
            UNSET,
            "is 2 on the cluster, but the spec does not set this field, whose default is 1; ",
        ),
    ],
)
def test_both_values(wanted, found, planned, words):
    assert words in message(difference(wanted, found), thing(), planned)


def test_another_order():
    words = message(difference([1], [1], reordered=True), thing(), [1])
    assert "has the correct entries, but in another order" in words


@pytest.mark.parametrize(
    ("one", "other", "words"),
    [
        ("64", "72", ""),
        ("64Gi", "72Gi", ""),
        ("12345", "1", ""),
        ("123456Ki", "1Ki", " (120.6 MiB and 1 KiB)"),
        ("1Gi", "1Mi", " (1 GiB and 1 MiB)"),
        ("1500m", "2", " (1.5 bytes and 2 bytes)"),
        ("512Gi", "3000Gi", ""),
        ("1536Gi", "3145728000Ki", " (1.5 TiB and 2.93 TiB)"),
        ("1Ti", "1099511627777", " (1Ti and 1099511627777)"),
        ("x", "2", ""),
    ],
)
def test_quantities_for_people(one, other, words):
    assert amounts(difference(one, other, is_quantity=True), one, other) == words
    assert amounts(difference(one, other), one, other) == ""


@pytest.mark.parametrize(
    ("named", "words"),
    [
        (("spec", "hard", "requests.cpu"), " (240 cores and 0.5 cores)"),
        (("spec", "hard", "requests.storage"), " (240 bytes and 0.5 bytes)"),
        (cell("a100", "hugepages-2Mi"), " (240 bytes and 0.5 bytes)"),
        (cell("cpu", "nvidia.com/gpu"), " (240 and 0.5)"),
        (cell("high-memory", "nvidia.com/gpu"), " (240 and 0.5)"),
        (cell("memory", "volcano.sh/vgpu-memory"), " (240 and 0.5)"),
    ],
)
def test_only_the_resource_decides_the_unit(named, words):
    found = difference("240", "500m", QUOTA, named, is_quantity=True)
    assert amounts(found, "240", "500m") == words


def test_who_wrote_it():
    fields = {"f:spec": {"f:stopPolicy": {}}}
    managers = [
        {"manager": name, "operation": "Update", "fieldsV1": fields, "time": time}
        for name, time in [
            ("kubectl-edit", "2026-11-21T03:00:00Z"),
            ("helm", "2026-11-20T03:00:00Z"),
        ]
    ]
    words = author(thing(managedFields=managers), ("spec", "stopPolicy"))
    assert words.startswith("written by kubectl-edit (Update), at 2026-11-21T03:00:00Z")
    assert words.endswith(", also owned by helm")
    assert author(thing(managedFields=managers), ("spec", "other"), gone=True) == NOT_KEPT
    assert author(thing(managedFields=managers), ("spec", "other")) == "no manager owns the field"
    assert "no managedFields" in author(thing(), ("spec", "stopPolicy"))


def test_a_value_is_short():
    assert value({"a": "é"}) == '{"a": "é"}'
    assert len(value("x" * 1000)) < 100
