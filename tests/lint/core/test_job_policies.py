"""Policies of a Job that API servers refuse; `tests/servers/workload_families.py` asks a server for more."""

import pytest
import yaml

from policygen.lint.core.field_pairs import of_workload
from tests.lint.core.test_field_pairs import of_kind
from tests.objects import workload

CONTAINERS = [{"name": "main", "image": "a"}]
INDEXED = {"completionMode": "Indexed", "completions": 4, "backoffLimitPerIndex": 1}
LARGE = {**INDEXED, "completions": 100_001}


def failing(**codes):
    rule = {"action": "FailJob", "onExitCodes": {"operator": "In", "values": [1], **codes}}
    pods = {"restartPolicy": "Never", "containers": CONTAINERS}
    return {"template": {"spec": pods}, "podFailurePolicy": {"rules": [rule]}}


def succeeding(**rule):
    return {**INDEXED, "successPolicy": {"rules": [rule]}}


def faults(spec):
    return [message for _, message in of_kind("batch/v1", "Job", spec)]


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        (failing(values=[2, 1]), "not in ascending order"),
        (failing(values=[1, 1]), "listed twice"),
        (failing(values=[]), "without exit codes"),
        (failing(values=[*range(1, 257)]), "256 values, which is refused; write at most 255"),
        (failing(containerName="gone"), '"gone", which its pods do not have'),
        (failing() | {"podReplacementPolicy": "TerminatingOrFailed"}, "podReplacementPolicy: Failed"),
        (
            {"podFailurePolicy": {"rules": failing()["podFailurePolicy"]["rules"] * 21}}
            | {"template": failing()["template"]},
            "21 rules, which is refused; write at most 20",
        ),
        (
            {"podFailurePolicy": {"rules": [{"action": "FailIndex", "onPodConditions": [{}]}]}},
            "FailIndex without backoffLimitPerIndex",
        ),
        (
            failing() | {"template": {"spec": {"restartPolicy": "OnFailure", "containers": CONTAINERS}}},
            "write restartPolicy: Never",
        ),
        (succeeding(succeededIndexes="2,1"), "write ascending indexes from 0 to 3"),
        (succeeding(succeededIndexes="0-4"), "from 0 to 3"),
        (succeeding(succeededIndexes="2-2"), "from 0 to 3"),
        (succeeding(succeededIndexes="0-1", succeededCount=3), "succeededCount 3, which is refused; write 0 to 2"),
        (succeeding(succeededCount=5), "write 0 to 4"),
        (LARGE, "no maxFailedIndexes"),
        (LARGE | {"maxFailedIndexes": 10_001}, "of 100001 completions; write at most 10000"),
        (LARGE | {"maxFailedIndexes": 1, "parallelism": 10_001}, "has parallelism 10001"),
        (INDEXED | {"parallelism": 100_001}, "has parallelism 100001"),
        ({"podReplacementPolicy": ""}, "write Failed"),
        (INDEXED | {"template": {"metadata": {"labels": {"job-name": "b"}}}}, "the server sets it"),
        ({"template": {"metadata": {"labels": {"controller-uid": "b"}}}}, "the server sets it"),
    ],
)  # fmt: skip
def test_refused(spec, words):
    (message,) = faults(spec)
    assert words in message
    assert "which is refused" in message or "do not have" in message


@pytest.mark.parametrize(
    "spec",
    [
        failing(),
        failing(values=[1, 2], containerName="main"),
        failing(operator="NotIn", values=[0]),
        failing() | {"podReplacementPolicy": "Failed"},
        succeeding(succeededIndexes="0,2-3", succeededCount=3),
        succeeding(succeededIndexes=""),
        {**INDEXED, "completions": 100_001, "backoffLimitPerIndex": None},
        LARGE | {"maxFailedIndexes": 10_000, "parallelism": 10_000},
        {"completions": 100_001, "parallelism": 100_001},
        {"template": {"metadata": {"labels": {"job-name": "a"}}}},
        {
            "manualSelector": True,
            "selector": {"a": "b"},
            "template": {"metadata": {"labels": {"job-name": "b"}}},
        },
    ],
)
def test_accepted(spec):
    assert faults(spec) == []


@pytest.mark.parametrize(
    ("name", "completions", "refused"),
    [("a" * 61, 10, False), ("a" * 61, 11, True), ("a.b", 1, True), ("a.b", 0, False)],
)
def test_the_hostname_of_an_indexed_pod(name, completions, refused):
    spec = {**INDEXED, "completions": completions}
    data = {"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": name}, "spec": spec}
    found = [message for _, message in of_workload(workload(yaml.safe_dump(data)))]
    assert ["would be the hostname of a pod" in it for it in found] == [True] * refused
