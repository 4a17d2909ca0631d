"""The words of Volcano's scheduler configuration by release: actions, plugins, switches, arguments.

Source: pkg/scheduler/{conf,actions,plugins,framework/arguments.go} of Volcano at v1.12.2, v1.13.2,
v1.14.1 and v1.15.1. A word that is not here is read by nothing, and no line of the log says so.
"""

from collections.abc import Iterator, Mapping
from enum import Enum
from typing import Any

from msgspec import Struct

from policygen.core.versions import Minor, Version
from policygen.kubernetes.untyped import whole

_FIRST: Minor = (1, 12)
_NEVER: Minor = (99, 0)

TOP = ("actions", "tiers", "configurations", "metrics")
TIER = ("plugins",)
PLUGIN = ("name", "arguments")


class Sort(Enum):
    """What an argument must be, and in the message, how to write it."""

    WHOLE = "a whole number without quotes"
    NUMBER = "a number without quotes"
    TRUTH = "true or false without quotes"
    TEXT = "a text"
    NAMES = "one text with commas between the names"
    DURATION = 'a text with a unit such as "60s"'
    NAME_LIST = "a list of names"
    STRATEGIES = "a mapping from resources to {type, weight}"
    MAPPING = "a mapping"
    ANY = "anything"


class Word(Struct, frozen=True):
    """An argument or switch: what it must be, and which releases read it."""

    sort: Sort
    since: Minor = _FIRST
    until: Minor = _NEVER
    dies: bool = False
    """Whether the scheduler ends where it is of another sort; else it keeps its default."""

    def read(self, version: Version) -> bool:
        """Whether a release reads it."""
        return self.since <= version.release < self.until

    def fits(self, value: Any, version: Version) -> bool:
        """Whether a release takes the value for what it is."""
        if self.sort is Sort.TRUTH and version.release >= (1, 15) and isinstance(value, str):
            return value in ("1", "t", "T", "true", "TRUE", "True") or value in (
                ("0", "f", "F", "false", "FALSE", "False")
            )
        return _fits(self.sort, value, self.dies)


def _fits(sort: Sort, value: Any, dies: bool) -> bool:
    is_whole = whole(value) is not None
    if sort is Sort.WHOLE:  # what decodes generically takes a float for an integer
        return is_whole or (dies and isinstance(value, float))
    if sort is Sort.NUMBER:
        return is_whole or isinstance(value, float)
    if sort is Sort.TRUTH:
        return isinstance(value, bool)
    if sort in (Sort.TEXT, Sort.NAMES, Sort.DURATION):
        return isinstance(value, str)
    if sort is Sort.NAME_LIST:
        return isinstance(value, list) and all(isinstance(each, str) for each in value)
    if sort is Sort.STRATEGIES:
        return isinstance(value, dict) and all(isinstance(each, dict) for each in value.values())
    return sort is Sort.ANY or isinstance(value, dict)


_WHOLE, _TRUTH, _TEXT = Word(Sort.WHOLE), Word(Sort.TRUTH), Word(Sort.TEXT)

ACTIONS: Mapping[str, Minor] = {
    **dict.fromkeys(("enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"), _FIRST),
    **dict.fromkeys(("gangpreempt", "gangreclaim"), (1, 15)),
}
"""Every action, and the first release that has it."""

SWITCHES: Mapping[str, Word] = {
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
        Word(Sort.TRUTH, since=(1, 14)),
    ),
}
"""Flags of a plugin; their spelling is that of the program."""

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

