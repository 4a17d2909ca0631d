"""What every API server asks of metadata: who an object is, its labels and annotations.

Source: k8s.io/apimachinery `pkg/api/validation/objectmeta.go`, and each kind's `validation.go`.
"""

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from policygen.api_validation import schemas, structural
from policygen.api_validation.refusal import Refusal, Spot, path_to
from policygen.api_validation.scalars import Check
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import quoted

_LABEL = r"[a-z0-9]([-a-z0-9]*[a-z0-9])?"
_SUBDOMAIN = re.compile(rf"{_LABEL}(\.{_LABEL})*")
_DNS_LABEL = re.compile(_LABEL)
_PATH_SEGMENT = re.compile(r"(?!\.{1,2}\Z)[^/%]+")
_LONGEST, _LONGEST_LABEL = 253, 63

ANNOTATIONS_BYTES = 1 << 18
"""All keys and values of an object's annotations together."""

RBAC = "rbac.authorization.k8s.io"
CRON_JOB_NAME = 52
"""A CronJob's Jobs get eleven characters more."""


@cache
def _shape() -> Check:
    return structural.check(schemas.object_meta(), custom=False)


def check(metadata: Any, served: schemas.Served, out: list[Refusal]) -> None:
    """Append what is refused about the metadata of an object of this kind."""
    if not isinstance(metadata, dict):
        return  # told of the whole object already
    spot: Spot = (None, "metadata")
    before = len(out)
    _shape()(metadata, spot, out)
    if len(out) > before:
        return
    out += _identity(metadata, served)
    for key, value in (metadata.get("labels") or {}).items():
        at = (spot, "labels"), key
        if fault := key_fault(key):
            out.append(Refusal(path_to(at), "bad-label", fault, key=True))
        if fault := value_fault(value or ""):
            out.append(Refusal(path_to(at), "bad-label", fault))
    out += _annotations(metadata.get("annotations") or {}, (spot, "annotations"))


def is_subdomain(name: str) -> bool:
    """Whether most kinds could have an object of this name."""
    return len(name) <= _LONGEST and bool(_SUBDOMAIN.fullmatch(name))


def is_namespace(name: str) -> bool:
    """Whether there can be a Namespace of this name."""
    return len(name) <= _LONGEST_LABEL and bool(_DNS_LABEL.fullmatch(name))


def _identity(metadata: dict[str, Any], served: schemas.Served) -> Iterator[Refusal]:
    name, namespace = metadata.get("name"), metadata.get("namespace")
    if namespace and served.namespaced and not is_namespace(namespace):
        message = (
            f"{quoted(namespace)} is no name of a Namespace, so there is none to put this into; "
            'write lower-case letters, digits and "-", at most 63'
        )
        yield Refusal(("metadata", "namespace"), "bad-name", message)
    path = ("metadata", "name")
    if not name:
        if not metadata.get("generateName"):
            message = f"this {served.kind} has no name; write metadata.name"
            yield Refusal(("metadata",), "missing-field", message)
        return
    longest = _LONGEST
    if served.group == RBAC:
        shape, wanted, longest = _PATH_SEGMENT, 'write it without "/" and "%"', len(name)
    elif (served.api_version, served.kind) == ("v1", "Namespace"):
        shape, longest = _DNS_LABEL, _LONGEST_LABEL
        wanted = 'write lower-case letters, digits and "-"'
    else:
        shape = _SUBDOMAIN
        wanted = 'write lower-case letters, digits, "-" and "."'
    if (served.api_version, served.kind) == ("batch/v1", "CronJob"):
        longest = CRON_JOB_NAME
    if not shape.fullmatch(name):
        message = (
            f"{quoted(name)} is no name of a {served.kind}; {wanted}, beginning and ending with a "
            "letter or digit"
        )
        if served.group == RBAC:
            message = f"{quoted(name)} is no name of a {served.kind}; {wanted}"
        yield Refusal(path, "bad-name", message)
    elif len(name) > longest:
        message = f"a {served.kind}'s name has at most {longest} characters, this one {len(name)}"
        yield Refusal(path, "bad-name", message)


def _annotations(annotations: dict[str, str | None], spot: Spot) -> Iterator[Refusal]:
    for key in annotations:
        if fault := key_fault(key.lower()):
            message = fault.replace("label key", "annotation key")
            yield Refusal(path_to((spot, key)), "bad-annotation", message, key=True)
    total = sum(len(k.encode()) + len((v or "").encode()) for k, v in annotations.items())
    if total > ANNOTATIONS_BYTES:
        message = f"the annotations have {total} bytes, and the server takes {ANNOTATIONS_BYTES}"
        yield Refusal(path_to(spot), "bad-annotation", message)
