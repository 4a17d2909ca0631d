"""The namespaces of objects that do not exist."""

from msgspec.structs import replace

from policygen.lint.core.missing_namespaces import missing_namespaces
from tests.objects import facts

NAMESPACE = "apiVersion: v1\nkind: Namespace\nmetadata: {name: vision}\n---\n"
QUOTA = "apiVersion: v1\nkind: ResourceQuota\nmetadata: {name: gpus, namespace: %s}\n"


def test_the_objects_of_a_missing_namespace_are_returned():
    found = missing_namespaces(facts(NAMESPACE + QUOTA % "visoin"))
    assert {name: [it.name for it in them] for name, them in found.items()} == {"visoin": ["gpus"]}
    assert not missing_namespaces(facts(NAMESPACE + QUOTA % "vision"))
    assert not missing_namespaces(facts(NAMESPACE + QUOTA % "default"))


def test_without_a_namespace_in_the_input_none_is_missing():
    without = replace(facts(QUOTA % "visoin"), given=frozenset())
    assert not missing_namespaces(without)
