"""Fields of specs, from their schemas."""

import pytest

from policygen.explain import spec_field
from policygen.spec.forms import schema_names


def below(field):
    yield field
    for child in field.children:
        yield from below(child)


@pytest.mark.parametrize("kind", schema_names())
def test_each_field_can_be_found_and_has_a_type_and_a_description(kind):
    for field in below(spec_field.find(kind)):
        assert field.description, field.path
        assert field.type != "any", field.path
        assert spec_field.find(field.path) == field
        names = [it.path for it in field.children if "." not in it.name]
        assert set(names) <= set(spec_field.paths(f"{field.path}."))


def test_what_a_reference_has_is_a_part_of_the_field():
    name = spec_field.find("ResourcePool.metadata.name")
    assert (name.type, name.required, name.examples) == ("string", True, ("team-a",))
    assert name.description.startswith("Name of the pool")
    assert "at most 63 characters" in name.allowed


def test_lists_mappings_and_constants():
    assert spec_field.find("Team.spec.namespaces").type == "[]object"
    assert spec_field.find("Team.spec.quotas.guarantee").type == "integer or object"
    assert spec_field.find("Team.spec.quotas.guarantee.1g.5gb").name == "<key>"
    assert spec_field.find("Team.kind").allowed == ("Team",)
    assert spec_field.find("ResourcePool.spec.gpu.sharing").default == "none"
