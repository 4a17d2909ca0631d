"""The nodes of a pool: known, assumed, or missing."""

import pytest

from policygen.core.finding import At
from policygen.core.rule import Severity
from policygen.plan.nodes import cards, node, product, unguessed
from policygen.spec.types import Capacity, Gpu, NodeResources, Pool, SchedulingPolicy
from tests.plan.model_specs import a100, model


def pool(gpu=None, capacity=None, selector=(), **more):
    return Pool(
        "p", At(0), tuple(selector), "kueue", (), None, gpu or Gpu(), capacity or Capacity(),
        SchedulingPolicy(), **more,
    )  # fmt: skip


def rules(hits):
    return [hit.rule.name for hit in hits]


@pytest.mark.parametrize(
    ("it", "found", "told"),
    [
        (pool(Gpu(product="NVIDIA-A100-SXM4-80GB")), "a100-80gb", []),
        (pool(Gpu(product="a100")), "a100-40gb", ["assumption"]),
        (
            pool(Gpu(product="a100"), Capacity(node_type="a2-ultragpu-8g")),
            "a100-80gb",
            ["assumption"],
        ),
        (
            pool(Gpu(product="a100"), Capacity(node_type="a3-highgpu-8g")),
            "a100-40gb",
            ["assumption"],
        ),
        (pool(Gpu(product="nothing")), None, ["unknown-product"]),
        (pool(), None, []),
        (pool(selector=[("gpu.type", "a10g")], guess_product=True), "a10g", ["assumption"]),
        (pool(selector=[("gpu.type", "a10g")]), None, []),
    ],
)
def test_the_product(it, found, told):
    hits = []
    match = product(it, hits)
    assert (match and match.id, rules(hits)) == (found, told)


@pytest.mark.parametrize(
    ("it", "found", "told"),
    [
        (pool(Gpu(per_node=8), Capacity(total_gpus=64)), (64, 8), []),
        (pool(Gpu(per_node=8), Capacity(nodes=4)), (32, 8), []),
        (pool(capacity=Capacity(nodes=4, total_gpus=16)), (16, 4), []),
        (pool(capacity=Capacity(nodes=4, node_type="g5.12xlarge")), (16, 4), []),
        (pool(Gpu(per_node=8), Capacity(total_gpus=64, available_gpus=60)), (60, 8), []),
        (
            pool(Gpu(per_node=8), Capacity(nodes=1, available_gpus=9)),
            None,
            ["available-above-total"],
        ),
        (pool(capacity=Capacity(total_gpus=64)), None, ["per-node-missing"]),
    ],
)
def test_the_cards(it, found, told):
    hits = []
    assert (cards(it, None, hits), rules(hits)) == (found, told)


def test_an_ambiguous_product_is_reported_at_its_name():
    hits = []
    product(pool(Gpu(product="h100"), Capacity(node_type="a3-highgpu-8g")), hits)
    assert hits[0].at.path == ("spec", "gpu", "product")
    assert "; write h100-80gb, or the full name of another product" in hits[0].message


def test_an_unknown_product_is_the_cause_of_what_is_unknown():
    it, hits = pool(Gpu(product="h100-8gb"), Capacity(nodes=2)), []
    assert (cards(it, None, hits), node(it, None, hits)) == (None, None)
    assert rules(hits) == ["per-node-missing", "node-shape-missing"]
    assert all('gpu.product "h100-8gb" is unknown' in hit.message for hit in hits)


def test_a_known_product_has_a_typical_node():
    it = pool(Gpu(product="NVIDIA-A100-SXM4-80GB"), Capacity(nodes=2))
    hits = []
    known = product(it, hits)
    assert cards(it, known, hits) == (2 * known.per_node, known.per_node)
    assert node(it, known, hits).cpu_milli > 0
    assert rules(hits) == ["assumption", "assumption"]


@pytest.mark.parametrize(
    ("it", "told"),
    [
        (pool(), ["node-shape-missing"]),
        (pool(capacity=Capacity(node_type="m5.nothing")), ["unknown-node-type"]),
        (pool(capacity=Capacity(node_type="g5.12xlarge", system_reserved=NodeResources(10**9, 1))), ["reserved-above-capacity"]),
    ],
)  # fmt: skip
def test_a_node_that_is_not_known(it, told):
    hits = []
    assert (node(it, None, hits), rules(hits)) == (None, told)


def test_what_is_written_wins_and_what_is_reserved_is_taken_off():
    written = NodeResources(5, 6)
    assert node(pool(capacity=Capacity(node_allocatable=written)), None, []) is written
    whole = node(
        pool(capacity=Capacity(node_type="g5.12xlarge", system_reserved=NodeResources(0, 0))),
        None,
        [],
    )
    less = node(
        pool(capacity=Capacity(node_type="g5.12xlarge", system_reserved=NodeResources(1000, 2))),
        None,
        [],
    )
    assert (whole.cpu_milli - less.cpu_milli, whole.memory_bytes - less.memory_bytes) == (1000, 2)


