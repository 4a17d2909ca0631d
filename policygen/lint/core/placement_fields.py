"""Refused combinations in the fields of a pod that place it: spread, affinity, gates and host ports.

Source: pkg/apis/core/validation/validation.go of Kubernetes 1.36.3, ValidatePodSpec.
"""

from collections.abc import Iterator

from policygen.api_validation.metadata import is_namespace
from policygen.core.finding import FaultAt
from policygen.core.label_grammar import key_fault
from policygen.core.quoting import quoted
from policygen.kubernetes.cluster import VOLCANO_BATCH
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.pod_terms import PREFERRED
from policygen.kubernetes.untyped import keyed_texts, mappings, numbered, texts
from policygen.lint.core.pod_templates import Part, PodPart, named

FIELDS = ("topologySpreadConstraints", "affinity", "schedulingGates", "ports")
_KEYS = ("matchLabelKeys", "mismatchLabelKeys")


def of_pod(spec: PodPart) -> Iterator[FaultAt]:
    """Refused combinations in a pod."""
    fields = spec.data.keys()
    if "topologySpreadConstraints" in fields:
        yield from _spread(spec)
    if "affinity" in fields:
        yield from _affinity(spec)
    if "schedulingGates" in fields:
        yield from _gates(spec)
    if any("ports" in it.data for it in spec.containers):
        yield from _ports(spec)


def _spread(spec: PodPart) -> Iterator[FaultAt]:
    seen = set()
    for constraint in spec.items("topologySpreadConstraints"):
        key, action = (constraint.data.get(it) for it in ("topologyKey", "whenUnsatisfiable"))
        if not isinstance(key, str) or not isinstance(action, str):
            continue
        if (key, action) in seen:
            yield (
                constraint.at,
                f"{spec.owner} has two topologySpreadConstraints with topologyKey {quoted(key)} and {action}, which is refused; keep one of them",
            )
        seen.add((key, action))
        if constraint.data.get("minDomains") is not None and action == "ScheduleAnyway":
            yield (
                constraint.at / "minDomains",
                f"{spec.owner} has minDomains with whenUnsatisfiable ScheduleAnyway, which is refused; remove minDomains, or write DoNotSchedule",
            )
        yield from _label_keys(spec, constraint)


def _affinity(spec: PodPart) -> Iterator[FaultAt]:
    affinity = spec.under("affinity")
    for kind in ("podAffinity", "podAntiAffinity"):
        terms = affinity.under(kind)
        required = terms.items(REQUIRED)
        preferred = [it.under("podAffinityTerm") for it in terms.items(PREFERRED)]
        # The recorded answers of a server check the keys of preferred anti-affinity.
        checked = preferred if kind == "podAntiAffinity" else ()
        for term in (*required, *preferred):
            if term not in checked:
                yield from _invalid_keys(term)
            yield from _label_keys(spec, term)
            namespaces = term.data.get("namespaces")
            for index, name in enumerate(namespaces if isinstance(namespaces, list) else ()):
                if isinstance(name, str) and not is_namespace(name):
                    yield (
                        term.at.to("namespaces", index),
                        f"{spec.owner} has {kind} to pods of namespace {quoted(name)}, which is not a valid name; write the name of a namespace",
                    )


def _invalid_keys(term: Part) -> Iterator[FaultAt]:
    for name in _KEYS:
        keys = term.data.get(name)
        for index, key in enumerate(keys if isinstance(keys, list) else ()):
            if isinstance(key, str) and (fault := key_fault(key)):
                yield term.at.to(name, index), f"{term.owner}: {fault}"


def _label_keys(spec: PodPart, term: Part) -> Iterator[FaultAt]:
    """Keys whose values are those of the pod. The server adds them to the selector of a Pod."""
    match, mismatch = (texts(term.data.get(key)) for key in _KEYS)
    if not match and not mismatch:
        return
    if term.data.get("labelSelector") is None:
        key = _KEYS[0] if match else _KEYS[1]
        yield (
            term.at / key,
            f"{spec.owner} has {key} without labelSelector, which is refused; write labelSelector",
        )
        return
    both = [it for it in match if it in mismatch]
    selector = term.under("labelSelector")
    labels = keyed_texts(spec.owner.object.data, "metadata", "labels")
    added = [it for it in match if it in labels] if spec.owner.kind == "Pod" else []
    seen = set(selector.under("matchLabels").data)
    stated = texts([it.get("key") for it in mappings(selector.data, "matchExpressions")])
    if "whenUnsatisfiable" in term.data and spec.owner.object.group == VOLCANO_BATCH:
        # Volcano 1.14 runs code of Kubernetes 1.34, which refuses each key of the selector in a spread.
        both += [it for it in match if it in seen or it in stated]
    for key in (*stated, *added):
        if key in match and key in seen and key not in both:
            both.append(key)
        seen.add(key)
    for key in dict.fromkeys(both):
        yield (
            term.at / _KEYS[0],
            f"{spec.owner} has {quoted(key)} in matchLabelKeys and in another field of the same term, which is refused; remove one of them",
        )


def _gates(spec: PodPart) -> Iterator[FaultAt]:
    seen = set()
    for gate in spec.items("schedulingGates"):
        name = gate.data.get("name")
        if not isinstance(name, str):
            continue
        if fault := key_fault(name):
            yield gate.at / "name", f"{spec.owner}: {fault}"
        if name in seen:
            yield (
                gate.at / "name",
                f"{spec.owner} has the scheduling gate {quoted(name)} twice, which is refused; remove one of them",
            )
        seen.add(name)


def _ports(spec: PodPart) -> Iterator[FaultAt]:
    """Ports of nodes. Those of init containers and of others cannot conflict."""
    on_host = spec.data.get("hostNetwork") is True
    is_pod = spec.owner.kind == "Pod"
    seen: set[tuple[str | int, ...]] = set()
    for container in spec.containers:
        first = str(container.steps[0])
        for index, port in numbered(container.data, "ports"):
            inside, outside = port.get("containerPort"), port.get("hostPort") or 0
            if on_host and not outside and is_pod:
                outside = inside
            if not outside or not isinstance(outside, int):
                continue
            at = container.at.to("ports", index, "hostPort")
            if on_host and outside != inside and first == "containers":
                yield (
                    at,
                    f"{named(container)} has hostNetwork: true, but hostPort {outside} differs from containerPort {inside}, which is refused; write hostPort: {inside}, or remove hostPort",
                )
            used = first, str(port.get("protocol") or "TCP"), str(port.get("hostIP") or ""), outside
            if used in seen:
                yield (
                    at,
                    f"{named(container)} uses port {outside} of its node, which its pod uses already, so the API server refuses it; write another port",
                )
            seen.add(used)
