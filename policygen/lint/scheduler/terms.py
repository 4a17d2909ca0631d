"""The fields, plugins and plugin arguments of a KubeSchedulerConfiguration, by release.

Source: k8s.io/kube-scheduler/config/v1 and pkg/scheduler/framework/plugins/names of Kubernetes
1.34.4, 1.35.4 and 1.36.3.
"""

from collections.abc import Mapping
from functools import partial

from policygen.core.versions import Minor, Version
from policygen.lint.core.typed_fields import Fields, Type

LISTS = frozenset(
    {
        "disabled",
        "enabled",
        "extenders",
        "managedResources",
        "pluginConfig",
        "profiles",
        "resources",
        "shape",
    }
)
"""The fields whose value is a list of mappings."""

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
"""The in-tree plugins, and the first known release of each."""

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
"""Plugins of kubernetes-sigs/scheduler-plugins, which is a separate build of the scheduler."""

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


def _plain(*names: str, type_: Type | None = None) -> "dict[str, Fields | Type | None]":
    return dict.fromkeys(names, type_)


_booleans = partial(_plain, type_=Type.BOOLEAN)
_durations = partial(_plain, type_=Type.DURATION)
_integers = partial(_plain, type_=Type.INTEGER)
_texts = partial(_plain, type_=Type.TEXT)


_PLUGIN_SET: Fields = {
    "enabled": _plain("name", "weight"),
    "disabled": _plain("name", "weight"),
}
_TLS: Fields = {
    **_booleans("insecure"),
    **_texts("serverName", "certFile", "keyFile", "caFile", "certData", "keyData", "caData"),
}
_EXTENDER: Fields = {
    **_texts("urlPrefix", "filterVerb", "preemptVerb", "prioritizeVerb", "bindVerb"),
    **_integers("weight"),
    **_booleans("enableHTTPS", "nodeCacheCapable", "ignorable"),
    **_durations("httpTimeout"),
    "tlsConfig": _TLS,
    "managedResources": {**_texts("name"), **_booleans("ignoredByScheduler")},
}
_RESOURCES: Fields = {**_texts("name"), **_integers("weight")}
_SHAPE = _integers("utilization", "score")
_ARGUMENTS: Mapping[str, Fields] = {
    "DefaultPreemption": _integers("minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    "InterPodAffinity": {
        **_integers("hardPodAffinityWeight"),
        **_booleans("ignorePreferredTermsOfExistingPods"),
    },
    "NodeAffinity": _plain("addedAffinity"),
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {
        **_plain("ignoredResources", "ignoredResourceGroups"),
        "scoringStrategy": {
            "type": Type.TEXT,
            "resources": _RESOURCES,
            "requestedToCapacityRatio": {"shape": _SHAPE},
        },
    },
    "PodTopologySpread": {**_plain("defaultConstraints"), **_texts("defaultingType")},
    "VolumeBinding": {**_integers("bindTimeoutSeconds"), "shape": _SHAPE},
}


_EXTENDS: Mapping[str, tuple[str, ...]] = {
    "DefaultBinder": ("bind",),
    "DefaultPreemption": ("postFilter", "preEnqueue"),
    "DynamicResources": (
        "preEnqueue",
        "preFilter",
        "filter",
        "postFilter",
        "score",
        "reserve",
        "preBind",
    ),
    "ImageLocality": ("score",),
    "InterPodAffinity": ("preFilter", "filter", "preScore", "score"),
    "NodeAffinity": ("preFilter", "filter", "preScore", "score"),
    "NodeName": ("filter",),
    "NodePorts": ("preFilter", "filter"),
    "NodeResourcesBalancedAllocation": ("preScore", "score"),
    "NodeResourcesFit": ("preFilter", "filter", "preScore", "score", "placementScore"),
    "NodeUnschedulable": ("filter",),
    "NodeVolumeLimits": ("preFilter", "filter"),
    "PodTopologySpread": ("preFilter", "filter", "preScore", "score"),
    "PrioritySort": ("queueSort",),
    "SchedulingGates": ("preEnqueue",),
    "TaintToleration": ("filter", "preScore", "score"),
    "VolumeBinding": ("preFilter", "filter", "reserve", "preBind", "preScore", "score"),
    "VolumeRestrictions": ("preFilter", "filter"),
    "VolumeZone": ("preFilter", "filter"),
}
"""The extension points of each plugin, in any of the releases."""


def extends(plugin: str, point: str) -> bool:
    """Whether a plugin can be enabled at an extension point; true for an unknown plugin."""
    return point == "multiPoint" or point in _EXTENDS.get(plugin, (point,))


def in_tree(plugin: str) -> bool:
    """Whether any release of kube-scheduler contains the plugin."""
    return plugin in _PLUGINS


def plugins(version: Version) -> list[str]:
    """The plugins of a release."""
    return [name for name, since in _PLUGINS.items() if since <= version.release]


def configuration(version: Version) -> Fields:
    """The fields of a KubeSchedulerConfiguration."""
    points = {name: _PLUGIN_SET for name, since in _POINTS.items() if since <= version.release}
    return {
        **_plain("apiVersion", "kind"),
        **_integers(
            "parallelism",
            "percentageOfNodesToScore",
            "podInitialBackoffSeconds",
            "podMaxBackoffSeconds",
        ),
        **_booleans("enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"),
        "leaderElection": {
            **_booleans("leaderElect"),
            **_durations("leaseDuration", "renewDeadline", "retryPeriod"),
            **_texts("resourceLock", "resourceName", "resourceNamespace"),
        },
        "clientConnection": {
            **_texts("kubeconfig", "acceptContentTypes", "contentType"),
            "qps": Type.NUMBER,
            **_integers("burst"),
        },
        "profiles": {
            **_plain("schedulerName", "percentageOfNodesToScore"),
            "plugins": points,
            "pluginConfig": _plain("name", "args"),
        },
        "extenders": _EXTENDER,
    }


def arguments(plugin: str, version: Version) -> "Fields | None":
    """The fields of a plugin's arguments; None if they are not known."""
    found = _ARGUMENTS.get(plugin)
    if plugin == "DynamicResources":
        found = _durations("filterTimeout")
        if version.release >= (1, 36):
            found = _durations("filterTimeout", "bindingTimeout")
    return None if found is None else {**_plain("apiVersion", "kind"), **found}
