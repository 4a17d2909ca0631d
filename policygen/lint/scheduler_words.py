"""The words of a KubeSchedulerConfiguration by release: fields, plugins and their arguments.

Source: k8s.io/kube-scheduler/config/v1 and pkg/scheduler/framework/plugins/names of Kubernetes
1.34.4, 1.35.4 and 1.36.3.
"""

from collections.abc import Mapping
from typing import TypeAlias

from policygen.versions import Minor, Version

Fields: TypeAlias = "Mapping[str, Fields | None]"
"""The fields of a mapping and what is below them; None: not looked into. Lists are passed through."""

_PLUGINS: Mapping[str, Minor] = {
    **dict.fromkeys(
        (
            "DefaultBinder",
            "DefaultPreemption",
            "DynamicResources",
            "ImageLocality",
            "InterPodAffinity",
            "NodeAffinity",
            "NodeName",
            "NodePorts",
            "NodeResourcesBalancedAllocation",
            "NodeResourcesFit",
            "NodeUnschedulable",
            "NodeVolumeLimits",
            "PodTopologySpread",
            "PrioritySort",
            "SchedulingGates",
            "TaintToleration",
            "VolumeBinding",
            "VolumeRestrictions",
            "VolumeZone",
        ),
        (1, 33),
    ),
    "GangScheduling": (1, 35),
    "NodeDeclaredFeatures": (1, 35),
    "PodGroupPodsCount": (1, 36),
    "TopologyPlacementGenerator": (1, 36),
}
"""The plugins in the tree, and the first release of each that we know."""

OTHERS = frozenset(
    {
        "CapacityScheduling",
        "Coscheduling",
        "CrossNodePreemption",
        "LoadVariationRiskBalancing",
        "LowRiskOverCommitment",
        "NetworkOverhead",
        "NodeMetadata",
        "NodeResourceTopologyMatch",
        "NodeResourcesAllocatable",
        "NodeResourcesLeastAllocatable",
        "Peaks",
        "PodState",
        "PreemptionToleration",
        "QOSSort",
        "SySched",
        "TargetLoadPacking",
        "TopologicalSort",
    }
)
"""Plugins of kubernetes-sigs/scheduler-plugins, whose build is a scheduler of its own."""

_POINTS: Mapping[str, Minor] = {
    **dict.fromkeys(
        (
            "preEnqueue",
            "queueSort",
            "preFilter",
            "filter",
            "postFilter",
            "preScore",
            "score",
            "reserve",
            "permit",
            "preBind",
            "bind",
            "postBind",
            "multiPoint",
        ),
        (1, 33),
    ),
    "placementGenerate": (1, 36),
    "placementScore": (1, 36),
    "podGroupPostFilter": (1, 37),
}


def _plain(*names: str) -> "dict[str, Fields | None]":
    return dict.fromkeys(names)


_PLUGIN_SET: Fields = {
    "enabled": _plain("name", "weight"),
    "disabled": _plain("name", "weight"),
}
_TLS = _plain(
    "insecure", "serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"
)
_EXTENDER: Fields = {
    **_plain(
        "urlPrefix",
        "filterVerb",
        "preemptVerb",
        "prioritizeVerb",
        "weight",
        "bindVerb",
        "enableHTTPS",
        "httpTimeout",
        "nodeCacheCapable",
        "ignorable",
    ),
    "tlsConfig": _TLS,
    "managedResources": _plain("name", "ignoredByScheduler"),
}
_RESOURCES = _plain("name", "weight")
_SHAPE = _plain("utilization", "score")
_ARGUMENTS: Mapping[str, Fields] = {
    "DefaultPreemption": _plain("minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    "InterPodAffinity": _plain("hardPodAffinityWeight", "ignorePreferredTermsOfExistingPods"),
    "NodeAffinity": _plain("addedAffinity"),
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {
        **_plain("ignoredResources", "ignoredResourceGroups"),
        "scoringStrategy": {
            "type": None,
            "resources": _RESOURCES,
            "requestedToCapacityRatio": {"shape": _SHAPE},
        },
    },
    "PodTopologySpread": _plain("defaultConstraints", "defaultingType"),
    "VolumeBinding": {"bindTimeoutSeconds": None, "shape": _SHAPE},
}


def plugins(version: Version) -> list[str]:
    """The plugins that a release has."""
    return [name for name, since in _PLUGINS.items() if since <= version.release]


def configuration(version: Version) -> Fields:
    """The fields of the whole file."""
    points = {name: _PLUGIN_SET for name, since in _POINTS.items() if since <= version.release}
    return {
        **_plain(
            "apiVersion",
            "kind",
            "parallelism",
            "enableProfiling",
            "enableContentionProfiling",
            "percentageOfNodesToScore",
            "podInitialBackoffSeconds",
            "podMaxBackoffSeconds",
            "delayCacheUntilActive",
        ),
        "leaderElection": _plain(
            "leaderElect",
            "leaseDuration",
            "renewDeadline",
            "retryPeriod",
            "resourceLock",
            "resourceName",
            "resourceNamespace",
        ),
        "clientConnection": _plain(
            "kubeconfig", "acceptContentTypes", "contentType", "qps", "burst"
        ),
        "profiles": {
            **_plain("schedulerName", "percentageOfNodesToScore"),
            "plugins": points,
            "pluginConfig": _plain("name", "args"),
        },
        "extenders": _EXTENDER,
    }


def arguments(plugin: str, version: Version) -> "Fields | None":
    """The fields of a plugin's arguments; None for one of whose arguments we know nothing."""
    found = _ARGUMENTS.get(plugin)
    if plugin == "DynamicResources":
        found = _plain("filterTimeout")
        if version.release >= (1, 36):
            found = _plain("filterTimeout", "bindingTimeout")
    return None if found is None else {**_plain("apiVersion", "kind"), **found}
