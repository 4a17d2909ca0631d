"""The scheduler's state and workloads from Kueue's objects."""

import yaml

from policygen.core.decoding import converted
from policygen.core.versions import DEFAULT
from policygen.kubernetes.kueue_settings import first
from policygen.kubernetes.kueue_workloads import WorkloadView
from policygen.kubernetes.typed import decoded
from policygen.simulate.kueue.build import state_of, workload_of
from tests.objects import cluster

OBJECTS = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: f}, spec: {nodeLabels: {gpu: h100},
 nodeTaints: [{key: gpu, value: "yes", effect: NoSchedule}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: Cohort, metadata: {name: org}, spec: {parentName: root}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: c}, spec: {cohortName: org, namespaceSelector: {},
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: f, resources: [{name: cpu, nominalQuota: 2500m, borrowingLimit: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: d}, spec: {cohortName: org, stopPolicy: Hold}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ClusterQueue, metadata: {name: e}, spec: {
 resourceGroups: [{coveredResources: [cpu], flavors: [{name: gone, resources: [{name: cpu, nominalQuota: 1}]}]}]}}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: c}}
---
{apiVersion: v1, kind: Namespace, metadata: {name: n}}
"""
TOLERATION = "tolerations: [{key: gpu, operator: Exists}]"


def read(spec, text=OBJECTS):
    fields = converted(yaml.safe_load(spec), WorkloadView, decoded)
    return workload_of("n/w", "u", 3.0, fields, first(cluster(text), DEFAULT["kueue"]))


def pods(spec):
    return f"{{queueName: q, priority: 7, podSets: [{{name: main, count: 2, minCount: 1, template: {{spec: {{{spec}}}}}}}]}}"


def test_queues_cohorts_and_namespaces():
    state = state_of(cluster(OBJECTS))
    queue = state.queues["c"]
    assert (queue.path, queue.namespaces, queue.inactive) == ("/root/org/c", {"n"}, "")
    assert (queue.node.nominal[0], queue.node.available(0)) == (2500, 2500)
    assert state.queues["d"].inactive == "is stopped"
    assert state.queues["e"].inactive == "references missing ResourceFlavor(s): gone"
    assert state.local_queues == {"n/q": "c"}


def test_a_workload_has_the_requests_that_kueue_counts():
    it = read(pods("containers: [{resources: {limits: {memory: 1Gi, cpu: 1500m}}}]"))
    (found,) = it.pod_sets
    assert (it.queue, it.priority, it.created) == ("n/q", 7, 3.0)
    assert (found.count, found.min_count) == (2, 1)
    assert found.requests == (("memory", 2**30), ("cpu", 1500))


def test_settings_and_limit_ranges_change_it():
    text = (
        OBJECTS
        + """---
{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: n}, spec: {limits: [{type: Container, defaultRequest: {cpu: 2}}]}}
---
{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, resources: {excludeResourcePrefixes: [memory]},
 featureGates: {PartialAdmission: false}}
"""
    )
    it = read(pods("containers: [{resources: {limits: {memory: 1Gi, cpu: 1}}}]"), text)
    assert it.pod_sets[0].requests == (("cpu", 2000),)
    assert it.pod_sets[0].min_count is None
    assert it.refusal.startswith("resources validation failed: ")


def test_why_a_flavor_does_not_match():
    state = state_of(cluster(OBJECTS))
    (bare,) = read(pods("containers: []")).pod_sets
    (other,) = read(pods(f"{TOLERATION}, nodeSelector: {{gpu: a100}}, containers: []")).pod_sets
    (right,) = read(pods(f"{TOLERATION}, nodeSelector: {{gpu: h100}}, containers: []")).pod_sets
    assert state.refusal("f", bare) == "untolerated taint {gpu yes NoSchedule <nil>} in flavor f"
    assert state.refusal("f", other) == "flavor f doesn't match node affinity"
    assert state.refusal("f", right) == ""
    assert state.refusal("gone", right) == "flavor gone not found"
