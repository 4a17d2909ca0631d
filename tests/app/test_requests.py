"""Requests that commands parse from their arguments."""

from pathlib import Path

import pytest

from policygen.app.requests import ClusterRequest, parse_targets
from policygen.core.errors import UsageError
from policygen.core.versions import Version


def test_targets():
    assert parse_targets({"kueue": "0.14"}) == {"kueue": Version(0, 14)}
    with pytest.raises(UsageError, match=r"--target: kueue 0\.12 is not supported"):
        parse_targets({"kueue": "0.12"})


def test_clusters_are_counted_however_they_are_named():
    assert ClusterRequest().number == 0
    it = ClusterRequest(snapshots=(Path("a"),), contexts=("b", "c"), in_cluster=True)
    assert it.number == 4
