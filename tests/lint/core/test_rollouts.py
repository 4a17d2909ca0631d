"""The number of pods during a rolling update."""

import pytest

from policygen.core.finding import At
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.lint.core.rollouts import Rollout, rollout


def update(**spec):
    """The rolling update of a Deployment."""
    data = {"spec": {"template": {}, **spec}}
    (found,) = Cluster((Object(At(0), "apps/v1", "Deployment", "d", "", data),)).workloads
    return rollout(found)


@pytest.mark.parametrize(
    ("spec", "expected"),
    [
        ({}, Rollout(1, 1, 0)),
        ({"replicas": 4}, Rollout(4, 1, 1)),
        ({"replicas": 3}, Rollout(3, 1, 0)),
        (
            {"replicas": 4, "strategy": {"rollingUpdate": {"maxSurge": "100%"}}},
            Rollout(4, 4, 1),
        ),
        (
            {"replicas": 3, "strategy": {"rollingUpdate": {"maxSurge": 0, "maxUnavailable": "1%"}}},
            Rollout(3, 0, 1),
        ),
        ({"strategy": {"type": "Recreate"}}, None),
    ],
)
def test_a_rolling_update_in_pods(spec, expected):
    assert update(**spec) == expected
