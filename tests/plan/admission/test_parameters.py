"""The ConfigMaps that tell admission policies what pods of a namespace need."""

from pathlib import Path

import pytest

from policygen.documents.files import Source
from policygen.plan.admission.parameters import parameters, rule_of
from policygen.plan.compile import compile_plan
from policygen.plan.decisions import Decisions
from policygen.plan.pods import LABELS, NODE_SELECTOR, TOLERATIONS, VCJOB_SPEC, PodField
from policygen.spec.load import load

EXAMPLES = Path(__file__).parents[3] / "examples"


def decided(example):
    texts = [it.read_text("utf-8") for it in sorted((EXAMPLES / example).glob("*.yaml"))]
    spec = load([Source("spec.yaml", "\n---\n".join(texts), None)], {}).sound
    plan = compile_plan(spec)
    return Decisions(spec, plan.pools, plan.trees, plan.workloads)


def data(example):
    return {it.meta.namespace: it.data for it in parameters(decided(example))}


def test_each_namespace_of_a_team_has_the_queues_and_the_models_of_this_namespace():
    found = data("three-schedulers")
    assert list(found) == ["data", "lab", "product-canary", "product-live"]
    assert found["data"]["kueue.batch-a100"].split("\n") == [
        "queue labels kueue.x-k8s.io/queue-name batch-a100",
        "scheduler spec schedulerName mixed.binpack",
    ]
    assert found["data"]["queues"] == "label kueue.x-k8s.io/queue-name=batch-a100"
    assert "model.assistant" in found["product-live"]
    assert "model.assistant" not in found["data"]


def test_a_model_has_its_fields_in_each_namespace_of_its_team():
    """`policygen workload -n` prints it for each of them."""
    found = data("three-schedulers")
    live, canary = (found[it]["model.assistant"] for it in ("product-live", "product-canary"))
    assert live == canary


def test_a_pool_without_queues_is_known_by_its_nodes():
    lines = data("three-schedulers")["product-live"]["pool.serving-l4"].split("\n")
    assert "nodes nodeSelector pool serving-l4" in lines
    assert "nodes tolerations pool serving-l4:NoSchedule" in lines


def test_taints_are_those_of_pools_of_other_teams():
    found = data("three-schedulers")
    assert found["lab"]["otherTaints"] == "pool=serving-l4:NoSchedule"
    assert "otherTaints" not in data("volcano-training")["robotics"]


def test_a_model_has_the_fields_that_it_always_needs_and_its_queue_in_each_form():
    found = data("volcano-training")
    gang = found["foundation-speech"]["model.speech-encoder"].split("\n")
    assert "queue vcjob.spec queue speech.h100" in gang
    assert "gang vcjob.spec minAvailable 4" in gang
    assert "resources limits nvidia.com/gpu 4" in gang
    robotics = found["robotics"]
    queue = "scheduling.volcano.sh/queue-name robotics.h100"
    assert robotics["model.planner-qlora_pods"] == f"queue annotations {queue}"
    assert robotics["model.planner-qlora_vcjob"].split("\n") == [
        "queue vcjob.spec queue robotics.h100",
        "priority vcjob.spec priorityClassName experiment",
    ]


@pytest.mark.parametrize(
    ("field", "rule"),
    [
        (PodField("", "schedulerName", "a"), "scheduler"),
        (PodField("", "priorityClassName", "a"), "priority"),
        (PodField(LABELS, "kueue.x-k8s.io/queue-name", "a"), "queue"),
        (PodField(VCJOB_SPEC, "minAvailable", 4), "gang"),
        (PodField(NODE_SELECTOR, "queue", "a"), "nodes"),
        (PodField(TOLERATIONS, "schedulerName", "a"), "nodes"),
    ],
)
def test_each_field_has_the_rule_of_its_subject(field, rule):
    assert rule_of(field) == rule
