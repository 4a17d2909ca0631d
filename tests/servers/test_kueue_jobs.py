"""The Workloads that Kueue creates for drawn jobs are those that the simulator expects."""

import random
from collections import Counter

import pytest
import yaml

from policygen.core import quantity
from policygen.core.decoding import converted
from policygen.core.finding import At
from policygen.core.versions import DEFAULT
from policygen.kubernetes.cluster import Cluster as Objects
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.object import Object
from policygen.kubernetes.typed import decoded
from policygen.simulate.kueue.amounts import counted
from policygen.simulate.kueue.build import workload_of
from policygen.simulate.kueue.jobs import jobs
from tests.servers.cluster import KUEUE
from tests.servers.kueue import CONFIGURATION

COVERED = ["cpu", "memory", "nvidia.com/gpu"]
QUOTA = [{"name": name, "nominalQuota": "100000Gi"} for name in COVERED]
PLAIN, LIMITED, DEFAULTED = "plain", "limited", "defaulted"
NAMESPACES = (PLAIN, LIMITED, DEFAULTED)
LABEL = "kueue.x-k8s.io/queue-name"
POLICY = f"""
{{apiVersion: {KUEUE}, kind: ResourceFlavor, metadata: {{name: any}}, spec: {{}}}}
---
{{apiVersion: {KUEUE}, kind: WorkloadPriorityClass, metadata: {{name: urgent}}, value: 900, description: d}}
---
{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: high}}, value: 70}}
---
{{apiVersion: scheduling.k8s.io/v1, kind: PriorityClass, metadata: {{name: usual}}, value: 7, globalDefault: true}}
---
{{apiVersion: node.k8s.io/v1, kind: RuntimeClass, metadata: {{name: sandboxed}}, handler: h, overhead: {{podFixed: {{cpu: 250m, memory: 64Mi}}}}}}
---
apiVersion: {KUEUE}
kind: ClusterQueue
metadata: {{name: all}}
spec:
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [{", ".join(COVERED)}]
    flavors: [{{name: any, resources: {QUOTA}}}]
---
{{apiVersion: {KUEUE}, kind: LocalQueue, metadata: {{name: q, namespace: {PLAIN}}}, spec: {{clusterQueue: all}}}}
---
{{apiVersion: {KUEUE}, kind: LocalQueue, metadata: {{name: q, namespace: {LIMITED}}}, spec: {{clusterQueue: all}}}}
---
{{apiVersion: {KUEUE}, kind: LocalQueue, metadata: {{name: q, namespace: {DEFAULTED}}}, spec: {{clusterQueue: all}}}}
---
{{apiVersion: {KUEUE}, kind: LocalQueue, metadata: {{name: default, namespace: {DEFAULTED}}}, spec: {{clusterQueue: all}}}}
---
{{apiVersion: v1, kind: LimitRange, metadata: {{name: l, namespace: {LIMITED}}}, spec: {{limits: [
  {{type: Container, defaultRequest: {{cpu: 300m, memory: 200Mi}}, default: {{cpu: "2"}}, max: {{cpu: "3"}}}}]}}}}
"""


