"""Values about Kueue's own servers with which its manager does not start."""

import pytest
import yaml

from policygen.core.finding import dotted
from policygen.lint.kueue.configuration_servers import faults


def labels(text):
    return f"metrics: {{customLabels: [{text}]}}"


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("tls: {minVersion: VersionTLS13, cipherSuites: [TLS_AES_128_GCM_SHA256]}", "tls.cipherSuites", "remove cipherSuites"),
        ("tls: {cipherSuites: [tls_aes_128_gcm_sha256]}", "tls.cipherSuites[0]", "does not exist"),
        ("tls: {curvePreferences: [0]}", "tls.curvePreferences[0]", "write a number from 1 to 65535"),
        ("tls: {curvePreferences: [1]}", "tls.curvePreferences[0]", "does not know curve 1"),
        ("tls: {curvePreferences: [29, 29]}", "tls.curvePreferences[1]", "is listed twice"),
        ("visibilityServer: {bindPort: 65536}", "visibilityServer.bindPort", "write a port from 1 to 65535"),
        ("visibilityServer: {bindAddress: localhost}", "visibilityServer.bindAddress", "is not an IP address"),
        ("internalCertManagement: {webhookServiceName: 1a}", "internalCertManagement.webhookServiceName", "name of a Service"),
        ("internalCertManagement: {webhookSecretName: a b}", "internalCertManagement.webhookSecretName", "name of a Secret"),
        (labels("{name: 1a}"), "metrics.customLabels[0].name", "is not a valid label name"),
        (labels("{name: a}, {name: a}"), "metrics.customLabels[1].name", "two customLabels have the name a"),
        (labels("{name: a, sourceLabelKey: b, sourceAnnotationKey: c}"), "metrics.customLabels[0].sourceAnnotationKey", "remove one of them"),
        (labels("{name: a, sourceLabelKey: b c}"), "metrics.customLabels[0].sourceLabelKey", "is not a valid label key"),
        (labels("{name: a, sourceKind: Job}"), "metrics.customLabels[0].sourceKind", "is unknown"),
        (labels("{name: a, sourceKind: Workload}"), "metrics.customLabels[0].trackedValues", "is not set"),
        (labels("{name: a, trackedValues: [b, b]}"), "metrics.customLabels[0].trackedValues", "has equal entries"),
        (labels(", ".join(f"{{name: a{it}}}" for it in range(7))), "metrics.customLabels", "accepts at most 6"),
    ],
)  # fmt: skip
def test_what_the_manager_refuses(text, path, words):
    ((at, message),) = faults(yaml.safe_load(text))
    assert dotted(at) == path
    assert words in message


@pytest.mark.parametrize(
    "text",
    [
        "tls: {cipherSuites: [TLS_RSA_WITH_AES_128_CBC_SHA], curvePreferences: [29]}",
        "visibilityServer: {bindPort: 8082, bindAddress: '::'}",
        "internalCertManagement: {enable: false, webhookServiceName: 1a}",
        labels(
            "{name: team, sourceLabelKey: a.b/team, sourceKind: LocalQueue, trackedValues: [b]}"
        ),
    ],
)
def test_what_it_takes(text):
    assert list(faults(yaml.safe_load(text))) == []
