"""The roles of the Pods of a group: Pods with equal specs are one pod set, named by a hash.

Kueue's hash is of JSON as Go writes it. The hash is equal for Pods without affinity, topology spread
constraints and resource claims, and with quantities in their usual format; else only its name differs.
Source: pkg/util/pod/pod.go of Kueue 0.19.2, GenerateRoleHash.
"""

import json
from collections.abc import Iterable, Mapping
from fractions import Fraction
from hashlib import sha256
from typing import Any

from policygen.core.quantity import Format, Quantity, canonical, parse
from policygen.kubernetes.untyped import entries, mapping, mappings
from policygen.kubernetes.workloads import Container, PodSpec

_TOLERATION = ("key", "operator", "value", "effect", "tolerationSeconds")
_PORT = ("name", "hostPort", "containerPort", "protocol", "hostIP")
"""The fields in Go's order."""
_NOT_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")
_SECONDS = 300
_LENGTH = 8


def role(raw: Mapping[str, Any], spec: PodSpec, priority: int) -> str:
    """The name of the pod set of a Pod. `raw` is the spec as written, `spec` with its defaults."""
    shape = {
        "affinity": raw.get("affinity"),
        "containers": _containers(raw, "containers", spec.containers),
        "initContainers": _containers(raw, "initContainers", spec.init_containers),
        "nodeSelector": dict(sorted(spec.node_selector.items())) or None,
        "overhead": _quantities(mapping(raw, "overhead"), spec.overhead),
        "priority": priority,
        "resourceClaims": entries(raw, "resourceClaims") or None,
        "runtimeClassName": spec.runtime_class_name or None,
        "tolerations": list(_tolerations(raw)),
        "topologySpreadConstraints": entries(raw, "topologySpreadConstraints") or None,
    }
    own = spec.pod_level()
    if own:
        found = {"resources": _quantities(mapping(raw, "resources", "requests"), own), **shape}
        shape = dict(sorted(found.items()))
    text = json.dumps({"spec": shape}, separators=(",", ":"))
    return sha256(text.encode()).hexdigest()[:_LENGTH]


def _containers(
    raw: Mapping[str, Any], field: str, containers: Iterable[Container]
) -> list[dict[str, Any]] | None:
    written = mappings(raw, field)
    found = []
    for it, container in zip(written, containers, strict=False):
        ports = [_ordered({"protocol": "TCP", **port}, _PORT) for port in mappings(it, "ports")]
        amounts = {**mapping(it, "resources", "limits"), **mapping(it, "resources", "requests")}
        requests = _quantities(amounts, container.resources.requests)
        found.append({"ports": ports or None, "resources": {"requests": requests}})
    return found or None


def _quantities(raw: Mapping[str, Any], amounts: Mapping[str, Fraction]) -> dict[str, str] | None:
    """Amounts in the format in which they are written; defaults in the usual format."""
    found = {}
    for name, amount in sorted(amounts.items()):
        usual = Format.BINARY_SI if name == "memory" else Format.DECIMAL_SI
        found[name] = canonical(Quantity(amount, _format(raw.get(name), usual)))
    return found or None


def _format(written: Any, usual: Format) -> Format:
    try:
        return usual if written is None else parse(written).format
    except ValueError:  # the API server refuses the Pod
        return usual


def _tolerations(raw: Mapping[str, Any]) -> Iterable[dict[str, Any]]:
    """The tolerations with those that the API server adds (DefaultTolerationSeconds)."""
    written = mappings(raw, "tolerations")
    yield from (_ordered(it, _TOLERATION) for it in written)
    for key in _NOT_READY:
        if not any(
            it.get("key", key) in (key, "") and it.get("effect") in (None, "", "NoExecute")
            for it in written
        ):
            yield {
                "key": key,
                "operator": "Exists",
                "effect": "NoExecute",
                "tolerationSeconds": _SECONDS,
            }


def _ordered(data: Mapping[str, Any], keys: Iterable[str]) -> dict[str, Any]:
    return {key: data[key] for key in keys if data.get(key) not in (None, "")}
