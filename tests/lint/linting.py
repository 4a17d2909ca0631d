"""Manifests and settings for tests of severities and waivers."""

from datetime import date

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest

TODAY = date(2026, 11, 21)
RULE = "local-queue-without-cluster-queue"

PLATFORM = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata:
  name: a
spec:
  lint:
"""

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: {name}
  namespace: b
spec:
  clusterQueue: gone
"""


def platform(settings):
    return PLATFORM + "".join(f"    {line}\n" for line in settings.splitlines())


def queues(*names):
    return "---\n".join(QUEUE.format(name=name) for name in names)


def found_in(folder, text):
    """The findings in manifests."""
    file = folder / "all.yaml"
    file.write_text(text, "utf-8")
    return app_lint.lint(LintRequest(manifests=(str(file),)), today=TODAY).findings


def findings(folder, text):
    """The rule and message of each finding in manifests."""
    return [(it.rule.name, it.message) for it in found_in(folder, text)]


def rules(report):
    return [finding.rule.name for finding in report.findings]


TWICE = "object-declared-twice"
FORMER = ["identity-twice", "duplicate-identity"]
"""The name of a rule about objects, and of a refusal of specs."""
