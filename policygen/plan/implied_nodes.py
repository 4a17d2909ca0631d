"""The nodes that the pools of a spec describe, for checks of workloads without a cluster."""

from collections.abc import Iterable, Iterator
from fractions import Fraction

from policygen.kubernetes.core import TaintView
from policygen.kubernetes.node_groups import Node, Stated
from policygen.plan.pool import PoolFacts

_MILLI = 1000


def implied_nodes(pools: Iterable[PoolFacts]) -> Iterator[Node]:
    """One entry for each pool, with the number of its nodes.

    A resource that only other pools offer is 0. Resources that no pool offers are unknown.
    """
    pools = tuple(pools)
    none = {name: Fraction(0) for pool in pools for name in pool.resources}
    for pool in pools:
        mig = pool.pool.gpu.sharing == "mig"
        yield Node(
            name=pool.name,
            labels=dict(pool.pool.node_selector),
            taints=tuple(TaintView(it.key, it.effect, it.value or "") for it in pool.pool.taints),
            allocatable={
                **none,
                "cpu": Fraction(pool.node.cpu_milli, _MILLI),
                "memory": Fraction(pool.node.memory_bytes),
                # Instances of MIG profiles can be spread unequally over the nodes.
                **{
                    name: Fraction(min(pool.available[name], pool.units_per_node))
                    for name in pool.resources
                },
            },
            count=pool.node_count,
            stated=Stated.PART,
            together={name: Fraction(pool.available[name]) for name in pool.resources if mig},
        )
