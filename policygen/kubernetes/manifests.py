"""Reads manifests into objects. Expands Lists, and extracts configuration files from ConfigMaps."""

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from difflib import get_close_matches
from itertools import repeat
from pathlib import PurePath
from typing import Any

from msgspec import Struct, field
from msgspec.structs import replace

from policygen.core.finding import At, Finding, Path, Place, at_path
from policygen.core.quoting import counted, quoted, some
from policygen.documents import placeholders
from policygen.documents.document import Document, with_faults
from policygen.documents.document import inner as inner_document
from policygen.documents.document import load as load_documents
from policygen.documents.files import Source
from policygen.documents.kubectl_scalars import is_float
from policygen.documents.read_ahead import FastDocuments
from policygen.kubernetes import kustomizations, typed
from policygen.kubernetes.cluster import KUEUE_CONFIG, SCHEDULER_CONFIG, VOLCANO_CONFIGURATION
from policygen.kubernetes.object import Object
from policygen.kubernetes.rules import (
    FILES_NOT_IN_KUSTOMIZATION,
    KINDS_WITHOUT_SPECIAL_RULES,
    KUSTOMIZATION_NOT_BUILT,
    NO_OBJECT,
)
from policygen.kubernetes.untyped import mapping, mappings
from policygen.spec import forms
from policygen.spec.rules import MISSING_FIELD, WRONG_TYPE

_SCHEDULERS = (SCHEDULER_CONFIG, "KubeSchedulerConfiguration")
_FILES = {_SCHEDULERS, (KUEUE_CONFIG, "Configuration")}
"""Controllers' files that name their kind, by group and kind."""

_NAMED = ("kubescheduler.config", "config.kueue", "KubeSchedulerConfiguration")
"""Text in every controller file that names its kind, even a misspelled one."""
_GROUPS = "|".join(map(re.escape, _NAMED))
_BEGINS = re.compile(
    r"""(?:[ ]*(?:\#.*|---.*|%.*)?\r?\n)*    # blank lines, comments and the document's start
        ([ ]*)(?: \{(?!\{) | ["']?[\w.-]+["']?[ ]*:(?=\s) )""",
    re.VERBOSE,
)
"""The start of a mapping: JSON's brace, or an indented key. Scripts and pages start differently."""
_VOLCANOS = re.compile(r"volcano-scheduler[^/]*\.conf")
_KUEUES = "controller_manager_config.yaml"
"""The keys of Volcano's and Kueue's files in ConfigMaps."""
_ACTIONS = frozenset({"enqueue", "allocate", "backfill", "preempt", "reclaim"})
"""Actions of Volcano's scheduler, which other programs with tiers hardly use."""
_HEADER = ("apiVersion", "kind")
_NODE = "Node"
_NODES = re.compile(rf"""kind["']?\s*:\s*["']?{_NODE}["']?\s*(?:[,}}#]|$)""", re.MULTILINE)
"""The kind of a Node in text."""
_ALIKE = 0.85
_LIKE = 0.6
"""The similarity from which an API group, or a kind, counts as misspelled."""


MAX_KINDS = 10
"""The most kinds that a note names."""


class Manifests(Struct):
    """The content of manifest files."""

    documents: list[Document] = field(default_factory=list)
    objects: list[Object] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)
    """Errors about text that cannot be read."""
    builds: list[kustomizations.Unbuilt] = field(default_factory=list)
    """Kustomizations whose build has other objects."""
    unlisted: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Files of objects that no kustomization names, by the folder of the kustomization beside them."""
    inside: int = 0
    """The number of `objects` that are controllers' files inside ConfigMaps."""
    nameless: list[At] = field(default_factory=list)
    """The documents, and entries of Lists, without apiVersion or kind."""
    complete: bool = True
    """False if something could not be read, so objects that seem missing may exist."""
    has_all_nodes: bool = True
    """False if a Node could not be read, so the others have less than the cluster."""


