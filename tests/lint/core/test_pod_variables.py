"""Environment variables that API servers refuse; `tests/servers/container_families.py` asks a server for more."""

import pytest

from tests.lint.core.test_field_pairs import pod

KEY = {"configMapKeyRef": {"name": "a", "key": "b"}}


def faults(**variable):
    return pod({"containers": [{"name": "main", "env": [{"name": "A", **variable}]}]})


def field(path, **ref):
    return {"valueFrom": {"fieldRef": {"fieldPath": path, **ref}}}


def resource(name, **ref):
    return {"valueFrom": {"resourceFieldRef": {"resource": name, **ref}}}


@pytest.mark.parametrize(
    ("variable", "path", "words"),
    [
        ({"value": "a", "valueFrom": KEY}, (), "value and valueFrom, which is refused"),
        ({"valueFrom": {}}, (), "valueFrom without a source"),
        ({"valueFrom": KEY | {"secretKeyRef": {"name": "a", "key": "b"}}}, (), "with configMapKeyRef and secretKeyRef"),
        (field("metadata.nam"), ("fieldRef", "fieldPath"), 'did you mean "metadata.name"?'),
        (field("metadata.labels"), ("fieldRef", "fieldPath"), '"metadata.labels", which is refused'),
        (field("metadata.labels['a b']"), ("fieldRef", "fieldPath"), '"a b"'),
        (field("metadata.uid", apiVersion="v2"), ("fieldRef", "apiVersion"), "write v1"),
        (resource("limits.gpu"), ("resourceFieldRef", "resource"), '"limits.gpu", which is refused'),
        (resource("limits.cpu", divisor="1Mi"), ("resourceFieldRef", "divisor"), "write 1 or 1m"),
        (resource("limits.memory", divisor=1024), ("resourceFieldRef", "divisor"), "1Gi"),
    ],
)  # fmt: skip
def test_variables_that_are_refused(variable, path, words):
    ((at, message),) = faults(**variable)
    assert at == ("containers", 0, "env", 0, "valueFrom", *path)
    assert "variable A" in message
    assert words in message


@pytest.mark.parametrize(
    "variable",
    [
        {"value": "a"},
        {"value": "", "valueFrom": KEY},
        {"value": "a", "valueFrom": None},
        field("spec.nodeName"),
        field("spec.host"),
        field("metadata.labels['a.b/c']"),
        field("metadata.annotations['A.b/c']"),
        resource("requests.hugepages-2Mi", divisor="1024Ki"),
        resource("limits.cpu", divisor="1000m"),
        resource("limits.cpu", divisor=0),
    ],
)
def test_variables_that_are_not(variable):
    assert faults(**variable) == []


@pytest.mark.parametrize(
    "entry", [None, {}, {"configMapRef": {"name": "a"}, "secretRef": {"name": "b"}}]
)
def test_an_entry_of_env_from_has_one_source(entry):
    ((at, message),) = pod({"containers": [{"name": "main", "envFrom": [entry]}]})
    assert at == ("containers", 0, "envFrom", 0)
    assert "write configMapRef or secretRef" in message


@pytest.mark.parametrize("name", [None, "", "a_b"])
def test_an_entry_of_env_from_has_a_valid_name(name):
    entry = {"configMapRef": {"name": name}}
    ((at, message),) = pod({"containers": [{"name": "main", "envFrom": [entry]}]})
    assert at == ("containers", 0, "envFrom", 0, "configMapRef")
    assert "write a valid name" in message


def test_a_source_without_a_name_is_refused():
    ((at, message),) = faults(valueFrom={"secretKeyRef": {"key": "a"}})
    assert at == ("containers", 0, "env", 0, "valueFrom", "secretKeyRef")
    assert "no name, which is refused" in message
