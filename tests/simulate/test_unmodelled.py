"""Features that a simulation does not know are named."""

import pytest
from msgspec.structs import replace

from policygen.simulate.result import Unmodelled
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.unmodelled import SAMPLE, unmodelled
from tests.simulate.scenes import NODES, QUEUES, job, scene
from tests.simulate.test_topologies_over_time import asks


def named(text):
    it = scene(text)
    return {one.feature: one.workloads for one in unmodelled(it, arrivals(it))}


def test_nothing_is_named_for_plain_queues():
    assert named(QUEUES + NODES + job("a", 8)) == {}


def test_features_of_queues():
    text = QUEUES.replace("{nodeLabels", "{topologyName: racks, nodeLabels")
    text = text.replace(
        "namespaceSelector: {}",
        "namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: c}]}",
    )
    assert named(text + job("a", 8) + job("b", 8)) == {
        "topology-aware scheduling of Kueue, because nodes are not known": 2,
        "admission check c of Kueue, which is assumed to be ready at once; "
        "--assume check/c=Ready:5m states another outcome": 2,
    }


def test_schedulers_and_kinds_that_are_not_simulated():
    other = job("a", 8, queue="").replace(
        "restartPolicy", "schedulerName: mine\n      restartPolicy"
    )
    volcano = job("b", 8, queue="").replace(
        "template:", "template:\n    metadata: {annotations: {scheduling.k8s.io/group-name: mine}}"
    )
    volcano = volcano.replace("restartPolicy", "schedulerName: volcano\n      restartPolicy")
    found = named(QUEUES + NODES + other + volcano)
    assert found == {
        "scheduler mine, simulated as kube-scheduler with its defaults": 1,
    }


def test_resource_quotas_that_are_not_simulated():
    quota = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: q, namespace: nlp}
spec: {hard: {count/jobs.batch: 1, pods: 9}}
"""
    volcano = job("b", 8, queue="").replace(
        "restartPolicy", "schedulerName: volcano\n      restartPolicy"
    )
    assert named(QUEUES + NODES + quota + job("a", 8) + volcano) == {
        "key count/jobs.batch of a ResourceQuota": 2,
        "a ResourceQuota for pods of Volcano": 1,
    }


def test_a_feature_that_the_caller_found():
    it = replace(scene(QUEUES), unmodelled=(Unmodelled("x", 3),))
    assert unmodelled(it, ()) == (Unmodelled("x", 3),)


def test_jobs_with_equal_pods_have_their_own_features():
    it = scene(QUEUES + job("a", 8))
    (one,) = arrivals(it)
    assert unmodelled(it, (one, replace(one, unmodelled=("x",)))) == (Unmodelled("x", 1),)


def test_volcano_looks_at_some_of_many_nodes():
    volcano = job("b", 8, queue="").replace(
        "restartPolicy", "schedulerName: volcano\n      restartPolicy"
    )
    it = scene(QUEUES + NODES + volcano)
    assert unmodelled(it, arrivals(it)) == ()
    nodes = "".join(NODES[: NODES.index("---", 5)].replace("n0", f"m{i}") for i in range(101))
    it = scene(nodes + volcano)
    assert unmodelled(it, arrivals(it)) == (Unmodelled(SAMPLE, 1),)


CONFIGURATION = """
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
waitForPodsReady: {timeout: 5m, blockAdmission: true, recoveryTimeout: 3m}
featureGates: {FlavorFungibility: false, ReclaimablePods: true, MultiKueue: false}
"""


def test_settings_of_kueue_that_are_not_known():
    assert named(QUEUES + CONFIGURATION + job("a", 8) + job("b", 8, queue="")) == {
        "waitForPodsReady.blockAdmission of Kueue": 1,
        "waitForPodsReady.recoveryTimeout of Kueue": 1,
        "feature gate FlavorFungibility of Kueue, which is off": 1,
    }


def test_all_gates_that_can_decide_about_workloads_are_known_or_named():
    """Gates of metrics do not decide; those that are on by default are not named."""
    gates = "PrioritizePreemptorWorkloads: true, PriorityBoost: true, LocalQueueMetrics: false, PartialAdmission: false"
    text = CONFIGURATION.partition("waitForPodsReady")[0] + f"featureGates: {{{gates}}}\n"
    assert named(QUEUES + text + job("a", 8)) == {
        "feature gate PrioritizePreemptorWorkloads of Kueue, which is on": 1,
        "feature gate PriorityBoost of Kueue, which is on": 1,
    }
    text = text.replace(gates, "AllAlpha: true")
    assert "feature gate PriorityBoost of Kueue, which is on" in named(QUEUES + text + job("a", 8))


@pytest.mark.parametrize("profiles", ["", "profiles: [{schedulerName: default-scheduler}]\n"])
def test_extenders(profiles):
    text = f"""
---
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
{profiles}extenders: [{{urlPrefix: "http://x", filterVerb: f}}]
"""
    other = job("b", 1, queue="").replace(
        "restartPolicy", "schedulerName: mine\n      restartPolicy"
    )
    assert named(NODES + text + job("a", 1, queue="") + other) == {
        "extenders of kube-scheduler": 1,
        "scheduler mine, simulated as kube-scheduler with its defaults": 1,
    }


def test_what_pods_ask_for_and_is_not_known():
    layers = "kueue.x-k8s.io/podset-slice-required-topology-constraints: '[]'"
    group = "kueue.x-k8s.io/podset-group-name: g, kueue.x-k8s.io/podset-required-topology: rack"
    volume = job("v", 1).replace(
        "      containers",
        "      volumes: [{name: d, persistentVolumeClaim: {claimName: d}}]\n      containers",
    )
    found = named(QUEUES + asks(job("a", 1), layers) + asks(job("b", 1), group) + volume)
    assert found == {
        "slices of several topology levels of Kueue": 1,
        "groups of pod sets in one topology domain of Kueue": 1,
        "volumes that restrict the nodes of pods": 1,
    }