def read(
    sources: Sequence[Source],
    *,
    first_index: int = 0,
    read_ahead: Callable[[], Iterable[FastDocuments]] | None = None,
) -> Manifests:
    """The objects of the sources, without documents of a spec.

    `first_index` is the first `At.document`. `read_ahead` returns the documents of each source if they were
    read already. Scalars are read as kubectl reads them (YAML 1.1 where
    it differs). Duplicate keys and invalid YAML become findings.
    """
    found, read_objects = Manifests(), Manifests()
    ahead = repeat(None, len(sources)) if read_ahead is None else read_ahead()
    for source, fast in zip(sources, ahead, strict=True):
        documents = _documents(source, fast, first_index, found)
        known = len(read_objects.objects)
        for document in documents:
            _document(document, read_objects)
        # Meanwhile, another process reads the next source.
        typed.read_ahead(read_objects.objects[known:])
    builds = [it for it in found.documents if kustomizations.is_one(it)]
    if builds:
        found.unlisted = kustomizations.unlisted(builds, found.documents)
        read_objects = Manifests()
        checked = kustomizations.others(builds, found.documents)
        found.builds += kustomizations.unbuilt(builds, found.documents, checked)
        for document in checked:
            _document(document, read_objects)
    found.objects, found.nameless = read_objects.objects, read_objects.nameless
    found.findings += read_objects.findings
    found.complete = found.complete and read_objects.complete
    if not found.complete:
        found.has_all_nodes = read_objects.has_all_nodes and not _lacks_nodes(found, sources)
    # Files inside ConfigMaps are separate documents, after all others.
    holders = tuple(found.documents)
    for config_map in _config_maps(found.objects):
        holder = holders[config_map.at.document - first_index]
        _inner(config_map, found, first_index, holder)
    return found


def _documents(
    source: Source, fast: FastDocuments, first_index: int, found: Manifests
) -> list[Document]:
    """Add the documents of a source, and the findings about it. Returns these documents."""
    index = first_index + len(found.documents)
    documents, findings = load_documents(source, first_index=index, kubernetes=True, fast=fast)
    for document in documents:
        if _is_no_spec(document):
            findings += document.faults
        else:
            document.data = None
    template = placeholders.of_helm(source) if findings else None
    if template:
        documents, findings = [], [template]
    found.findings += findings
    found.complete = found.complete and not findings
    found.documents += documents
    return documents


def spec_sources(sources: Iterable[Source]) -> list[Source]:
    """The sources that may contain documents of a spec."""
    groups = {form.api_version.partition("/")[0] for form in forms.FORMS if "/" in form.api_version}
    # A group followed by a name and a colon is a label, not an apiVersion.
    patterns = {
        it: re.compile(rf"{re.escape(it)}(?:/[\w.-]*+|(?!/))[\"']?+(?!\s*:)") for it in groups
    }
    return [
        source
        for source in sources
        if forms.CONFIG_MAP in source.text
        # The test for the group takes a tenth of the time of the search.
        or any(it in source.text and patterns[it].search(source.text) for it in patterns)
    ]


def has_spec(sources: Iterable[Source]) -> bool:
    """Whether one of the sources contains a document of a spec."""
    return any(
        not _is_no_spec(document)
        for source in spec_sources(sources)
        for document in load_documents(source, kubernetes=True)[0]
    )


def _is_no_spec(document: Document) -> bool:
    header = document.header
    if header.api_version is None and header.kind is None:
        return True  # Volcano's scheduler configuration, or an unknown file
    return not forms.certainly_ours(header) or forms.is_ordinary(document, among=True)


def _document(document: Document, found: Manifests) -> None:
    data, header = document.data, document.header
    if not isinstance(data, dict):
        return
    bare = header.kind is None and header.api_version is None
    if bare and (_is_named_as_volcanos(document) or _is_volcanos(data)):
        found.objects.append(_configuration(document))
        return
    if header.kind == "List" and data.get("items") is not None and not _is_list(data):
        place = document.place(("items",))
        message = "items of this List is not a YAML list, so lint did not check its objects; write a list of objects"
        found.findings.append(Finding(WRONG_TYPE, message, place))
        found.complete = False
        return
    if _is_list(data):
        objects = _objects(data, document.index, ())
    else:
        objects = iter((_object(data, At(document.index)),))
    for object_ in objects:
        if not isinstance(object_, At):
            found.objects.append(object_)
        elif message := _half_named(at_path(data, object_.path)):
            found.findings.append(Finding(MISSING_FIELD, message, document.place(object_.path)))
            found.complete = False
            found.has_all_nodes &= not _may_be_node(at_path(data, object_.path))
        else:
            found.nameless.append(object_)


def _half_named(data: Any) -> str:
    """The fault of an object with metadata that has either no kind or no apiVersion; "" for other data."""
    if not isinstance(data, dict) or not isinstance(data.get("metadata"), dict):
        return ""
    missing = [it for it in _HEADER if not isinstance(data.get(it), str)]
    if len(missing) != 1:
        return ""
    field_ = missing[0]
    known = "apiVersion" if field_ == "kind" else "kind"
    others = {f"{key}".lower(): key for key in data if key not in _HEADER}
    meant = get_close_matches(field_.lower(), others, n=1, cutoff=_LIKE)
    advice = f"write {field_} instead of {quoted(others[meant[0]])}" if meant else f"write {field_}"
    return f"this object has {known} {quoted(data[known])} but no {field_}, so lint did not check it; {advice}"


