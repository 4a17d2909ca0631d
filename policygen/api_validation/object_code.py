"""What the code of servers and webhooks refuses in single objects, beyond schemas and metadata.

Sources: pkg/apis/core/validation/validation.go, pkg/apis/batch/validation/validation.go of
Kubernetes 1.36.3, and k8s.io/pod-security-admission `policy` and `admission`; the decoders of
Volcano's webhooks, which read durations as Go does. No webhook reads a JobTemplate.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from ipaddress import IPv6Network, ip_network
from typing import Any

from policygen.api_validation import admission_code, schemas, selectors
from policygen.api_validation.fields import mapping, numbered
from policygen.api_validation.metadata import finalizer_fault, is_namespace, is_subdomain
from policygen.api_validation.refusal import Reason, Refusal
from policygen.core import durations, quantity
from policygen.core.finding import Path
from policygen.core.label_grammar import ENDS, config_key_fault, key_fault, value_fault
from policygen.core.names import CRON_JOB_NAME
from policygen.core.quoting import listed, quoted
from policygen.core.standard_resources import whole

CONFIG_MAP_BYTES = 1 << 20
"""The most bytes of all values of a ConfigMap together, and of its keys beside them."""

_AVOIDED = "scheduler.alpha.kubernetes.io/preferAvoidPods"
_POD_SECURITY = "pod-security.kubernetes.io/"
_LEVELS = ("privileged", "baseline", "restricted")
_VERSION = re.compile(r"latest|v1\.(0|[1-9][0-9]*)")


Check = Callable[[Mapping[str, Any]], Iterator[Refusal]]


def check(thing: Mapping[str, Any], served: schemas.ServedKind, out: list[Refusal]) -> None:
    """Append the refusals of an object of this kind; skips fields of a wrong type."""
    found = of_kind(served)
    if found is None:
        return
    refused = list(found(thing))
    paths = {it.path for it in refused}
    out[:] = [it for it in out if it.reason is not Reason.SERVER_SIDE_APPLY or it.path not in paths]
    # One finding for one place, and no missing field in a mapping that has it under a misspelled name.
    reported = {it.path for it in out}
    misspelt = {it.path[:-1] for it in out if it.meant}
    out += [
        it
        for it in refused
        if it.path not in reported
        and (it.reason is not Reason.MISSING_FIELD or it.path not in misspelt)
    ]


def of_kind(served: schemas.ServedKind) -> Check | None:
    """The function that yields the refusals of an object of this kind, if there is any."""
    return _CHECKS.get((served.api_version, served.kind))


def _config_map(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    size = 0
    texts, coded = mapping(thing, "data"), mapping(thing, "binaryData")
    for field, entries in (("data", texts), ("binaryData", coded)):
        for key, value in entries.items():
            if fault := config_key_fault(key):
                yield Refusal((field, key), Reason.FORMAT, fault, key=True)
            if isinstance(value, str):
                size += len(value.encode()) if field == "data" else _decoded_length(value)
    for key in texts.keys() & coded.keys():
        message = f"key {quoted(key)} is in data and in binaryData; remove one of the two entries"
        yield Refusal(("binaryData", key), Reason.FORMAT, message, key=True)
    if size > CONFIG_MAP_BYTES:
        message = (
            f"the values have {size} bytes in total, but a ConfigMap can have at most "
            f"{CONFIG_MAP_BYTES} (1 MiB); remove entries"
        )
        yield Refusal((), Reason.LENGTH, message)


def _decoded_length(text: str) -> int:
    text = text.replace("\n", "").replace("\r", "")
    return len(text) // 4 * 3 - text[-2:].count("=")


def _namespace(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    for key, value in mapping(thing, "metadata", "labels").items():
        mode, dash, rest = key.removeprefix(_POD_SECURITY).partition("-")
        if not key.startswith(_POD_SECURITY) or mode not in ("enforce", "audit", "warn"):
            continue
        text, path = value or "", ("metadata", "labels", key)
        if not dash and text not in _LEVELS:
            message = f"{key} is {quoted(text)}, which is refused; write {listed(list(_LEVELS))}"
            yield Refusal(path, Reason.LABEL, message)
        elif rest == "version" and not _VERSION.fullmatch(text):
            message = f"{key} is {quoted(text)}, which is refused; write latest, or a version such as v1.36"
            yield Refusal(path, Reason.LABEL, message)
    finalizers = mapping(thing, "spec").get("finalizers")
    for i, name in enumerate(finalizers if isinstance(finalizers, list) else ()):
        if isinstance(name, str | None) and (fault := finalizer_fault(name or "", builtin=True)):
            yield Refusal(("spec", "finalizers", i), Reason.FORMAT, fault)


def _node(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    status = mapping(thing, "status")
    for field in ("capacity", "allocatable"):
        for name, text in mapping(status, field).items():
            try:
                amount = quantity.read(0 if text is None else text).value
            except ValueError:
                continue  # the check of the schema, or `malformed-object`, reports it
            path: Path = ("status", field, name)
            if amount < 0:
                message = f"{name} is {text}, which is refused; write 0 or more"
                yield Refusal(path, Reason.RANGE, message)
            elif amount.denominator != 1 and whole(name) and not key_fault(f"requests.{name}"):
                message = f"{name} is {text}, which is refused; write a whole number"
                yield Refusal(path, Reason.RANGE, message)

    spec = mapping(thing, "spec")
    yield from _taints(spec)
    yield from _addresses(spec)
    if fault := _avoided_pods(mapping(thing, "metadata", "annotations").get(_AVOIDED)):
        yield Refusal(("metadata", "annotations", _AVOIDED), Reason.ANNOTATION, fault)


def _taints(spec: Mapping[str, Any]) -> Iterator[Refusal]:
    """The check of the schema reports a taint without a key or an effect.

    Source: pkg/apis/core/validation/validation.go, validateNodeTaints.
    """
    seen = set()
    for i, taint in numbered(spec, "taints"):
        path: Path = ("spec", "taints", i)
        key, value, effect = (taint.get(field) or "" for field in ("key", "value", "effect"))
        if not (isinstance(key, str) and isinstance(value, str) and isinstance(effect, str)):
            continue  # the check of the schema reports it
        if "key" in taint and (fault := key_fault(key)):
            message = f"the key of a taint is invalid, because {fault}"
            yield Refusal((*path, "key"), Reason.LABEL, message)
        if fault := value_fault(value):
            message = f"the value of taint {quoted(key)} is invalid, because {fault}"
            yield Refusal((*path, "value"), Reason.LABEL, message)
        if not effect and "effect" in taint:
            message = (
                f"taint {quoted(key)} has no effect, which is refused; write effect: NoSchedule"
            )
            yield Refusal((*path, "effect"), Reason.FORMAT, message)
        elif effect and (key, effect) in seen:
            message = f"two taints have key {quoted(key)} and effect {effect}, which is refused; remove one of them"
            yield Refusal(path, Reason.DUPLICATE_ENTRY, message)
        seen.add((key, effect))


def _addresses(spec: Mapping[str, Any]) -> Iterator[Refusal]:
    """The ranges of podCIDRs, of which podCIDR replaces the first. Source: pkg/apis/core/v1/conversion.go, ValidateNode."""
    first, ranges = spec.get("podCIDR"), spec.get("podCIDRs")
    texts = ranges if isinstance(ranges, list) else []
    path: Path = ("spec", "podCIDRs")
    if isinstance(first, str) and first and (not texts or texts[0] != first):
        texts, path = [first], ("spec", "podCIDR")
    versions = []
    for text in texts:
        if not isinstance(text, str):
            return  # the check of the schema reports it
        try:
            network = ip_network(text)
        except ValueError:
            network = None
        mapped = isinstance(network, IPv6Network) and network.network_address.ipv4_mapped
        if network is None or "/" not in text or mapped:
            message = f"{quoted(text)} is not a valid range of addresses; write a range such as 10.0.0.0/24"
            yield Refusal(path, Reason.FORMAT, message)
            return
        versions.append(network.version)
    if len(versions) > len({*versions}):
        message = "podCIDRs has two ranges of one IP family, which is refused; write at most one for IPv4 and one for IPv6"
        yield Refusal(path, Reason.LENGTH, message)


def _avoided_pods(text: Any) -> str:
    """The fault of an annotation that the server decodes: JSON of AvoidPods."""
    if not isinstance(text, str) or not text:
        return ""
    try:
        found = json.loads(text)
    except ValueError:
        found = text
    pods = found.get("preferAvoidPods") if isinstance(found, dict) else None
    signed = isinstance(pods, list | None) and all(
        isinstance(it, dict) and it.get("podSignature") for it in pods or ()
    )
    if isinstance(found, dict | None) and signed:
        return ""
    return f"{_AVOIDED} is not valid JSON of AvoidPods, which is refused; remove this annotation"


def _cron_job(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    spec = mapping(thing, "spec")
    yield from _time_zone(spec)
    job = mapping(spec, "jobTemplate", "spec")
    if job.get("selector") is not None:
        message = "selector in a jobTemplate is refused, because each Job gets its own selector; remove selector"
        yield Refusal(("spec", "jobTemplate", "spec", "selector"), Reason.FORMAT, message)


def _volcano_cron_job(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """Its Jobs get names with eleven characters more."""
    spec, name = mapping(thing, "spec"), mapping(thing, "metadata").get("name")
    if isinstance(name, str) and len(name) > CRON_JOB_NAME:
        message = f"the name has {len(name)} characters, but the name of a CronJob can have at most {CRON_JOB_NAME}; shorten the name"
        yield Refusal(("metadata", "name"), Reason.NAME, message)
    yield from _time_zone(spec)
    yield from _durations(mapping(spec, "jobTemplate", "spec"), ("spec", "jobTemplate", "spec"))


_ZONE_PART = re.compile(r"[A-Za-z._0-9+][-A-Za-z._0-9+]{0,13}")
_AREAS = frozenset(
    (
        "Africa", "America", "Antarctica", "Arctic", "Asia", "Atlantic", "Australia", "Brazil", "Canada", "Chile",
        "Etc", "Europe", "Indian", "Mexico", "Mideast", "Pacific", "SystemV", "US", "posix", "right",
    )
)  # fmt: skip
"""The first parts of all names with "/" in the IANA database, and of those in the folder of a system."""
_SINGLE = frozenset(
    (
        "CET", "CST6CDT", "Cuba", "EET", "EST", "EST5EDT", "Egypt", "Eire", "Factory", "GB", "GB-Eire", "GMT", "GMT+0",
        "GMT-0", "GMT0", "Greenwich", "HST", "Hongkong", "Iceland", "Iran", "Israel", "Jamaica", "Japan", "Kwajalein",
        "Libya", "MET", "MST", "MST7MDT", "NZ", "NZ-CHAT", "Navajo", "PRC", "PST8PDT", "Poland", "Portugal", "ROC",
        "ROK", "Singapore", "Turkey", "UCT", "UTC", "Universal", "W-SU", "WET", "Zulu", "localtime", "posixrules",
    )
)  # fmt: skip
"""All names without "/"."""


def _time_zone(spec: Mapping[str, Any]) -> Iterator[Refusal]:
    """Skips which zones exist in an area, because the server's database decides that."""
    zone = spec.get("timeZone")
    if not isinstance(zone, str):
        return
    parts = zone.split("/")
    if (
        zone.lower() == "local"
        or {".", ".."} & {*parts}
        or not all(map(_ZONE_PART.fullmatch, parts))
        or (parts[0] not in _AREAS if len(parts) > 1 else zone not in _SINGLE)
    ):
        message = f"timeZone {quoted(zone)} is refused; write the name of a time zone, such as Europe/Berlin"
        yield Refusal(("spec", "timeZone"), Reason.FORMAT, message)


