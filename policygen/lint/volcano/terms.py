"""The actions, plugins, switches and arguments of Volcano's scheduler configuration, by release.

Source: pkg/scheduler/{conf,actions,plugins,framework/arguments.go} of Volcano at v1.12.2, v1.13.2,
v1.14.1 and v1.15.1. Volcano ignores any other name, without a line in the log.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from policygen.core import go_values
from policygen.core.versions import Minor, Version
from policygen.kubernetes.untyped import integer

_FIRST: Minor = (1, 12)
_NEVER: Minor = (99, 0)

TOP = ("actions", "tiers", "configurations", "metrics")
TIER = ("plugins",)
PLUGIN = ("name", "arguments")


class ValueType(Enum):
    """The type of an argument, as messages describe it."""

    WHOLE = "a whole number without quotes"
    NUMBER = "a number without quotes"
    TRUTH = "true or false without quotes"
    TEXT = "a string"
    NAMES = "one string of names with commas between them"
    DURATION = 'a duration with a unit, such as "60s"'
    NAME_LIST = "a list of names"
    STRATEGIES = "a mapping from resources to {type, weight}"
    MAPPING = "a mapping"
    ANY = "anything"


class Parameter(Struct, frozen=True):
    """An argument or switch: its type, and the releases that read it."""

    type: ValueType
    since: Minor = _FIRST
    until: Minor = _NEVER
    crashes: bool = False
    """Whether the scheduler crashes on a value of another type; otherwise it uses its default."""

    def read(self, version: Version) -> bool:
        """Whether a release reads it."""
        return self.since <= version.release < self.until

    def fits(self, value: Any, version: Version) -> bool:
        """Whether a release accepts the value."""
        if self.type is ValueType.TRUTH and version.release >= (1, 15) and isinstance(value, str):
            return go_values.boolean(value) is not None
        if value is None and self.crashes:
            # Generic decoding reads an empty value as zero; plugins tdm and rescheduling crash.
            return self.type not in (ValueType.TEXT, ValueType.DURATION)
        return _fits(self.type, value, self.crashes)


def _fits(kind: ValueType, value: Any, crashes: bool) -> bool:
    is_whole = integer(value) is not None
    if kind is ValueType.WHOLE:  # generic decoding accepts a float as an integer
        return is_whole or (crashes and isinstance(value, float))
    if kind is ValueType.NUMBER:
        return is_whole or isinstance(value, float)
    if kind is ValueType.TRUTH:
        return isinstance(value, bool)
    if kind in (ValueType.TEXT, ValueType.NAMES, ValueType.DURATION):
        return isinstance(value, str)
    if kind is ValueType.NAME_LIST:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if kind is ValueType.STRATEGIES:
        return isinstance(value, dict) and all(map(_is_strategy, value.values()))
    return kind is ValueType.ANY or isinstance(value, dict)


def _is_strategy(value: Any) -> bool:
    """Whether generic decoding reads `{type, weight}`; empty values are zero."""
    if not isinstance(value, dict):
        return value is None
    weight = value.get("weight")
    return isinstance(value.get("type"), str | None) and (
        isinstance(weight, int | float | None) and not isinstance(weight, bool)
    )


_WHOLE, _TRUTH, _TEXT = (
    Parameter(ValueType.WHOLE),
    Parameter(ValueType.TRUTH),
    Parameter(ValueType.TEXT),
)

ACTIONS: Mapping[str, Minor] = {
    **dict.fromkeys(("enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"), _FIRST),
    **dict.fromkeys(("gangpreempt", "gangreclaim"), (1, 15)),
}
"""Every action, and the first release that has it."""

SWITCHES: Mapping[str, Parameter] = {
    **dict.fromkeys(
        (
            "enableJobOrder",
            "enableHierarchy",
            "enableJobReady",
            "enableJobPipelined",
            "enableTaskOrder",
            "enablePreemptable",
            "enableReclaimable",
            "enablePreemptive",
            "enableQueueOrder",
            "EnabledClusterOrder",
            "enablePredicate",
            "enableBestNode",
            "enableNodeOrder",
            "enableTargetJob",
            "enableReservedNodes",
            "enableJobEnqueued",
            "enabledVictim",
            "enableJobStarving",
            "enabledOverused",
            "enabledAllocatable",
            "enabledHyperNodeOrder",
        ),
        _TRUTH,
    ),
    **dict.fromkeys(
        (
            "enabledSubJobReady",
            "enabledSubJobPipelined",
            "enabledSubJobOrder",
            "enabledHyperNodeGradient",
        ),
        Parameter(ValueType.TRUTH, since=(1, 14)),
    ),
}
"""Flags of a plugin, spelt as in Volcano's code."""