def _may_be_node(data: Mapping[str, Any]) -> bool:
    """Whether an object that has either no kind or no apiVersion may be a Node."""
    status = mapping(data, "status")
    return data.get("kind") == _NODE or (
        data.get("apiVersion") == "v1" and not {"allocatable", "capacity"}.isdisjoint(status)
    )


def _lacks_nodes(found: Manifests, sources: Iterable[Source]) -> bool:
    """Whether text that could not be read has a Node."""
    written = sum(len(_NODES.findall(source.text)) for source in sources)
    return written > sum(it.kind == _NODE for it in found.objects)


def _is_named_as_volcanos(document: Document) -> bool:
    return _VOLCANOS.fullmatch(PurePath(document.source.name).name) is not None


def _is_volcanos(data: Mapping[str, Any]) -> bool:
    """Whether a mapping without a kind is Volcano's scheduler configuration, misspelled or not.

    Other programs have tiers and actions too. Plugins in tiers, or these actions, show Volcano's.
    """
    if "tiers" not in data:
        return False
    tiers, actions = data["tiers"], data.get("actions")
    words = re.split(r"[\s,]+", actions) if isinstance(actions, str) else actions
    has_actions = isinstance(words, list) and any(
        isinstance(word, str) and word in _ACTIONS for word in words
    )
    parts = [tiers] if isinstance(tiers, dict) else mappings(tiers)
    return has_actions or any("plugins" in each for each in parts)


def _is_named(text: str) -> bool:
    """Whether a text is a controller's file that names its group, and not prose that mentions one."""
    begin = _BEGINS.match(text)
    if begin is None or not any(word in text for word in _NAMED):
        return False
    start = r"[{,\s]" if text[begin.end() - 1] == "{" else rf"(?m:^){begin[1]}"
    key = r"""["']?[\w.-]+["']?\s*:\s*["']?"""
    return re.search(rf"{start}{key}[\w.]*(?:{_GROUPS})", text) is not None


def _objects(data: Any, index: int, path: Path) -> Iterator[Object | At]:
    """The objects of a document, and the place of each part that is not an object."""
    if isinstance(data, dict) and _is_list(data):
        for number, item in enumerate(_items(data)):
            yield from _objects(item, index, (*path, "items", number))
        return
    yield _object(data, At(index, path))


def _object(data: Any, at: At) -> Object | At:
    """The object in the data; its place if it has no kind or apiVersion."""
    object_ = Object.read(data, at)
    return _headless(data, at) if object_ is None else _as_meant(object_)


def _headless(data: Any, at: At) -> Object | At:
    """A controller's file without kind or apiVersion, if the other one names it; rules report it."""
    if not isinstance(data, dict):
        return at
    api_version, kind = data.get("apiVersion"), data.get("kind")
    if not api_version and kind == _SCHEDULERS[1]:
        return Object(at, f"{_SCHEDULERS[0]}/v1", kind, "", "", data)
    for group, known in _FILES:
        if not kind and isinstance(api_version, str) and api_version.startswith(f"{group}/"):
            return Object(at, api_version, known, "", "", data)
    return at


def _items(listed: Mapping[str, Any]) -> Iterator[Any]:
    """The items of a List. In lists of one kind, servers omit apiVersion and kind of the items."""
    kind = listed["kind"].removesuffix("List")
    known = kind and isinstance(listed.get("apiVersion"), str)
    for item in listed["items"]:
        bare = known and isinstance(item, dict) and not {"apiVersion", "kind"} & item.keys()
        yield {"apiVersion": listed["apiVersion"], "kind": kind, **item} if bare else item


def _as_meant(object_: Object) -> Object:
    """The object with a misspelled kind or group of a controller's file corrected; rules report it."""
    if "onfig" not in object_.kind or (object_.group, object_.kind) in _FILES:
        return object_
    for group, kind in sorted(_FILES):
        if object_.group == group and get_close_matches(object_.kind, [kind], cutoff=_LIKE):
            return replace(object_, kind=kind)
        if object_.kind == kind and get_close_matches(object_.group, [group], cutoff=_ALIKE):
            return replace(object_, api_version=f"{group}/{object_.version}")
    if object_.kind == _SCHEDULERS[1]:  # no other group has this kind
        return replace(object_, api_version=f"{_SCHEDULERS[0]}/v1")
    return object_


def _is_list(data: dict[str, Any]) -> bool:
    kind = data.get("kind")
    return isinstance(kind, str) and kind.endswith("List") and isinstance(data.get("items"), list)


