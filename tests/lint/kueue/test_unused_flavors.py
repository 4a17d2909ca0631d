"""Flavors and limits without any quota behind them, in the sets of `batch_manifests`."""

import pytest

from policygen.core.rule import Severity
from tests.lint.linting import found_in
from tests.lint.test_batch_manifests import KUEUE, MANIFESTS

GPUS = "nvidia.com/gpu, nominalQuota: "
TWO = "topology.yaml"
"""A set whose queues have two flavors."""
ALONE = (("  cohortName: all\n", ""), ("reclaimWithinCohort: Any, ", ""))
ZERO = (("192}", "0}"), ("2000Gi}", "0}"))
NO_GPUS = (("pods: 110, nvidia.com/gpu: 8}", "pods: 110}"),)
AUTOMATED = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: MultiKueueConfig
metadata: {name: workers}
spec: {quotaManagement: Automated, clusters: [a]}
"""
MISSING = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: vision}
spec: {clusterQueue: gone}
"""


def changed(file, *quotas, edits=()):
    """A set in which the GPUs of each flavor of each queue, in order, have other quotas."""
    text = (MANIFESTS / file).read_text("utf-8")
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    made, *parts = text.split(f"{GPUS}8}}")
    for i, part in enumerate(parts):
        quota = quotas[i] if i < len(quotas) and quotas[i] is not None else 8
        made += f"{GPUS}{quota}}}{part}"
    return made


def of_rule(found, name):
    return [it for it in found if it.rule.name == name]


@pytest.mark.parametrize(
    ("text", "severities"),
    [
        (changed(TWO, "0, borrowingLimit: 0"), [Severity.WARNING]),
        (changed(TWO, "0, borrowingLimit: 0", None, 16), [Severity.INFO]),
        (changed(TWO, 0), []),  # it borrows
        (changed(TWO, "0, borrowingLimit: 1"), []),
        (changed(TWO, "1, borrowingLimit: 0"), []),
        (changed(TWO, "0, borrowingLimit: 0", edits=NO_GPUS), []),
        (changed(KUEUE, "0, borrowingLimit: 0"), [Severity.WARNING]),
        (changed(TWO, "0, borrowingLimit: 0") + AUTOMATED, []),
        (changed(TWO, "0, borrowingLimit: 0") + MISSING, []),
    ],
)
def test_gpus_that_a_queue_never_uses(tmp_path, text, severities):
    found = found_in(tmp_path, text)
    own = of_rule(found, "flavor-never-used")
    assert [it.severity for it in own] == severities, found
    assert not (own and of_rule(found, "quota-of-one-node")), found


@pytest.mark.parametrize(
    ("text", "count"),
    [
        (changed(TWO, None, 0, None, 0, edits=[*ALONE, *ZERO]), 2),
        (changed(TWO, None, 0, None, 8, edits=[*ALONE, *ZERO]), 1),
        (changed(TWO, None, 0, None, 0, edits=ZERO), 2),  # no queue of the cohort has any
        (changed(TWO, None, 0, None, 8, edits=ZERO), 0),
        (changed(KUEUE, 0, 0, edits=[*ALONE, ("96}", "0}"), ("1000Gi}", "0}")]), 0),
    ],
)
def test_flavors_that_a_queue_never_uses(tmp_path, text, count):
    found = found_in(tmp_path, text)
    assert len(of_rule(found, "flavor-never-used")) == count, found


@pytest.mark.parametrize(
    ("text", "remedies"),
    [
        (changed(KUEUE, "8, borrowingLimit: 8"), []),
        (changed(KUEUE, "8, borrowingLimit: 0", "8, lendingLimit: 0"), []),
        (changed(KUEUE, "8, borrowingLimit: 8", "8, lendingLimit: 1"), []),
        (
            changed(KUEUE, "8, borrowingLimit: 8", "8, lendingLimit: 0"),
            ["raise the lendingLimit there"],
        ),
        (
            changed(KUEUE, *["8, borrowingLimit: 8, lendingLimit: 0"] * 2),
            ["raise the lendingLimit there"],
        ),
        (
            changed(KUEUE, "8, borrowingLimit: 8", 0, edits=ALONE[1:]),
            ["give another queue or a Cohort a nominalQuota"],
        ),
        (changed(KUEUE, "8, borrowingLimit: 8", "8, lendingLimit: 0") + AUTOMATED, []),
        (changed(KUEUE, "8, borrowingLimit: 8", "8, lendingLimit: 0") + MISSING, []),
    ],
)
def test_limits_of_what_no_queue_lends(tmp_path, text, remedies):
    own = of_rule(found_in(tmp_path, text), "borrowing-limit-unused")
    assert [it.message.split("; ")[1] for it in own] == [
        f"{it}, or remove borrowingLimit" for it in remedies
    ]


def test_jobs_that_need_what_no_queue_lends_are_not_reported_too(tmp_path):
    text = changed(KUEUE, "0, borrowingLimit: 8", "16, lendingLimit: 0")
    [found] = found_in(tmp_path, text)
    assert found.rule.name == "borrowing-limit-unused"
    assert found.severity is Severity.ERROR
