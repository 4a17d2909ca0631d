"""The identity of an object, with any metadata."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.object import Object


def read(api_version="v1", kind="Pod", **metadata):
    return Object.read({"apiVersion": api_version, "kind": kind, "metadata": metadata}, At(0))


@pytest.mark.parametrize(
    "data",
    [
        None,
        [],
        {},
        {"kind": "Pod"},
        {"apiVersion": "v1", "kind": ""},
        {"apiVersion": 1, "kind": "a"},
    ],
)
def test_data_without_a_kind_is_not_an_object(data):
    assert Object.read(data, At(0)) is None


def test_group_and_version():
    it = read("kueue.x-k8s.io/v1beta2", "Cohort")
    assert (it.group, it.version) == ("kueue.x-k8s.io", "v1beta2")
    assert (read().group, read().version) == ("", "v1")


def test_a_namespace_of_a_kind_without_one_is_ignored():
    assert read("scheduling.k8s.io/v1", "PriorityClass", name="a", namespace="b").namespace == ""
    assert read("example.com/v1", "PriorityClass", name="a", namespace="b").namespace == "b"


def test_metadata_of_a_wrong_type_are_missing():
    it = read(name=1, namespace=[], labels={"a": 1, "b": "c"}, annotations=[])
    assert (it.name, it.namespace, it.labels, it.annotations) == ("", "", {"b": "c"}, {})
    assert Object.read({"apiVersion": "v1", "kind": "Pod", "metadata": 5}, At(0)).name == ""


@pytest.mark.parametrize(
    ("metadata", "name"),
    [
        ({"name": "a", "namespace": "b"}, "Pod b/a"),
        ({"name": "a"}, "Pod a"),
        ({"generateName": "a-", "namespace": "b"}, "Pod b/a-*"),
        ({"namespace": "b"}, "Pod"),
    ],
)
def test_its_name_in_messages(metadata, name):
    assert str(read(**metadata)) == name


def test_who_has_an_owner_is_made():
    assert read(ownerReferences=[{"kind": "Job"}]).is_made
    assert not read(ownerReferences=[]).is_made
