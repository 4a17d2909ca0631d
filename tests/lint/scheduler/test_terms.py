"""Plugins and fields of each release of kube-scheduler."""

from policygen.core.versions import Version
from policygen.lint.core.typed_fields import faults
from policygen.lint.scheduler import terms


def test_a_plugin_has_its_extension_points():
    new = Version(1, 36)
    assert terms.extends("DefaultBinder", "bind", new)
    assert terms.extends("DefaultBinder", "multiPoint", new)
    assert not terms.extends("DefaultBinder", "score", new)
    assert terms.extends("Mine", "score", new)
    assert not terms.extends("Coscheduling", "score", new)
    assert terms.extends("GangScheduling", "reserve", Version(1, 35))
    assert not terms.extends("GangScheduling", "reserve", new)
    assert terms.sorts("PrioritySort")
    assert not terms.sorts("Mine")


def test_plugins_of_a_release():
    assert terms.in_tree("NodeResourcesFit")
    assert not terms.in_tree("Mine")
    early, late = (set(terms.plugins(Version(1, minor))) for minor in (33, 37))
    assert "NodeResourcesFit" in early <= late


def test_the_types_of_a_configuration():
    fields = terms.configuration(Version(1, 36))
    data = {"parallelism": "8", "profiles": [{"plugins": {"score": {"enabled": "x"}}}]}
    assert [path for path, _ in faults(data, fields)] == [
        ("parallelism",),
        ("profiles", 0, "plugins", "score", "enabled"),
    ]


def test_arguments_come_with_a_release():
    assert terms.arguments("Mine", Version(1, 36)) is None
    assert "bindingTimeout" in terms.arguments("DynamicResources", Version(1, 36))
    assert "bindingTimeout" not in terms.arguments("DynamicResources", Version(1, 35))
