"""Warnings about pools whose nodes come and go: spot nodes, and nodes that an autoscaler adds."""

from collections.abc import Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.quoting import quoted
from policygen.plan import rules
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree


def reports(pools: Sequence[PoolFacts], trees: Sequence[Tree]) -> Iterator[Hit]:
    """Pools of Kueue whose quota and nodes do not change together."""
    for tree in trees:
        if tree.scheduler == "kueue":
            yield from _without_fallback(tree.pools)
    for facts in pools:
        autoscaler = facts.pool.autoscaler
        if (
            facts.scheduler == "kueue"
            and facts.policy.topology_aware
            and autoscaler is not None
            and autoscaler.provisioning_class is None
        ):
            message = (
                f'pool "{facts.name}" is topologyAware, so Kueue admits workloads only to nodes that exist; '
                "its autoscaler never sees a pod that needs a new node; write autoscaler.provisioningClass, "
                "or topologyAware: false"
            )
            yield Hit(
                rules.TOPOLOGY_PREVENTS_GROWTH,
                message,
                (facts.pool.at / "spec" / "autoscaler").on_key(),
            )


def _without_fallback(pools: Sequence[PoolFacts]) -> Iterator[Hit]:
    """Spot pools before other pools of a shared queue.

    Kueue knows the nodes of a flavor only by its topology. Without one, it evicts a workload whose pods
    are not ready, and then admits it to the same flavor again, because its quota is free.
    """
    for index, facts in enumerate(pools):
        others = [it.name for it in pools[index + 1 :] if not it.pool.preemptible]
        if facts.pool.preemptible and others and not facts.policy.topology_aware:
            message = (
                f"if the nodes of pool {quoted(facts.name)} disappear, Kueue still has their quota and admits "
                f"workloads to them, so no workload moves to {quoted(others[0])}; write "
                "schedulingPolicy.topologyAware: true for both pools"
            )
            yield Hit(
                rules.SPOT_WITHOUT_FALLBACK, message, facts.pool.at.to("spec", "provisioning")
            )
