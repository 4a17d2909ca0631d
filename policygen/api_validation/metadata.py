"""What every API server requires of metadata: name, namespace, labels and annotations.

Source: k8s.io/apimachinery `pkg/api/validation/objectmeta.go`, and each kind's `validation.go`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from policygen.api_validation import schemas, structural
from policygen.api_validation.refusal import Reason, Refusal, Spot, counted, path_to
from policygen.api_validation.scalars import Check
from policygen.core.label_grammar import DNS_LABEL, ENDS, SUBDOMAIN, key_fault, value_fault
from policygen.core.names import CRON_JOB_NAME
from policygen.core.quoting import bare, quoted

_SUBDOMAIN = re.compile(SUBDOMAIN)
_DNS_LABEL = re.compile(DNS_LABEL)
_PATH_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/%]+")
_LONGEST, _LONGEST_LABEL, _LONGEST_PREFIX = 253, 63, 58

ANNOTATIONS_BYTES = 1 << 18
"""The most bytes that all keys and values of an object's annotations may have together."""

_NAMESPACE_NAME = "kubernetes.io/metadata.name"
"""The label whose value the server replaces by the name of a Namespace, before it checks the labels.

Source: pkg/apis/core/v1/defaults.go, SetDefaults_Namespace.
"""

_FINALIZERS = ("kubernetes", "orphan", "foregroundDeletion")
"""The finalizers without a domain."""

_NAMED_BY_SERVER = ("v1", "LimitRange")
"""The kind to which the server gives a random name. Source: pkg/registry/core/limitrange/strategy.go."""

RBAC = "rbac.authorization.k8s.io"


@cache
def _shape() -> Check:
    return structural.check(schemas.object_meta(), custom=False)


def check(metadata: Any, served: schemas.ServedKind, out: list[Refusal]) -> None:
    """Append the refusals of the metadata of an object of this kind."""
    if not isinstance(metadata, dict):
        return  # the check of the object reports it
    spot: Spot = (None, "metadata")
    before = len(out)
    _shape()(metadata, spot, out)
    if counted(out, before):
        return
    out += _identity(metadata, served)
    out += _managed(metadata, served)
    named = served.kind == "Namespace" and not served.custom and bool(metadata.get("name"))
    for key, value in (metadata.get("labels") or {}).items():
        at = (spot, "labels"), key
        if fault := key_fault(key):
            out.append(Refusal(path_to(at), Reason.LABEL, fault, key=True))
        replaced = named and key == _NAMESPACE_NAME
        if not replaced and (fault := value_fault(value or "")):
            out.append(Refusal(path_to(at), Reason.LABEL, f"{bare(key)} {fault}"))
    out += _annotations(metadata.get("annotations") or {}, (spot, "annotations"))


NOT_APPLIED = frozenset({"managedFields", "uid"})
"""Fields of metadata that `apply_refusals` is about."""


def apply_refusals(metadata: Any) -> Iterator[Refusal]:
    """Fields of metadata with which server-side apply creates no object; create ignores them.

    Skips an export of a cluster, which has a resourceVersion, and an object without a name, which
    cannot be applied.
    """
    if not isinstance(metadata, dict) or NOT_APPLIED.isdisjoint(metadata):
        return
    if metadata.get("resourceVersion") or not metadata.get("name"):
        return
    if metadata.get("managedFields") is not None:
        message = "managedFields is set, which server-side apply refuses; remove managedFields"
        yield Refusal(("metadata", "managedFields"), Reason.SERVER_SIDE_APPLY, message)
    if metadata.get("uid"):
        message = "uid is set, so server-side apply refuses to create the object; remove uid"
        yield Refusal(("metadata", "uid"), Reason.SERVER_SIDE_APPLY, message)


def is_subdomain(name: str) -> bool:
    """Whether an object of most kinds can have this name."""
    return len(name) <= _LONGEST and bool(_SUBDOMAIN.fullmatch(name))


def is_namespace(name: str) -> bool:
    """Whether a Namespace can have this name."""
    return len(name) <= _LONGEST_LABEL and bool(_DNS_LABEL.fullmatch(name))


def finalizer_fault(name: str, *, builtin: bool) -> str:
    """The fault of a finalizer and its remedy; empty for a valid one.

    `builtin`: kinds of Kubernetes itself accept only a few names without a domain.
    """
    if key_fault(name) or (builtin and "/" not in name and name not in _FINALIZERS):
        return f"finalizer {quoted(name)} is refused; write a name with a domain, such as example.com/{bare(name) if name and not key_fault(name) else 'cleanup'}"
    return ""


def _managed(metadata: dict[str, Any], served: schemas.ServedKind) -> Iterator[Refusal]:
    """Fields that controllers write: generation, finalizers and owners."""
    generation = metadata.get("generation") or 0
    if generation < 0 and _keeps_generation(served):
        message = f"generation {generation} is refused; remove generation"
        yield Refusal(("metadata", "generation"), Reason.RANGE, message)
    finalizers = metadata.get("finalizers") or []
    for i, name in enumerate(finalizers):
        if fault := finalizer_fault(name or "", builtin=not served.custom):
            yield Refusal(("metadata", "finalizers", i), Reason.FORMAT, fault)
    if {"orphan", "foregroundDeletion"} <= {*finalizers}:
        message = (
            "finalizers orphan and foregroundDeletion exclude each other; remove one of the two"
        )
        yield Refusal(("metadata", "finalizers"), Reason.FORMAT, message)
    yield from _owners(metadata.get("ownerReferences") or [])


