"""Converting part by part is converting."""

from fractions import Fraction

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from policygen.kubernetes.in_parts import InParts
from policygen.kubernetes.kueue import ClusterQueue
from policygen.kubernetes.typed import decoded
from policygen.kubernetes.workloads import PodSpec

AMOUNTS = st.sampled_from([4, "4", "80Gi", "four", None, -1, [1]])
QUOTAS = st.lists(
    st.fixed_dictionaries({"name": st.just("cpu")}, optional={"nominalQuota": AMOUNTS})
)
GROUPS = st.lists(
    st.fixed_dictionaries(
        {}, optional={"flavors": st.lists(st.fixed_dictionaries({"resources": QUOTAS}))}
    ),
    max_size=2,
)
PARTS = st.sampled_from(
    [
        {"policy": "Never"},
        {"withinClusterQueue": "Never"},
        {"withinClusterQueue": 1},
        {},
        None,
        "x",
        3,
    ]
)
FIELDS = {
    "cohortName": st.sampled_from(["a", "b", 1, None]),
    "preemption": PARTS,
    "fairSharing": st.sampled_from([{"weight": "2"}, {"weight": "two"}, {}, None]),
    "resourceGroups": GROUPS,
    "nobodysField": PARTS,
    "cohort_name": st.just("not by this name"),
}


def outcome(convert, data):
    try:
        return convert(data)
    except msgspec.ValidationError as error:
        return str(error)


def whole(type_):
    return lambda data: msgspec.convert(data, type_, dec_hook=decoded)


@st.composite
def specs(draw):
    """Mappings that have some parts in common, by identity."""
    pool = {name: draw(st.lists(values, min_size=1, max_size=3)) for name, values in FIELDS.items()}
    some = st.fixed_dictionaries(
        {}, optional={name: st.sampled_from(found) for name, found in pool.items()}
    )
    return draw(st.lists(some, max_size=6))


@given(specs())
def test_parts_make_what_the_whole_makes(given):
    convert = InParts(ClusterQueue, decoded).convert
    for data in given:
        assert outcome(convert, data) == outcome(whole(ClusterQueue), data)


@pytest.mark.parametrize("data", [None, [], "text", {}, {"containers": [{}]}, {"containers": "x"}])
def test_what_is_no_mapping_or_lacks_a_field_is_told_as_by_the_whole(data):
    class Named(msgspec.Struct):
        name: str

    for type_ in (ClusterQueue, PodSpec, Named):
        assert outcome(InParts(type_, decoded).convert, data) == outcome(whole(type_), data)


def test_one_part_is_made_once():
    groups = [{"flavors": [{"name": "a", "resources": [{"name": "cpu", "nominalQuota": "80Gi"}]}]}]
    convert = InParts(ClusterQueue, decoded).convert
    first, second = (convert({"cohortName": it, "resourceGroups": groups}) for it in "ab")
    assert first.resource_groups is second.resource_groups
    assert first.resource_groups[0].flavors[0].resources[0].nominal_quota == Fraction(80 << 30)


def test_what_has_gone_is_not_taken_for_what_came_after():
    convert = InParts(ClusterQueue, decoded).convert
    for number in range(1000):  # each mapping may have the identity of the one before
        assert convert({"fairSharing": {"weight": number}}).fair_sharing.weight == number
