"""Finds by requests what an API server refuses of built-in kinds beyond their schemas.

OpenAPI has the types. Other constraints are only in Go code: the period of a probe is not below 0,
a volume's name has no space, a handler is not empty. The server's answer names the refused field.
So each field of a kind gets values of its type, one at a time, in a valid object. Only what the
server reports about this field counts, since other errors belong to other fields. A bound is
searched between a value that is accepted and one that is refused. For a text, the result is the
form whose parser agrees with the server on a list of sample texts.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from copy import deepcopy
from http import HTTPStatus
from typing import Any, NamedTuple

from policygen.api_validation.workload_code import FORMS

from .client import Client, Object
from .samples import samples

Schema = dict[str, Any]
Way = tuple[str, ...]
"""Steps to a field; "*" is every entry of a list."""

THREADS = 4
KINDS = {
    ("v1", "Pod"): (),
    ("apps/v1", "DaemonSet"): ("spec", "template"),
    ("apps/v1", "Deployment"): ("spec", "template"),
    ("apps/v1", "ReplicaSet"): ("spec", "template"),
    ("apps/v1", "StatefulSet"): ("spec", "template"),
    ("batch/v1", "Job"): ("spec", "template"),
    ("batch/v1", "CronJob"): ("spec", "jobTemplate", "spec", "template"),
}
"""Where each has the pod template, whose fields are those of a Pod."""

TOLD = tuple(
    re.compile(each)
    for each in (
        r"spec\.affinity\..*\.(matchExpressions|matchFields|topologyKey|weight)\b",
        r"spec\.containers$",
        r"spec\.containers\.\*\.(env\.\*\.name|name|ports\.\*\.(containerPort|hostPort))$",
        r"spec\.(activeDeadlineSeconds|nodeName|serviceAccountName|tolerations\.\*\.key)$",
        r"spec\.topologySpreadConstraints\.\*\.maxSkew$",
        r"spec\.(minReadySeconds|progressDeadlineSeconds|replicas|revisionHistoryLimit)$",
        r"spec\.(failedJobsHistoryLimit|startingDeadlineSeconds|successfulJobsHistoryLimit)$",
        r"spec\.(jobTemplate\.spec\.)?(activeDeadlineSeconds|backoffLimit|backoffLimitPerIndex)$",
        r"spec\.(jobTemplate\.spec\.)?(completions|parallelism|ttlSecondsAfterFinished)$",
        r"spec\..*[sS]elector\b",
    )
)
"""Fields that have a rule of their own, which explains the meaning of their values."""

OTHERS = (
    "flocker", "maxFailedIndexes", "podReplacementPolicy", "seLinuxChangePolicy", "succeededCount",
    "succeededIndexes", "tolerations.*.effect", "updateStrategy.rollingUpdate.maxSurge",
    "updateStrategy.rollingUpdate.maxUnavailable", "valueFrom.resourceFieldRef.resource",
)  # fmt: skip
"""Fields whose values depend on others' in ways that one object does not show."""

NOT_ASKED = frozenset({"metadata", "ephemeralContainers", "initContainers", "selector"})
"""Metadata and selectors have their own checks, and init containers equal containers."""

_NUMBERS = (-1, 0, 1, 2, 3, 5, 30, 100, 101, 1000, 65535, 65536, (1 << 31) - 1)
_WIDE = (1 << 31, 1 << 40, (1 << 62))
_AMOUNTS = ("-1", "0", "1", "1500m", "1Gi")
TEXTS = (
    "a", "1", "A", "a-b", "a.b", "a_b", "a/b", "/a", "a b", "-a", "a-", "a:b", "a=b", "a,b", "..", "../a", "a/../b",
    "1.2.3.4", "::1", "\u00e4", "a" * 15, "a" * 16, "a" * 63, "a" * 64, "a" * 253, "a" * 254, "a.b/c", "a" * 5000, "",
)  # fmt: skip
_UGLY = ("", "-/../a b:=,\u00e4", "a" * 5000)
"""Texts of which every form refuses one."""
_SUPPORTED = re.compile(r"supported values: (.*)")
_WORD = re.compile(r'"([^"]*)"')
_REQUIRED, _UNSUPPORTED = "FieldValueRequired", "FieldValueNotSupported"


class Cause(NamedTuple):
    """One thing that the server refuses."""

    reason: str
    message: str