_LONGEST_POD_NAME = 63
"""Of the name of a Job of Volcano, and of its pods, which the webhook checks like a label key."""


def _volcano_job(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """Source: pkg/webhooks/admission/jobs/validate/admit_job.go of Volcano 1.14.1."""
    spec = mapping(thing, "spec")
    yield from _durations(spec, ("spec",))
    job = mapping(thing, "metadata").get("name")
    if not isinstance(job, str):
        return
    if len(job) > _LONGEST_POD_NAME:
        message = f"the name has {len(job)} characters, but Volcano accepts at most {_LONGEST_POD_NAME}; shorten the name"
        yield Refusal(("metadata", "name"), Reason.NAME, message)
        return
    for i, task in numbered(spec, "tasks"):
        name = task.get("name")
        pod = f"{job}-{name or f'default{i}'}-{i}"
        if isinstance(name, str | None) and len(pod) > _LONGEST_POD_NAME:
            message = (
                f"the pods of task {i} get the name {pod}, which has more than {_LONGEST_POD_NAME} "
                "characters; shorten the name of the Job or of the task"
            )
            yield Refusal(("metadata", "name"), Reason.NAME, message)
            return


def _pod(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """Source: plugin/pkg/admission/runtimeclass/admission.go, which runs for pods only."""
    spec = mapping(thing, "spec")
    if isinstance(spec.get("overhead"), dict) and not spec.get("runtimeClassName"):
        message = (
            "overhead without a RuntimeClass is refused; remove overhead, or write runtimeClassName"
        )
        yield Refusal(("spec", "overhead"), Reason.FORMAT, message)


def _resource_quota(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """To the schema, an empty scope is a missing one. Source: validateResourceQuotaScopes."""
    scopes = mapping(thing, "spec").get("scopes")
    for i, scope in enumerate(scopes if isinstance(scopes, list) else ()):
        if scope in ("", None):
            message = f"scopes[{i}] is empty, which is refused; remove this entry"
            yield Refusal(("spec", "scopes", i), Reason.FORMAT, message)


def _stateful_set(thing: Mapping[str, Any]) -> Iterator[Refusal]:
    """The name, from which pods get their host name, and the claims.

    Source: pkg/apis/apps/validation, ValidateStatefulSet; validatePersistentVolumeClaimSpec.
    """
    name = mapping(thing, "metadata").get("name")
    if isinstance(name, str) and is_subdomain(name) and not is_namespace(name):
        message = f'the name {quoted(name)} is refused for a StatefulSet; write at most 63 lower-case letters, digits and "-", {ENDS}'
        yield Refusal(("metadata", "name"), Reason.NAME, message)
    for i, claim in numbered(thing, "spec", "volumeClaimTemplates"):
        path: Path = ("spec", "volumeClaimTemplates", i, "spec")
        spec = mapping(claim, "spec")
        if spec.get("accessModes") in (None, []):
            message = f"volumeClaimTemplates[{i}] has no accessModes, which is refused; write accessModes, such as [ReadWriteOnce]"
            yield Refusal(path, Reason.MISSING_FIELD, message)
        resources = mapping(spec, "resources")
        requests = mapping(resources, "requests")
        parts = spec.get("resources"), resources.get("requests")
        if not all(isinstance(it, dict | None) for it in parts):
            continue  # wrong-type reports it
        if "storage" not in requests:
            message = f"volumeClaimTemplates[{i}] requests no storage, which is refused; write resources.requests.storage"
            yield Refusal(path, Reason.MISSING_FIELD, message)
            continue
        text = requests["storage"]
        try:
            amount = quantity.read(0 if text is None else text).value
        except ValueError:
            continue  # the check of the schema reports it
        if amount <= 0:
            message = f"volumeClaimTemplates[{i}] requests {text} of storage, which is refused; write more than 0"
            yield Refusal((*path, "resources", "requests", "storage"), Reason.RANGE, message)


def _durations(spec: Mapping[str, Any], path: Path) -> Iterator[Refusal]:
    found = [((*path, "runningEstimate"), spec.get("runningEstimate"))]
    holders = [(path, spec), *((((*path, "tasks", i)), it) for i, it in numbered(spec, "tasks"))]
    for holder_path, holder in holders:
        for i, policy in numbered(holder, "policies"):
            found.append(((*holder_path, "policies", i, "timeout"), policy.get("timeout")))
    for at, text in found:
        if isinstance(text, str) and durations.seconds(text) is None:
            message = f"{at[-1]} {quoted(text)} is not a duration; write a duration such as 30m"
            yield Refusal(at, Reason.FORMAT, message)


_ADMISSION = "admissionregistration.k8s.io/v1"
_CHECKS: Mapping[tuple[str, str], Check] = {
    ("v1", "ConfigMap"): _config_map,
    ("v1", "Namespace"): _namespace,
    ("v1", "Node"): _node,
    ("v1", "Pod"): _pod,
    ("v1", "ResourceQuota"): _resource_quota,
    ("batch/v1", "CronJob"): _cron_job,
    ("batch.volcano.sh/v1alpha1", "CronJob"): _volcano_cron_job,
    ("batch.volcano.sh/v1alpha1", "Job"): _volcano_job,
    ("apps/v1", "StatefulSet"): _stateful_set,
    ("policy/v1", "PodDisruptionBudget"): selectors.disruption_budget,
    (_ADMISSION, "ValidatingAdmissionPolicy"): admission_code.validating_policy,
    (_ADMISSION, "ValidatingAdmissionPolicyBinding"): admission_code.validating_binding,
    (_ADMISSION, "MutatingAdmissionPolicy"): admission_code.mutating_policy,
    (_ADMISSION, "MutatingAdmissionPolicyBinding"): admission_code.mutating_binding,
}
