"""Fields of a pool with which the quotas could not be computed."""

import pytest

GROUP = "volcano.sh/nodegroup-name"
NODE = '    nodeAllocatable:\n      cpu: "96"\n      memory: 768Gi\n'


def grouped(pool, name, group):
    text = pool(name, scheduler="volcano")
    label = f"\n    {GROUP}: {group}" if group else ""
    return text.replace(f"    pool: {name}", f"    pool: {name}{label}")


@pytest.mark.parametrize(
    "groups, refused",
    [
        (["a", "b", "c"], 0),
        (["a", "a", "b"], 1),
        # A queue without a group takes the nodes of every group.
        (["", "b", "c"], 2),
        (["a", "", "c"], 2),
        (["a", "b", "b"], 1),
        (["", "", ""], 2),
    ],
)
def test_volcano_pools_of_one_resource_need_node_groups_of_their_own(
    planned, pool, groups, refused
):
    texts = [grouped(pool, f"p{index}", group) for index, group in enumerate(groups)]
    done = planned(*texts)
    assert done.rules.count("volcano-resource-shared") == refused
    assert (done.plan is None) == (refused > 0)


def test_a_node_type_with_another_number_of_gpus_is_reported(planned, pool):
    text = pool(gpus=16)
    assert NODE in text
    other = text.replace(NODE, "    nodeType: g5.12xlarge\n")  # which has 4
    assert "per-node-contradicts-node-type" in planned(other).rules
    same = other.replace("perNode: 8", "perNode: 4")
    assert "per-node-contradicts-node-type" not in planned(same).rules
    usual = text.replace(NODE, "").replace("perNode: 8", "perNode: 8\n    product: NVIDIA-A10G")
    assert "per-node-contradicts-node-type" in planned(usual).rules


@pytest.mark.parametrize(
    "product, profile, near",
    [
        ("NVIDIA-A100-SXM4-80GB", "1g.5gb", '"1g.10gb"'),
        ("NVIDIA-A100-SXM4-80GB", "1g.5gb+me", '"1g.10gb+me"'),
        # as much compute, or as much memory
        ("NVIDIA-A100-SXM4-80GB", "2g.10gb", '"2g.20gb" or "1g.10gb"'),
        ("NVIDIA-A100-SXM4-40GB", "3g.40gb", '"3g.20gb" or "7g.40gb"'),
        ("NVIDIA-A30", "7g.40gb", '"4g.24gb"'),
        ("NVIDIA-A30", "1g.6bg", '"1g.6gb"'),
    ],
)
def test_an_unknown_mig_profile_is_answered_with_the_nearest_in_size(
    planned, pool, product, profile, near
):
    cut = f"product: {product}\n    sharing: mig\n    mig: {{instances: {{{profile}: 1}}}}"
    done = planned(pool().replace("memory: 80Gi", cut))
    [message] = [it.message for it in done.findings if it.rule.name == "unknown-mig-profile"]
    assert f"did you mean {near}?" in message


def test_mig_on_a_product_that_is_not_known_is_taken_as_written(planned, pool):
    cut = "memory: 80Gi\n    sharing: mig\n    mig: {instances: {2g.10gb: 192}}"
    done = planned(pool().replace("memory: 80Gi", cut))
    assert done.plan.pools[0].resources == ("nvidia.com/mig-2g.10gb",)


def test_taint_with_an_empty_value_is_tolerated_by_its_key(planned, pool):
    """With the operator Exists, the API refuses any value, even an empty one."""
    done = planned(pool(more='taints: [{key: gpu, value: "", effect: NoSchedule}]'))
    [toleration] = done.of("ResourceFlavor")["p"].tolerations
    assert toleration == {"key": "gpu", "operator": "Exists", "effect": "NoSchedule"}