class Placed(NamedTuple):
    """An object with a value at a place, and the place as the server writes it."""

    thing: Object
    field: str


def collect(client: Client, schemas: Mapping[tuple[str, str], Schema]) -> dict[str, Any]:
    """Per kind, by field, what is refused of its value."""
    good = {(it["apiVersion"], it["kind"]): it for it in samples()}
    found: dict[str, Any] = {}
    for kind, template in KINDS.items():
        asker = _Asker(client, good[kind], schemas[kind])
        ways = [
            each
            for each in _fields(schemas[kind]["properties"]["spec"], ("spec",))
            if (not template or each[0][: len(template)] != template)
            and not any(told.search(".".join(each[0])) for told in TOLD)
            and not ".".join(each[0]).endswith(OTHERS)
        ]
        with ThreadPoolExecutor(THREADS) as pool:
            said = list(pool.map(lambda each, of=asker: of.about(*each), ways))
        found[" ".join(kind)] = {
            ".".join(way[1:]): facts for (way, _), facts in zip(ways, said, strict=True) if facts
        }
    return found


def _fields(schema: Schema, way: Way) -> Iterator[tuple[Way, Schema]]:
    yield way, schema
    for name, part in schema.get("properties", {}).items():
        if name not in NOT_ASKED:
            yield from _fields(part, (*way, name))
    if "items" in schema:
        yield from _fields(schema["items"], (*way, "*"))


class _Asker:
    """Asks one server about the fields of one kind."""

    def __init__(self, client: Client, good: Object, schema: Schema) -> None:
        self._client, self._good, self._schema = client, good, schema
        resource = client.resource(good["apiVersion"], good["kind"])
        self._path = resource.path("default" if resource.namespaced else None)
        self._known: dict[str, list[Cause] | None] = {}
        """What the server said of an object at a field: one sample of a value is asked once."""

    def about(self, way: Way, schema: Schema) -> dict[str, Any]:
        """What is refused of this field's values; empty where nothing is, or it is not known."""
        return self._of(way, schema, alone=False) or self._of(way, schema, alone=True)

    def _of(self, way: Way, schema: Schema, *, alone: bool) -> dict[str, Any]:
        def refused(value: Any) -> list[Cause] | None:
            return self.causes(way, value, alone=alone)

        if schema.get("x-policygen-type") == "quantity":
            return _amounts(refused)
        if schema.get("x-kubernetes-int-or-string"):
            return {**_range(refused, _NUMBERS), **_texts(refused)}
        match schema.get("type"):
            case "integer":
                wide = () if schema.get("format") == "int32" else _WIDE
                return _range(refused, (*_NUMBERS, *wide))
            case "string" if "format" not in schema:
                return _texts(refused) if "enum" not in schema else _word(refused, schema["enum"])
            case "array" if "*" not in way[-1:]:
                return _filled(refused)
            case "object" if "properties" in schema:
                return self._chosen(refused, schema)
        return {}

    def _chosen(
        self, refused: Callable[[Any], list[Cause] | None], schema: Schema
    ) -> dict[str, Any]:
        """Fields of which there must be one, and whether only one."""
        causes = refused({})
        if not causes or all(cause.reason != _REQUIRED for cause in causes):
            return {}
        parts = schema["properties"]
        one = [name for name, part in parts.items() if refused({name: minimal(part)}) == []]
        return {"someOf": sorted(one)} if one else {}

    def causes(self, way: Way, value: Any, *, alone: bool) -> list[Cause] | None:
        """The server's errors about this field; None if the server did not check it."""
        placed = placing(self._good, self._schema, way, value, alone=alone)
        asked = f"{placed.field} {json.dumps(placed.thing, sort_keys=True)}"
        if asked not in self._known:
            self._known[asked] = self._causes(placed)
        return self._known[asked]

    def _causes(self, placed: Placed) -> list[Cause] | None:
        query = {"dryRun": "All", "fieldValidation": "Strict"}
        answer = self._client.request("POST", self._path, placed.thing, query=query)
        if answer.ok:
            return []
        if answer.status != HTTPStatus.UNPROCESSABLE_ENTITY:
            return None
        return [
            Cause(it["reason"], it["message"])
            for it in answer.body.get("details", {}).get("causes", ())
            if it.get("field") == placed.field
        ]


