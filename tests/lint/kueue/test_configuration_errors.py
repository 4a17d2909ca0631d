"""Values of Kueue's Configuration with which its manager does not start."""

import pytest
import yaml

from policygen.core.finding import dotted
from policygen.lint.kueue.configuration_errors import faults


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("waitForPodsReady: {timeout: 5}", "waitForPodsReady.timeout", "is not a duration"),
        ("waitForPodsReady: {timeout: -5m}", "waitForPodsReady.timeout", "is negative"),
        ("waitForPodsReady: {timeout: }", "waitForPodsReady.timeout", "is empty"),
        ("leaderElection: {retryPeriod: }", "leaderElection.retryPeriod", "is empty"),
        ("controller: {groupKindConcurrency: {Job.batch: 9223372036854775808}}", 'controller.groupKindConcurrency["Job.batch"]', "is not an integer"),
        ("resources: {deviceClassMappings: [null]}", "resources.deviceClassMappings[0].name", "label key"),
        ("multiKueue: {clusterProfile: {accessProviders: [null]}}", "multiKueue.clusterProfile.accessProviders[0].name", "write name"),
        ("managedJobsNamespaceSelector: {matchLabels: {a b: null}}", 'managedJobsNamespaceSelector.matchLabels["a b"]', "is not a valid label key"),
        ("waitForPodsReady: {requeuingStrategy: {timestamp: Now}}", "waitForPodsReady.requeuingStrategy.timestamp", "write Eviction or Creation"),
        ("waitForPodsReady: {blockAdmission: 'true'}", "waitForPodsReady.blockAdmission", "without quotes"),
        ("waitForPodsReady: {requeuingStrategy: {backoffLimitCount: 2147483648}}", "waitForPodsReady.requeuingStrategy.backoffLimitCount", "32 bits"),
        ("objectRetentionPolicies: []", "objectRetentionPolicies", "is not a mapping"),
        ("resources: {transformations: {input: a}}", "resources.transformations", "is not a list"),
        ("resources: {deviceClassMappings: [{name: a b, deviceClassNames: [c]}]}", "resources.deviceClassMappings[0].name", "is not a valid label key"),
        ("resources: {quotaCheckStrategy: blockUndeclared}", "resources.quotaCheckStrategy", "write BlockUndeclared or"),
        ("integrations: {frameworks: [batch/job, null]}", "integrations.frameworks[1]", "remove the entry"),
        ("integrations: {externalFrameworks: [Foo.v1]}", "integrations.externalFrameworks[0]", "Kind.version.group"),
        ("multiKueue: {clusterProfile: {accessProviders: [{name: a, execConfig: {command: b, interactiveMode: Never}}]}}", "multiKueue.clusterProfile.accessProviders[0].execConfig.apiVersion", "write apiVersion"),
        ("integrations: {frameworks: [pod], externalFrameworks: [Pod.v1.]}", "integrations.externalFrameworks[0]", "remove this entry"),
        ("integrations: {frameworks: [deployment], externalFrameworks: [Deployment.v1.apps]}", "integrations.externalFrameworks[0]", "remove this entry"),
        ("multiKueue: {externalFrameworks: [{name: Job.v1.batch}]}", "multiKueue.externalFrameworks[0]", "remove this entry"),
        ("namespace: a b", "namespace", "is not a valid label value"),
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
tls: {minVersion: VersionTLS12, cipherSuites: [TLS_AES_128_GCM_SHA256]}
managedJobsNamespaceSelector: {matchLabels: {a: b}}
resources: {transformations: [{input: a/b, strategy: "", outputs: {c/d: null}}]}
integrations: {frameworks: [batch/job], externalFrameworks: [Pod.v1.]}
"""
    assert list(faults(yaml.safe_load(text))) == []


def test_v1beta1_waits_for_pods_only_if_it_is_enabled():
    text = "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {enable: %s, timeout: -5m}"
    assert list(faults(yaml.safe_load(text % "false"))) == []
    assert len(list(faults(yaml.safe_load(text % "true")))) == 1


def test_an_empty_timeout_is_none_in_v1beta1():
    text = "apiVersion: config.kueue.x-k8s.io/v1beta1\nwaitForPodsReady: {enable: true, timeout: }"
    assert list(faults(yaml.safe_load(text))) == []


def test_a_gate_that_is_off_switches_its_checks_off():
    text = "featureGates: {QuotaCheckStrategy: false}\nresources: {quotaCheckStrategy: a}"
    assert list(faults(yaml.safe_load(text))) == []
