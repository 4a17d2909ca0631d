"""Drawn files of Volcano's scheduler configuration."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from policygen.lint.volcano import terms

from .client import Object
from .families import ABSENT, Family, Values

LOGGING = frozenset(
    {"volcano-plugin-unknown", "volcano-argument-mistyped", "volcano-argument-ignored", "volcano-argument-out-of-range"}
)  # fmt: skip
"""Rules about what the scheduler logs and replaces by a default."""
EXCEPTIONS: Mapping[str, re.Pattern[str]] = {}
HARMLESS = re.compile(
    r"[EW]\d+ \S+ +\d+ usage.go:\d+\] Failed to obtain thresholds information[^\n]*\n"
)
"""A line of the log about a file of which the scheduler uses every value.

The plugin usage logs in each session that the file has no thresholds for it, and uses its defaults.
"""

HEAD: Object = {
    "actions": "enqueue, allocate, backfill",
    "tiers": [{"plugins": [{"name": "priority"}, {"name": "gang"}, {"name": "conformance"}]},
              {"plugins": [{"name": "predicates"}, {"name": "capacity"}, {"name": "nodeorder"}]}],
}  # fmt: skip
ACTIONS = (
    "allocate", "enqueue", "backfill", "preempt", "reclaim", "shuffle", "gangpreempt", "gangreclaim", "Allocate", "alocate", "", " ", "reserve", "elect",
)  # fmt: skip
PLUGINS = (*terms.PLUGINS, "reservation", "Gang", "gangs", "nodegroups", "", None, 1, True, ABSENT)
FLAGS = (True, False, True, False, "true", "false", "yes", "", None, 1, 0, [], {}, 1.5)
AMOUNTS = (1, 0, 5, 100, -1, 1.5, 1.0, "1", "", "a", True, None, [], {}, 1 << 40)
WORDS = ("a", "a, b", "", 1, True, None, [], {}, ["a"], 1.5)
TIMES = ("60s", "1h30m", "5", "", "-5s", "0s", "1d", 60, 1.5, True, None, [], {})
_TYPES: Mapping[terms.ValueType, Sequence[Any]] = {
    terms.ValueType.WHOLE: AMOUNTS,
    terms.ValueType.NUMBER: AMOUNTS,
    terms.ValueType.TRUTH: FLAGS,
    terms.ValueType.TEXT: WORDS,
    terms.ValueType.NAMES: ("nvidia.com/gpu", "nvidia.com/gpu, example.com/foo", *WORDS),
    terms.ValueType.DURATION: TIMES,
    terms.ValueType.NAME_LIST: ([], ["a"], ["a", 1], *WORDS),
    terms.ValueType.STRATEGIES: (
        {"nvidia.com/gpu": {"type": "MostAllocated", "weight": 2}}, {"cpu": {"type": "LeastAllocated", "weight": 1}}, {"cpu": {"type": "Strange", "weight": 1}},
        {"cpu": {"type": "MostAllocated"}}, {"cpu": {"weight": 1}}, {"cpu": {"type": "MostAllocated", "weight": "1"}}, {"cpu": {"type": 1, "weight": 1}}, {"cpu": None},
        {"cpu": {}}, {"cpu": "MostAllocated"}, {"cpu": {"type": "MostAllocated", "weight": -1}}, {"cpu": {"type": "MostAllocated", "weight": 1.5}}, *WORDS,
    ),
    terms.ValueType.MAPPING: ({}, {"a": 1}, {"a": {}}, *WORDS),
    terms.ValueType.ANY: ({}, {"cpu": 80}, [], [{}], [{"name": "a"}], *WORDS),
}  # fmt: skip


def actions(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(
            (
                ABSENT,
                None,
                "",
                1,
                True,
                [],
                ["allocate"],
                {},
                "allocate backfill",
                "allocate;backfill",
            )
        )
    some = [
        random.choice(ACTIONS[:6] if random.random() < 0.9 else ACTIONS)
        for _ in range(random.choice((1, 2, 3, 4)))
    ]
    return random.choice((", ", ",", " , ", ", ")).join(some) + random.choice(("", "", "", "", ",", " "))  # fmt: skip


def tiers(random: Random) -> Any:
    if random.random() < 0.15:
        return random.choice(
            (
                ABSENT,
                None,
                [],
                {},
                "a",
                [None],
                [{}],
                [[]],
                ["a"],
                [{"plugins": None}],
                [{"plugins": {}}],
                [{"plugin": []}],
                [{"plugins": [None]}],
                [{"plugins": ["gang"]}],
            )
        )
    return [{"plugins": [plugin(random) for _ in range(random.choice((1, 1, 2, 3)))]} for _ in range(random.choice((1, 1, 2)))]  # fmt: skip


def plugin(random: Random) -> Object:
    name = random.choice(list(terms.PLUGINS) if random.random() < 0.85 else PLUGINS)
    made: Object = {"name": name}
    for _ in range(random.choice((0, 0, 1, 1, 2))):
        made[random.choice((*terms.SWITCHES, "enableStrange", "EnableJobOrder"))] = random.choice(
            FLAGS
        )
    known = terms.PLUGINS.get(name, {}) if isinstance(name, str) else {}
    if known and random.random() < 0.5:
        made["arguments"] = arguments(known, random)
    elif random.random() < 0.1:
        made["arguments"] = random.choice((None, {}, [], "a", {"strange": 1}, {1: "a"}))
    return {key: it for key, it in made.items() if it is not ABSENT}


def arguments(known: Mapping[str, terms.Parameter], random: Random) -> Object:
    """Some arguments of a plugin, with values that are hard for their type."""
    made: Object = {}
    for argument in random.sample(sorted(known), min(len(known), random.choice((1, 1, 2)))):
        key = argument.replace("*", random.choice(("nvidia.com/gpu", "cpu", "rz1")))
        made[key] = random.choice(_TYPES[known[argument].type])
    if random.random() < 0.05:
        made["strange"] = 1
    return made


def _arguments_of(name: str) -> Values:
    return lambda random: arguments(terms.PLUGINS[name], random)


CONFIGURATIONS = (
    [], None, {}, "a", [{}], [None], ["a"], [{"name": "enqueue", "arguments": {"overcommit-factor": 1.2}}], [{"name": "allocate", "arguments": {"predicateErrorCacheEnable": True}}],
    [{"name": "allocate", "arguments": []}], [{"name": 1, "arguments": {}}], [{"name": "strange"}], [{"name": ["a"]}], [{"name": "enqueue", "arguments": {"overcommit-factor": "1.2"}}],
    [{"name": "shuffle", "arguments": {"a": {"b": "c"}}}], [{"name": "allocate", "strange": 1}],
)  # fmt: skip
METRICS = (
    {}, None, [], "a", {"type": "prometheus", "address": "http://a:9090"}, {"interval": 30}, {"interval": "30s"}, {"type": True}, {"type": None}, {"type": []}, {"type": {}}, {"interval": 1.5},
)  # fmt: skip
TEXT = """\
actions: "enqueue, allocate, backfill"
tiers:
- plugins:
  - name: priority
  - name: gang
    enablePreemptable: %s
