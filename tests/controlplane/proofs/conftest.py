"""The stage on which examples of rule pages stand."""

import pytest

from tests.controlplane.proofs.scene import Stage


@pytest.fixture
def stage(cluster):
    return Stage(cluster)
