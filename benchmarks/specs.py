"""Specs of any size: one pool, and teams with three namespaces, a quota and maxPending."""

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
    - name: team-{index:05}-dev
      create: true
    - name: team-{index:05}-staging
      create: true
    - name: team-{index:05}-live
      create: true
  maxPending: 100
  quotas:
    - pool: pool
      guarantee: 4
      limit: 16
"""

OBJECTS_PER_TEAM = 10
"""A ClusterQueue; Namespace, LocalQueue and ResourceQuota for each of three namespaces."""

OBJECTS_BESIDE = 2
"""ResourceFlavor and root Cohort."""


def spec(objects: int) -> str:
    """A spec that renders that many objects, or up to nine fewer."""
    teams = (objects - OBJECTS_BESIDE) // OBJECTS_PER_TEAM
    gpus = max(16, 8 * teams)
    return HEAD.format(gpus=gpus) + "".join(TEAM.format(index=index) for index in range(teams))
