"""A structural schema as a JSON Schema that accepts the same or less.

It allows no repeated entries in sets, only the common form of a time, and so on; `prevalidate` checks
what no JSON Schema can express. It also accepts only workloads in which `workload_code` finds no fault,
and, of built-in kinds, only those with `plain_pods`.
"""

from collections.abc import Iterable, Iterator
from typing import Any

from policygen.api_validation import plain_pods, scalars, schemas, structural, workload_code
from policygen.api_validation.plain_pods import LABEL_KEY, LABELS
from policygen.api_validation.refusal import Refusal
from policygen.api_validation.structural import Schema
from policygen.api_validation.workload_code import Fact, FieldFacts
from policygen.core.label_grammar import DNS_LABEL, SUBDOMAIN
from policygen.core.names import CRON_JOB_NAME

_ANNOTATIONS = {  # 16 times 253 + 4 * 4,000 bytes stay below metadata.ANNOTATIONS_BYTES
    "type": "object",
    "maxProperties": 16,
    "propertyNames": LABEL_KEY,
    "additionalProperties": {"type": "string", "maxLength": 4000},
}
_FILLED = {"type": "string", "minLength": 1}
_MANAGED = {
    "finalizers": {
        "type": "array",
        "uniqueItems": True,
        "items": {
            "type": "string",
            "maxLength": 253,
            "pattern": f"^{SUBDOMAIN}/[A-Za-z0-9]{{1,63}}$",
        },
    },
    "ownerReferences": {
        "type": "array",
        "maxItems": 1,  # of several, only one can be the controller
        "items": {
            "type": "object",
            "properties": {
                "apiVersion": {"type": "string", "pattern": "^[^/]+(/[^/]+)?$"},
                "kind": {**_FILLED, "not": {"const": "Event"}},
                "name": _FILLED,
                "uid": _FILLED,
                "controller": {"type": "boolean"},
                "blockOwnerDeletion": {"type": "boolean"},
            },
            "additionalProperties": False,
            "required": ["apiVersion", "kind", "name", "uid"],
        },
    },
}
_QUANTITY = {
    "type": ["string", "number"],
    "pattern": r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([numkMGTPE]|[KMGTPE]i|[eE][+-]?[0-9]{1,18})?$",
}
_FORMATS = {
    "date-time": {
        "pattern": "^[0-9]{4}-((0[1-9]|1[0-2])-(0[1-9]|1[0-9]|2[0-8])|(0[13-9]|1[0-2])-(29|30)|"
        "(0[13578]|1[02])-31)T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]Z$"
    },
    "byte": {"pattern": "^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$"},
}
_POD = {"$ref": "#/$defs/pod"}
_BOUNDS = ("minimum", "maximum", "minLength", "maxLength", "pattern", "enum")


def whole(served: schemas.ServedKind) -> Schema:
    """The JSON Schema of the objects of a kind, without their status if a server drops it.

    A pod of a built-in kind is the reference _POD.
    """
    parts = {**served.schema["properties"]}
    if served.status_dropped:
        parts.pop("status", None)
    made = _mapping({**served.schema, "properties": parts}, custom=served.custom)
    facts = workload_code.tree()
    if served.name != workload_code.POD:
        _narrow(made["properties"].get("spec"), facts.get(served.name))
    if served.custom:
        _narrow_pods(made, facts[workload_code.POD])
    made["properties"]["metadata"] = _metadata(served)
    made["required"] = sorted({*made["required"], "metadata"})
    return made


def of_pods(kinds: Iterable[schemas.ServedKind]) -> Schema:
    """The JSON Schema of `{name: object}` for built-in kinds with pods, by `ServedKind.name`.

    It has the schema of a pod only once, which takes most of the time to compile.
    """
    by_name = {it.name: it for it in kinds}
    pod = _mapping(by_name[workload_code.POD].schema["properties"]["spec"], custom=False)
    _narrow(pod, workload_code.tree()[workload_code.POD])
    pod["allOf"] = [*pod.get("allOf", ()), plain_pods.SCHEMA]
    parts = {name: whole(served) for name, served in by_name.items()}
    return {"$defs": {"pod": pod}, "properties": parts, "additionalProperties": False}


def _narrow_pods(made: Any, facts: FieldFacts) -> None:
    """Add the facts about pods to each JSON Schema of a pod inside this one."""
    if not isinstance(made, dict):
        return
    parts = made.get("properties", {})
    if "containers" in parts:
        _narrow(made, facts)
        return
    for part in (*parts.values(), made.get("items")):
        _narrow_pods(part, facts)


def _narrow(made: Any, facts: FieldFacts | None) -> None:
    """Add the facts about a field, and the fields below it, to its JSON Schema."""
    if facts is None or not isinstance(made, dict):
        return
    if facts.fact is not None:
        made["allOf"] = [_of_fact(facts.fact)]
    for name, below in facts.below.items():
        part = made.get("items") if name == "*" else made["properties"].setdefault(name, False)
        _narrow(part, below)


