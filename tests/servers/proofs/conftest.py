"""The stages on which examples of rule pages run."""

import pytest

from tests.servers.cluster import Cluster
from tests.servers.proofs.scene import Stage
from tests.servers.proofs.volcano_scene import HELD, NODE, PERIOD, Volcano


@pytest.fixture
def stage(cluster):
    return Stage(cluster)


@pytest.fixture(scope="module")
def volcano(bench, slate, request):
    """Volcano's scheduler with many sessions a second, and NODES of the module."""
    with bench.other_volcano(HELD, period=PERIOD) as (process, file):
        cluster = Cluster(bench)
        if nodes := getattr(request.module, "NODES", 2):
            cluster.add_nodes(NODE, nodes)
        yield Volcano(cluster, process, file)
        slate.clean()