_EXTENDER_VERBS = (
    "urlPrefix",
    "httpTimeout",
    "onSessionOpenVerb",
    "onSessionCloseVerb",
    "predicateVerb",
    "prioritizeVerb",
    "preemptableVerb",
    "reclaimableVerb",
    "queueOverusedVerb",
    "jobEnqueueableVerb",
    "jobReadyVerb",
)

PLUGINS: Mapping[str, Mapping[str, Parameter]] = {
    "binpack": {
        "binpack.weight": _WHOLE,
        "binpack.cpu": _WHOLE,
        "binpack.memory": _WHOLE,
        "binpack.resources": Parameter(ValueType.NAMES),
        "binpack.resources.*": _WHOLE,
    },
    "capacity": {
        "ancestorReclaimLevel": Parameter(ValueType.WHOLE, since=(1, 15)),
        "capacity.DynamicResourceAllocationEnable": Parameter(ValueType.TRUTH, since=(1, 15)),
        "capacity.DRAConsumableCapacityEnable": Parameter(ValueType.TRUTH, since=(1, 15)),
    },
    "cdp": {},
    "conformance": {},
    "deviceshare": {
        "deviceshare.GPUSharingEnable": _TRUTH,
        "deviceshare.GPUNumberEnable": _TRUTH,
        "deviceshare.NodeLockEnable": _TRUTH,
        "deviceshare.VGPUEnable": _TRUTH,
        "deviceshare.AscendMindClusterVNPUEnable": Parameter(ValueType.TRUTH, since=(1, 14)),
        "deviceshare.AscendHAMiVNPUEnable": Parameter(ValueType.TRUTH, since=(1, 14)),
        "deviceshare.SchedulePolicy": _TEXT,
        "deviceshare.ScheduleWeight": _WHOLE,
        "deviceshare.KnownGeometriesCMName": _TEXT,
        "deviceshare.KnownGeometriesCMNamespace": _TEXT,
        "deviceshare.GPUExclusiveRules": Parameter(ValueType.ANY, since=(1, 15)),
    },
    "drf": {},
    "extender": {
        **{f"extender.{verb}": _TEXT for verb in _EXTENDER_VERBS},
        "extender.ignorable": _TRUTH,
        "extender.allocateFuncVerb": Parameter(ValueType.TEXT, since=(1, 13)),
        "extender.deallocateFuncVerb": Parameter(ValueType.TEXT, since=(1, 13)),
        "extender.managedResources": Parameter(ValueType.NAME_LIST, since=(1, 13), crashes=True),
    },
    "gang": {},
    "network-topology-aware": {
        "weight": _WHOLE,
        "hypernode.binpack.cpu": Parameter(ValueType.WHOLE, since=(1, 14)),
        "hypernode.binpack.memory": Parameter(ValueType.WHOLE, since=(1, 14)),
        "hypernode.binpack.resources": Parameter(ValueType.NAMES, since=(1, 14)),
        "hypernode.binpack.resources.*": Parameter(ValueType.WHOLE, since=(1, 14)),
        "hypernode.binpack.normal-pod.enable": Parameter(ValueType.TRUTH, since=(1, 14)),
        "hypernode.binpack.normal-pod.fading": Parameter(ValueType.NUMBER, since=(1, 14)),
        "hypernode.gradient.evict.max-hypernodes": Parameter(ValueType.WHOLE, since=(1, 15)),
    },
    "nodegroup": {
        "strict": Parameter(ValueType.TRUTH, since=(1, 13)),
        "enablePreferredOrder": Parameter(ValueType.TRUTH, since=(1, 15)),
    },
    "nodeorder": {
        f"{score}.weight": _WHOLE
        for score in (
            "nodeaffinity",
            "podaffinity",
            "leastrequested",
            "mostrequested",
            "balancedresource",
            "tainttoleration",
            "imagelocality",
            "podtopologyspread",
        )
    },
    "numa-aware": {"weight": _WHOLE},
    "overcommit": {"overcommit-factor": Parameter(ValueType.NUMBER)},
    "pdb": {},
    "predicates": {
        **{
            f"predicate.{filter_}Enable": _TRUTH
            for filter_ in (
                "NodeAffinity",
                "NodePorts",
                "TaintToleration",
                "PodAffinity",
                "NodeVolumeLimits",
                "VolumeZone",
                "PodTopologySpread",
                "VolumeBinding",
                "Cache",
            )
        },
        "predicate.DynamicResourceAllocationEnable": Parameter(ValueType.TRUTH, until=(1, 15)),
        "predicate.ProportionalEnable": Parameter(ValueType.TRUTH, until=(1, 13)),
        "predicate.resources": Parameter(ValueType.NAMES, until=(1, 13)),
        "predicate.resources.*": Parameter(ValueType.NUMBER, until=(1, 13)),
        "volumebinding.weight": Parameter(ValueType.WHOLE, crashes=True),
        "volumebinding.bindTimeoutSeconds": Parameter(ValueType.WHOLE, crashes=True),
        "volumebinding.shape": Parameter(ValueType.ANY),
        "dynamicresources.filterTimeoutSeconds": Parameter(
            ValueType.WHOLE, since=(1, 14), crashes=True
        ),
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {
        "interval": Parameter(ValueType.DURATION, crashes=True),
        "metricsPeriod": Parameter(ValueType.DURATION, crashes=True),
        "strategies": Parameter(ValueType.ANY),
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": Parameter(ValueType.WHOLE, crashes=True),
        "resources": Parameter(ValueType.STRATEGIES, crashes=True),
        "proportional": Parameter(ValueType.MAPPING, crashes=True),
        "sra": Parameter(ValueType.MAPPING, crashes=True),
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": Parameter(ValueType.DURATION)},
    "task-topology": {"task-topology.weight": _WHOLE},
    "tdm": {
        "tdm.evict.period": Parameter(ValueType.DURATION, crashes=True),
        "tdm.revocable-zone.*": Parameter(ValueType.TEXT, crashes=True),
    },
    "usage": {
        "usage.weight": _WHOLE,
        "cpu.weight": _WHOLE,
        "memory.weight": _WHOLE,
        "thresholds": Parameter(ValueType.ANY),
    },
}
"""The arguments of every plugin; `*` matches the rest of a name."""

_PLUGIN_SINCE: Mapping[str, Minor] = {"resource-strategy-fit": (1, 13)}


def actions(version: Version) -> list[str]:
    """The actions that a release has."""
    return [name for name, since in ACTIONS.items() if since <= version.release]


def plugins(version: Version) -> list[str]:
    """The plugins that a release has."""
    return [name for name in PLUGINS if _PLUGIN_SINCE.get(name, _FIRST) <= version.release]


def switches(version: Version) -> list[str]:
    """The flags of a plugin that a release reads."""
    return [name for name, parameter in SWITCHES.items() if parameter.read(version)]


def argument(plugin: str, name: str) -> Parameter | None:
    """An argument of a plugin in any release; None if it is unknown."""
    parameters = PLUGINS.get(plugin, {})
    if name in parameters:
        return parameters[name]
    for prefix, parameter in parameters.items():
        if prefix.endswith("*") and name.startswith(prefix[:-1]):
            return parameter
    return None


def mistyped(
    plugin: str, arguments: Mapping[str, Any], version: Version
) -> Iterator[tuple[str, Any, Parameter]]:
    """The arguments of a plugin whose value a release does not accept, with their values."""
    for name, value in arguments.items():
        parameter = argument(plugin, name)
        if parameter and parameter.read(version) and not parameter.fits(value, version):
            yield name, value, parameter


def argument_names(plugin: str, version: Version) -> Iterator[str]:
    """The arguments that a release reads, for suggestions."""
    for name, parameter in PLUGINS.get(plugin, {}).items():
        if parameter.read(version) and not name.endswith("*"):
            yield name
