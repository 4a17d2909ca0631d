"""Queues, nodes, jobs and Workloads for tests of simulations."""

from policygen.core.versions import DEFAULT
from policygen.kubernetes.kueue_settings import first
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_pools import cluster_nodes, flavor_pools
from policygen.simulate.scene_schedulers import timeline
from tests.objects import cluster

QUEUES = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: nlp}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 100}
      - {name: nvidia.com/gpu, nominalQuota: 12}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: main, namespace: nlp}
spec: {clusterQueue: nlp}
---
apiVersion: v1
kind: Namespace
metadata: {name: nlp}
"""
NODES = """
---
apiVersion: v1
kind: Node
metadata: {name: n0, labels: {gpu: a100}}
status: {allocatable: {cpu: 64, memory: 1Ti, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {gpu: a100}}
status: {allocatable: {cpu: 64, memory: 1Ti, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: cpus}
status: {allocatable: {cpu: 64, memory: 1Ti}}
"""


def job(name, gpus, pods=1, *, annotations="", queue="main"):
    label = f"labels: {{kueue.x-k8s.io/queue-name: {queue}}}, " if queue else ""
    return f"""
---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: nlp, {label}annotations: {{{annotations}}}}}
spec:
  parallelism: {pods}
  completions: {pods}
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: example.com/train:1
        resources: {{requests: {{cpu: 4}}, limits: {{nvidia.com/gpu: {gpus}}}}}
"""


def scene(text):
    found = cluster(text)
    nodes = cluster_nodes(found)
    return Scene(found, first(found, DEFAULT["kueue"]), nodes, flavor_pools(found, nodes))


def played(text, duration=3600.0, **more):
    return {job.arrival.name: job for job in ran(scene(text), duration, **more)}


def ran(it, duration=3600.0, **more):
    made = timeline(it, arrivals(it, duration), **more)
    for _ in made.run():
        pass
    return made.jobs


WORKLOAD = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Workload
metadata:
  name: job-a-1
  namespace: nlp
  uid: u1
  ownerReferences: [{apiVersion: batch/v1, kind: Job, name: a, controller: true, uid: u0}]
spec:
  queueName: main
  podSets: [{name: main, count: 1}]
status:
  admission:
    clusterQueue: nlp
    podSetAssignments:
    - {name: main, count: 1, flavors: {cpu: a100, nvidia.com/gpu: a100}, resourceUsage: {cpu: 4, nvidia.com/gpu: 8}}
  conditions:
  - {type: QuotaReserved, status: "True", reason: Admitted, message: "", lastTransitionTime: "2026-01-01T00:00:00Z"}
"""
