"""Specs of any size for the benchmarks: one pool, teams with a share and a bound on what waits."""

HEAD = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata:
  name: large
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata:
  name: pool
spec:
  nodeSelector:
    pool: pool
  gpu:
    perNode: 8
    memory: 80Gi
  capacity:
    totalGPUs: {gpus}
    nodeAllocatable:
      cpu: "92"
      memory: 1100Gi
  schedulingPolicy:
    binPack: false
"""

TEAM = """\
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata:
  name: team-{index:05}
spec:
  namespaces:
    - name: team-{index:05}
      create: true
  maxPending: 100
  quotas:
    - pool: pool
      guarantee: 4
      limit: 16
"""

OBJECTS_PER_TEAM = 4
"""Namespace, ClusterQueue, LocalQueue, ResourceQuota."""

OBJECTS_BESIDE = 2
"""ResourceFlavor and root Cohort."""


def spec(objects: int) -> str:
    """A spec that renders that many objects, or up to three fewer."""
    teams = (objects - OBJECTS_BESIDE) // OBJECTS_PER_TEAM
    gpus = max(16, 8 * teams)
    return HEAD.format(gpus=gpus) + "".join(TEAM.format(index=index) for index in range(teams))
