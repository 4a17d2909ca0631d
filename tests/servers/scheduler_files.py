"""Drawn KubeSchedulerConfigurations, and kube-schedulers that start with them."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import Any

from .bench import Bench
from .client import Object
from .families import ABSENT, DURATIONS, KEYS, Family, Values
from .process import Process
from .schedcheck import errors
from .trials import ELECTION

AT_ONCE = 4
DEADLINE_S = 120.0
POLL_S = 0.05
EXCEPTIONS = {
    "Coscheduling is of another build of the scheduler, which lint accepts.": re.compile(
        r"Coscheduling.* does not exist"
    ),
}
"""Why lint and kube-scheduler may differ, with the message of the one that refuses."""

HEAD: Object = {
    "apiVersion": "kubescheduler.config.k8s.io/v1",
    "kind": "KubeSchedulerConfiguration",
    "leaderElection": {"leaderElect": False},
}
PLUGINS = (
    "DefaultBinder", "DefaultPreemption", "DynamicResources", "GangScheduling", "ImageLocality", "InterPodAffinity", "NodeAffinity",
    "NodeDeclaredFeatures", "NodeName", "NodePorts", "NodeResourcesBalancedAllocation", "NodeResourcesFit", "NodeUnschedulable",
    "NodeVolumeLimits", "PodGroupPodsCount", "PodTopologySpread", "PrioritySort", "SchedulingGates", "TaintToleration",
    "TopologyPlacementGenerator", "VolumeBinding", "VolumeRestrictions", "VolumeZone",
)  # fmt: skip
STRANGERS = (
    "EBSLimits", "GCEPDLimits", "CinderLimits", "AzureDiskLimits", "SelectorSpread", "NodeLabel", "ServiceAffinity", "NodeResourcesMostAllocated",
    "CSILimits", "Coscheduling", "noderesourcesfit", "NodeResourceFit", "", "*", "Strange", None, 1,
)  # fmt: skip
POINTS = (
    "preEnqueue", "queueSort", "preFilter", "filter", "postFilter", "preScore", "score", "reserve", "permit", "preBind", "bind", "postBind",
    "multiPoint", "placementGenerate", "placementScore", "podGroupPostFilter", "PreFilter", "scores",
)  # fmt: skip
NUMBERS = (
    0,
    1,
    2,
    5,
    10,
    11,
    50,
    99,
    100,
    101,
    -1,
    1.5,
    "1",
    "",
    None,
    True,
    (1 << 31) - 1,
    1 << 31,
    ABSENT,
    [],
    {},
)
WORDS = ("a", "", None, 1, True, [], {}, ABSENT, "a b", "\u00e4")
FLAGS = (True, False, "true", "", None, 1, [], ABSENT)


def plugin(random: Random) -> Any:
    """A name; mostly one of kube-scheduler's."""
    return random.choice(PLUGINS if random.random() < 0.8 else STRANGERS)


def plugin_set(random: Random) -> Any:
    """What is enabled and disabled at an extension point."""
    if random.random() < 0.05:
        return random.choice((None, {}, [], "a", {"enable": []}))
    made: Object = {}
    if random.random() < 0.8:
        made["enabled"] = [_entry(random) for _ in range(random.choice((1, 1, 2)))]
    if random.random() < 0.4:
        made["disabled"] = [{"name": random.choice(("*", plugin(random)))}]
    return made


def _entry(random: Random) -> Any:
    made: Object = {"name": plugin(random)}
    if random.random() < 0.4:
        made["weight"] = random.choice([it for it in NUMBERS if it is not ABSENT])
    return made


def plugins(random: Random) -> Any:
    """Plugins by extension point; many only where they extend something."""
    if random.random() < 0.5:
        point, names = random.choice(sorted(_AT.items()))
        return {point: {"enabled": [{"name": random.choice(names)}]}}
    return {random.choice(POINTS): plugin_set(random) for _ in range(random.choice((1, 1, 2)))}


