"""A pod has a volume, port, toleration, selector or weight that the API server refuses."""

import re
from collections.abc import Container, Iterator
from typing import Any

from policygen.api_validation.metadata import is_subdomain
from policygen.api_validation.refusal import Reason
from policygen.core.finding import At
from policygen.core.label_grammar import key_fault, value_fault
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.untyped import integer, keyed_texts, mappings, numbered
from policygen.lint.core import (
    pod_priorities,
    pod_selectors,
    pod_templates,
    pod_words,
    volcano_pods,
)
from policygen.lint.core.pod_templates import Part, PodPart, named
from policygen.lint.core.server_refusals import refused, unsure_pods
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_SYSTEMS = ("linux", "windows")
_OLD_ACCOUNT = "serviceAccount"
"""The former name of serviceAccountName, which counts only without it. Source: pkg/apis/core/v1/conversion.go."""
_NAMES = ("nodeName", "priorityClassName", "serviceAccountName", _OLD_ACCOUNT)
"""Fields that name another object."""
_RESIZED = ("cpu", "memory")
_CONTAINER_POLICIES = ("Always", "OnFailure", "Never")
_RESTARTS = ("NotRequired", "RestartContainer")
_LASTING = ("DaemonSet", "Deployment", "ReplicaSet", "StatefulSet")
"""Kinds whose pods must not end."""
_SELECTING = frozenset({"affinity", "topologySpreadConstraints"})
"""Fields with selectors."""
_OF_PODS = frozenset({"activeDeadlineSeconds", "os", *_NAMES})
"""The scalar fields of a pod that are checked, and its system."""
_LAST_PORT = (1 << 16) - 1
_VARIABLE = re.compile(r"[ -<>-~]+")
"""The less strict form that Kubernetes has for names of environment variables."""
_LONGEST_S = (1 << 31) - 1


def check(facts: Facts) -> Hits:
    """Source: pkg/apis/core/validation/validation.go, ValidatePodSpec."""
    found = facts.cluster.derive(refused).found
    unknown = frozenset(it.at for it in found.get(Reason.UNKNOWN_FIELD, ()))
    for spec in unsure_pods(facts.cluster):
        fields = spec.data.keys()
        if not _OF_PODS.isdisjoint(fields):
            yield from _pod(facts, spec)
        if not pod_priorities.COMPUTED.isdisjoint(fields) and spec.owner.kind == "Pod":
            for at, fault in pod_priorities.conflicts(facts.cluster, spec):
                yield Hit(RULE, f"{fault}, which is refused; remove {at.path[-1]}", at)
        elif spec.data.get("preemptionPolicy") == "":
            message = f"{spec.owner} has an empty preemptionPolicy, which is refused; remove preemptionPolicy"
            yield Hit(RULE, message, spec.at / "preemptionPolicy")
        yield from _policies(spec)
        if "volumes" in fields:
            yield from _volumes(spec, unknown)
        if not _SELECTING.isdisjoint(fields):
            yield from (Hit(RULE, message, at) for at, message in pod_selectors.of_pod(spec))
        for container in spec.containers:
            yield from _container(spec, container)


def _pod(facts: Facts, spec: Part) -> Hits:
    system = spec.data.get("os")
    name = system.get("name", "") if isinstance(system, dict) else None
    if isinstance(name, str) and name not in _SYSTEMS:
        message = f"{spec.owner} has os {quoted(name)}, which is refused; write linux or windows"
        yield Hit(RULE, message, spec.at / "os")
    for key in _NAMES:
        name = spec.data.get(key)
        if key == _OLD_ACCOUNT and spec.data.get("serviceAccountName"):
            continue
        if isinstance(name, str) and name and not is_subdomain(name):
            classes = facts.cluster.priority_classes.names()
            near = classes.meant(name) if key == "priorityClassName" else ""
            advice = f'did you mean "{near}"?' if near else "write a valid name"
            message = f"{spec.owner} has {key} {quoted(name)}, which is not valid; {advice}"
            yield Hit(RULE, message, spec.at / key)
    if spec.owner.kind == "Pod" and spec.data.get("nodeName") and spec.data.get("schedulingGates"):
        message = (
            f"{spec.owner} has schedulingGates and nodeName, which is refused; remove nodeName"
        )
        yield Hit(RULE, message, spec.at / "nodeName")
    seconds = integer(spec.data.get("activeDeadlineSeconds"))
    if seconds is None:
        return
    at = spec.at / "activeDeadlineSeconds"
    if spec.owner.kind in _LASTING:
        message = f"{spec.owner} has activeDeadlineSeconds, which is refused, because its pods must not end; remove activeDeadlineSeconds"
        yield Hit(RULE, message, at)
    elif not 1 <= seconds <= _LONGEST_S:
        message = f"{spec.owner} has activeDeadlineSeconds {seconds}, which is refused; write 1 to {_LONGEST_S}"
        yield Hit(RULE, message, at)


def _policies(spec: PodPart) -> Hits:
    if spec.owner.object.group == VOLCANO_BATCH:  # other schemas list the values
        for word in pod_words.unknown_words(spec):
            message = f"{word.text}, which is refused; {word.advice}"
            yield Hit(RULE, message, word.at, meant=written(word.at, word.meant))
        for of_pod in (pod_words.init_policies, volcano_pods.of_pod):
            yield from (Hit(RULE, message, at) for at, message in of_pod(spec))
    for toleration in spec.items("tolerations") if "tolerations" in spec.data else ():
        for fault, step in _toleration(toleration):
            if fault:
                yield Hit(RULE, f"{spec.owner}: {fault}", toleration.at / step)
        timed = toleration.data.get("tolerationSeconds") is not None
        if timed and toleration.data.get("effect") != "NoExecute":
            message = f"{spec.owner} has tolerationSeconds in a toleration without effect NoExecute, which is refused; write effect: NoExecute, or remove tolerationSeconds"
            yield Hit(RULE, message, toleration.at / "tolerationSeconds")


