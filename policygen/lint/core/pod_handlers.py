"""Refused combinations in the probes, hooks and restart rules of containers.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, validateHandler, validateProbe,
validateLifecycle and validateInitContainers.
"""

import re
from collections.abc import Iterator

from policygen.core.finding import FaultAt
from policygen.core.quoting import listed, quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.untyped import integer
from policygen.lint.core.pod_templates import Part, PodPart, named

_PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
FIELDS = (*_PROBES, "lifecycle", "restartPolicyRules")
_CHECKED = frozenset(FIELDS)
_HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
_ACTIONS, _OPERATORS = ("Restart", "RestartAllContainers"), ("In", "NotIn")
_HEADER = re.compile(r"[-A-Za-z0-9]+")
_GRACE_S = 30
"""The default of terminationGracePeriodSeconds."""


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused combinations in the probes, hooks and restart rules of a pod."""
    for container in spec.containers:
        if not _CHECKED.isdisjoint(container.data):
            yield from _container(spec, container)


def _container(spec: PodPart, container: Part) -> Iterator[FaultAt]:
    if container.data.get("restartPolicyRules") and spec.owner.object.group != VOLCANO_BATCH:
        yield from _restarts(container)  # the code in Volcano does not know this field
    fields = [it for it in (*_PROBES, "lifecycle") if container.data.get(it) is not None]
    if container.steps[0] == "initContainers" and container.data.get("restartPolicy") != "Always":
        for field in fields:
            yield (
                container.at / field,
                f"{named(container)} is an init container with {field}, which is refused; write restartPolicy: Always, or remove {field}",
            )
        return
    for field in fields:
        if field in _PROBES:
            yield from _handler(spec, container, container.under(field), field)
    if "readinessProbe" in fields:
        yield from _probe(container.under("readinessProbe"), container)
    if "lifecycle" in fields:
        yield from _lifecycle(spec, container)


def _restarts(container: Part) -> Iterator[FaultAt]:
    """Source: validateContainerRestartPolicy."""
    if container.data.get("restartPolicy") is None:
        yield (
            container.at / "restartPolicyRules",
            f"{named(container)} has restartPolicyRules without restartPolicy, which is refused; write restartPolicy: Never",
        )
    for rule in container.items("restartPolicyRules"):
        action, operator = rule.data.get("action"), rule.under("exitCodes").data.get("operator")
        if isinstance(action, str) and action not in _ACTIONS:
            yield (
                rule.at / "action",
                f"{named(container)} has a restart rule with action {quoted(action)}, which is refused; write {listed(list(_ACTIONS))}",
            )
        if rule.data.get("exitCodes") is None:
            yield (
                rule.at,
                f"{named(container)} has a restart rule without exitCodes, which is refused; write exitCodes",
            )
        elif isinstance(operator, str) and operator not in _OPERATORS:
            yield (
                rule.at.to("exitCodes", "operator"),
                f"{named(container)} has a restart rule with operator {quoted(operator)}, which is refused; write {listed(list(_OPERATORS))}",
            )


def _probe(readiness: Part, container: Part) -> Iterator[FaultAt]:
    name = "terminationGracePeriodSeconds"
    if integer(readiness.data.get(name)) is not None:
        yield (
            readiness.at / name,
            f"{named(container)} has a readinessProbe with {name}, which is refused; remove {name}",
        )


def _lifecycle(spec: PodPart, container: Part) -> Iterator[FaultAt]:
    lifecycle = container.under("lifecycle")
    for hook in ("postStart", "preStop"):
        yield from _handler(spec, container, lifecycle.under(hook), hook)
    on_volcano = spec.owner.object.group == VOLCANO_BATCH  # API servers drop the field
    if on_volcano and isinstance(lifecycle.data.get("stopSignal"), str) and not spec.data.get("os"):
        yield (
            lifecycle.at / "stopSignal",
            f"{named(container)} has a stopSignal, which is refused, because its pod has no os; write os.name: linux, or remove stopSignal",
        )


def _handler(spec: PodPart, container: Part, part: Part, field: str) -> Iterator[FaultAt]:
    used = [it for it in _HANDLERS if part.data.get(it) is not None]
    if len(used) > 1:
        yield (
            part.at / used[1],
            f"{named(container)} has {field} with {listed(used, 'and')}, which is refused; keep one of them",
        )
        return
    for kind in used:
        key = "command" if kind == "exec" else "port"
        # The schema of Volcano's Job requires ports, that of built-in kinds does not.
        required = key == "port" and spec.owner.object.group == VOLCANO_BATCH
        handler = part.data[kind]
        if kind == "sleep" or required or not isinstance(handler, dict):
            continue
        if handler.get(key) is None:
            yield (
                part.at / kind,
                f"{named(container)} has {field} with {kind} without {key}, which is refused; write {key}",
            )
    if "httpGet" in used:
        for index, header in enumerate(part.under("httpGet").items("httpHeaders")):
            name = header.data.get("name")
            if isinstance(name, str) and not _HEADER.fullmatch(name):
                yield (
                    part.at.to("httpGet", "httpHeaders", index),
                    f'{named(container)} has {field} with a header named {quoted(name)}, which is refused; write letters, digits and "-"',
                )
    if "sleep" in used:
        yield from _sleep(spec, container, part, field)


def _sleep(spec: PodPart, container: Part, part: Part, field: str) -> Iterator[FaultAt]:
    grace = integer(spec.data.get("terminationGracePeriodSeconds"))
    grace = _GRACE_S if grace is None else max(grace, 1)
    seconds = integer(part.under("sleep").data.get("seconds"))
    least = 1 if spec.owner.object.group == VOLCANO_BATCH else 0
    if seconds is not None and not least <= seconds <= grace:
        yield (
            part.at.to("sleep", "seconds"),
            f"{named(container)} has {field} with a sleep of {seconds} seconds, which is refused; write {least} to {grace}, or raise terminationGracePeriodSeconds",
        )
