"""Numbers in fields for text."""

import pytest

from tests.plan.model_specs import a100, model


def text(done):
    return [it.message for it in done.findings if it.rule.name == "number-as-text"]


@pytest.mark.parametrize(
    "family, size, meant",
    [
        ("llama", "70", "70b"),
        ("llama-3.1", "8", "8b"),
        ("Qwen2.5", "1.5", "1.5b"),
        ("qwen2.5", "7.0", "7b"),
        ("llama", '"70"', "70b"),
    ],
)
def test_a_size_that_the_family_has(planned, team, family, size, meant):
    spec = model(f"      family: {family}\n      size: {size}", "cpu: '1'")
    done = planned(a100(memory="80GB"), team("a", "guarantee: 8"), spec)
    assert done.plan.workloads.assignments[0].model.size == meant
    (message,) = text(done)
    assert f'which policygen reads as "{meant}"; write "{meant}"' in message
    (place,) = [it.place for it in done.findings if it.rule.name == "number-as-text"]
    assert place.text[place.column - 1 :].startswith(size)


@pytest.mark.parametrize("size, meant", [("70", "70b"), ("0.5", "0.5b"), ('"13"', "13b")])
def test_a_size_that_a_model_has(planned, team, size, meant):
    """Without a family, no other unit makes such a number the size of a known model."""
    done = planned(a100(memory="80GB"), team("a", "guarantee: 8"), model(f"      size: {size}"))
    assert done.plan.workloads.assignments[0].model.size == meant
    assert len(text(done)) == 1


@pytest.mark.parametrize(
    "family, size, rule",
    [
        ("family: llama", "33", "wrong-type"),
        ("family: llama", "-70", "wrong-type"),
        ("family: llama", "true", "wrong-type"),
        ("family: falcon", "40", "wrong-type"),
        ("family: [llama]", "70", "wrong-type"),
        # no known model has 71 billion parameters
        ("priority: x", "71", "wrong-type"),
        ("priority: x", "500", "wrong-type"),
        ("family: llama", "8x7", "unknown-model-size"),
        ("family: llama", "'33'", "unknown-model-size"),
        # a number of billions is not one of millions
        ("family: qwen2.5", "500", "wrong-type"),
    ],
)
def test_other_sizes_are_reported_as_before(planned, team, family, size, rule):
    spec = model(f"      {family}\n      size: {size}", "cpu: '1'")
    found = planned(a100(), team("a", "guarantee: 8"), spec)
    assert rule in found.rules
    assert text(found) == []


@pytest.mark.parametrize(
    "product, read", [("4090", True), ("3090", True), ("100", False), ("4090.5", False)]
)
def test_a_product_whose_name_is_a_number(planned, product, read):
    found = planned(a100().replace("NVIDIA-A100-SXM4-40GB", product))
    assert text(found) == (
        [f'product {product} is a number, which policygen reads as "{product}"; write "{product}"']
        if read
        else []
    )
    assert ("wrong-type" in found.rules) is not read


def test_a_node_type_that_is_a_number(planned):
    found = planned(model("      placement: {nodeTypes: [h100, 4090, 12]}"))
    assert len(text(found)) == 1
    assert found.rules.count("wrong-type") == 1


@pytest.mark.parametrize(
    "target, read",
    [
        ("kubernetes: 1.36", True),
        ("kueue: 0.19", True),
        # a release 1.30 would be the same number
        ("kubernetes: 1.3", False),
        ("kubernetes: 1.30", False),
        ("kubernetes: 1", False),
        ("kueue: 1.19", False),
    ],
)
def test_a_version_that_only_one_release_has(planned, target, read):
    found = planned(f"""
    apiVersion: policygen.dev/v1alpha1
    kind: Platform
    metadata: {{name: set}}
    spec: {{target: {{{target}}}}}
    """)
    assert bool(text(found)) is read
    assert ("wrong-type" in found.rules) is not read


@pytest.mark.parametrize(
    "field", ["team: 7", "namespace: 123", "priority: 1", "placement: {pools: [7]}", "family: 3"]
)
def test_names_stay_text(planned, field):
    spec = model(f"      {field}")
    if field.startswith("team"):
        spec = spec.replace("      team: a\n", "")
    found = planned(spec)
    assert "wrong-type" in found.rules
    assert text(found) == []


def test_a_size_of_the_articles_form(planned):
    found = planned("""
    apiVersion: inference.example.com/v1
    kind: ModelServingSpec
    metadata: {name: chat}
    spec: {modelFamily: llama, modelSize: 7, schedulingClass: production}
    """)
    assert text(found) == ['modelSize 7 is a number, which policygen reads as "7b"; write "7b"']
