"""Among many objects, each has the same findings as alone."""

from datetime import date

import pytest

from policygen.app import lint
from policygen.lint.core.server_refusals import MANY

QUEUE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  queueingStrategy: {strategy}
  namespaceSelector: {{}}
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - name: a
      resources:
      - name: cpu
        nominalQuota: {cpu}
      - name: {resource}
        nominalQuota: 1Gi
"""
GOOD = {"strategy": "StrictFIFO", "cpu": "4", "resource": "memory"}


def findings(tmp_path, objects):
    file = tmp_path / "in.yaml"
    file.write_text("".join(QUEUE.format(**{**GOOD, **it}) for it in objects), "utf-8")
    settings = lint.LintRequest(manifests=(str(file),), partial=True)
    report = lint.lint(settings, today=date(2026, 11, 21))
    return [(it.object, it.rule.name, it.message, it.path, it.place.text) for it in report.findings]


@pytest.mark.parametrize(
    "fault, rule",
    [
        ({"strategy": "StrictFifo"}, "unsupported-value"),
        ({"strategy": "8"}, "wrong-type"),
        ({"cpu": '"4 cores"'}, "invalid-value"),
        ({"cpu": "-4"}, "quota-negative"),
        ({"cpu": '"4000m"'}, "quota-not-canonical"),
        ({"cpu": "9000000"}, "quota-unlimited"),
        ({"resource": "cpu"}, "duplicate-entry"),
    ],
)
def test_a_fault_among_many(tmp_path, fault, rule):
    alone = findings(tmp_path, [{"name": "bad", **fault}])
    assert rule in [found[1] for found in alone]
    good = [{"name": f"q{n}"} for n in range(2 * MANY)]
    assert findings(tmp_path, good) == []
    assert findings(tmp_path, [*good, {"name": "bad", **fault}]) == alone
    assert len(findings(tmp_path, [{**it, **fault} for it in good])) == len(good) * len(alone)
