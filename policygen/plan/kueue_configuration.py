"""Decides the Configuration of Kueue's manager: a base file, or the chart's, with required settings."""

from collections.abc import Iterator, Sequence
from typing import Any

from msgspec import Struct

from policygen.core.finding import Path
from policygen.core.names import (
    KUBE_SYSTEM,
    KUEUE_CONFIG_MAP,
    LEADER_WORKER_SET,
    NAMESPACE_NAME,
)
from policygen.core.versions import KUEUE_V1BETA2, Minor
from policygen.kubernetes.kueue_jobs import integrations
from policygen.plan.assignment import Assignment
from policygen.plan.kind import Item, Kind, Meta, Release
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.types import Platform


class KueueConfiguration(Struct, frozen=True):
    """The manager's complete Configuration, with fields in the form of the API."""

    meta: Meta
    fields: dict[str, Any]


CONFIGURATION = Kind(
    "Configuration",
    "kueue",
    (
        Release((0, 13), "config.kueue.x-k8s.io/v1beta1", "kueue/configuration.yaml.j2"),
        Release(KUEUE_V1BETA2, "config.kueue.x-k8s.io/v1beta2", "kueue/configuration.yaml.j2"),
    ),
)

CONFIG_MAP = KUEUE_CONFIG_MAP
CONFIG_KEY = "controller_manager_config.yaml"

SWITCHED = ("config.kueue.x-k8s.io/v1beta1",)
"""API versions whose settings have a switch, `enable`; in later ones a written setting is on."""

_WAIT_FOR_PODS_READY = {
    "timeout": "30m",
    "blockAdmission": False,
    "requeuingStrategy": {
        "timestamp": "Eviction",
        "backoffBaseSeconds": 60,
        "backoffMaxSeconds": 3600,
    },
}

FAIR_SHARING = {
    "preemptionStrategies": ["LessThanOrEqualToFinalShare", "LessThanInitialShare"],
}

_CHART = {
    "health": {"healthProbeBindAddress": ":8081"},
    "metrics": {"bindAddress": ":8443"},
    "webhook": {"port": 9443},
    "leaderElection": {"leaderElect": True, "resourceName": "c1f6bfd2.kueue.x-k8s.io"},
    "controller": {
        "groupKindConcurrency": {
            "ClusterQueue.kueue.x-k8s.io": 5,
            "Job.batch": 5,
            "LocalQueue.kueue.x-k8s.io": 5,
            "Pod": 5,
            "ResourceFlavor.kueue.x-k8s.io": 1,
            "Workload.kueue.x-k8s.io": 10,
        }
    },
    "clientConnection": {"qps": 300, "burst": 500},
}
"""The other fields of a Configuration without a base file: the values of Kueue's own chart
(`charts/kueue/values.yaml`), since the chart accepts only the complete file."""
_DISABLED = ("sparkoperator.k8s.io/sparkapplication",)
"""Integrations that need more than their name, and are off in Kueue's chart."""


def weights_differ(trees: Sequence[Tree]) -> bool:
    """Whether fair sharing has an effect: siblings of unequal weight under Kueue."""
    return any(
        len({node.weight for node in siblings}) > 1
        for tree in trees
        if tree.scheduler == "kueue"
        for siblings in tree.by_parent.values()
    )


def _all_frameworks(release: Minor) -> Iterator[str]:
    """The integrations that are on without a base file: all, so that no kind runs beside the quotas.

    Kueue waits for the API of a kind that a cluster does not have (pkg/controller/jobframework/setup.go).
    Its chart of 0.19 has the kinds of Kubeflow's training operator off, and all others on.
    """
    return (it for it in integrations(release) if it not in _DISABLED)


def _frameworks(assignments: Sequence[Assignment]) -> list[str]:
    """Integrations that Kueue needs to use the queue labels on the models' workloads."""
    frameworks = ["batch/job"]
    mine = [assignment.model for assignment in assignments if assignment.facts.scheduler == "kueue"]
    if any(model.workload == "serving" for model in mine):
        # A Deployment is queued pod by pod.
        frameworks += ["pod", "deployment", "statefulset"]
    if any(model.gang and model.gang.run_as == "lws" for model in mine):
        frameworks.append(LEADER_WORKER_SET)
    return frameworks


def faults(base: Any) -> Iterator[tuple[Path, str]]:
    """Why a base file cannot be merged: paths in it, each with a message."""
    known = [release.api_version for release in CONFIGURATION.releases]
    if base.get("apiVersion") not in known:
        yield (
            ("apiVersion",),
            "this apiVersion of Kueue's Configuration is not supported; write "
            + " or ".join(known),
        )
    for name in ("waitForPodsReady", "fairSharing", "integrations"):
        stanza = base.get(name)
        if stanza is not None and not isinstance(stanza, dict):
            yield (name,), f"{name} must be a mapping; write its fields indented below {name}"
        elif name == "integrations" and stanza:
            frameworks = stanza.get("frameworks")
            if frameworks is not None and not (
                isinstance(frameworks, list) and all(isinstance(it, str) for it in frameworks)
            ):
                yield (
                    (name, "frameworks"),
                    "integrations.frameworks must be a list of names, such as [batch/job]",
                )


def decide(
    platform: Platform,
    pools: Sequence[PoolFacts],
    trees: Sequence[Tree],
    assignments: Sequence[Assignment],
    base: dict[str, Any] | None,
) -> Item | None:
    """The base file with what the spec needs merged in; None without Kueue pools.

    Settings of the base (without `faults`) stay, and so does its API version. `waitForPodsReady` is
    always written if gangs must start together: an absent setting means on from 0.19, before it
    means off.
    """
    mine = [facts for facts in pools if facts.scheduler == "kueue"]
    if not mine:
        return None
    target = platform.target.kueue.release
    release = [it for it in CONFIGURATION.releases if it.since <= target][-1]
    fields: dict[str, Any] = {
        "apiVersion": release.api_version,
        "kind": CONFIGURATION.name,
        **_CHART,
        "integrations": {"frameworks": [*_all_frameworks(target)]},
    }
    if base is not None:
        fields = dict(base)
        release = next(it for it in CONFIGURATION.releases if it.api_version == base["apiVersion"])
    switch = {"enable": True} if release.api_version in SWITCHED else {}
    if any(facts.policy.gang_scheduling for facts in mine):
        own = fields.get("waitForPodsReady") or {}
        fields["waitForPodsReady"] = {**_WAIT_FOR_PODS_READY, **own, **switch}
    if weights_differ(trees):
        fields["fairSharing"] = {**FAIR_SHARING, **(fields.get("fairSharing") or {}), **switch}
    if platform.monitoring.at is not None:
        own = fields.get("metrics") or {}
        fields["metrics"] = {**own, "enableClusterQueueResources": True}
    integrations = fields.get("integrations") or {}
    frameworks = integrations.get("frameworks") or []
    missing = [name for name in _frameworks(assignments) if name not in frameworks]
    fields["integrations"] = {**integrations, "frameworks": [*frameworks, *missing]}
    fields.setdefault(
        "managedJobsNamespaceSelector",
        {
            "matchExpressions": [
                {
                    "key": NAMESPACE_NAME,
                    "operator": "NotIn",
                    "values": [KUBE_SYSTEM, platform.kueue.namespace],
                }
            ]
        },
    )
    meta = Meta(CONFIG_MAP, platform.name, platform.kueue.namespace)
    return Item(CONFIGURATION, release, KueueConfiguration(meta, fields))
