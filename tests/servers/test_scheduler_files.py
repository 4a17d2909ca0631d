"""If lint refuses a KubeSchedulerConfiguration, a real kube-scheduler does not start with it."""

from __future__ import annotations

from datetime import date

import pytest
import yaml

from policygen.app import lint
from policygen.app.requests import LintRequest
from tests.servers.trials import kube_schedulers

TODAY = date(2026, 11, 21)
HEAD = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
}
CONSTRAINT = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
EXTENDER = {"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "f", "enableHTTPS": False}


def file(**fields):
    return {**HEAD, **fields}


def profile(**fields):
    return file(profiles=[{"schedulerName": "gpu", **fields}])


def plugins(**points):
    return profile(plugins=points)


def arguments(plugin, **args):
    return profile(pluginConfig=[{"name": plugin, "args": args}])


def election(**fields):
    mine = {"leaderElect": True, "resourceName": "of-a-test", **fields}
    return file(leaderElection=mine, profiles=[{"schedulerName": "gpu"}])


def affinity(**expression):
    terms = {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", **expression}]}]}
    return arguments(
        "NodeAffinity",
        addedAffinity={"requiredDuringSchedulingIgnoredDuringExecution": terms},
    )


def on(*names):
    return {"enabled": [{"name": name} for name in names]}


def off(*names):
    return {"disabled": [{"name": name} for name in names]}


def spread(**changed):
    return arguments(
        "PodTopologySpread", defaultingType="List", defaultConstraints=[{**CONSTRAINT, **changed}]
    )


BAD = [
    file(parallelism=0),
    file(parallelism="16"),
    file(enableProfiling="true"),
    file(podInitialBackoffSeconds=0),
    file(podInitialBackoffSeconds=20),
    file(podInitialBackoffSeconds=5, podMaxBackoffSeconds=4),
    file(percentageOfNodesToScore=101),
    file(clientConnection={"burst": -1}),
    file(clientConnection={"qps": "fast"}),
    election(leaseDuration="10s"),
    election(renewDeadline="2s"),
    election(retryPeriod=2),
    election(resourceLock="configmaps"),
    election(leaderElect="true"),
    file(extenders=[{**EXTENDER, "prioritizeVerb": "p"}]),
    file(extenders=[{**EXTENDER, "bindVerb": "b"}, {**EXTENDER, "bindVerb": "b"}]),
    file(extenders=[{**EXTENDER, "managedResources": [{"name": "gpu"}]}]),
    file(extenders=[{**EXTENDER, "managedResources": [{"name": "a.b/c"}, {"name": "a.b/c"}]}]),
    file(extenders=[{**EXTENDER, "httpTimeout": 5}]),
    profile(schedulerName=""),
    file(profiles=[{"schedulerName": "a"}, {}]),
    file(
        profiles=[
            {"schedulerName": "a"},
            {"schedulerName": "b", "plugins": {"queueSort": on("PrioritySort")}},
        ]
    ),
    plugins(score=on("NodeName")),
    plugins(filter=on("NodeResourcesBalancedAllocation")),
    plugins(score=on("NodeResourcesFit", "NodeResourcesFit")),
    plugins(multiPoint=on("NodeResourcesFit", "NodeResourcesFit")),
    plugins(queueSort=off("*")),
    plugins(multiPoint=off("DefaultBinder")),
    arguments("NodeResourcesFit", kind="NodeResourceFitArgs"),
    arguments("InterPodAffinity", hardPodAffinityWeight=200),
    arguments("InterPodAffinity", hardPodAffinityWeight="20"),
    arguments("DefaultPreemption", minCandidateNodesPercentage=200),
    arguments("DefaultPreemption", minCandidateNodesAbsolute=-1),
    arguments("DefaultPreemption", minCandidateNodesPercentage=0, minCandidateNodesAbsolute=0),
    arguments("VolumeBinding", bindTimeoutSeconds=-5),
    arguments("DynamicResources", filterTimeout="-1s"),
    arguments("PodTopologySpread", defaultingType="Lists"),
    arguments("PodTopologySpread", defaultConstraints=[CONSTRAINT]),
    spread(maxSkew=0),
    spread(topologyKey=""),
    spread(whenUnsatisfiable="Never"),
    spread(labelSelector={}),
    arguments(
        "PodTopologySpread", defaultingType="List", defaultConstraints=[CONSTRAINT, CONSTRAINT]
    ),
    arguments("NodeResourcesBalancedAllocation", resources=[{"name": "cpu"}, {"name": "cpu"}]),
    arguments("NodeResourcesFit", ignoredResourceGroups=["example.com/a"]),
    arguments("VolumeBinding", shape=[{"utilization": 0, "score": 0}]),
    arguments("InterPodAffinity", apiVersion="v1"),
    plugins(score=on("NodeDeclaredFeatures")),
    election(retryPeriod=None),
    affinity(operator="In", values=["b c"]),
    affinity(operator="in", values=["b"]),
    affinity(operator="In"),
    affinity(operator="Exists", values=["b"]),
    affinity(operator="Gt", values=["1", "2"]),
    plugins(score=on("Coscheduling")),
    plugins(reserve=on("GangScheduling")),
    arguments("InterPodAffinity")
    | {"profiles": [{"pluginConfig": [{"name": "InterPodAffinity", "args": []}]}]},
]
GOOD = [
    file(profiles=[]),
    file(parallelism=4, enableProfiling=False, percentageOfNodesToScore=0),
    file(podInitialBackoffSeconds=10),
    file(clientConnection={"qps": 5, "burst": 0}),
    election(leaseDuration="11s"),
    election(renewDeadline="14s", retryPeriod="1s", resourceLock="leases"),
    file(extenders=[{**EXTENDER, "weight": 1, "prioritizeVerb": "p", "httpTimeout": "5s"}]),
    file(extenders=[{**EXTENDER, "managedResources": [{"name": "example.com/gpu"}]}]),
    file(profiles=[{}]),
    plugins(queueSort={**off("*"), **on("PrioritySort")}),
    plugins(multiPoint={**off("*"), **on("PrioritySort", "DefaultBinder")}),
    plugins(score=on("NodeResourcesFit", "VolumeBinding"), preEnqueue=on("DefaultPreemption")),
    arguments("NodeResourcesFit", kind="NodeResourcesFitArgs", apiVersion=HEAD["apiVersion"]),
    arguments("DefaultPreemption", minCandidateNodesPercentage=0),
    arguments("InterPodAffinity", hardPodAffinityWeight=0),
    arguments("DynamicResources", filterTimeout="0s"),
    spread(),
    affinity(operator="Gt", values=["1"]),
    affinity(operator="DoesNotExist"),
    file(profiles=[None]),
    profile(pluginConfig=[None]),
    profile(pluginConfig=[{"name": "Strange", "args": []}]),
]


def texts(configurations):
    return [yaml.safe_dump(it, sort_keys=False) for it in configurations]


def refused(text, folder):
    path = folder / "scheduler.yaml"
    path.write_text(text, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(path),)), today=TODAY)
    return [
        it.message for it in report.findings if it.rule.name == "scheduler-configuration-refused"
    ]


@pytest.mark.parametrize("text", texts(BAD))
def test_lint_names_one_fault(text, tmp_path):
    assert len(refused(text, tmp_path)) == 1


@pytest.mark.parametrize("text", texts(GOOD))
def test_lint_finds_no_fault(text, tmp_path):
    assert refused(text, tmp_path) == []


def test_a_kube_scheduler_does_not_start_with_what_is_refused(bench):
    files = texts(BAD)
    started = set(files) - kube_schedulers(bench, files).keys()
    assert sorted(started) == []


def test_a_kube_scheduler_starts_with_the_rest(bench):
    assert kube_schedulers(bench, texts(GOOD)) == {}