def _of_fact(fact: Fact) -> Schema:
    """A JSON Schema whose values have no fault that `workload_code` would find."""
    bounds = {"minimum": fact.minimum, "maximum": fact.maximum}
    made: Schema = {name: bound for name, bound in bounds.items() if bound is not None}
    if fact.form:
        made |= workload_code.FORMS[fact.form].schema
    elif made:  # a text can be a quantity
        not_negative = fact.minimum == 0 and fact.maximum is None
        made |= {"pattern": "^[0-9]"} if not_negative else {"not": {"type": "string"}}
    if fact.words:
        made["enum"] = list(fact.words)
    if fact.filled:
        made |= {"minLength": 1, "minItems": 1}
    if fact.some_of:
        written = {it: {"not": {"type": "null"}} for it in fact.some_of}
        made["anyOf"] = [{"required": [it], "properties": written} for it in fact.some_of]
    return made


def _metadata(served: schemas.ServedKind) -> Schema:
    """The JSON Schema of the metadata of a kind."""
    strict = _mapping(schemas.object_meta(), custom=False)
    shape, longest = SUBDOMAIN, 253
    if (served.api_version, served.kind) == ("v1", "Namespace"):
        shape, longest = DNS_LABEL, 63
    if (served.api_version, served.kind) == ("batch/v1", "CronJob"):
        longest = CRON_JOB_NAME
    strict["properties"]["name"] = {
        "type": "string",
        "pattern": f"^{shape}$",
        "maxLength": longest,
    }
    if served.namespaced:
        strict["properties"]["namespace"] = {
            "type": "string",
            "pattern": f"^({DNS_LABEL})?$",
            "maxLength": 63,
        }
    strict["properties"] |= _MANAGED
    del strict["properties"]["generateName"]
    strict["properties"]["labels"] = LABELS
    strict["properties"]["annotations"] = _ANNOTATIONS
    strict["required"] = ["name"]
    return strict


def _strict(schema: Schema, *, custom: bool) -> Any:
    match schema.get("type"):
        case "object" if "containers" in schema.get("properties", ()) and not custom:
            return _POD
        case "object":
            return _mapping(schema, custom=custom)
        case "array":
            return _list(schema, custom=custom)
    return _scalar(schema, custom=custom)


def _mapping(schema: Schema, *, custom: bool) -> Schema:
    others = schema.get("additionalProperties")
    given = _required(schema, custom=custom)
    made: Schema = {
        "type": "object",
        "properties": {
            name: _entry(part, custom=custom, required=name in given)
            for name, part in schema.get("properties", {}).items()
        },
        "additionalProperties": bool(schema.get("x-kubernetes-preserve-unknown-fields"))
        if others is None
        else _strict(others, custom=custom),
        "required": sorted(given),
    }
    if made["properties"].get("spec") is _POD:  # a pod template; the metadata of a Pod is replaced
        made["allOf"] = [plain_pods.TEMPLATE]
    return made | {it: schema[it] for it in ("minProperties", "maxProperties") if it in schema}


def _required(schema: Schema, *, custom: bool) -> set[str]:
    """The required entries of a mapping."""
    parts = schema.get("properties", {})
    return {*structural.required(schema, custom=custom), *_bad_defaults(parts, custom=custom)}


def _entry(schema: Schema, *, custom: bool, required: bool) -> Any:
    """The JSON Schema of an entry of a mapping."""
    strict = _strict(schema, custom=custom)
    if custom or required or schema.get("nullable"):
        return strict
    return _or_null(strict)


def _or_null(strict: Any) -> Any:
    """The same schema or null, which the server reads as missing."""
    if strict is False or strict is _POD or "enum" in strict:
        return strict
    types = strict["type"]
    return {**strict, "type": [*([types] if isinstance(types, str) else types), "null"]}


def _bad_defaults(parts: dict[str, Schema], *, custom: bool) -> Iterator[str]:
    """Fields that are required because the server refuses its own default."""
    for name, part in parts.items():
        if "default" in part:
            out: list[Refusal] = []
            structural.check(part, custom=custom)(part["default"], None, out)
            if out:
                yield name


def _list(schema: Schema, *, custom: bool) -> Schema:
    made: Schema = {"type": "array", "items": _strict(schema["items"], custom=custom)}
    if schema.get("x-kubernetes-list-type") == "set":
        made["uniqueItems"] = True
    return made | {it: schema[it] for it in ("minItems", "maxItems") if it in schema}


def _scalar(schema: Schema, *, custom: bool) -> Any:
    """A scalar's schema; False, which accepts nothing, if it has no strict form."""
    made: Schema = {it: schema[it] for it in _BOUNDS if it in schema}
    if schema.get("x-policygen-type") == "quantity":
        return made | _QUANTITY
    if schema.get("x-kubernetes-int-or-string"):
        return _whole(made | {"type": ["integer", "string"]}, 64 if custom else 32)
    kind = schema.get("type")
    if kind == "integer":
        return _whole(made | {"type": kind}, scalars.INTEGER_BITS[schema.get("format")])
    if kind in {"string", "boolean", "number"}:
        return made | {"type": kind} | _FORMATS.get(schema.get("format", ""), {})
    return False


def _whole(made: Schema, bits: int) -> Schema:
    low, high = -(1 << bits - 1), (1 << bits - 1) - 1
    low, high = max(made.get("minimum", low), low), min(made.get("maximum", high), high)
    return {**made, "minimum": low, "maximum": high}
