"""The values of Kueue's Configuration about its servers that its manager refuses: metrics, TLS, webhooks.

Source: pkg/config/validation.go and pkg/util/tlsconfig of Kueue 0.19.2; crypto/tls of Go 1.26.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from ipaddress import ip_address
from typing import Any

from policygen.core.finding import Fault, Path
from policygen.core.label_grammar import DNS_LABEL, SUBDOMAIN, key_fault
from policygen.core.quoting import quoted, shown
from policygen.kubernetes.untyped import entries, mapping, numbered, texts

_SERVICE = re.compile(rf"(?=.{{1,63}}$)(?=[a-z]){DNS_LABEL}")
_SECRET = re.compile(rf"(?=.{{1,253}}$){SUBDOMAIN}")
_LABEL_NAME = re.compile("[a-zA-Z][a-zA-Z0-9_]*")
_LABELS_OF_KIND = {"Workload": 2, "LocalQueue": 6, "ClusterQueue": 6, "Cohort": 6}
"""The source kinds of custom labels, and how many labels each can have."""
_MOST_VALUES = {"Workload": 12}
_CURVES = (23, 24, 25, 29, 4587, 4588, 4589)
"""The curves of Go 1.26; earlier releases do not have 4587 and 4589."""
_CIPHERS = frozenset(
    {
        *("TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384", "TLS_CHACHA20_POLY1305_SHA256"),
        *(
            f"TLS_ECDHE_{key}_WITH_{cipher}"
            for key in ("ECDSA", "RSA")
            for cipher in (
                "AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_GCM_SHA256", "AES_256_GCM_SHA384", "CHACHA20_POLY1305",
                "CHACHA20_POLY1305_SHA256", "RC4_128_SHA", "AES_128_CBC_SHA256",
            )
        ),
        "TLS_ECDHE_RSA_WITH_3DES_EDE_CBC_SHA",
        *(
            f"TLS_RSA_WITH_{cipher}"
            for cipher in (
                "RC4_128_SHA", "3DES_EDE_CBC_SHA", "AES_128_CBC_SHA", "AES_256_CBC_SHA", "AES_128_CBC_SHA256",
                "AES_128_GCM_SHA256", "AES_256_GCM_SHA384",
            )
        ),
    }
)  # fmt: skip


def faults(data: Mapping[str, Any]) -> Iterator[Fault]:
    """Every invalid value of the sections tls, visibilityServer, internalCertManagement and metrics."""
    yield from _tls(mapping(data, "tls"))
    yield from _visibility(mapping(data, "visibilityServer"))
    yield from _certificates(mapping(data, "internalCertManagement"))
    yield from _custom_labels(mapping(data, "metrics"))


def _tls(tls: Mapping[str, Any]) -> Iterator[Fault]:
    version, ciphers = tls.get("minVersion"), texts(tls.get("cipherSuites"))
    if version == "VersionTLS13" and ciphers:
        yield (
            ("tls", "cipherSuites"),
            "cipherSuites cannot be combined with minVersion VersionTLS13; remove cipherSuites",
        )
    for i, cipher in enumerate(ciphers):
        if cipher not in _CIPHERS:
            fault = f"cipher suite {quoted(cipher)} does not exist; write a name such as TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"
            yield ("tls", "cipherSuites", i), fault
    curves = entries(tls, "curvePreferences")
    for i, curve in enumerate(curves):
        if curve is None or (isinstance(curve, int) and not 0 < curve < 65536):
            fault = f"{shown(curve)} is not the number of a curve; write a number from 1 to 65535, such as 29"
            yield ("tls", "curvePreferences", i), fault
        elif isinstance(curve, int) and curve not in _CURVES:
            fault = (
                f"Kueue does not know curve {curve}; write one of {', '.join(map(str, _CURVES))}"
            )
            yield ("tls", "curvePreferences", i), fault
        elif curve in curves[:i]:
            fault = f"curve {curve} is listed twice; remove one of the two entries"
            yield ("tls", "curvePreferences", i), fault


def _visibility(server: Mapping[str, Any]) -> Iterator[Fault]:
    port, address = server.get("bindPort"), server.get("bindAddress")
    if isinstance(port, int) and not 0 < port < 65536:
        path: Path = ("visibilityServer", "bindPort")
        yield path, f"{port} is not a valid port; write a port from 1 to 65535"
    if isinstance(address, str) and not _is_address(address):
        path = ("visibilityServer", "bindAddress")
        yield path, f"{quoted(address)} is not an IP address; write an address such as 0.0.0.0"


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return "%" not in text


def _certificates(section: Mapping[str, Any]) -> Iterator[Fault]:
    if section.get("enable") is False:
        return
    kinds = (("webhookServiceName", _SERVICE, "Service"), ("webhookSecretName", _SECRET, "Secret"))
    for field, valid, kind in kinds:
        name = section.get(field)
        if isinstance(name, str) and not valid.fullmatch(name):
            fault = f"{quoted(name)} is not a valid name of a {kind}; write a name such as kueue-webhook"
            yield ("internalCertManagement", field), fault


def _custom_labels(metrics: Mapping[str, Any]) -> Iterator[Fault]:
    root: Path = ("metrics", "customLabels")
    found = list(numbered(metrics, "customLabels"))
    if len(found) > 20:
        yield (
            root,
            f"customLabels has {len(found)} entries, but Kueue accepts at most 20; remove some of them",
        )
    names: set[Any] = set()
    for i, label in found:
        name = label.get("name") or ""
        if not isinstance(name, str):
            continue
        if name in names:
            yield (*root, i, "name"), f"two customLabels have the name {name}; remove one of them"
        names.add(name)
        yield from (((*root, i, *path), fault) for path, fault in _custom_label(name, label))
    kinds = Counter(
        label.get("sourceKind") or "ClusterQueue"
        for _, label in found
        if isinstance(label.get("sourceKind"), str | None)
    )
    for kind, most in _LABELS_OF_KIND.items():
        if kinds[kind] > most:
            yield (
                root,
                f"{kinds[kind]} customLabels have sourceKind {kind}, but Kueue accepts at most {most}; remove some of them",
            )


def _custom_label(name: str, label: Mapping[str, Any]) -> Iterator[Fault]:
    if not _LABEL_NAME.fullmatch(name):
        fault = f"{quoted(name)} is not a valid label name of metrics; write letters, digits and _, beginning with a letter"
        yield ("name",), fault
    keys = [field for field in ("sourceLabelKey", "sourceAnnotationKey") if label.get(field)]
    if len(keys) > 1:
        yield (
            (keys[1],),
            "sourceAnnotationKey cannot be combined with sourceLabelKey; remove one of them",
        )
    for field in keys[:1] or ["name"]:
        key = label.get(field)
        invalid = key_fault(key) if isinstance(key, str) and key else None
        if invalid and _LABEL_NAME.fullmatch(name):
            yield (field,), invalid
    kind, values = label.get("sourceKind"), texts(label.get("trackedValues"))
    if isinstance(kind, str) and kind not in _LABELS_OF_KIND:
        yield (
            ("sourceKind",),
            f"sourceKind {quoted(kind)} is unknown; write {', '.join(_LABELS_OF_KIND)}",
        )
    if kind == "Workload" and not values:
        yield (
            ("trackedValues",),
            "trackedValues is not set; list the values that Kueue counts, because sourceKind is Workload",
        )
    most = _MOST_VALUES.get(str(kind), 16)
    if len(values) > most:
        yield (
            ("trackedValues",),
            f"trackedValues has {len(values)} entries, but Kueue accepts at most {most}; remove some of them",
        )
    if len(set(values)) < len(values):
        yield ("trackedValues",), "trackedValues has equal entries; remove one of them"