def _toleration(toleration: Part) -> Iterator[tuple[str | None, str]]:
    found = [toleration.data.get(name) for name in ("key", "value", "operator")]
    key, value, operator = ("" if it is None else it for it in found)
    if not all(isinstance(it, str) for it in (key, value, operator)):
        return
    if key:
        yield key_fault(key), "key"
    elif operator != "Exists":
        yield (
            "a toleration without a key needs operator Exists; write operator: Exists, or write the key",
            "operator",
        )
    if operator == "Exists" and value:
        yield (
            "a toleration with operator Exists takes no value; remove the value, or write operator: Equal",
            "value",
        )
    elif operator in ("", "Equal"):
        yield value_fault(value), "value"


def _volumes(spec: Part, unknown: Container[At]) -> Hits:
    claims = mappings(spec.owner.spec, "volumeClaimTemplates")
    claimed = [keyed_texts(it, "metadata").get("name") for it in claims]
    for volume in spec.items("volumes"):
        if volume.data.get("name") in claimed:
            continue  # the claim replaces it
        path = volume.data.get("hostPath")
        if isinstance(path, dict) and not path.get("path"):
            message = f"{spec.owner} has a hostPath volume without hostPath.path, which is refused; write the path"
            yield Hit(RULE, message, volume.at / "hostPath")
        kinds = [key for key, value in volume.data.items() if key != "name" and value is not None]
        if len(kinds) > 1:  # rarely, so the others need no places
            kinds = [it for it in kinds if (volume.at / it).on_key() not in unknown]
        if len(kinds) > 1:
            name = volume.data.get("name")
            which = f"volume {name}" if isinstance(name, str) and name else "a volume"
            yield Hit(
                RULE,
                f"{spec.owner} has {which} with {' and '.join(kinds)}, which is refused; keep one of them",
                volume.at / kinds[1],
            )


def _container(spec: Part, container: Part) -> Hits:
    fields = container.data.keys()
    policy = container.data.get("restartPolicy")
    if isinstance(policy, str) and policy not in _CONTAINER_POLICIES:
        message = f"{named(container)} has restartPolicy {quoted(policy)}, which is refused; write Always, or remove restartPolicy"
        yield Hit(RULE, message, container.at / "restartPolicy")
    if "ports" in fields:
        yield from _ports(container)
    if "env" in fields:
        yield from _variables(container)
    if "resizePolicy" in fields:
        yield from _resizes(spec, container)
    resources = container.data.get("resources")
    claims = isinstance(resources, dict) and "claims" in resources
    for use in container.under("resources").items("claims") if claims else ():
        name = use.data.get("name")
        claimed = [claim.data.get("name") for claim in spec.items("resourceClaims")]
        if isinstance(name, str) and name not in claimed:
            message = f"{named(container)} uses claim {quoted(name)}, which its pod does not list; add the claim to resourceClaims of the pod"
            yield Hit(RULE, message, use.at / "name")


def _resizes(spec: Part, container: Part) -> Hits:
    ends = (
        container.steps[0] == "initContainers" and container.data.get("restartPolicy") != "Always"
    )
    never = ends or spec.data.get("restartPolicy") == "Never"
    restarts = _RESTARTS[:1] if never else _RESTARTS
    seen = set()
    for policy in container.items("resizePolicy"):
        for key, known in (("resourceName", _RESIZED), ("restartPolicy", restarts)):
            value: Any = policy.data.get(key)
            if isinstance(value, str) and value not in known:
                message = f"{named(container)} has a resizePolicy with {key} {quoted(value)}, which is refused; write {' or '.join(known)}"
                yield Hit(RULE, message, policy.at / key)
        name = policy.data.get("resourceName")
        if isinstance(name, str) and name in seen:
            message = f"{named(container)} has two resizePolicy entries for {name}, which is refused; remove one of them"
            yield Hit(RULE, message, policy.at)
        seen.add(name if isinstance(name, str) else None)


def _variables(container: Part) -> Hits:
    for i, variable in numbered(container.data, "env"):
        name = variable.get("name")
        if isinstance(name, str) and not _VARIABLE.fullmatch(name):
            message = f'{named(container)} has an environment variable named {quoted(name)}, which is refused; remove "=" from the name'
            if not name:
                message = f"{named(container)} has an environment variable without a name, which is refused; write its name"
            elif "=" not in name:
                message = f"{named(container)} has an environment variable named {quoted(name)}, which is refused; use only ASCII characters"
            yield Hit(RULE, message, container.at.to("env", i, "name"))


def _ports(container: Part) -> Hits:
    seen: set[str] = set()
    for i, port in numbered(container.data, "ports"):
        for key, first in (("containerPort", 1), ("hostPort", 0)):
            number = port.get(key)
            number = 0 if number is None else number
            if isinstance(number, int) and not first <= number <= _LAST_PORT:
                message = f"{named(container)} has {key} {number}, which is refused; write 1 to {_LAST_PORT}"
                yield Hit(RULE, message, container.at.to("ports", i, key))
        name = port.get("name")
        if not isinstance(name, str) or not name:
            continue
        if name in seen:
            message = f"{named(container)} has two ports with name {name}, which is refused; rename one of them"
            yield Hit(RULE, message, container.at.to("ports", i, "name"))
        seen.add(name)


RULE = ObjectRule(
    "pod-field-refused",
    Severity.ERROR,
    Family.INVALID,
    __doc__,
    remedy="Correct the field that the finding names.",
    judges=pod_templates.KINDS,
    check=check,
    reads=("PriorityClass",),
)
