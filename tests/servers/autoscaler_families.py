"""A family of HorizontalPodAutoscalers for `agreement`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from random import Random
from typing import Any

from .client import Object
from .families import ABSENT, AMOUNTS, COUNTS, METADATA, Family, Values

_NAMES = ("a", "A b", "", "..", "a/b", "a%b", "x" * 300, None, ABSENT, 1)
_SOURCES = ("resource", "containerResource", "pods", "object", "external")
_TYPES = ("Resource", "ContainerResource", "Pods", "Object", "External")
_VERSIONS = ("apps/v1", "v1", "", None, ABSENT, "a/b/c", "/v1", "a/", "/", 1)


def _of(random: Random, **values: Sequence[Any]) -> Object:
    drawn = {name: random.choice(each) for name, each in values.items()}
    return {name: value for name, value in drawn.items() if value is not ABSENT}


def _reference(random: Random) -> Any:
    if random.random() < 0.1:
        return random.choice(({}, None, [], ABSENT))
    made: Object = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"}
    made["apiVersion"] = random.choice((*["apps/v1"] * 6, *_VERSIONS))
    made["kind"] = random.choice((*["Deployment"] * 6, "ReplicationController", *_NAMES))
    made["name"] = random.choice((*["a"] * 8, *_NAMES))
    return {name: value for name, value in made.items() if value is not ABSENT}


def _target(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice(({}, None, []))
    made = _of(random, type=("Utilization", "Value", "AverageValue", "Utilization", "Value", "AverageValue", "value", "", None))  # fmt: skip
    fields = ("value", "averageValue", "averageUtilization")
    for name in random.sample(fields, random.choice((0, 1, 1, 1, 1, 2))):
        made[name] = random.choice((50, 1, "1") if random.random() < 0.7 else AMOUNTS)
    return made


def _source(random: Random, source: str) -> Any:
    if random.random() < 0.06:
        return random.choice(({}, None, []))
    made: Object = {"target": _target(random)}
    if source in ("resource", "containerResource"):
        resources = ("cpu", "memory", "nvidia.com/gpu", "gpu", "", "a b", None, ABSENT, "hugepages-2Mi")  # fmt: skip
        made |= _of(random, name=("cpu", "cpu", *resources))
    else:
        metric = _of(random, name=("a", "a", "a", *_NAMES), selector=(ABSENT, ABSENT, ABSENT, {}, {"matchLabels": {"a b": "c"}}))  # fmt: skip
        made["metric"] = metric
    if source == "containerResource":
        made |= _of(random, container=("main", "main", "main", *_NAMES))
    if source == "object":
        made["describedObject"] = _reference(random)
    return {name: value for name, value in made.items() if value is not ABSENT}


def metrics(random: Random) -> Any:
    if random.random() < 0.06:
        return random.choice(([], None, {}, [None], [{}], ABSENT))
    found = []
    for _ in range(random.choice((1, 1, 2))):
        index = random.randrange(len(_SOURCES))
        made = {"type": _TYPES[index], _SOURCES[index]: _source(random, _SOURCES[index])}
        if random.random() < 0.1:
            made["type"] = random.choice((*_TYPES, "resource", "", None))
        if random.random() < 0.1:
            other = random.choice(_SOURCES)
            made[other] = _source(random, other)
        found.append(made)
    return found


def scaling(random: Random) -> Any:
    if random.random() < 0.08:
        return random.choice(({}, None, [], ABSENT))
    made: Object = {}
    for name, values in (
        ("stabilizationWindowSeconds", (*COUNTS, 3600, 3601)),
        ("selectPolicy", ("Max", "Min", "Disabled", "max", "", None)),
        ("tolerance", AMOUNTS),
    ):
        if random.random() < 0.3:
            made[name] = random.choice(values)
    if random.random() < 0.7:
        policy = {"type": "Pods", "value": 1, "periodSeconds": 60}
        if random.random() < 0.7:
            key = random.choice(sorted(policy))
            of = ("Percent", "pods", "", None, ABSENT) if key == "type" else (*COUNTS, 1800, 1801)
            policy |= {key: random.choice(of)}
        policy = {name: value for name, value in policy.items() if value is not ABSENT}
        made["policies"] = random.choice(([policy], [policy], [policy, policy], [], None, [{}]))
    return {name: value for name, value in made.items() if value is not ABSENT}


_AUTOSCALER: Object = {
    "apiVersion": "autoscaling/v2",
    "kind": "HorizontalPodAutoscaler",
    "metadata": {"name": "fresh", "namespace": "default"},
    "spec": {
        "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": "a"},
        "minReplicas": 2,
        "maxReplicas": 4,
        "metrics": [{"type": "Pods", "pods": {"metric": {"name": "a"}, "target": {"type": "AverageValue", "averageValue": 1}}}],
    },
}  # fmt: skip
_VALUES: Mapping[str, Values] = {
    "spec scaleTargetRef": _reference,
    "spec minReplicas": COUNTS,
    "spec maxReplicas": COUNTS,
    "spec metrics": metrics,
    "spec behavior": ({}, None, [], {"strange": {}}, {"scaleUp": None}),
    "spec behavior scaleUp": scaling,
    "spec behavior scaleDown": scaling,
    "spec strange": (1,),
    "metadata name": METADATA["metadata name"],
}
FAMILIES: Sequence[Family] = (Family("autoscalers", _AUTOSCALER, _VALUES),)
