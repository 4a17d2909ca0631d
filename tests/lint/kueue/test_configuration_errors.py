"""Values of Kueue's Configuration with which its manager does not start."""

import pytest
import yaml

from policygen.core.finding import dotted
from policygen.lint.kueue.configuration_errors import faults


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("waitForPodsReady: {timeout: 5}", "waitForPodsReady.timeout", "is not a valid duration"),
        ("waitForPodsReady: {timeout: -5m}", "waitForPodsReady.timeout", "is negative"),
        ("waitForPodsReady: {requeuingStrategy: {timestamp: Now}}", "waitForPodsReady.requeuingStrategy.timestamp", "write Eviction or Creation"),
        ("waitForPodsReady: {blockAdmission: 'true'}", "waitForPodsReady.blockAdmission", "without quotes"),
        ("tls: {minVersion: VersionTLS13, cipherSuites: [a]}", "tls.cipherSuites", "remove cipherSuites"),
        ("multiKueue: {origin: a b}", "multiKueue.origin", "is not a valid label value"),
        ("admissionFairSharing: {resourceWeights: {cpu: -1}}", "admissionFairSharing.resourceWeights.cpu", "write 0 or more"),
        ("managedJobsNamespaceSelector: {matchLabels: {a b: c}}", 'managedJobsNamespaceSelector.matchLabels["a b"]', "is not a valid label key"),
    ],
)  # fmt: skip
def test_what_the_manager_refuses(text, path, words):
    found = {dotted(at): message for at, message in faults(yaml.safe_load(text))}
    assert words in found[path]


def test_what_it_takes():
    text = """
waitForPodsReady: {timeout: 5m, requeuingStrategy: {timestamp: Creation}}
tls: {minVersion: VersionTLS12, cipherSuites: [a]}
managedJobsNamespaceSelector: {matchLabels: {a: b}}
integrations: {frameworks: [batch/job]}
"""
    assert list(faults(yaml.safe_load(text))) == []
