"""Numbers with thousands of digits, which Python refuses to convert, in texts that servers read as numbers."""

import json
from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest

LONG = "9" * 5000
LABELS = {"app": "a"}
POD = {"containers": [{"name": "a", "image": "a"}]}


def made(kind, version, spec, **metadata):
    return {
        "apiVersion": version,
        "kind": kind,
        "metadata": {"name": "a", "namespace": "a", **metadata},
        "spec": spec,
    }


def deployment(**spec):
    template = {"metadata": {"labels": LABELS}, "spec": POD}
    selector = {"matchLabels": LABELS}
    return made("Deployment", "apps/v1", {"selector": selector, "template": template, **spec})


def indexed():
    spec = {
        "template": {"spec": {**POD, "restartPolicy": "Never"}},
        "completionMode": "Indexed",
        "completions": 2,
        "successPolicy": {"rules": [{"succeededIndexes": LONG}]},
    }
    return made("Job", "batch/v1", spec)


def budget(amount):
    spec = {"selector": {"matchLabels": LABELS}, "minAvailable": amount}
    return made("PodDisruptionBudget", "policy/v1", spec)


GANG = {"annotations": {"scheduling.volcano.sh/group-min-member": LONG}}


@pytest.mark.parametrize(
    "documents",
    [
        [budget(f"{LONG}%"), deployment()],
        [deployment(strategy={"rollingUpdate": {"maxUnavailable": f"{LONG}%"}})],
        [deployment() | {"metadata": {"name": "a", "namespace": "a", **GANG}}],
        [indexed()],
        [made("JobSet", f"jobset.x-k8s.io/v{LONG}", {"replicatedJobs": []})],
    ],
    ids=["budget", "rollout", "gang", "indexes", "version"],
)
def test_lint_reads_numbers_of_thousands_of_digits(tmp_path, documents):
    file = tmp_path / "a.json"
    file.write_text(json.dumps({"apiVersion": "v1", "kind": "List", "items": documents}))
    assert lint.lint(LintRequest(manifests=(str(file),)), today=date(2026, 11, 28)).rules
