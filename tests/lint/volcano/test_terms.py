"""The keys of Volcano's configuration equal those of the strict reader and of the releases."""

import pytest

from policygen.core.versions import parse
from policygen.lint.volcano import terms
from policygen.lint.volcano.terms import Parameter, ValueType
from tests.servers import volcano_keys

V = {minor: parse("volcano", f"1.{minor}") for minor in (12, 13, 14, 15)}


def test_what_the_strict_reader_takes_is_known():
    assert set(terms.actions(V[14])) == volcano_keys.ACTIONS
    assert set(terms.switches(V[14])) == volcano_keys.SWITCHES
    assert set(terms.TOP) == volcano_keys.TOP
    for plugin, arguments in volcano_keys.ARGUMENTS.items():
        assert plugin in terms.plugins(V[14])
        assert set(arguments) <= set(terms.argument_names(plugin, V[14]))


@pytest.mark.parametrize(
    ("plugin", "name", "releases"),
    [
        ("nodegroup", "strict", {13, 14, 15}),
        ("predicates", "predicate.DynamicResourceAllocationEnable", {12, 13, 14}),
        ("predicates", "predicate.ProportionalEnable", {12}),
        ("network-topology-aware", "hypernode.binpack.cpu", {14, 15}),
        ("capacity", "ancestorReclaimLevel", {15}),
        ("binpack", "binpack.resources.nvidia.com/gpu", {12, 13, 14, 15}),
    ],
)
def test_arguments_come_and_go(plugin, name, releases):
    word = terms.argument(plugin, name)
    assert {minor for minor, version in V.items() if word.read(version)} == releases


@pytest.mark.parametrize(
    ("word", "value", "minor", "fits"),
    [
        (Parameter(ValueType.WHOLE), 10, 14, True),
        (Parameter(ValueType.WHOLE), 10.0, 14, False),
        (Parameter(ValueType.WHOLE), "10", 14, False),
        (Parameter(ValueType.WHOLE), True, 14, False),
        (Parameter(ValueType.WHOLE, crashes=True), 10.0, 14, True),
        (Parameter(ValueType.WHOLE, crashes=True), "10", 14, False),
        (Parameter(ValueType.WHOLE, crashes=True), None, 14, True),
        (Parameter(ValueType.TEXT, crashes=True), None, 14, False),
        (Parameter(ValueType.STRATEGIES), {"cpu": None}, 14, True),
        (Parameter(ValueType.STRATEGIES), {"cpu": {"weight": "1"}}, 14, False),
        (Parameter(ValueType.NUMBER), 1, 14, True),
        (Parameter(ValueType.NUMBER), "1.2", 14, False),
        (Parameter(ValueType.TRUTH), "true", 14, False),
        (Parameter(ValueType.TRUTH), "true", 15, True),
        (Parameter(ValueType.TRUTH), "yes", 15, False),
        (Parameter(ValueType.NAMES), ["nvidia.com/gpu"], 14, False),
        (Parameter(ValueType.NAME_LIST), "nvidia.com/gpu", 14, False),
        (Parameter(ValueType.STRATEGIES), {"nvidia.com/gpu": {"type": "MostAllocated"}}, 14, True),
        (Parameter(ValueType.STRATEGIES), {"nvidia.com/gpu": 10}, 14, False),
        (Parameter(ValueType.MAPPING), [], 14, False),
        (Parameter(ValueType.ANY), None, 14, True),
    ],
)
def test_values_are_read_as_the_program_reads_them(word, value, minor, fits):
    assert word.fits(value, V[minor]) is fits
