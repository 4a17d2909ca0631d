"""The requirements of a model."""

import pytest

from tests.plan.model_specs import a100, assigned, messages, model


def test_family_and_size_instead_of_memory(planned, team):
    # Llama-3.1-70B: 131.4 GiB of weights; KV of 16 × 8192 tokens at 320 KiB: 40 GiB; on 80 GB
    # cards at 90 percent, less 1 GiB each: 70.4 GiB, so 3, rounded to 4
    text = model(
        "      family: llama-3.1\n      size: 70b\n"
        "      sizing: {concurrency: 16, contextLength: 8192}",
        "cpu: '8'",
    )
    done = planned(a100(memory="80GB"), team("a", "guarantee: 8"), text)
    assert assigned(done)[2] == 4
    assert "assumption" in done.rules


@pytest.mark.parametrize(
    "more, rule",
    [
        ("family: llama\n      size: 70b", "gpu-memory-below-weights"),
        ("family: llama\n      size: 7b\n      sizing: {concurrency: 9}", "gpu-memory-below-concurrency"),
        ("family: llama\n      size: 7b\n      sizing: {precision: int4}", None),
    ],
)  # fmt: skip
def test_stated_memory_is_compared_with_what_the_model_takes(planned, team, more, rule):
    done = planned(a100(), team("a", "guarantee: 8"), model(f"      {more}"))
    assert [name for name in done.rules if name.startswith("gpu-memory")] == (
        [rule] if rule else []
    )


def serving_70b(concurrency, target):
    return model(
        "      workload: serving\n      family: llama-3.1\n      size: 70b\n"
        f"      sizing: {{precision: int8, concurrency: {concurrency}, contextLength: 4096}}\n"
        f"      autoscaling: {{minReplicas: 1, maxReplicas: 2, targetConcurrency: {target}}}",
        "cpu: '8'",
    )


def test_the_cache_of_the_target_concurrency_must_fit_the_gpus_for_sizing(planned, team):
    rule, pool = "gpu-memory-below-concurrency", a100(memory="80GB")
    [message] = messages(planned(pool, team("a", "guarantee: 16"), serving_70b(16, 160)), rule)
    assert "raise sizing.concurrency to 160, with which a replica needs 4 nvidia.com/gpu" in message
    most = int(message.rpartition(" ")[2])
    for target, expected in ((most, 0), (most + 1, 1)):
        done = planned(pool, team("a", "guarantee: 16"), serving_70b(16, target))
        assert len(messages(done, rule)) == expected


def test_requests_whose_cache_fits_no_node_are_lowered(planned, team):
    pool = a100(memory="80GB")
    [message] = messages(
        planned(pool, team("a", "guarantee: 16"), serving_70b(1600, 16)), "model-fits-no-pool"
    )
    assert "gang" not in message
    most = int(message.partition("lower sizing.concurrency to at most ")[2].partition(",")[0])
    for concurrency, expected in ((most, []), (most + 1, ["model-fits-no-pool"])):
        done = planned(pool, team("a", "guarantee: 16"), serving_70b(concurrency, 16))
        found = {"model-fits-no-pool", "model-above-limit", "serving-on-borrowed-gpus"}
        assert [it for it in done.rules if it in found] == expected


def test_a_model_that_is_probably_another_fits_no_pool_only_once(planned, team):
    text = serving_70b(16, 16).replace("size: 70b", "size: 700b")
    done = planned(a100(memory="80GB"), team("a", "guarantee: 16"), text)
    assert "model-fits-no-pool" not in done.rules


def test_nodes_with_implausible_memory_are_the_only_finding(planned, team):
    pool = a100().replace("memory: 1100Gi", "memory: 1100Mi")
    text = model(resources="gpus: 1, memory: 64Gi")
    done = planned(pool, team("a", "guarantee: 8"), text)
    assert "node-allocatable-implausible" in done.rules
    assert "model-fits-no-pool" not in done.rules


def test_a_model_without_a_size(planned, team):
    done = planned(a100(), team("a", "guarantee: 8"), model(resources="cpu: '1'"))
    assert "model-size-unknown" in done.rules


def labelled(name, labels, more=""):
    return a100(name, more=more).replace(f"{{pool: {name}}}", f"{{{labels}}}")


@pytest.mark.parametrize(
    "labels, expected",
    [
        ("gpu: a, zone: z", "--node-selector=gpu:a"),
        ("gpu: b, zone: w", "in spec.nodeSelector of v"),
    ],
)
def test_volcano_takes_a_node_with_any_label_of_its_selector(planned, team, labels, expected):
    others = labelled("p", "gpu: b, zone: z"), labelled("q", "gpu: c, zone: w")
    mine = labelled("v", labels, "      scheduler: volcano\n")
    (message,) = messages(
        planned(*others, mine, team("a", "guarantee: 8")), "volcano-node-selector"
    )
    assert message.endswith(expected)


NEEDED = {
    "admission": "the spec has no team",
    "device-plugin": "no pool shares or divides its GPUs",
    "mig-manager": "no pool has MIG instances of a known GPU product",
    "monitoring": "the spec has no pool",
    "vpa": "no model of a team runs as an object that a VerticalPodAutoscaler can observe",
    "workloads": "no model of a team fits a pool",
}


@pytest.mark.parametrize("extra", NEEDED)
def test_an_option_that_renders_nothing(planned, team, extra):
    nothing = () if extra == "monitoring" else (a100(),)
    (message,) = messages(planned(*nothing, extras=frozenset({extra})), "inert-option")
    assert message == f"--with {extra} renders nothing, because {NEEDED[extra]}; remove the option"
    divided = a100(gpu=", sharing: mig, instances: {1g.5gb: 448}")
    made = planned(divided, team("a", "guarantee: {1g.5gb: 8}"), model(), extras=frozenset({extra}))
    assert not messages(made, "inert-option"), made.findings
