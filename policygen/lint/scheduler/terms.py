"""The fields, plugins and plugin arguments of a KubeSchedulerConfiguration, by release.

Source: k8s.io/kube-scheduler/config/v1 and pkg/scheduler/framework/plugins/names of Kubernetes
1.34.4, 1.35.4 and 1.36.3.
"""

from collections.abc import Mapping
from functools import partial

from policygen.core.versions import Minor, Version
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.lint.core.typed_fields import Fields, Type

LISTS = frozenset(
    {
        "defaultConstraints",
        "disabled",
        "enabled",
        "extenders",
        "managedResources",
        "matchExpressions",
        "matchFields",
        "nodeSelectorTerms",
        "pluginConfig",
        PREFERRED,
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

REMOVED = ("AzureDiskLimits", "CinderLimits", "EBSLimits", "GCEPDLimits")
"""Plugins that kube-scheduler refuses by name, even where it ignores unknown ones.

Source: pkg/scheduler/apis/config/validation/validation.go, invalidPluginsByVersion.
"""

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
_int32s = partial(_plain, type_=Type.INT32)
_texts = partial(_plain, type_=Type.TEXT)


_PLUGIN_SET: Fields = {
    "enabled": {**_texts("name"), **_int32s("weight")},
    "disabled": {**_texts("name"), **_int32s("weight")},
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
_SHAPE = _int32s("utilization", "score")
_EXPRESSION: Fields = {**_texts("key", "operator"), "values": Type.TEXTS}
_TERM: Fields = {"matchExpressions": _EXPRESSION, "matchFields": _EXPRESSION}
_CONSTRAINT: Fields = {
    **_int32s("maxSkew", "minDomains"),
    **_texts("topologyKey", "whenUnsatisfiable", "nodeAffinityPolicy", "nodeTaintsPolicy"),
    **_plain("labelSelector"),
    "matchLabelKeys": Type.TEXTS,
}
_ARGUMENTS: Mapping[str, Fields] = {
    "DefaultPreemption": _int32s("minCandidateNodesPercentage", "minCandidateNodesAbsolute"),
    "InterPodAffinity": {
        **_int32s("hardPodAffinityWeight"),
        **_booleans("ignorePreferredTermsOfExistingPods"),
    },
    "NodeAffinity": {
        "addedAffinity": {
            REQUIRED: {"nodeSelectorTerms": _TERM},
            PREFERRED: {
                **_int32s("weight"),
                "preference": _TERM,
            },
        }
    },
    "NodeResourcesBalancedAllocation": {"resources": _RESOURCES},
    "NodeResourcesFit": {
        **dict.fromkeys(("ignoredResources", "ignoredResourceGroups"), Type.TEXTS),
        "scoringStrategy": {
            "type": Type.TEXT,
            "resources": _RESOURCES,
            "requestedToCapacityRatio": {"shape": _SHAPE},
        },
    },
    "PodTopologySpread": {"defaultConstraints": _CONSTRAINT, **_texts("defaultingType")},
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
    "GangScheduling": ("preEnqueue", "reserve", "permit"),
    "ImageLocality": ("score",),
    "InterPodAffinity": ("preFilter", "filter", "preScore", "score"),
    "NodeAffinity": ("preFilter", "filter", "preScore", "score"),
    "NodeDeclaredFeatures": ("preFilter", "filter"),
    "NodeName": ("filter",),
    "NodePorts": ("preFilter", "filter"),
    "NodeResourcesBalancedAllocation": ("preScore", "score"),
    "NodeResourcesFit": ("preFilter", "filter", "preScore", "score", "placementScore"),
    "NodeUnschedulable": ("filter",),
    "NodeVolumeLimits": ("preFilter", "filter"),
    "PodGroupPodsCount": ("placementScore",),
    "PodTopologySpread": ("preFilter", "filter", "preScore", "score"),
    "PrioritySort": ("queueSort",),
    "SchedulingGates": ("preEnqueue",),
    "TaintToleration": ("filter", "preScore", "score"),
    "TopologyPlacementGenerator": ("placementGenerate",),
    "VolumeBinding": ("preFilter", "filter", "reserve", "preBind", "preScore", "score"),
    "VolumeRestrictions": ("preFilter", "filter"),
    "VolumeZone": ("preFilter", "filter"),
    # Of scheduler-plugins 0.33 and later:
    "Coscheduling": ("queueSort", "preFilter", "postFilter", "reserve", "permit"),
    "QOSSort": ("queueSort",),
    "TopologicalSort": ("queueSort",),
}
"""The extension points of each plugin, in any of the releases."""
_UNTIL: Mapping[tuple[str, str], Minor] = {("GangScheduling", "reserve"): (1, 36)}
"""The first release in which a plugin no longer has an extension point."""


def extends(plugin: str, point: str, version: Version) -> bool:
    """Whether a plugin can be enabled at an extension point; true for an unknown plugin or point."""
    if point not in _POINTS:
        return True
    if version.release >= _UNTIL.get((plugin, point), (99, 0)):
        return False
    return point == "multiPoint" or point in _EXTENDS.get(plugin, (point,))


def sorts(plugin: str) -> bool:
    """Whether a plugin of kube-scheduler or of scheduler-plugins sorts the waiting pods."""
    return "queueSort" in _EXTENDS.get(plugin, ())


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
        **_int32s("parallelism", "percentageOfNodesToScore"),
        **_integers("podInitialBackoffSeconds", "podMaxBackoffSeconds"),
        **_booleans("enableProfiling", "enableContentionProfiling", "delayCacheUntilActive"),
        "leaderElection": {
            **_booleans("leaderElect"),
            **_durations("leaseDuration", "renewDeadline", "retryPeriod"),
            **_texts("resourceLock", "resourceName", "resourceNamespace"),
        },
        "clientConnection": {
            **_texts("kubeconfig", "acceptContentTypes", "contentType"),
            "qps": Type.NUMBER,
            **_int32s("burst"),
        },
        "profiles": {
            **_texts("schedulerName"),
            **_int32s("percentageOfNodesToScore"),
            "plugins": points,
            "pluginConfig": {**_texts("name"), **_plain("args")},
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