_AT: Mapping[str, Sequence[str]] = {
    "multiPoint": PLUGINS,
    "score": ("NodeResourcesFit", "TaintToleration", "ImageLocality", "VolumeBinding", "DynamicResources"),
    "filter": ("NodeName", "NodePorts", "NodeUnschedulable", "VolumeZone", "DynamicResources", "NodeDeclaredFeatures"),
    "preFilter": ("NodeAffinity", "VolumeZone", "VolumeRestrictions", "NodeDeclaredFeatures"),
    "preScore": ("InterPodAffinity", "NodeResourcesFit", "VolumeBinding"),
    "postFilter": ("DefaultPreemption", "DynamicResources"),
    "preEnqueue": ("SchedulingGates", "DefaultPreemption", "DynamicResources", "GangScheduling"),
    "reserve": ("VolumeBinding", "DynamicResources", "GangScheduling"),
    "permit": ("GangScheduling", "DefaultBinder"),
    "preBind": ("VolumeBinding", "DynamicResources"),
    "bind": ("DefaultBinder",),
    "placementGenerate": ("TopologyPlacementGenerator",),
    "placementScore": ("NodeResourcesFit", "PodGroupPodsCount"),
    "queueSort": ("PrioritySort",),
}  # fmt: skip


def _expression(random: Random) -> Any:
    made: Object = {
        "key": random.choice(("a", "a.b/c", *KEYS)),
        "operator": random.choice(
            ("In", "In", "NotIn", "Exists", "DoesNotExist", "Gt", "Lt", "in", "", None, "Equals")
        ),
    }
    values = random.choice(
        (None, ["a"], ["a", "b"], ["1"], [], ["a b"], [""], [1], "a", ["x" * 64], ["-1"])
    )
    if values is not None:
        made["values"] = values
    return {name: value for name, value in made.items() if random.random() < 0.95}


