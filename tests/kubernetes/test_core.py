"""Selectors and LimitRanges as Kubernetes reads them."""

from fractions import Fraction

import pytest

from policygen.kubernetes.core import (
    LabelSelector,
    LimitRangeItem,
    Requirement,
    ResourceQuotaView,
    ScopeSelector,
)

LABELS = {"gpu": "h100", "count": "8"}


@pytest.mark.parametrize(
    ("key", "operator", "values", "holds"),
    [
        ("gpu", "In", ("a100", "h100"), True),
        ("gpu", "In", ("a100",), False),
        ("zone", "In", ("a",), False),
        ("gpu", "NotIn", ("h100",), False),
        ("zone", "NotIn", ("a",), True),
        ("gpu", "Exists", (), True),
        ("zone", "Exists", (), False),
        ("zone", "DoesNotExist", (), True),
        ("count", "Gt", ("7",), True),
        ("count", "Gt", ("8",), False),
        ("count", "Lt", ("9",), True),
        ("gpu", "Lt", ("9",), False),
        ("count", "Lt", (), False),
        ("zone", "Gt", ("0",), False),
        ("gpu", "Like", ("h*",), False),
    ],
)
def test_an_expression_on_labels(key, operator, values, holds):
    assert Requirement(key, operator, values).holds(LABELS) is holds


def test_a_selector_needs_all_of_its_parts():
    everything = LabelSelector()
    assert everything.empty
    assert everything.selects({})
    both = LabelSelector({"gpu": "h100"}, (Requirement("count", "Exists"),))
    assert both.selects(LABELS)
    assert not both.selects({"gpu": "h100"})
    assert not both.selects({"gpu": "a100", "count": "8"})
    assert not both.empty


def test_a_quota_with_a_scope_does_not_count_all_pods():
    assert ResourceQuotaView().counts_all
    assert not ResourceQuotaView(scopes=("BestEffort",)).counts_all
    assert not ResourceQuotaView(scope_selector=ScopeSelector()).counts_all


def test_what_containers_get_of_a_limit_range():
    one, two, three, four = map(Fraction, (1, 2, 3, 4))
    item = LimitRangeItem(
        max={"cpu": four, "memory": four, "x": four},
        min={"x": one, "y": one},
        default={"cpu": three},
        default_request={"cpu": two},
    )
    assert item.filled_limits == {"cpu": three, "memory": four, "x": four}
    assert item.filled_requests == {"cpu": two, "memory": four, "x": four, "y": one}
    filled_by = {name: item.fills_by(name) for name in item.filled_requests}
    assert filled_by == {"cpu": "defaultRequest", "memory": "max", "x": "max", "y": "min"}
    assert item.by_field["defaultRequest"] == {"cpu": two}
