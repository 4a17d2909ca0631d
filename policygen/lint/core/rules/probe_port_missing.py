"""A probe or hook names a port that its container does not have, so it never succeeds."""

from itertools import chain

from policygen.core.quoting import quoted
from policygen.core.suggest import Names
from policygen.kubernetes.untyped import mapping, text
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.pod_templates import (
    PORTS_AS_WRITTEN,
    Part,
    named,
    pod_specs,
    pods_of_operators,
)
from policygen.lint.rule import Facts, Family, Hit, Hits, ObjectRule, Severity, written

_EFFECTS = {
    "startupProbe": "so its pods never become ready",
    "readinessProbe": "so its pods never become ready",
    "livenessProbe": "so the probe has no effect",
    "postStart": "so the container is killed each time it starts",
    "preStop": "so the hook does not run",
}
_FIELDS = frozenset({"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"})


def check(facts: Facts) -> Hits:
    """A name that consists of digits is a number.

    Source: pkg/probe/util.go, ResolveContainerPort, and pkg/kubelet/lifecycle/handlers.go, resolvePort, of
    Kubernetes 1.36.3; pkg/kubelet/prober/worker.go, doProbe, ignores probes with errors.
    """
    for spec in chain(pod_specs(facts.cluster), pods_of_operators(facts.cluster)):
        if spec.owner.object.group not in PORTS_AS_WRITTEN:
            continue
        for container in spec.containers:
            if not _FIELDS.isdisjoint(container.data):
                yield from _of_container(container)


def _of_container(container: Part) -> Hits:
    for field, effect in _EFFECTS.items():
        steps = (field,) if field.endswith("Probe") else ("lifecycle", field)
        if steps[0] not in container.data:
            continue
        handler = mapping(container.data, *steps)
        for kind in ("httpGet", "tcpSocket"):
            port = text(handler, kind, "port")
            if not port or port.isdecimal():
                continue
            names = Names(text(it.data, "name") for it in container.items("ports", having="name"))
            if port in names:
                continue
            at = container.at.to(*steps, kind, "port")
            advice = names.advice(port) or "write the number of the port"
            yield Hit(
                RULE,
                f"{named(container)} has {field} with port {quoted(port)}, but no port of this name, {effect}; {advice}",
                at,
                meant=written(at, names.meant(port) or (names[0] if len(names) == 1 else "")),
            )


RULE = ObjectRule(
    "probe-port-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the name of a port of the container, or a number.",
    judges=KINDS,
    check=check,
)