def _term(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(({}, None, {"matchLabels": {"a": "b"}}, {"matchExpressions": []}))
    made: Object = {"matchExpressions": [_expression(random)]}
    if random.random() < 0.3:
        operator = random.choice(("In", "NotIn", "Exists", "Gt"))
        values = random.choice((["a"], ["a", "b"], [], ["A b"], ["x" * 254]))
        key = random.choice(("metadata.name", "metadata.name", "metadata.namespace", "a"))
        made["matchFields"] = [{"key": key, "operator": operator, "values": values}]
    return made


def affinity(random: Random) -> Any:
    """`addedAffinity` of NodeAffinity."""
    if random.random() < 0.1:
        return random.choice((None, {}, [], "a", {"strange": 1}))
    made: Object = {}
    if random.random() < 0.7:
        terms = [_term(random) for _ in range(random.choice((0, 1, 1, 2)))]
        made["requiredDuringSchedulingIgnoredDuringExecution"] = {"nodeSelectorTerms": terms}
    if random.random() < 0.5:
        weight = random.choice((1, 100, 0, 101, -1, None, "1"))
        made["preferredDuringSchedulingIgnoredDuringExecution"] = [
            {"weight": weight, "preference": _term(random)}
        ]
    return made


def constraints(random: Random) -> Any:
    """`defaultConstraints` of PodTopologySpread."""
    if random.random() < 0.08:
        return random.choice((None, [], {}, [None], [{}], "a"))
    return [_constraint(random) for _ in range(random.choice((1, 1, 2)))]


def _constraint(random: Random) -> Object:
    made: Object = {"maxSkew": 1, "topologyKey": "zone", "whenUnsatisfiable": "ScheduleAnyway"}
    if random.random() < 0.5:
        made[random.choice(list(made))] = random.choice(
            (
                0,
                1,
                2,
                -1,
                "1",
                "zone",
                "a.b/c",
                "A b",
                "",
                None,
                "DoNotSchedule",
                "ScheduleAnyway",
                "Never",
                "a/b/c",
                1 << 31,
            )
        )
    if random.random() < 0.25:
        field = random.choice(
            (
                "labelSelector",
                "minDomains",
                "matchLabelKeys",
                "nodeAffinityPolicy",
                "nodeTaintsPolicy",
                "strange",
            )
        )
        made[field] = random.choice(
            (None, {}, 0, 1, 3, -1, "Honor", "Strange", [], ["a"], {"matchLabels": {"a": "b"}})
        )
    return made  # fmt: skip


def resource_specs(random: Random) -> Any:
    """Resources with weights."""
    if random.random() < 0.1:
        return random.choice((None, [], {}, [None], [{}], ["cpu"]))
    names = ("cpu", "memory", "nvidia.com/gpu", "cpu", "", None, "A b", 1)
    return [
        {"name": random.choice(names), **({"weight": random.choice((0, 1, 1, 1, 100, 101, -1, "1", None, 1.5))} if random.random() < 0.8 else {})}
        for _ in range(random.choice((1, 1, 2)))
    ]  # fmt: skip


def shape(random: Random) -> Any:
    """The points of a function."""
    if random.random() < 0.15:
        return random.choice((None, [], {}, [None], [{}], "a"))
    uses = random.choice(
        ([0, 100], [0, 50, 100], [100, 0], [50], [0, 0], [0, 101], [-1, 100], [0, None], [0, "100"])
    )
    return [
        {"utilization": use, "score": random.choice((0, 10, 5, 11, -1, None, "1"))} for use in uses
    ]


def strategy(random: Random) -> Any:
    """`scoringStrategy` of NodeResourcesFit."""
    if random.random() < 0.08:
        return random.choice(
            (None, {}, [], "MostAllocated", {"type": None}, {"types": "MostAllocated"})
        )
    kind = random.choice(
        (
            "LeastAllocated",
            "MostAllocated",
            "RequestedToCapacityRatio",
            "RequestedToCapacityRatio",
            "mostAllocated",
            "",
            None,
            1,
        )
    )
    made: Object = {"type": kind}
    if random.random() < 0.6:
        made["resources"] = resource_specs(random)
    if random.random() < 0.5:
        made["requestedToCapacityRatio"] = random.choice(
            (None, {}, {"shape": shape(random)}, {"shape": shape(random)})
        )
    return made  # fmt: skip


_ARGUMENTS: Mapping[str, Mapping[str, Values]] = {
    "DefaultPreemption": {"minCandidateNodesPercentage": NUMBERS, "minCandidateNodesAbsolute": NUMBERS},
    "InterPodAffinity": {"hardPodAffinityWeight": NUMBERS, "ignorePreferredTermsOfExistingPods": FLAGS},
    "NodeAffinity": {"addedAffinity": affinity},
    "NodeResourcesBalancedAllocation": {"resources": resource_specs},
    "NodeResourcesFit": {
        "scoringStrategy": strategy,
        "ignoredResources": ([], None, ["a.b/c"], ["a"], ["A b"], [""], [1], "a", ["nvidia.com/gpu", "nvidia.com/gpu"], ["a/b/c"], {}),
        "ignoredResourceGroups": ([], None, ["a.b"], ["a.b/c"], ["A b"], [""], [None], "a", ["a"], ["x" * 64]),
    },
    "PodTopologySpread": {"defaultConstraints": constraints, "defaultingType": ("List", "List", "System", "list", "", None, ABSENT, 1)},
    "VolumeBinding": {"bindTimeoutSeconds": NUMBERS, "shape": shape},
    "DynamicResources": {"filterTimeout": DURATIONS, "bindingTimeout": DURATIONS},
    "NodeName": {"strange": (1,)},
    "DefaultBinder": {},
    "Strange": {"strange": (1,)},
    "EBSLimits": {},
    "GangScheduling": {"strange": (1,)},
}  # fmt: skip


def arguments(random: Random) -> Any:
    """An entry of `pluginConfig`."""
    name = random.choice(sorted(_ARGUMENTS))
    fields = _ARGUMENTS[name]
    args: Object = {}
    for field in random.sample(sorted(fields), random.randint(0, len(fields))):
        values = fields[field]
        args[field] = values(random) if callable(values) else random.choice(values)
    if random.random() < 0.1:
        args["kind"] = random.choice((f"{name}Args", name, "NodeResourcesFitArgs", "", None))
    if random.random() < 0.1:
        args["apiVersion"] = random.choice(
            (HEAD["apiVersion"], "kubescheduler.config.k8s.io/v1beta3", "v1", "")
        )
    if random.random() < 0.05:
        args[random.choice(("strange", "Resources", "addedaffinity"))] = random.choice(
            (1, {}, None)
        )
    args = {name_: value for name_, value in args.items() if value is not ABSENT}
    made: Object = {"name": name, "args": args}
    if random.random() < 0.08:
        made = random.choice(
            (
                {"name": name},
                {"args": args},
                {**made, "name": None},
                {**made, "args": None},
                {**made, "args": []},
                {**made, "arg": {}},
            )
        )
    return made  # fmt: skip


def plugin_config(random: Random) -> Any:
    if random.random() < 0.05:
        return random.choice((None, [], {}, [None], [{}]))
    return [arguments(random) for _ in range(random.choice((1, 1, 1, 2)))]


def profiles(random: Random) -> Any:
    """Profiles whose names and queue sorts may collide."""
    if random.random() < 0.1:
        return random.choice((None, [], {}, [None], [{}], [{}, {}], "a"))
    made: list[Object] = []
    for _ in range(random.choice((1, 2, 2, 3))):
        one: Object = {
            "schedulerName": random.choice(
                ("a", "b", "c", "d", "default-scheduler", "", None, "A b", 1)
            )
        }
        if random.random() < 0.3:
            one["percentageOfNodesToScore"] = random.choice((0, 50, 100, 101, -1, "50", None))
        if random.random() < 0.3:
            one["plugins"] = {
                "queueSort": random.choice(
                    (
                        {"enabled": [{"name": "PrioritySort"}]},
                        {"disabled": [{"name": "*"}]},
                        {},
                        {"enabled": [{"name": "PrioritySort"}], "disabled": [{"name": "*"}]},
                    )
                )
            }
        if random.random() < 0.1:
            one["strange"] = 1
        made.append({name: value for name, value in one.items() if random.random() < 0.95})
    return made  # fmt: skip


def extenders(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice((None, [], {}, [None], [{}], "a"))
    return [_extender(random) for _ in range(random.choice((1, 1, 2)))]


_EXTENDER: Mapping[str, Values] = {
    "urlPrefix": ("http://127.0.0.1:1/", "", "127.0.0.1", "http://[::1", None, 1, "%zz", "https://a/"),
    "filterVerb": ("f", "", None, 1),
    "prioritizeVerb": ("p", "", None),
    "preemptVerb": ("e", "", 1),
    "bindVerb": ("b", "", None),
    "weight": (0, 1, 1, -1, "1", None, 1 << 40),
    "enableHTTPS": FLAGS[:6],
    "httpTimeout": [it for it in DURATIONS if it is not ABSENT],
    "nodeCacheCapable": FLAGS[:6],
    "ignorable": FLAGS[:6],
    "managedResources": (
        [], None, [{"name": "a.b/c"}], [{"name": "a.b/c"}, {"name": "a.b/c"}], [{"name": "cpu"}], [{"name": "requests.a/b"}], [{"name": "kubernetes.io/a"}],
        [{"name": "A.b/c"}], [{}], [{"name": "a.b/c", "ignoredByScheduler": "yes"}], [{"name": "a.b/" + "x" * 63}], [{"name": "a.b/" + "x" * 60}], [{"name": ""}],
        [{"name": "a.b/c", "strange": 1}], ["a.b/c"],
    ),
    "tlsConfig": (None, {}, {"insecure": True}, {"insecure": True, "caFile": "/gone"}, {"certData": "YWJj"}, {"certData": "!"}, {"strange": 1}),
    "strange": (1,),
}  # fmt: skip


def _extender(random: Random) -> Object:
    made: Object = {"urlPrefix": "http://127.0.0.1:1/", "filterVerb": "f", "enableHTTPS": False}
    for field in random.sample(sorted(_EXTENDER), random.choice((1, 1, 2, 3))):
        values = _EXTENDER[field]
        assert not callable(values)
        made[field] = random.choice(values)
    return made


ELECTION_VALUES: Mapping[str, Values] = {
    "leaderElection leaderElect": (True, True, True, False, "true", None, ABSENT, 1),
    "leaderElection leaseDuration": (*DURATIONS, "15s", "10s", "11s"),
    "leaderElection renewDeadline": (*DURATIONS, "10s", "2s", "3s", "14s"),
    "leaderElection retryPeriod": ("2s", "9s", "8s", "0s", "-5s", "1d", "", 10, None, ABSENT),
    "leaderElection resourceLock": ("leases", "leases", "endpoints", "configmaps", "endpointsleases", "", None, ABSENT, 1),
    "leaderElection resourceName": ("a", "A b", "", None, ABSENT, 1),
    "leaderElection resourceNamespace": ("default", "kube-system", "A b", "", None, ABSENT, 1),
    "leaderElection strange": (1,),
    "leaderElection": (None, {}, [], ABSENT, "a"),
}  # fmt: skip
TOP_VALUES: Mapping[str, Values] = {
    "apiVersion": ("kubescheduler.config.k8s.io/v1beta3", "kubescheduler.config.k8s.io/v1", "v1", "", None),
    "kind": ("KubeSchedulerConfiguration", "kubeschedulerconfiguration", "SchedulerConfiguration", "", None),
    "metadata": ({}, {"name": "a"}, None),
    "parallelism": NUMBERS,
    "percentageOfNodesToScore": NUMBERS,
    "podInitialBackoffSeconds": NUMBERS,
    "podMaxBackoffSeconds": NUMBERS,
    "enableProfiling": FLAGS,
    "enableContentionProfiling": FLAGS,
    "delayCacheUntilActive": FLAGS,
    "healthzBindAddress": WORDS,
    "clientConnection qps": (*NUMBERS, 0.5, -0.5),
    "clientConnection burst": NUMBERS,
    "clientConnection contentType": ("application/json", "application/vnd.kubernetes.protobuf", "text/plain", "", None, 1),
    "clientConnection acceptContentTypes": ("application/json", "", None, 1),
    "clientConnection strange": (1,),
    "clientConnection": (None, {}, [], "a", ABSENT),
    "extenders": extenders,
    "profiles": profiles,
    "strange": (1, None),
}  # fmt: skip
_PROFILE: Object = {**HEAD, "profiles": [{"schedulerName": "gpu"}]}
_ONE: Mapping[str, Values] = {
    "profiles 0 plugins": plugins,
    "profiles 0 pluginConfig": plugin_config,
    "profiles 0 percentageOfNodesToScore": NUMBERS,
    "profiles 0 schedulerName": ("gpu", "A b", "", None, 1, "x" * 300),
    "profiles 0 strange": (1,),
}
FAMILIES: Sequence[Family] = (
    Family("top", _PROFILE, TOP_VALUES),
    Family("election", {**_PROFILE, "leaderElection": {"leaderElect": True, "resourceName": "of-a-draw"}}, ELECTION_VALUES),
    Family("profiles", _PROFILE, {"profiles": profiles}),
    Family("profile", _PROFILE, _ONE),
    Family("plugins", _PROFILE, {"profiles 0 plugins": plugins}),
    *(
        Family(f"plugins-{point}", _PROFILE, {f"profiles 0 plugins {point}": plugin_set})
        for point in ("score", "multiPoint")
    ),
    Family("arguments", _PROFILE, {"profiles 0 pluginConfig": plugin_config}),
    *(
        Family(
            f"arguments-{name}",
            {**HEAD, "profiles": [{"schedulerName": "gpu", "pluginConfig": [{"name": name, "args": {}}]}]},
            {f"profiles 0 pluginConfig 0 args {field}": values for field, values in fields.items()},
        )
        for name, fields in _ARGUMENTS.items()
        if len(fields) and "strange" not in fields
    ),
    Family("extenders", _PROFILE, {"extenders": extenders}),
)  # fmt: skip


def started(bench: Bench, texts: Sequence[str], folder: Path) -> Iterator[str]:
    """Why a kube-scheduler does not start with each file; empty if it does. A few at a time.

    It is told to write its configuration, which it does after it has made all profiles, and then
    ends. If the file has a leader election, it runs until it takes part in it, since it checks the
    durations then.
    """
    for i in range(0, len(texts), AT_ONCE):
        group = texts[i : i + AT_ONCE]
        processes = [_start(bench, text, folder / f"{i}-{j}") for j, text in enumerate(group)]
        for text, process in zip(group, processes, strict=True):
            yield _result(process, text)
            bench.end(process.name)


def _start(bench: Bench, text: str, written: Path) -> Process:
    """A kube-scheduler with the file as it is, except for the server that it connects to."""
    thing = json.loads(text)
    connection = thing.setdefault("clientConnection", {})
    if isinstance(connection, dict | None):
        thing["clientConnection"] = {**(connection or {}), "kubeconfig": str(bench.kubeconfig)}
    config = written.with_suffix(".json")
    config.write_text(json.dumps(thing), "utf-8")
    binary = bench.built["kubernetes"].binary("kube-scheduler")
    flags = [] if _elects(text) else [f"--write-config-to={written}"]
    command = [binary, f"--config={config}", "--secure-port=0", *flags]
    return bench.run(f"kube-scheduler-{written.name}", command)


def _elects(text: str) -> bool:
    return '"leaderElect": false' not in text


def _result(process: Process, text: str) -> str:
    end = time.monotonic() + DEADLINE_S
    while time.monotonic() < end:
        code = process.exit_code
        log = process.log.read_text(encoding="utf-8", errors="replace")
        if code is not None:
            failed = "; ".join(errors(log)) or f"ended with {code}: {process.tail(3)}"
            return failed if code else ""
        if _elects(text) and ELECTION.decode() in log:
            return ""
        time.sleep(POLL_S)
    return f"nothing after {DEADLINE_S:.0f} s"
