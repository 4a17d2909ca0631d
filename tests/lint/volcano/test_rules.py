"""Edge cases of the rules for Volcano that their pages cannot show."""

from datetime import date

import pytest

from policygen.app import lint as app_lint

QUEUE = "{{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {{name: {}}}, spec: {}}}\n---\n"
JOB = """\
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  tasks:
  - {name: worker, dependsOn: {name: [worke]}}
"""


@pytest.mark.parametrize(
    "rule, text, advice",
    [
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: team}"), "known: root"),
        ("queue-not-below-root", QUEUE.format("team-a", "{parent: rot}"), 'did you mean "root"?'),
        (
            "queue-not-below-root",
            QUEUE.format("team-a", "{parent: team}") + QUEUE.format("teams", "{}"),
            'did you mean "teams"?',
        ),
        ("job-dependency-refused", JOB, "no other task is defined"),
    ],
)
def test_no_object_is_suggested_as_its_own_parent(tmp_path, rule, text, advice):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    request = app_lint.LintRequest(manifests=(str(file),), only=(rule,))
    (finding,) = app_lint.lint(request, today=date(2026, 11, 21)).findings
    assert finding.message.endswith(advice)
