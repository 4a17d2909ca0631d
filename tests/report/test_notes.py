"""Notes about a spec are short, and print the fields that pods need as YAML."""

import pytest
import yaml

from policygen.core.finding import Finding, Place
from policygen.plan.pods import (
    ANNOTATIONS,
    LABELS,
    NODE_SELECTOR,
    TOLERATIONS,
    VCJOB_SPEC,
    PodField,
    PodFields,
)
from policygen.plan.rules import (
    ASSUMPTION,
    MODEL_PLACED,
    PACKING_MARGIN,
    PODS_MUST_CARRY,
    POOL_UNTAINTED,
)
from policygen.report.notes import grouped, pod_fields
from policygen.spec.types import Taint


def notes(rule, count):
    return [
        Finding(rule, f"message {number}", Place("a.yaml", number + 1)) for number in range(count)
    ]


def pods(*fields, model="m", namespace="n", units=1):
    gpu = "nvidia.com/gpu"
    return PodFields(model, namespace, gpu, units, ((gpu, str(units)),), fields)


def read(lines):
    """The fields of each block, by the text of its comments."""
    found, head = {}, ""
    for line in list(lines)[1:]:
        if line.startswith("#"):
            head += line
        else:
            found.setdefault(head, []).append(line)
            continue
    return {head: yaml.safe_load("\n".join(body)) for head, body in found.items()}


def test_a_single_note_is_as_it_was():
    (note,) = notes(ASSUMPTION, 1)
    assert list(grouped([note])) == [note]


def test_notes_of_one_rule_are_a_group_with_the_first_ones():
    lines = list(grouped(notes(ASSUMPTION, 5)))
    assert lines == [
        f"info: {ASSUMPTION.summary} (5 times) [assumption]",
        "  a.yaml:1: message 0",
        "  a.yaml:2: message 1",
        "  and 3 more; --all shows them",
    ]


def test_two_notes_of_one_rule_are_both_shown():
    lines = list(grouped(notes(POOL_UNTAINTED, 2)))
    assert len(lines) == 3
    assert "more" not in lines[-1]


def test_each_model_has_one_line_with_its_pool():
    lines = list(grouped(notes(MODEL_PLACED, 10)))
    assert lines[1:] == [f"  message {number}" for number in range(10)]
    lines = list(grouped(notes(MODEL_PLACED, 25)))
    assert lines[-2:] == ["  message 19", "  and 5 more; --all shows them"]


def test_notes_without_action_are_counted_and_those_about_pods_left_to_their_block():
    lines = list(grouped([*notes(PACKING_MARGIN, 3), *notes(PODS_MUST_CARRY, 2)]))
    assert lines == ["3 more notes need no action; --all shows them"]


def test_no_models_need_no_fields():
    assert list(pod_fields([])) == []


def test_models_with_equal_fields_share_a_block():
    label = PodField(LABELS, "queue", "a")
    other = PodField(LABELS, "queue", "b")
    lines = list(pod_fields([pods(label), pods(other, model="x"), pods(label, model="y", units=2)]))
    assert lines[1:] == [
        "# model m in namespace n, nvidia.com/gpu: 1",
        "# model y in namespace n, nvidia.com/gpu: 2",
        "  # set these labels on the Job, Deployment or other workload:",
        "  labels: {queue: a}",
        "# model x in namespace n, nvidia.com/gpu: 1",
        "  # set these labels on the Job, Deployment or other workload:",
        "  labels: {queue: b}",
    ]


def test_entries_of_a_mapping_are_together_and_a_comment_is_kept():
    lines = list(
        pod_fields(
            [
                pods(
                    PodField(LABELS, "a", "1g"),
                    PodField("", "schedulerName", "volcano"),
                    PodField(LABELS, "b", "x"),
                    PodField(ANNOTATIONS, "group", "m-0", "to m-3"),
                    PodField(VCJOB_SPEC, "minAvailable", 4),
                )
            ]
        )
    )
    assert lines[2:] == [
        "  # set these labels on the Job, Deployment or other workload:",
        "  labels: {a: 1g, b: x}",
        "  schedulerName: volcano",
        "  annotations: {group: m-0}  # to m-3",
        "  vcjob spec: {minAvailable: 4}",
    ]


@pytest.mark.parametrize(
    "value", ["8", "true", "yes", "1e3", "0x1f", "1_000", "", "null", "1.5", "a:b"]
)
def test_text_stays_text(value):
    fields = read(pod_fields([pods(PodField(NODE_SELECTOR, "pool", value))]))
    assert list(fields.values()) == [{"nodeSelector": {"pool": value}}]


def test_a_toleration_is_of_exactly_the_taint():
    taints = [Taint("a", "NoSchedule", "x"), Taint("b", "NoExecute")]
    fields = read(pod_fields([pods(*(PodField(TOLERATIONS, it.key, it) for it in taints))]))
    assert list(fields.values()) == [
        {
            "tolerations": [
                {"key": "a", "value": "x", "effect": "NoSchedule"},
                {"key": "b", "operator": "Exists", "effect": "NoExecute"},
            ]
        }
    ]
