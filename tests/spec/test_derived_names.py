"""Names that are joined from those of the spec."""

import pytest

from policygen.core.finding import At
from policygen.spec import derived_names
from policygen.spec.types import Model, Platform, Priority

PLATFORM = Platform("set")


def test_names_are_joined_by_dots_and_those_of_a_deployment_by_hyphens():
    assert derived_names.own_leaf("lab") == "lab.own"
    assert derived_names.queue(derived_names.own_leaf("lab"), "a100") == "lab.own.a100"
    assert derived_names.preempting_class(Priority("high", At(0), 1)) == "high.preempting"
    assert derived_names.profile(PLATFORM, "spread") == "set.spread"
    assert derived_names.second_scheduler(PLATFORM) == "set-kube-scheduler"


@pytest.mark.parametrize(("replicas", "name"), [(None, "m"), (1, "m"), (3, "m.2")])
def test_the_only_gang_is_called_as_its_model(replicas, name):
    assert derived_names.pod_group(Model("m", At(0), "batch", replicas=replicas), 2) == name