@pytest.mark.parametrize(
    "name, meant",
    [
        ("NVIDIA-H10", "NVIDIA-H100-NVL"),  # most letters are equal in NVIDIA-A10
        ("NVIDIA-H10-80GB", "NVIDIA-H100-80GB-HBM3"),  # and in NVIDIA-GH200-480GB
        ("NVIDIA-L40-S", "NVIDIA-L40S"),
        ("NVIDA-H100-PCIe", "NVIDIA-H100-PCIe"),
    ],
)
def test_an_unknown_product_is_compared_by_its_leading_letters_too(name, meant):
    hits = []
    assert product(pool(Gpu(product=name)), hits) is None
    assert hits[0].message == (
        f'unknown GPU product "{name}"; did you mean "{meant}"? If not, replace gpu.product by '
        "gpu.memory, gpu.perNode and capacity.nodeAllocatable"
    )


def test_a_short_name_is_suggested_if_no_label_is_similar():
    hits = []
    product(pool(Gpu(product="H1000")), hits)
    assert hits[0].message.startswith('unknown GPU product "H1000"; did you mean "h100"? If not, ')


def test_an_unknown_product_without_a_similar_one_has_another_remedy():
    hits = []
    assert product(pool(Gpu(product="zzz")), hits) is None
    assert hits[0].message.startswith('unknown GPU product "zzz"; known: ')
    assert " more; or replace gpu.product by gpu.memory, gpu.perNode and " in hits[0].message


def test_a_label_that_names_no_product_is_named():
    assert unguessed(pool(selector=[("gpu.type", "a10")])).at.path[-1] == "gpu.type"
    assert unguessed(pool(selector=[("a", "b"), ("c", "d")])).at.key


SIZED = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {{name: p}}
spec:
  nodeSelector: {{pool: p}}
  gpu: {{{gpu}}}
  capacity: {{totalGPUs: 16, {capacity}}}
"""


def doubts(planned, gpu, capacity):
    """The warnings about sizes that contradict known hardware."""
    done = planned(SIZED.format(gpu=gpu, capacity=capacity))
    return [
        (it.rule.name, it.message)
        for it in done.findings
        if it.rule.name in {"node-allocatable-implausible", "gpu-memory-contradicts-product"}
    ]


A100 = "product: NVIDIA-A100-SXM4-40GB, perNode: 8"


@pytest.mark.parametrize(
    "gpu, capacity",
    [
        (A100, "nodeAllocatable: {cpu: 95690m, memory: 1080Gi}"),
        # a DGX A100
        (A100, "nodeAllocatable: {cpu: 254, memory: 1000Gi}"),
        # half and twice the node type
        (A100, "nodeType: p4d.24xlarge, nodeAllocatable: {cpu: 48, memory: 576Gi}"),
        (A100, "nodeType: p4d.24xlarge, nodeAllocatable: {cpu: 192, memory: 2304Gi}"),
        # half a node has half the GPUs
        ("perNode: 4", "nodeType: p4d.24xlarge, nodeAllocatable: {cpu: 47, memory: 560Gi}"),
        (
            "product: NVIDIA-GeForce-RTX-4090, perNode: 1",
            "nodeAllocatable: {cpu: 31, memory: 120Gi}",
        ),
        ("perNode: 8, memory: 80Gi", "nodeAllocatable: {cpu: 96, memory: 768Gi}"),
        (A100 + ", memory: 38Gi", "nodeType: p4d.24xlarge"),
    ],
)
def test_plausible_sizes_of_nodes_and_gpus_are_not_reported(planned, gpu, capacity):
    assert doubts(planned, gpu, capacity) == []


@pytest.mark.parametrize(
    "gpu, capacity, rule, words",
    [
        (
            A100,
            "nodeType: p4d.24xlarge, nodeAllocatable: {cpu: 47, memory: 600Gi}",
            "node-allocatable-implausible",
            "47 cores for 8 GPUs, but nodes of type p4d.24xlarge have 96 cores",
        ),
        (
            A100,
            "nodeAllocatable: {cpu: 96, memory: 1100Mi}",
            "node-allocatable-implausible",
            "1.07 GiB of memory for 8 GPUs, but known nodes with a100-40gb have between 680 GiB and ",
        ),
        (
            A100,
            "nodeAllocatable: {cpu: 96000, memory: 1100Gi}",
            "node-allocatable-implausible",
            "96000 cores for 8 GPUs, but known nodes with a100-40gb have between 48 and 256 cores",
        ),
        (
            "product: NVIDIA-GeForce-RTX-4090, perNode: 4",
            "nodeAllocatable: {cpu: 96m, memory: 400Gi}",
            "node-allocatable-implausible",
            "0.096 cores for 4 GPUs, but known nodes have between 16 and 576 cores",
        ),
        (
            A100 + ", memory: 80Gi",
            "nodeType: p4d.24xlarge",
            "gpu-memory-contradicts-product",
            "gpu.memory is 80 GiB, but one a100-40gb has 39.5 GiB",
        ),
        (
            A100 + ", memory: 10Gi, sharing: timeSlicing, replicas: 4",
            "nodeType: p4d.24xlarge",
            "gpu-memory-contradicts-product",
            "write the usable memory of a complete GPU",
        ),
    ],
)
def test_sizes_far_from_the_known_ones_are_reported_once(planned, gpu, capacity, rule, words):
    [(name, message)] = doubts(planned, gpu, capacity)
    assert name == rule
    assert words in message


def test_memory_without_a_unit_is_one_finding(planned, team):
    unitless = a100(gpu=", memory: 80").replace("memory: 1100Gi", "memory: 1100")
    done = planned(unitless, team("a", "guarantee: 8"), model())
    assert [it.rule.name for it in done.findings if it.severity > Severity.INFO] == [
        "memory-without-unit"
    ] * 2
