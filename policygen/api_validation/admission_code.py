"""What the code of the API server refuses in admission policies and their bindings.

Source: pkg/apis/admissionregistration/validation/validation.go of Kubernetes 1.36.3. Of a CEL
expression, only an empty one is refused here; the server also compiles it.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from policygen.api_validation.fields import mapping, numbered, strings
from policygen.api_validation.metadata import is_subdomain
from policygen.api_validation.refusal import Reason, Refusal
from policygen.api_validation.selectors import label_selector
from policygen.core.finding import Path
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.core.suggest import suggest

_REASONS = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS = ("Allow", "Deny")
_FAILURE_POLICIES = ("Fail", "Ignore")
_MATCH_POLICIES = ("Equivalent", "Exact")
_PATCHES = {"ApplyConfiguration": "applyConfiguration", "JSONPatch": "jsonPatch"}
"""The field of a mutation for each patchType."""
_SCOPES = ("*", "Cluster", "Namespaced")
_IDENTIFIER = re.compile(r"[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED = frozenset(
    (
        "as", "break", "const", "continue", "else", "false", "for", "function", "if", "import", "in", "let", "loop",
        "namespace", "null", "package", "return", "true", "var", "void", "while",
    )
)  # fmt: skip
"""The words of CEL that cannot be an identifier."""
_VERSION = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?")
_KIND = re.compile(r"[a-z]([-a-z0-9]{0,61}[a-z0-9])?", re.IGNORECASE | re.ASCII)
_MOST_CONDITIONS = 64
_MOST_ANNOTATIONS = 20
_WILDCARD = "*"
_BREAK = re.compile(r"[\r\n]")


def validating_policy(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The refusals of a ValidatingAdmissionPolicy; skips fields of a wrong type."""
    spec = mapping(thing, "spec")
    yield from _policy(spec)
    if not spec.get("validations") and not spec.get("auditAnnotations"):
        message = "the policy has no validations and no auditAnnotations, which is refused; write one of these fields"
        yield Refusal(("spec",), Reason.MISSING_FIELD, message)
    for i, validation in numbered(spec, "validations"):
        yield from _validation(validation, ("spec", "validations", i))
    yield from _audit_annotations(spec, mapping(thing, "metadata").get("name"))