def _keeps_generation(served: schemas.ServedKind) -> bool:
    """Whether the server checks the generation that a user writes; other kinds overwrite it."""
    return served.group == RBAC or (served.api_version == "v1" and served.kind != "Pod")


def _owners(owners: list[Any]) -> Iterator[Refusal]:
    """Source: validateOwnerReference and ValidateOwnerReferences."""
    controllers = 0
    for i, owner in enumerate(owners):
        path = "metadata", "ownerReferences", i
        for field in ("apiVersion", "kind", "name", "uid"):
            if not (owner or {}).get(field):
                message = f"ownerReferences[{i}] has no {field}, which is refused; write {field}"
                yield Refusal(path, Reason.MISSING_FIELD, message)
        if owner and (owner.get("apiVersion") or "").count("/") > 1:
            message = f"ownerReferences[{i}] has apiVersion {quoted(owner['apiVersion'])}, which is not valid; write a version such as apps/v1"
            yield Refusal((*path, "apiVersion"), Reason.FORMAT, message)
        if owner and (owner.get("apiVersion"), owner.get("kind")) == ("v1", "Event"):
            message = "an Event cannot own objects; write another owner"
            yield Refusal((*path, "kind"), Reason.FORMAT, message)
        controllers += bool(owner and owner.get("controller"))
    if controllers > 1:
        message = (
            "two owners have controller: true, which is refused; remove controller from one of them"
        )
        yield Refusal(("metadata", "ownerReferences"), Reason.FORMAT, message)


def _identity(metadata: dict[str, Any], served: schemas.ServedKind) -> Iterator[Refusal]:
    name, namespace = metadata.get("name"), metadata.get("namespace")
    prefix = metadata.get("generateName")
    generated = "" if name else f"{(prefix or '')[:_LONGEST_PREFIX]}aaaaa"
    if prefix and not (_is_prefix(prefix, served) and _is_prefix(generated or prefix, served)):
        message = f'generateName {quoted(prefix)} is not the beginning of a valid name; write lower-case letters, digits and "-"'
        yield Refusal(("metadata", "generateName"), Reason.NAME, message)
    if namespace and served.namespaced and not is_namespace(namespace):
        message = (
            f"namespace {quoted(namespace)} is not valid; "
            'write at most 63 lower-case letters, digits and "-"'
        )
        yield Refusal(("metadata", "namespace"), Reason.NAME, message)
    path, kind = ("metadata", "name"), (served.api_version, served.kind)
    if not name:
        if not metadata.get("generateName") and kind != _NAMED_BY_SERVER:
            message = "metadata.name is missing; write a name"
            yield Refusal(("metadata",), Reason.MISSING_FIELD, message)
        return
    longest = _LONGEST
    if _is_any_segment(served):
        shape, advice, longest = _PATH_SEGMENT, 'write a name without "/" and "%"', len(name)
    elif kind == ("v1", "Namespace"):
        shape, longest = _DNS_LABEL, _LONGEST_LABEL
        advice = f'write lower-case letters, digits and "-", {ENDS}'
    else:
        shape = _SUBDOMAIN
        advice = f'write lower-case letters, digits, "-" and ".", {ENDS}'
    if kind == ("batch/v1", "CronJob"):
        longest = CRON_JOB_NAME
    if not shape.fullmatch(name):
        message = f"name {quoted(name)} is not valid for a {served.kind}; {advice}"
        yield Refusal(path, Reason.NAME, message)
    elif len(name) > longest:
        message = f"the name has {len(name)} characters, but the name of a {served.kind} can have at most {longest}; shorten the name"
        yield Refusal(path, Reason.NAME, message)


def _is_any_segment(served: schemas.ServedKind) -> bool:
    """Whether the name of an object of this kind can be any segment of a path.

    Source: pkg/registry/policy/poddisruptionbudget and pkg/apis/rbac/validation of Kubernetes 1.36.3.
    """
    return served.group == RBAC or (served.group, served.kind) == ("policy", "PodDisruptionBudget")


def _is_prefix(prefix: str, served: schemas.ServedKind) -> bool:
    """Whether a name can begin so. Source: k8s.io/apimachinery, maskTrailingDash."""
    if len(prefix) > 1 and prefix.endswith("-"):
        prefix = f"{prefix[:-2]}a"
    if _is_any_segment(served):
        return bool(_PATH_SEGMENT.fullmatch(prefix))
    is_namespace_ = (served.api_version, served.kind) == ("v1", "Namespace")
    return is_namespace(prefix) if is_namespace_ else is_subdomain(prefix)


def _annotations(annotations: dict[str, str | None], spot: Spot) -> Iterator[Refusal]:
    for key in annotations:
        if fault := key_fault(key.lower()):
            message = fault.replace("label key", "annotation key")
            yield Refusal(path_to((spot, key)), Reason.ANNOTATION, message, key=True)
    total = sum(len(k.encode()) + len((v or "").encode()) for k, v in annotations.items())
    if total > ANNOTATIONS_BYTES:
        message = (
            f"the annotations have {total} bytes in total; shorten them to at most "
            f"{ANNOTATIONS_BYTES} bytes (256 KiB)"
        )
        yield Refusal(path_to(spot), Reason.ANNOTATION, message)