- plugins:
  - name: predicates
  - name: binpack
    arguments:
      binpack.weight: %s
      binpack.resources: %s
%s"""


def text(random: Random) -> str:
    """A file as people write it: plain scalars of YAML 1.1, doubled keys, anchors and comments."""
    return TEXT % (
        random.choice(("true", "false", "yes", "no", "on", "off", "Yes", "OFF", "y", "n", "True", "~", "!!bool true", "'true'", "&a true", "tRue")),
        random.choice(("1", "010", "0x10", "1_000", "1e3", "+1", "1.0", ".5", "0b1", "0o7", "~", "08", "1:30", "'1'", "!!int 5", "-0", "1 # weight", "&w 5")),
        random.choice(("a", "'a,b'", "1", "yes", "null", "nvidia.com/gpu", ">-\n        a,\n        b", "2001-01-01", "|\n        a", "[a]", "=", "12e03")),
        random.choice(("", "", "", "actions: allocate\n", "# end\n", "---\nactions: allocate\n", "metrics: {type: prometheus}\n", "\tstrange: 1\n", "strange: [\n", "...\n", "<<: {strange: 1}\n", "metrics: {interval: 0x1F}\n")),
    )  # fmt: skip


FAMILIES: Sequence[Family] = (
    Family("volcano-top", HEAD, {"actions": actions, "tiers": tiers, "configurations": CONFIGURATIONS, "metrics": METRICS, "strange": (1, None)}),
    Family("volcano-actions", HEAD, {"actions": actions}),
    Family("volcano-tiers", HEAD, {"tiers": tiers}),
    Family("volcano-plugins", HEAD, {"tiers 1 plugins": lambda random: [plugin(random) for _ in range(random.choice((1, 2, 3)))]}),
    *(
        Family(
            f"volcano-{name}",
            {**HEAD, "tiers": [{"plugins": [{"name": name}]}]},
            {"tiers 0 plugins 0 arguments": _arguments_of(name)},
        )
        for name, known in terms.PLUGINS.items()
        if known
    ),
    Family("volcano-text", {"text": ""}, {"text": text}),
)  # fmt: skip
