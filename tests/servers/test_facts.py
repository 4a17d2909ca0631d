"""The schemas in `schemas/cluster` equal those of the running servers."""

import copy

import pytest

from tests.servers import facts
from tests.servers.bench import Bench, Options
from tests.servers.upstream import KUBERNETES


@pytest.fixture(scope="module")
def files(built, tools):
    running = built["kubernetes"].upstream.version
    if running != KUBERNETES.version:
        pytest.skip(f"schemas/cluster is asked of Kubernetes {KUBERNETES.version}, not {running}")
    with Bench(
        {**tools, **built}, Options(parts=frozenset(), operator_crds=True)
    ) as bench:  # no webhook speaks before its code
        return facts.collect(bench.client)


def test_committed_schemas_are_current(files):
    differ = facts.differences(files)
    assert not differ, (
        f"{len(differ)} files of schemas/cluster differ from the schemas of the servers ({differ[0]}, ...); "
        f"run `{facts.COMMAND}` and read the difference"
    )


def test_difference_names_changed_missing_and_stale_files(files):
    other = copy.deepcopy(files)
    queue = "kueue.x-k8s.io/v1beta2/ClusterQueue.json"
    other[queue]["schema"]["properties"]["spec"]["properties"]["cohort"] = {"type": "string"}
    del other["core/v1/Pod.json"]
    other["core/v1/Secret.json"] = {}
    assert facts.differences(other) == ["core/v1/Pod.json", "core/v1/Secret.json", queue]
