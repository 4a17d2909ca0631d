"""What `policygen krm` does: renders or lints as a function in a pipeline of Kubernetes resources.

Source: the KRM functions specification v1 of kustomize (cmd/config/docs/api-conventions/functions-spec.md).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date
from io import BytesIO
from itertools import accumulate
from typing import Any, TypeVar

import msgspec
from msgspec import Struct

from policygen.app.requests import LintRequest, RenderRequest, parse_targets
from policygen.core.decoding import converted
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Finding
from policygen.core.quoting import listed, quoted
from policygen.core.rule import Severity
from policygen.core.suggest import suggest
from policygen.documents import document
from policygen.documents.files import STDIN, Source
from policygen.kubernetes.untyped import mapping
from policygen.plan.extras import EXTRAS
from policygen.render import scalar
from policygen.spec import type_errors
from policygen.spec.forms import GROUP as SPEC_GROUP
from policygen.spec.subschema import Json, fits, types_of

VERSION = "krm.policygen.dev/v1alpha1"
_LISTS = tuple(f"config.kubernetes.io/{version}" for version in ("v1", "v1beta1", "v1alpha1"))
_LOCAL = "config.kubernetes.io/local-config"
_PATH, _INDEX = "config.kubernetes.io/path", "config.kubernetes.io/index"

Resource = dict[str, Any]
_Form = TypeVar("_Form", bound=Struct)


class RenderFunction(Struct, forbid_unknown_fields=True, frozen=True):
    """The `spec` of a Render: the resources of a spec are added."""

    paths: tuple[str, ...] = ()
    """Files and folders of the spec; without them, the spec is among the resources."""
    target: dict[str, str] = msgspec.field(default_factory=dict)
    """Versions by component."""
    extras: tuple[str, ...] = msgspec.field(default=(), name="with")
    only: tuple[str, ...] = ()
    """Kinds."""
    cluster: str | None = None
    """One of the clusters of the Platform."""


class LintFunction(Struct, forbid_unknown_fields=True, frozen=True, rename="camel"):
    """The `spec` of a Lint: the resources are checked, and not changed."""

    paths: tuple[str, ...] = ()
    """Files and folders of the spec with which they are checked."""
    target: dict[str, str] = msgspec.field(default_factory=dict)
    partial: bool = False
    """Whether other resources exist elsewhere."""
    fail_on: str = "error"


class FunctionResult(Struct, frozen=True):
    """The result of a function."""

    text: str
    """The ResourceList with the items and results."""
    findings: tuple[Finding, ...]
    failed: bool


def run(given: bytes, *, today: date) -> FunctionResult:
    """Run the function that a ResourceList configures. Raises UsageError and SpecError."""
    data = _resource_list(given)
    items = _items(data)
    config = mapping(data, "functionConfig")
    kind = str(config.get("kind"))
    functions: Mapping[str, Callable[[], FunctionResult]] = {
        "Render": lambda: _render(items, _function(config, RenderFunction)),
        "Lint": lambda: _lint(items, _function(config, LintFunction), today),
    }
    if config.get("apiVersion") != VERSION or kind not in functions:
        raise UsageError(
            f"the functionConfig is {_called(config)}; write apiVersion: {VERSION} and kind: "
            f"{listed(list(functions), 'or')}"
        )
    return functions[kind]()


def _resource_list(given: bytes) -> Resource:
    try:
        text = given.decode()
    except UnicodeDecodeError as error:
        raise UsageError(f"standard input is not UTF-8 text: {error}") from None
    documents, faults = document.load(Source(STDIN, text, None), kubernetes=True)
    faults = document.with_faults(documents, faults)
    if faults:
        raise SpecError(faults)
    if len(documents) > 1:
        raise UsageError(
            f"standard input has {len(documents)} documents; krm reads one ResourceList of {_LISTS[0]}"
        )
    data = documents[0].data if documents else {}
    if data.get("kind") != "ResourceList" or data.get("apiVersion") not in _LISTS:
        raise UsageError(
            f"standard input is {_called(data)}; krm reads one ResourceList of {_LISTS[0]}, which "
            "kustomize and kpt write"
        )
    return dict(data)


def _items(data: Resource) -> list[Resource]:
    """The resources of a list. Raises UsageError if an item is no object."""
    found = data.get("items")
    if found is None:
        return []
    if not isinstance(found, list):
        raise UsageError("items of the ResourceList must be a list of objects")
    for i, item in enumerate(found):
        if not isinstance(item, dict):
            raise UsageError(
                f"items[{i}] of the ResourceList is not an object, but {quoted(str(item))}"
            )
    return [dict(it) for it in found]


def _called(data: Mapping[str, Any]) -> str:
    if not data:
        return "empty"
    keys = ("apiVersion", "kind")
    words = [str(data[key]) for key in keys if data.get(key) is not None]
    missing = [key for key in keys if data.get(key) is None]
    return " ".join([*words, *([f"without {listed(missing, 'and')}"] if missing else [])])


def _function(config: Mapping[str, Any], form: type[_Form]) -> _Form:
    """The settings in a functionConfig. Raises UsageError."""
    spec = config.get("spec") or {}
    what = f"{config['kind']} {mapping(config, 'metadata').get('name', '')}".strip()
    known = [field.encode_name for field in msgspec.structs.fields(form)]
    unknown = [key for key in spec if key not in known] if isinstance(spec, dict) else []
    if unknown:
        raise UsageError(f"{what}: spec.{unknown[0]} is unknown; {suggest(unknown[0], known)}")
    root = msgspec.json.schema(form)
    for fault in _misfits(spec, root["$defs"][form.__name__], "spec"):
        raise UsageError(f"{what}: {fault}")
    return converted(spec, form)


def _misfits(value: Any, schema: Json, path: str) -> Iterator[str]:
    """The values that have another type than their schema allows, and what to write instead."""
    # A setting that can be missing has no type by name; its other type is text.
    types = types_of(schema) or ("string",)
    if isinstance(value, dict) and "object" in types:
        for key, it in value.items():
            own = schema.get("properties", {}).get(key) or schema["additionalProperties"]
            yield from _misfits(it, own, f"{path}.{key}")
    elif isinstance(value, list) and "array" in types:
        for index, it in enumerate(value):
            yield from _misfits(it, schema["items"], f"{path}[{index}]")
    elif not fits(schema, value):
        whole = {"type": "string"} if "anyOf" in schema else schema
        yield f"{path}: {type_errors.message(value, whole, types, None, {})}"


def _render(items: Sequence[Resource], function: RenderFunction) -> FunctionResult:
    """Add what a spec renders; what an earlier run of it rendered is replaced."""
    from policygen.app import earlier_render, render

    for name in function.extras:
        if name not in EXTRAS:
            raise UsageError(f'Render: spec.with: "{name}" is unknown; {suggest(name, EXTRAS)}')
    spec = [it for it in items if str(it.get("apiVersion")).startswith(f"{SPEC_GROUP}/")]
    texts = _Texts.of(spec, _without_annotations)
    if not function.paths and not spec:
        raise UsageError(
            "the Render has no spec; name its files in spec.paths, or add its documents to the "
            "resources"
        )
    request = RenderRequest(
        specs=function.paths or ("-",),
        target=parse_targets(function.target, "spec.target"),
        extras=frozenset(function.extras),
        only=function.only,
        cluster=function.cluster,
    )
    try:
        result = render.render(request, stdin=BytesIO(texts.text.encode()))
        if result.clusters and function.cluster is None:
            names = listed([*result.clusters], "and")
            raise UsageError(
                f"Render: the Platform has the clusters {names}; name one in spec.cluster"
            )
    except SpecError as error:
        found = [(it, texts.item(it)) for it in error.findings]
        made, kept, failed = [], items, True
    else:
        earlier = earlier_render.find(items, result, function.extras, function.only)
        found = [*earlier.of_others, *((it, texts.item(it)) for it in result.findings)]
        failed = bool(earlier.of_others)
        made = [] if failed else [it.text.removeprefix("---\n") for it in result.manifests]
        kept = items if failed else earlier.kept
    results = [_result(it, item) for it, item in found]
    text = _listed([*map(_block, kept), *made], results)
    return FunctionResult(text, tuple(it for it, _ in found), failed)


def _without_annotations(item: Resource) -> Resource:
    """A document of a spec, which has no annotations but those of pipelines."""
    metadata = mapping(item, "metadata")
    kept = {key: value for key, value in metadata.items() if key != "annotations"}
    return {**item, "metadata": kept}


def _lint(items: Sequence[Resource], function: LintFunction, today: date) -> FunctionResult:
    """Check the resources, except those that are not applied."""
    from policygen.app import lint

    severities = {str(it): it for it in Severity}
    if function.fail_on not in severities:
        raise UsageError(
            f"Lint: spec.failOn: {quoted(function.fail_on)} is unknown; write "
            f"{listed(list(severities), 'or')}"
        )
    applied = [it for it in items if mapping(it, "metadata", "annotations").get(_LOCAL) != "true"]
    texts = _Texts.of(applied)
    request = LintRequest(
        specs=function.paths,
        manifests=("-",),
        target=parse_targets(function.target, "spec.target"),
        partial=function.partial,
    )
    try:
        report = lint.lint(request, today=today, stdin=BytesIO(texts.text.encode()))
    except SpecError as error:
        findings, failed = tuple(error.findings), True
    else:
        findings = report.findings
        worst = severities[function.fail_on]
        failed = not report.complete or any(it.severity >= worst for it in findings)
    results = [_result(it, texts.item(it)) for it in findings]
    # No file has the lines of standard input, so only the object and its field are named.
    shown = tuple(
        it._replace(place=None) if it.place and it.place.file == STDIN else it for it in findings
    )
    return FunctionResult(_listed(map(_block, items), results), shown, failed)


class _Texts(Struct, frozen=True):
    """Resources as one text, and the lines at which they begin."""

    text: str
    items: Sequence[Resource]
    starts: Sequence[int]

    @classmethod
    def of(
        cls,
        items: Sequence[Resource],
        written: Callable[[Resource], Resource] = lambda it: it,
    ) -> "_Texts":
        """`written` returns what the text has of a resource."""
        texts = [f"---\n{_block(written(it))}" for it in items]
        lengths = (it.count("\n") for it in texts)
        return cls("".join(texts), items, [1, *accumulate(lengths, initial=1)][1:-1])

    def item(self, finding: Finding) -> Resource | None:
        """The resource in which a finding is; None if it is in another file."""
        if finding.place is None or finding.place.file != STDIN or not finding.place.line:
            return None
        return self.items[bisect_right(self.starts, finding.place.line) - 1]


def _result(finding: Finding, item: Resource | None) -> Resource:
    """A finding as an entry of `results`."""
    place = finding.place
    made: Resource = {
        "message": f"{finding.message} [{finding.rule}]",
        "severity": str(finding.severity),
        "tags": {"rule": str(finding.rule)},
    }
    if item is not None:
        meta = mapping(item, "metadata")
        made["resourceRef"] = {
            **{key: item[key] for key in ("apiVersion", "kind") if key in item},
            **{key: meta[key] for key in ("name", "namespace") if key in meta},
        }
        notes = mapping(meta, "annotations")
        if _PATH in notes:
            index = str(notes.get(_INDEX, ""))
            made["file"] = {
                "path": notes[_PATH],
                **({"index": int(index)} if index.isdecimal() else {}),
            }
    elif place is not None:
        made["file"] = {"path": place.file}
        if place.line:
            made["tags"]["line"] = str(place.line)
    if finding.path:
        made["field"] = {"path": finding.path}
    return made


def _block(item: Resource) -> str:
    """A resource as YAML."""
    return str(scalar.block(item, 0)).removeprefix("\n") + "\n"


def _listed(items: Iterable[str], results: Sequence[Resource]) -> str:
    """The ResourceList with items that are YAML already."""
    lines = []
    for text in items:
        first, *rest = text.splitlines()
        lines += [f"- {first}", *(f"  {line}" if line else "" for line in rest)]
    lines = [
        f"apiVersion: {_LISTS[0]}",
        "kind: ResourceList",
        *(["items:", *lines] if lines else ["items: []"]),
    ]
    if results:
        lines.append(f"results:{scalar.block(results, 2)}")
    return "".join(f"{line}\n" for line in lines)