class Draw:
    """Draws the objects of one seed."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.namespace = ""

    def one(self, *choices):
        return self.random.choice(choices)

    def chance(self, cases, of):
        return self.random.randrange(of) < cases

    def resources(self):
        found = {}
        for kind in ("requests", "limits"):
            if self.chance(2, 3):
                found[kind] = {"cpu": self.one("100m", "500m", "1500m", 2)}
                if self.chance(1, 2):
                    found[kind]["memory"] = self.one("100Mi", "1Gi", "1500M")
        if "requests" in found and "limits" in found:  # the server refuses requests above limits
            found["requests"] = {
                name: found["limits"].get(name, amount)
                for name, amount in found["requests"].items()
            }
        if self.chance(1, 2):
            found.setdefault("limits", {})["nvidia.com/gpu"] = self.one(1, 2)
        return found

    def container(self, name):
        return {"name": name, "image": "none.invalid/none", "resources": self.resources()}

    def template(self, restart):
        spec = {
            "containers": [self.container(f"c{i}") for i in range(self.one(1, 1, 2))],
            "restartPolicy": restart,
            "terminationGracePeriodSeconds": 0,
        }
        if self.chance(1, 2):
            spec["initContainers"] = [self.container("i")]
            if self.chance(1, 2):
                spec["initContainers"][0]["restartPolicy"] = "Always"
        if self.chance(1, 3):
            spec["priorityClassName"] = "high"
        if self.chance(1, 3):
            spec["runtimeClassName"] = "sandboxed"
        if self.chance(1, 3):
            spec["nodeSelector"] = {"zone": self.one("a", "b")}
        if self.chance(1, 3):
            spec["tolerations"] = [{"key": "gpu", "operator": "Exists"}]
        return spec

    def labels(self):
        found = {}
        if self.chance(3, 4):
            found[LABEL] = "q"
        if self.chance(1, 3):
            found["kueue.x-k8s.io/priority-class"] = "urgent"
        return found

    def object(self, i):
        namespace = self.namespace = self.one(*NAMESPACES)
        kind = self.one("Job", "Job", "Pod", "Group", "Deployment", "StatefulSet")
        made = getattr(self, kind.lower())(f"{kind.lower()}-{i}")
        return [{**it, "metadata": {"namespace": namespace, **it["metadata"]}} for it in made]

    def with_level(self, spec):
        """A pod spec that may have pod-level limits.

        Of a pod, the server writes the requests before the defaults of LimitRanges, and then refuses it.
        """
        if self.chance(1, 4) and self.namespace != LIMITED:
            spec["resources"] = {"limits": {"cpu": 20, "memory": self.one("8Gi", "20Gi")}}
        return spec

    def job(self, name):
        metadata = {"name": name, "labels": self.labels()}
        spec = {
            "parallelism": self.one(1, 3, 5),
            "template": {"spec": self.with_level(self.template("Never"))},
            "suspend": self.chance(1, 2),
        }
        if self.chance(1, 3):  # above the maximum, which the server checks only for pods
            spec["template"]["spec"]["containers"][0]["resources"] = {
                self.one("requests", "limits"): {"cpu": 4}
            }
        if self.chance(1, 2):
            spec["completions"] = self.one(1, 4, 9)
        if spec["parallelism"] == 5 and spec.get("completions", 5) >= 4:
            metadata["annotations"] = {"kueue.x-k8s.io/job-min-parallelism": "2"}
        if self.chance(1, 2):
            spec["template"]["metadata"] = {"labels": {LABEL: "q"}}
        return [{"apiVersion": "batch/v1", "kind": "Job", "metadata": metadata, "spec": spec}]

    def pod(self, name):
        metadata = {"name": name, "labels": self.labels()}
        spec = self.with_level(self.template("Never"))
        return [{"apiVersion": "v1", "kind": "Pod", "metadata": metadata, "spec": spec}]

    def group(self, name):
        total = self.one(1, 2, 3)
        labels = {LABEL: "q", "kueue.x-k8s.io/pod-group-name": name}
        metadata = {
            "labels": labels,
            "annotations": {"kueue.x-k8s.io/pod-group-total-count": str(total)},
        }
        specs = [self.template("Never")] * total
        if self.chance(1, 2):
            specs[-1] = {**specs[-1], "nodeSelector": {"zone": "c"}}
        found = self.one(total, total, total - 1)
        return [
            {
                "apiVersion": "v1",
                "kind": "Pod",
                "metadata": {**metadata, "name": f"{name}-{i}"},
                "spec": spec,
            }
            for i, spec in enumerate(specs[:found])
        ]

    def deployment(self, name):
        pods = {"app": name}
        if self.chance(1, 2):
            pods[LABEL] = "q"
        return [self.apps("Deployment", name, pods)]

    def statefulset(self, name):
        return [self.apps("StatefulSet", name, {"app": name})]

    def apps(self, kind, name, pods):
        spec = {
            "replicas": self.one(0, 1, 3),
            "selector": {"matchLabels": {"app": name}},
            "template": {"metadata": {"labels": pods}, "spec": self.template("Always")},
        }
        if kind == "StatefulSet":
            spec["serviceName"] = name
        metadata = {"name": name, "labels": self.labels()}
        return {"apiVersion": "apps/v1", "kind": kind, "metadata": metadata, "spec": spec}


@pytest.fixture
def policy(cluster):
    for namespace in NAMESPACES:
        cluster.namespace(namespace)
    cluster.apply(POLICY)
    cluster.becomes(
        "active queue",
        lambda: [
            it["status"]
            for queue in cluster.objects(KUEUE, "ClusterQueue")
            for it in queue.get("status", {}).get("conditions", ())
            if it["type"] == "Active"
        ],
        ["True"],
    )
    return cluster


def made(data, settings):
    """A Workload of the server as the scheduler reads it."""
    fields = converted(data["spec"], WorkloadView, decoded)
    name = f"{data['metadata']['namespace']}/{data['metadata']['name']}"
    return workload_of(name, "", 0, fields, settings)


def shown(name, workload):
    """As the test compares it: without the tolerations that the server gives pods."""
    sets = sorted(
        (
            it.name,
            it.count,
            it.min_count or 0,
            it.requests,
            it.shape.selector,
            tuple(
                (one.key, one.operator)
                for one in it.shape.tolerations
                if not one.key.startswith("node.kubernetes.io/")
            ),
        )
        for it in workload.pod_sets
    )
    return name, workload.queue, workload.priority, tuple(sets), workload.refusal


def expected(objects, policy):
    """The Workloads that the simulator expects, and the settings."""
    found = Objects(Object.read(it, At(i)) for i, it in enumerate([*objects, *policy]))
    assert not found.malformed
    settings = first(found, DEFAULT["kueue"])
    queued, _ = jobs(found, settings)
    want = Counter()
    for it in queued:
        name = f"{it.namespace}/{it.name}"
        known = "" if it.owner.kind == "Deployment" else name  # its pods have random names
        want[shown(known, workload_of(name, "", 0, it.fields, settings))] += 1
    return want, settings


def actual(cluster, settings):
    """The Workloads that Kueue created."""
    pods = {
        it["metadata"]["uid"]
        for it in cluster.pods()
        for owner in it["metadata"].get("ownerReferences", ())
        if owner["kind"] == "ReplicaSet"
    }
    found = Counter()
    for it in cluster.objects(KUEUE, "Workload"):
        owners = {owner["uid"] for owner in it["metadata"]["ownerReferences"]}
        workload = made(it, settings)
        found[shown("" if owners <= pods else workload.name, workload)] += 1
    return found


def both(one, other):
    """What only one of them has."""
    return [*(one - other), *(other - one)]


def decided(data):
    """The usage of each pod set, or Kueue's message, or nothing yet."""
    status = data.get("status", {})
    if "admission" not in status:
        conditions = {it["type"]: it["message"] for it in status.get("conditions", ())}
        return conditions.get("QuotaReserved", "")
    used = [it.get("resourceUsage", {}) for it in status["admission"]["podSetAssignments"]]
    return [
        sorted((name, counted(name, quantity.read(amount).value)) for name, amount in it.items())
        for it in used
    ]