PLUGINS: Mapping[str, Mapping[str, Word]] = {
    "binpack": {
        "binpack.weight": _WHOLE,
        "binpack.cpu": _WHOLE,
        "binpack.memory": _WHOLE,
        "binpack.resources": Word(Sort.NAMES),
        "binpack.resources.*": _WHOLE,
    },
    "capacity": {
        "ancestorReclaimLevel": Word(Sort.WHOLE, since=(1, 15)),
        "capacity.DynamicResourceAllocationEnable": Word(Sort.TRUTH, since=(1, 15)),
        "capacity.DRAConsumableCapacityEnable": Word(Sort.TRUTH, since=(1, 15)),
    },
    "cdp": {},
    "conformance": {},
    "deviceshare": {
        "deviceshare.GPUSharingEnable": _TRUTH,
        "deviceshare.GPUNumberEnable": _TRUTH,
        "deviceshare.NodeLockEnable": _TRUTH,
        "deviceshare.VGPUEnable": _TRUTH,
        "deviceshare.AscendMindClusterVNPUEnable": Word(Sort.TRUTH, since=(1, 14)),
        "deviceshare.AscendHAMiVNPUEnable": Word(Sort.TRUTH, since=(1, 14)),
        "deviceshare.SchedulePolicy": _TEXT,
        "deviceshare.ScheduleWeight": _WHOLE,
        "deviceshare.KnownGeometriesCMName": _TEXT,
        "deviceshare.KnownGeometriesCMNamespace": _TEXT,
        "deviceshare.GPUExclusiveRules": Word(Sort.ANY, since=(1, 15)),
    },
    "drf": {},
    "extender": {
        **{f"extender.{verb}": _TEXT for verb in _EXTENDER_VERBS},
        "extender.ignorable": _TRUTH,
        "extender.allocateFuncVerb": Word(Sort.TEXT, since=(1, 13)),
        "extender.deallocateFuncVerb": Word(Sort.TEXT, since=(1, 13)),
        "extender.managedResources": Word(Sort.NAME_LIST, since=(1, 13), dies=True),
    },
    "gang": {},
    "network-topology-aware": {
        "weight": _WHOLE,
        "hypernode.binpack.cpu": Word(Sort.WHOLE, since=(1, 14)),
        "hypernode.binpack.memory": Word(Sort.WHOLE, since=(1, 14)),
        "hypernode.binpack.resources": Word(Sort.NAMES, since=(1, 14)),
        "hypernode.binpack.resources.*": Word(Sort.WHOLE, since=(1, 14)),
        "hypernode.binpack.normal-pod.enable": Word(Sort.TRUTH, since=(1, 14)),
        "hypernode.binpack.normal-pod.fading": Word(Sort.NUMBER, since=(1, 14)),
        "hypernode.gradient.evict.max-hypernodes": Word(Sort.WHOLE, since=(1, 15)),
    },
    "nodegroup": {
        "strict": Word(Sort.TRUTH, since=(1, 13)),
        "enablePreferredOrder": Word(Sort.TRUTH, since=(1, 15)),
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
    "overcommit": {"overcommit-factor": Word(Sort.NUMBER)},
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
        "predicate.DynamicResourceAllocationEnable": Word(Sort.TRUTH, until=(1, 15)),
        "predicate.ProportionalEnable": Word(Sort.TRUTH, until=(1, 13)),
        "predicate.resources": Word(Sort.NAMES, until=(1, 13)),
        "predicate.resources.*": Word(Sort.NUMBER, until=(1, 13)),
        "volumebinding.weight": Word(Sort.WHOLE, dies=True),
        "volumebinding.bindTimeoutSeconds": Word(Sort.WHOLE, dies=True),
        "volumebinding.shape": Word(Sort.ANY),
        "dynamicresources.filterTimeoutSeconds": Word(Sort.WHOLE, since=(1, 14), dies=True),
    },
    "priority": {},
    "proportion": {},
    "rescheduling": {
        "interval": Word(Sort.DURATION, dies=True),
        "metricsPeriod": Word(Sort.DURATION, dies=True),
        "strategies": Word(Sort.ANY),
    },
    "resource-strategy-fit": {
        "resourceStrategyFitWeight": Word(Sort.WHOLE, dies=True),
        "resources": Word(Sort.STRATEGIES, dies=True),
        "proportional": Word(Sort.MAPPING, dies=True),
        "sra": Word(Sort.MAPPING, dies=True),
    },
    "resourcequota": {},
    "sla": {"sla-waiting-time": Word(Sort.DURATION)},
    "task-topology": {"task-topology.weight": _WHOLE},
    "tdm": {
        "tdm.evict.period": Word(Sort.DURATION, dies=True),
        "tdm.revocable-zone.*": Word(Sort.TEXT, dies=True),
    },
    "usage": {
        "usage.weight": _WHOLE,
        "cpu.weight": _WHOLE,
        "memory.weight": _WHOLE,
        "thresholds": Word(Sort.ANY),
    },
}
"""The arguments of every plugin; `*` stands for any rest of a name."""

_PLUGIN_SINCE: Mapping[str, Minor] = {"resource-strategy-fit": (1, 13)}


def actions(version: Version) -> list[str]:
    """The actions that a release has."""
    return [name for name, since in ACTIONS.items() if since <= version.release]


def plugins(version: Version) -> list[str]:
    """The plugins that a release has."""
    return [name for name in PLUGINS if _PLUGIN_SINCE.get(name, _FIRST) <= version.release]


def switches(version: Version) -> list[str]:
    """The flags of a plugin that a release reads."""
    return [name for name, word in SWITCHES.items() if word.read(version)]


def argument(plugin: str, name: str) -> Word | None:
    """An argument of a plugin, in whatever release."""
    words = PLUGINS.get(plugin, {})
    if name in words:
        return words[name]
    for prefix, word in words.items():
        if prefix.endswith("*") and name.startswith(prefix[:-1]):
            return word
    return None


def argument_names(plugin: str, version: Version) -> Iterator[str]:
    """The arguments that a release reads, for suggestions."""
    for name, word in PLUGINS.get(plugin, {}).items():
        if word.read(version) and not name.endswith("*"):
            yield name
