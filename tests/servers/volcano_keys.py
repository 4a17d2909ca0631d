"""A strict reader of Volcano's scheduler configuration.

Volcano silently ignores unknown keys and arguments, so it does not report a misspelt weight. The
keys are those of 1.14.1: `pkg/scheduler/conf/scheduler_conf.go` and, for the arguments, the
constants in each plugin's file below `pkg/scheduler/plugins`. Only plugins that we write are here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

TOP = frozenset({"actions", "tiers", "configurations", "metrics"})
ACTIONS = frozenset({"enqueue", "allocate", "backfill", "preempt", "reclaim", "shuffle"})
SWITCHES = frozenset(
    {
        "enableJobOrder", "enableHierarchy", "enableJobReady", "enableJobPipelined",
        "enableTaskOrder", "enablePreemptable", "enableReclaimable", "enablePreemptive",
        "enableQueueOrder", "EnabledClusterOrder", "enablePredicate", "enableBestNode",
        "enableNodeOrder", "enableTargetJob", "enableReservedNodes", "enableJobEnqueued",
        "enabledVictim", "enableJobStarving", "enabledOverused", "enabledAllocatable",
        "enabledHyperNodeOrder", "enabledSubJobReady", "enabledSubJobPipelined",
        "enabledSubJobOrder", "enabledHyperNodeGradient",
    }
)  # fmt: skip
WEIGHT = "a weight"
NODEORDER = (
    "nodeaffinity", "podaffinity", "leastrequested", "balancedresource", "mostrequested",
    "tainttoleration", "imagelocality", "podtopologyspread",
)  # fmt: skip
ARGUMENTS: Mapping[str, Mapping[str, str]] = {
    "priority": {},
    "gang": {},
    "conformance": {},
    "predicates": {},
    "capacity": {},
    "nodegroup": {"strict": "a truth value"},
    "nodeorder": {f"{name}.weight": WEIGHT for name in NODEORDER},
    "binpack": {
        "binpack.weight": WEIGHT,
        "binpack.cpu": WEIGHT,
        "binpack.memory": WEIGHT,
        "binpack.resources": "names",
    },
    "resource-strategy-fit": {"resourceStrategyFitWeight": WEIGHT, "resources": "strategies"},
}
STRATEGIES = frozenset({"LeastAllocated", "MostAllocated"})
RESOURCE = re.compile(r"[a-z0-9]([-a-z0-9.]*[a-z0-9])?(/[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?")


def problems(text: str) -> list[str]:
    """What Volcano would pass over in silence, or read as something else."""
    return list(_document(yaml.load(text, Loader=yaml.CSafeLoader)))


def _document(fields: Any) -> Iterator[str]:
    if not isinstance(fields, dict):
        yield "no mapping"
        return
    yield from _unknown("", fields, TOP)
    actions = str(fields.get("actions", "")).split(",")
    yield from (f"actions: {name!r}" for name in actions if name.strip() not in ACTIONS)
    seen = set()
    for tier in fields.get("tiers") or []:
        yield from _unknown("tiers", tier, {"plugins"})
        for plugin in tier.get("plugins") or []:
            name = plugin.get("name")
            if name in seen:
                yield f"{name}: twice"
            seen.add(name)
            yield from _plugin(str(name), plugin)


def _plugin(name: str, fields: dict[str, Any]) -> Iterator[str]:
    if name not in ARGUMENTS:
        yield f"plugin {name!r}"
        return
    yield from _unknown(name, fields, {"name", "arguments", *SWITCHES})
    yield from (
        f"{name}.{key}: {value!r} is no truth value"
        for key, value in fields.items()
        if key in SWITCHES and not isinstance(value, bool)
    )
    arguments = dict(fields.get("arguments") or {})
    if name == "binpack":
        yield from _listed(arguments)
    yield from _unknown(f"{name}.arguments", arguments, ARGUMENTS[name])
    for key, value in arguments.items():
        if not _fits(ARGUMENTS[name].get(key, ""), value):
            yield f"{name}.arguments.{key}: {value!r}"


def _listed(arguments: dict[str, Any]) -> Iterator[str]:
    """Takes the weights of single resources away; each must be listed to count."""
    prefix = "binpack.resources."
    listed = str(arguments.get("binpack.resources", "")).split(",")
    for key in [key for key in arguments if key.startswith(prefix)]:
        value = arguments.pop(key)
        if key.removeprefix(prefix) not in listed:
            yield f"binpack.arguments.{key}: not in binpack.resources"
        if not _fits(WEIGHT, value):
            yield f"binpack.arguments.{key}: {value!r}"


def _fits(what: str, value: Any) -> bool:
    if what == WEIGHT:
        return isinstance(value, int) and not isinstance(value, bool) and value >= 0
    if what == "a truth value":
        return isinstance(value, bool)
    if what == "names":
        return isinstance(value, str) and all(RESOURCE.fullmatch(n) for n in value.split(","))
    if what == "strategies":
        return isinstance(value, dict) and all(map(_is_strategy, value.items()))
    return True  # an unknown key is reported already


def _is_strategy(entry: tuple[str, Any]) -> bool:
    name, strategy = entry
    return (
        RESOURCE.fullmatch(name) is not None
        and isinstance(strategy, dict)
        and set(strategy) == {"type", "weight"}
        and strategy["type"] in STRATEGIES
        and _fits(WEIGHT, strategy["weight"])
    )


def _unknown(where: str, fields: Any, known: Any) -> Iterator[str]:
    yield from (f"{where}.{key}".removeprefix(".") for key in fields if key not in known)