def mutating_policy(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The refusals of a MutatingAdmissionPolicy; skips fields of a wrong type."""
    spec = mapping(thing, "spec")
    yield from _policy(spec)
    for field in ("reinvocationPolicy", "mutations"):
        if not spec.get(field):
            yield _missing(("spec",), field)
    for i, rule in numbered(spec, "matchConstraints", "resourceRules"):
        if "DELETE" in strings(rule, "operations"):
            message = "the operation DELETE has no object to change, so it is refused; remove it"
            path: Path = ("spec", "matchConstraints", "resourceRules", i, "operations")
            yield Refusal(path, Reason.VALUE, message)
    for i, mutation in numbered(spec, "mutations"):
        yield from _mutation(mutation, ("spec", "mutations", i))


def validating_binding(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The refusals of a ValidatingAdmissionPolicyBinding; skips fields of a wrong type."""
    yield from mutating_binding(thing)
    yield from _actions(mapping(thing, "spec").get("validationActions"))


def mutating_binding(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The refusals of a MutatingAdmissionPolicyBinding; skips fields of a wrong type."""
    spec = mapping(thing, "spec")
    name = spec.get("policyName")
    if not name:
        yield _missing(("spec",), "policyName")
    elif isinstance(name, str) and not is_subdomain(name):
        message = (
            f"policyName {quoted(name)} cannot be the name of a policy; write the name of a policy"
        )
        yield Refusal(("spec", "policyName"), Reason.NAME, message)
    if isinstance(spec.get("paramRef"), dict):
        yield from _param_ref(spec["paramRef"])
    yield from _match_resources(mapping(spec, "matchResources"), ("spec", "matchResources"))


def _policy(spec: Mapping[str, Any]) -> Iterator[Refusal]:
    """The fields that both kinds of policies have."""
    yield from _word(spec, "failurePolicy", _FAILURE_POLICIES, ("spec",))
    if isinstance(spec.get("paramKind"), dict):
        yield from _param_kind(spec["paramKind"])
    if not isinstance(spec.get("matchConstraints"), dict):
        yield _missing(("spec",), "matchConstraints")
    else:
        at: Path = ("spec", "matchConstraints")
        if not spec["matchConstraints"].get("resourceRules"):
            yield _missing(at, "resourceRules")
        yield from _match_resources(spec["matchConstraints"], at)
    yield from _conditions(spec)
    for i, variable in numbered(spec, "variables"):
        yield from _variable(variable, ("spec", "variables", i))


def _mutation(mutation: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    kind = mutation.get("patchType")
    if not kind:
        yield _missing(at, "patchType")
    if not isinstance(kind, str) or kind not in _PATCHES:
        return  # the check of the schema reports it
    for patch, field in _PATCHES.items():
        written = mutation.get(field)
        if patch != kind:
            if written is not None:
                message = f"{field} is refused beside patchType {kind}; remove it, or write patchType: {patch}"
                yield Refusal((*at, field), Reason.VALUE, message)
        elif written is None:
            yield _missing(at, field)
        elif isinstance(written, dict):
            yield from _expression(written, "expression", (*at, field))


def _param_kind(kind: Mapping[str, Any]) -> Iterator[Refusal]:
    at: Path = ("spec", "paramKind")
    version, name = kind.get("apiVersion"), kind.get("kind")
    if not version:
        yield _missing(at, "apiVersion")
    elif isinstance(version, str):
        group, _, last = version.rpartition("/")
        if (group and not is_subdomain(group)) or not _VERSION.fullmatch(last):
            message = f"apiVersion {quoted(version)} is refused; write a group and a version, such as apps/v1"
            yield Refusal((*at, "apiVersion"), Reason.FORMAT, message)
    if not name:
        yield _missing(at, "kind")
    elif isinstance(name, str) and not _KIND.fullmatch(name):
        message = f"kind {quoted(name)} is refused; write the kind of an object, such as ConfigMap"
        yield Refusal((*at, "kind"), Reason.FORMAT, message)


def _match_resources(match: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    yield from _word(match, "matchPolicy", _MATCH_POLICIES, at)
    for field in ("namespaceSelector", "objectSelector"):
        yield from label_selector(mapping(match, field), (*at, field))
    for field in ("resourceRules", "excludeResourceRules"):
        for i, rule in numbered(match, field):
            yield from _rule(rule, (*at, field, i))


def _rule(rule: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    seen = set()
    for i, name in enumerate(strings(rule, "resourceNames")):
        if _no_path_segment(name):
            message = (
                f"{quoted(name)} cannot be the name of an object; write a name, or remove the entry"
            )
            yield Refusal((*at, "resourceNames", i), Reason.NAME, message)
        elif name in seen:
            yield _repeated((*at, "resourceNames", i), name)
        seen.add(name)
    for field in ("operations", "apiGroups", "apiVersions"):
        entries = strings(rule, field)
        if not rule.get(field):
            yield _missing(at, field)
        elif _WILDCARD in entries and len(entries) > 1:
            message = f'{field} has "*" and other entries, which is refused; write "*" alone, or remove it'
            yield Refusal((*at, field), Reason.VALUE, message)
        elif field != "apiGroups" and "" in entries:
            yield _empty((*at, field, entries.index("")), field)
    yield from _word(rule, "scope", _SCOPES, at)
    yield from _resources(strings(rule, "resources"), at)


def _resources(entries: Sequence[str], at: Path) -> Iterator[Refusal]:
    """Source: validateResources."""
    if not entries:
        yield _missing(at, "resources")
    seen: set[str] = set()
    """The entries "RESOURCE/*" and "*/SUBRESOURCE" so far."""
    for i, entry in enumerate(entries):
        if not entry:
            yield _empty((*at, "resources", i), "resources")
        resource, slash, below = entry.partition("/")
        if not slash:
            continue
        covering = [each for each in (f"{resource}/*", f"*/{below}") if each in seen]
        if covering:
            message = f"{quoted(entry)} is refused beside {quoted(covering[0])}, which includes it; remove one of the two entries"
            yield Refusal((*at, "resources", i), Reason.VALUE, message)
        if _WILDCARD in (resource, below):
            seen.add(entry)
    plain = [each for each in entries if each and "/" not in each]
    # Only the last entry without a subresource counts, so ["pods", "*"] is accepted.
    if ("*/*" in entries and len(entries) > 1) or (_WILDCARD in plain and plain[-1] != _WILDCARD):
        message = (
            "resources has a wildcard and entries that it includes, which is refused; remove these"
        )
        yield Refusal((*at, "resources"), Reason.VALUE, message)


def _conditions(spec: Mapping[str, Any]) -> Iterator[Refusal]:
    found = list(numbered(spec, "matchConditions"))
    if len(found) > _MOST_CONDITIONS:
        message = f"the policy has {len(found)} matchConditions, but it can have at most {_MOST_CONDITIONS}; remove entries"
        yield Refusal(("spec", "matchConditions"), Reason.LENGTH, message)
    seen: set[str] = set()
    for i, condition in found:
        at: Path = ("spec", "matchConditions", i)
        yield from _expression(condition, "expression", at)
        name = condition.get("name")
        if not name:
            yield _missing(at, "name")
        elif isinstance(name, str) and key_fault(name):
            message = f"name {quoted(name)} is refused, because it must be like a label key; {_rest(key_fault(name))}"
            yield Refusal((*at, "name"), Reason.NAME, message)
        elif isinstance(name, str):
            if name in seen:
                yield _repeated(at, name)
            seen.add(name)


def _variable(variable: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    name = variable.get("name")
    if isinstance(name, str) and name and (not _IDENTIFIER.fullmatch(name) or name in _RESERVED):
        message = f"name {quoted(name)} cannot be a variable of CEL; write letters, digits and _, not beginning with a digit"
        yield Refusal((*at, "name"), Reason.NAME, message)
    elif not name:
        yield _missing(at, "name")
    yield from _expression(variable, "expression", at)


def _validation(validation: Mapping[str, Any], at: Path) -> Iterator[Refusal]:
    yield from _expression(validation, "expression", at)
    for field in ("message", "messageExpression"):
        text = validation.get(field)
        if isinstance(text, str) and text and not text.strip():
            yield Refusal(
                (*at, field), Reason.FORMAT, f"{field} is blank; write a text or remove it"
            )
    message = validation.get("message")
    if isinstance(message, str) and _BREAK.search(message.strip()):
        fault = "message has line breaks, which is refused; write it in one line"
        yield Refusal((*at, "message"), Reason.FORMAT, fault)
    yield from _word(validation, "reason", _REASONS, at)


def _audit_annotations(spec: Mapping[str, Any], policy_name: Any) -> Iterator[Refusal]:
    found, seen = list(numbered(spec, "auditAnnotations")), set()
    if len(found) > _MOST_ANNOTATIONS:
        message = f"the policy has {len(found)} auditAnnotations, but it can have at most {_MOST_ANNOTATIONS}; remove entries"
        yield Refusal(("spec", "auditAnnotations"), Reason.LENGTH, message)
    for i, annotation in found:
        at: Path = ("spec", "auditAnnotations", i)
        key = annotation.get("key") or ""
        if isinstance(key, str) and isinstance(policy_name, str) and policy_name:
            if key_fault(f"{policy_name}/{key}"):
                message = f'key {quoted(key)} is refused; write at most 63 letters, digits, "-", "_" and "."'
                yield Refusal((*at, "key"), Reason.NAME, message)
            elif key in seen:
                yield _repeated((*at, "key"), key)
            seen.add(key)
        yield from _expression(annotation, "valueExpression", at)


def _param_ref(ref: Mapping[str, Any]) -> Iterator[Refusal]:
    at: Path = ("spec", "paramRef")
    name, selector = ref.get("name"), ref.get("selector")
    if isinstance(name, str) and _no_path_segment(name):
        message = (
            f"name {quoted(name)} cannot be the name of an object; write the name of the parameters"
        )
        yield Refusal((*at, "name"), Reason.NAME, message)
    if isinstance(selector, dict):
        yield from label_selector(selector, (*at, "selector"))
    if bool(name) == (selector is not None):
        message = (
            "paramRef has both name and selector, which is refused; remove one of them"
            if name
            else "paramRef has no name and no selector; write one of them"
        )
        yield Refusal(at, Reason.VALUE if name else Reason.MISSING_FIELD, message)
    if not ref.get("parameterNotFoundAction"):
        yield _missing(at, "parameterNotFoundAction")
    yield from _word(ref, "parameterNotFoundAction", _ACTIONS, at)


def _actions(actions: Any) -> Iterator[Refusal]:
    if not isinstance(actions, list | None):
        return  # the check of the schema reports it
    if not actions:
        yield _missing(("spec",), "validationActions")
        return
    for i, action in enumerate(actions):
        if not action:
            yield _empty(("spec", "validationActions", i), "validationActions")
        elif isinstance(action, str) and action in actions[:i]:
            yield _repeated(("spec", "validationActions", i), action)
    if "Deny" in actions and "Warn" in actions:
        message = "validationActions has Deny and Warn, which is refused, because a denial has its own message; remove one of them"
        yield Refusal(("spec", "validationActions"), Reason.VALUE, message)


def _expression(holder: Mapping[str, Any], field: str, at: Path) -> Iterator[Refusal]:
    text = holder.get(field)
    if text is None or (isinstance(text, str) and not text.strip()):
        yield _missing(at, field)


def _word(
    holder: Mapping[str, Any], field: str, words: Sequence[str], at: Path
) -> Iterator[Refusal]:
    """The refusal of a string that is none of these words, also if it is empty."""
    text = holder.get(field)
    if isinstance(text, str) and text not in words:
        message = f"{field} {quoted(text)} is refused; {suggest(text, words)}"
        yield Refusal((*at, field), Reason.VALUE, message)


def _no_path_segment(name: str) -> bool:
    """Source: k8s.io/apimachinery pkg/api/validation/path."""
    return name in (".", "..") or "/" in name or "%" in name


def _missing(at: Path, field: str) -> Refusal:
    return Refusal(
        at, Reason.MISSING_FIELD, f"{field} is missing or empty, which is refused; write {field}"
    )


def _empty(at: Path, field: str) -> Refusal:
    return Refusal(at, Reason.VALUE, f"an entry of {field} is empty, which is refused; remove it")


def _repeated(at: Path, entry: str) -> Refusal:
    return Refusal(
        at,
        Reason.DUPLICATE_ENTRY,
        f"{quoted(entry)} is listed twice, which is refused; remove one of the two entries",
    )


def _rest(fault: str | None) -> str:
    return (fault or "").partition("; ")[2]