def _configuration(document: Document) -> Object:
    """Volcano's file, with its floats: kubectl does not read the file, and Volcano does not take 1.0 for 1.

    Source: UnmarshalSchedulerConf of Volcano 1.14.1, which reads it with gopkg.in/yaml.v2.
    """
    data = _with_floats(document, (), document.data)
    return Object(At(document.index), "", VOLCANO_CONFIGURATION, "", "", data)


def _with_floats(document: Document, path: Path, value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _with_floats(document, (*path, key), it) for key, it in value.items()}
    if isinstance(value, list):
        return [_with_floats(document, (*path, i), it) for i, it in enumerate(value)]
    if type(value) is int and is_float(document.raw(path) or ""):
        return float(value)
    return value


def inside(objects: Iterable[Object], *, first_index: int) -> Manifests:
    """The controllers' files in the ConfigMaps of a cluster. Lines are counted within the key."""
    found = Manifests()
    for config_map in _config_maps(objects):
        _inner(config_map, found, first_index)
    return found


def _config_maps(objects: Iterable[Object]) -> list[Object]:
    return [it for it in objects if (it.group, it.kind) == ("", "ConfigMap")]


def _inner(
    config_map: Object, found: Manifests, first_index: int, holder: Document | None = None
) -> None:
    """Add the controllers' files in a ConfigMap, which is in the document `holder` if it has one."""
    texts = config_map.data.get("data")
    if not isinstance(texts, dict):
        return
    for key, text in texts.items():
        volcanos = isinstance(key, str) and _VOLCANOS.fullmatch(key) is not None
        known = volcanos or key == _KUEUES
        if not isinstance(text, str) or not text.strip():
            continue
        named = not known and _is_named(text)
        if not known and not named and "tiers" not in text:
            continue
        index = first_index + len(found.documents)
        if holder is not None:
            path = (*config_map.at.path, "data", key)
            document, findings = inner_document(holder, path, index=index, kubernetes=True)
        else:
            source = Source(f"{config_map} {key}", text, None)
            documents, findings = load_documents(source, first_index=index, kubernetes=True)
            findings = with_faults(documents, findings)
            document = documents[0] if len(documents) == 1 else None
        if document is None or not isinstance(document.data, dict):
            if known or named:
                found.findings += findings
                found.complete = found.complete and not findings
            continue
        inside = list(_inside(document, volcanos=volcanos))
        if inside:
            found.documents.append(document)
            found.findings += findings
            found.objects += inside
            found.inside += len(inside)


def _inside(document: Document, *, volcanos: bool) -> Iterator[Object]:
    """The controllers' files in a document of a ConfigMap."""
    if document.header.api_version is None and document.header.kind is None:
        if volcanos or _is_volcanos(document.data):
            yield _configuration(document)
        return
    for object_ in _objects(document.data, document.index, ()):
        if isinstance(object_, Object) and (object_.group, object_.kind) in _FILES:
            yield object_


def unbuilt(found: Manifests, command: str) -> Iterator[Finding]:
    """Notes on kustomizations, with the command of policygen that reads their output."""
    for folder, effect in dict(found.builds).items():
        message = (
            f"policygen does not build this kustomization, so {effect}; "
            f"run kustomize build {folder} | policygen {command}"
        )
        yield Finding(KUSTOMIZATION_NOT_BUILT, message, Place(folder))


def notes(found: Manifests, unchecked: Iterable[Object]) -> Iterator[Finding]:
    """Notes on documents that are not objects, and on the unchecked objects among the others."""
    yield from unbuilt(found, "lint --manifests -")
    for folder, names in found.unlisted.items():
        it = "it" if len(names) == 1 else "them"
        message = (
            f"policygen did not check {counted(len(names), 'file')} beside this kustomization "
            f"({some(names, 'other file')}), because no kustomization names {it}; add {it} to resources, or "
            f"run policygen lint --manifests {names[0]}"
        )
        yield Finding(FILES_NOT_IN_KUSTOMIZATION, message, Place(folder))
    if found.nameless:
        count = len(found.nameless)
        first = "; the first one is here" if count > 1 else ""
        message = (
            f"policygen skipped {counted(count, 'document')} without apiVersion or kind{first}"
        )
        at = found.nameless[0]
        document = next(it for it in found.documents if it.index == at.document)
        yield Finding(NO_OBJECT, message, document.place(at.path))
    other = Counter(it.kind for it in unchecked)
    if other:
        kinds = [f"{count} {kind}" for kind, count in sorted(other.items())]
        more = (
            f" and {counted(len(kinds) - MAX_KINDS, 'other kind')}"
            if len(kinds) > MAX_KINDS
            else ""
        )
        message = f"policygen has no special rules for {', '.join(kinds[:MAX_KINDS])}{more}"
        yield Finding(KINDS_WITHOUT_SPECIAL_RULES, message)
