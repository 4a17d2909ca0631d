"""If lint refuses Kueue's Configuration, the real manager does not start with it."""

from __future__ import annotations

from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest
from tests.servers.bench import Bench, Options
from tests.servers.kueueconf import decode

TODAY = date(2026, 11, 21)
HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
REPLACE = "{input: a/b, strategy: Replace, outputs: {c/d: %s}}"
BAD = [
    "clientConnection: {qps: fast}",
    "clientConnection: {burst: '100'}",
    'internalCertManagement: {enable: "false"}',
    "metrics: {bindAddress: 8080}",
    'metrics: {enableClusterQueueResources: "yes"}',
    "metrics: [a]",
    'controller: {groupKindConcurrency: {Job.batch: "5"}}',
    "controller: {cacheSyncTimeout: 2m}",
    'webhook: {port: "9443"}',
    "pprofBindAddress: 8080",
    "health: {readinessEndpointName: 5}",
    "leaderElection: {leaderElect: 'true'}",
    "leaderElection: {leaseDuration: 15}",
    "tls: {minVersion: VersionTLS14}",
    "multiKueue: {origin: a b}",
    (
        "multiKueue: {incrementalDispatcherConfig: {stepSize: '5'}, dispatcherName: "
        "kueue.x-k8s.io/multikueue-dispatcher-incremental}"
    ),
    "visibilityServer: {bindPort: '8080'}",
    'managedJobsNamespaceSelector: {matchLabels: {"a b": c}}',
    "managedJobsNamespaceSelector: {matchExpressions: [{key: a, operator: in, values: [b]}]}",
    "waitForPodsReady: {blockAdmission: 'true'}",
    "waitForPodsReady: {requeuingStrategy: {backoffLimitCount: '5'}}",
    "waitForPodsReady: {timeout: 5}",
    "waitForPodsReady: {timeout: }",
    "webhook: {port: 9223372036854775808}",
    "tls: {curvePreferences: [1]}",
    "managedJobsNamespaceSelector: {matchLabels: {kubernetes.io/metadata.name: kueue-system}}",
    f"resources: {{transformations: [{REPLACE % 'x'}]}}",
    "admissionFairSharing: {resourceWeights: {cpu: '1'}}",
    "fairSharing: {preemptionStrategies: [LessThanFinalShare]}",
]
GOOD = [
    "clientConnection: {qps: 20.5, burst: 100}",
    "internalCertManagement: {enable: false}",
    "controller: {groupKindConcurrency: {Job.batch: 5}, cacheSyncTimeout: 120000000000}",
    "leaderElection: {leaderElect: true, leaseDuration: 15s}",
    "tls: {minVersion: VersionTLS13}",
    "multiKueue: {origin: east, gcInterval: 1m}",
    "managedJobsNamespaceSelector: {matchLabels: {kueue: 'on'}}",
    "managedJobsNamespaceSelector: {matchLabels: {kueue: }}",
    "tls: {curvePreferences: [29, 4587, 4588]}",
    f"resources: {{transformations: [{REPLACE % '1'}]}}",
    f"resources: {{transformations: [{REPLACE % '10Gi'}]}}",
    "admissionFairSharing: {usageHalfLifeTime: 5m, resourceWeights: {cpu: 0.5}}",
]


def errors(text, folder):
    path = folder / "kueue.yaml"
    path.write_text(HEAD + text, "utf-8")
    report = lint.lint(LintRequest(manifests=(str(path),)), today=TODAY)
    return [it.rule.name for it in report.findings if it.severity.name == "ERROR"]


@pytest.mark.parametrize("text", BAD)
def test_lint_names_one_fault(text, tmp_path):
    assert len(errors(text, tmp_path)) == 1


@pytest.mark.parametrize("text", GOOD)
def test_lint_finds_no_fault(text, tmp_path):
    assert errors(text, tmp_path) == []


@pytest.fixture(scope="module")
def manager(built):
    """Kueue, which reads a file and ends because there is no cluster."""
    bench = Bench(built, Options(parts=frozenset(), volcano_crds=False))
    yield lambda path: decode(bench, built["kueue"], path)[0]
    bench.stop(keep=False)


def refusals(manager, texts, folder):
    found = {}
    for text in texts:
        path = folder / "kueue.yaml"
        path.write_text(HEAD + text, "utf-8")
        found[text] = manager(path)
    return found


def test_kueue_does_not_start_with_what_is_refused(manager, tmp_path):
    found = refusals(manager, BAD, tmp_path)
    assert [text for text, errors in found.items() if not errors] == []


def test_kueue_takes_the_rest(manager, tmp_path):
    found = refusals(manager, GOOD, tmp_path)
    assert {text: errors for text, errors in found.items() if errors} == {}