def computed(data, settings):
    """The same of the simulator, for the same Workload: the queue has quota for all."""
    workload = made(data, settings)
    return workload.refusal or [sorted(it.total(it.count).items()) for it in workload.pod_sets]


def agrees(cluster, built, drawn):
    """Create the objects, and wait for the Workloads that the simulator expects."""
    configuration = yaml.safe_load(built["kueue"].asset(CONFIGURATION).read_bytes())
    cluster.create(*drawn)
    for it in drawn:
        metadata = it["metadata"]
        found = cluster.get(it["apiVersion"], it["kind"], metadata["name"], metadata["namespace"])
        metadata["uid"] = found["metadata"]["uid"]
    want, settings = expected(drawn, [*yaml.safe_load_all(POLICY), configuration])
    cluster.becomes("Workloads of only one", lambda: both(actual(cluster, settings), want), [])
    return want, settings


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_workloads_are_those_that_kueue_creates(policy, built, seed):
    draw = Draw(seed)
    _, settings = agrees(policy, built, [it for i in range(40) for it in draw.object(i)])
    workloads = {it["metadata"]["name"]: it for it in policy.objects(KUEUE, "Workload")}
    want = {name: computed(it, settings) for name, it in workloads.items()}
    policy.becomes(
        "usage and refusals",
        lambda: {it["metadata"]["name"]: decided(it) for it in policy.objects(KUEUE, "Workload")},
        want,
    )


def test_an_unmanaged_namespace(policy, built):
    """Kueue's controllers skip Jobs there, but not StatefulSets with a queue."""
    draw = Draw(0)
    objects = [*draw.job("j"), draw.apps("StatefulSet", "s", {"app": "s"})]
    for it in objects:
        it["metadata"] |= {"namespace": "kube-system", "labels": {LABEL: "q"}}
    objects[1]["spec"]["replicas"] = 2
    want, _ = agrees(policy, built, objects)
    assert [name.rpartition("-")[0] for name, *_ in want] == ["kube-system/statefulset-s"]