def placing(good: Object, schema: Schema, way: Way, value: Any, *, alone: bool) -> Placed:
    """The good object with a value at a place; `alone` beside as little as may be."""
    names: list[str] = []
    thing = deepcopy(good)
    inner = schema["properties"]["spec"]
    thing["spec"] = _put(thing["spec"], inner, way[1:], value, names, alone=alone)
    return Placed(thing, "spec" + "".join(names))


def _put(there: Any, schema: Schema, way: Way, value: Any, names: list[str], *, alone: bool) -> Any:
    if not way:
        return value
    step, rest = way[0], way[1:]
    if step == "*":
        entries = list(there) if isinstance(there, list) else []
        has = [i for i, it in enumerate(entries) if rest and isinstance(it, dict) and rest[0] in it]
        if not has and (alone or not entries):
            entries.append(minimal(schema["items"]))
            has = [len(entries) - 1]
        at = has[0] if has else 0
        names.append(f"[{at}]")
        entries[at] = _put(entries[at], schema["items"], rest, value, names, alone=alone)
        return entries
    made = there if isinstance(there, dict) else minimal(schema)
    if alone and step not in made:
        made = {**minimal(schema), **{k: v for k, v in made.items() if k == "name"}}
    names.append(f".{step}")
    inner = _put(made.get(step), schema["properties"][step], rest, value, names, alone=alone)
    return {**made, step: inner}


def minimal(schema: Schema) -> Any:
    """A value of a schema, with what it must have."""
    if schema.get("x-policygen-type") == "quantity":
        return "1"
    if schema.get("x-kubernetes-int-or-string"):
        return 1
    match schema.get("type"):
        case "object":
            parts = schema.get("properties", {})
            return {name: minimal(parts[name]) for name in schema.get("required", ())}
        case "array":
            return []
        case "integer":
            return 1
        case "boolean":
            return True
    return schema["enum"][0] if "enum" in schema else "fresh"


Refused = Callable[[Any], "list[Cause] | None"]


def _range(refused: Refused, numbers: Iterable[int]) -> dict[str, Any]:
    said = {number: refused(number) for number in sorted(numbers)}
    taken = [number for number, causes in said.items() if causes == []]
    if not taken:
        return {}
    low, high = taken[0], taken[-1]
    if any(causes for number, causes in said.items() if low <= number <= high):
        return {}
    facts = {}
    below = [number for number, causes in said.items() if number < low and causes]
    above = [number for number, causes in said.items() if number > high and causes]
    if below:
        facts["minimum"] = _edge(refused, below[-1], low)
    if above:
        facts["maximum"] = _edge(refused, above[0], high)
    return facts


def _edge(refused: Refused, bad: int, good: int) -> int:
    """The last number that is taken between one that is and one that is not."""
    while abs(bad - good) > 1:
        middle = (bad + good) // 2
        if refused(middle):
            bad = middle
        else:
            good = middle
    return good


def _amounts(refused: Refused) -> dict[str, Any]:
    said = {text: refused(text) for text in _AMOUNTS}
    if said["1"] != []:
        return {}
    return {"minimum": 0} if said["-1"] and not said["0"] else {}


def _texts(refused: Refused, texts: Iterable[str] = TEXTS) -> dict[str, Any]:
    if texts is TEXTS and not any(refused(text) for text in _UGLY):
        return {}
    said = {text: refused(text) for text in texts}
    bad = {text: causes for text, causes in said.items() if causes}
    if not bad or None in said.values() or len(bad) == len(said):
        return {}
    filled = {"filled": True} if "" in bad else {}

    def known(word: str) -> bool:
        return all(cause.reason != _UNSUPPORTED for cause in refused(word) or ())

    for causes in bad.values():
        for cause in causes:
            listed = _SUPPORTED.search(cause.message)
            if cause.reason == _UNSUPPORTED and listed:
                words = _WORD.findall(listed[1])
                return {**filled, "words": words} if all(map(known, words)) else {}
    if not bad.keys() - {""}:
        return filled
    for name, form in FORMS.items():
        if all(form.takes(text) == (text not in bad) for text in said if text):
            return {**filled, "form": name}
    return {}


def _word(refused: Refused, words: list[str]) -> dict[str, Any]:
    """For an enumeration: known already, except whether an empty text is refused."""
    return {"filled": True} if refused("") and refused(words[0]) == [] else {}


def _filled(refused: Refused) -> dict[str, Any]:
    causes = refused([])
    return {"filled": True} if causes and causes[0].reason == _REQUIRED else {}
