"""Which GPU resources of nodes no quota and no queue lists."""

import pytest

from policygen.lint.core.unlimited_gpus import unlimited_gpus
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 4, nvidia.com/mig-1g.10gb: 7, nvidia.com/mig-7g.80gb: 0}}
---
"""
QUOTA = "{apiVersion: v1, kind: ResourceQuota, metadata: {name: q, namespace: n}, spec: {hard: {%s: 1}}}"
QUEUE = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}, spec: {capability: {%s: 1}}}"
COVERS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec: {resourceGroups: [{coveredResources: [%s], flavors: []}]}
"""
CONFIGURATION = """
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {%s}
"""
GPU, MIG = "nvidia.com/gpu", "nvidia.com/mig-1g.10gb"


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (QUOTA % f"requests.{GPU}", [MIG]),
        (QUEUE % GPU, [MIG]),
        (QUEUE % MIG, [GPU]),
        (COVERS % f"cpu, {GPU}", [MIG]),
        (COVERS % f"{GPU}, {MIG}", []),
        (COVERS % GPU + CONFIGURATION % "excludeResourcePrefixes: [nvidia.com/mig-]", []),
        (
            COVERS % f"{GPU}, example.com/slices"
            + CONFIGURATION
            % f"transformations: [{{input: {MIG}, strategy: Replace, outputs: {{example.com/slices: 1}}}}]",
            [],
        ),
    ],
)
def test_what_no_object_lists(text, names):
    assert list(unlimited_gpus(facts(NODE + text))) == names
