"""An object that is in the input twice is one finding, and counts once in sums."""

from datetime import date

import pytest

from policygen.app import lint
from policygen.app.requests import LintRequest, parse_targets
from tests.examples_of_rules import examples

TODAY = date(2026, 11, 21)


@pytest.mark.parametrize("name", ["children-exceed-parent", "kueue-annotation-refused"])
def test_sums_count_an_object_once(name, tmp_path):
    for example in examples(name, good=True):
        words = dict(word.split("=") for word in example.options if "=" in word)
        file = tmp_path / "twice.yaml"
        file.write_text(f"{example.text}\n---\n{example.text}", "utf-8")
        partial = "partial" in example.options
        request = LintRequest(manifests=(str(file),), target=parse_targets(words), partial=partial)
        found = {it.rule.name for it in lint.lint(request, today=TODAY).findings}
        assert found <= {"object-declared-twice"}


QUEUES = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: a}
spec: {reclaimable: true, capability: {cpu: "8"}, deserved: {cpu: "8", nvidia.com/gpu: "8"}}
"""


@pytest.mark.parametrize(
    ("release", "skip", "rule"),
    [
        ("1.14.1", (), "capability-incomplete"),
        ("1.14.1", ("capability-incomplete",), "capability-without-gpu"),
        ("1.14.2", (), "capability-without-gpu"),
        ("1.15", (), "capability-without-gpu"),
    ],
)
def test_a_resource_that_a_capability_lacks_is_one_finding(tmp_path, release, skip, rule):
    file = tmp_path / "queue.yaml"
    file.write_text(QUEUES, "utf-8")
    target = parse_targets({"volcano": release})
    request = LintRequest(manifests=(str(file),), target=target, skip=skip)
    found = [it.rule.name for it in lint.lint(request, today=TODAY).findings]
    assert [name for name in found if name.startswith("capability-")] == [rule]
