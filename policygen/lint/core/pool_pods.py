"""The pools of a spec on a live cluster: their nodes, and the pods that hold their GPUs."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from msgspec import Struct

from policygen.core.amounts import readable
from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE
from policygen.kubernetes.core import NodeView
from policygen.kubernetes.table import Entry
from policygen.lint.core.running_pods import Holder, holders, maker
from policygen.lint.rule import Facts

if TYPE_CHECKING:  # imported only if there is a spec
    from policygen.plan.pool import PoolFacts

KUEUE_MARK = "kueue.x-k8s.io/"


class ClusterPool(Struct, frozen=True, eq=False):
    """A pool on the cluster."""

    facts: "PoolFacts"
    nodes: tuple[Entry[NodeView], ...]
    """Nodes with the labels of its nodeSelector."""
    guaranteed: Mapping[str, int]
    """The sum of the teams' guarantees, by resource."""
    past_queue: tuple[Holder, ...]
    """Pods that hold its resources on these nodes outside its queues."""
    past_scheduler: tuple[Holder, ...]
    """Pods that hold its resources on these nodes, placed by another scheduler."""

    def shortfall(self, others: Sequence[Holder]) -> str:
        """A message about what these pods leave, if it is less than the guarantees; else empty.

        Preemption cannot reclaim it: it evicts only pods that a queue admitted.
        """
        for resource, guaranteed in self.guaranteed.items():
            zero = Fraction(0)
            have = sum(
                (it.fields.status.allocatable.get(resource, zero) for it in self.nodes), zero
            )
            left = have - sum((holder.gpus.get(resource, zero) for holder in others), zero)
            if left < guaranteed:
                return (
                    f"; the guarantees of the teams need {guaranteed} {resource}, but these pods leave only "
                    f"{readable(resource, max(left, zero))} and are never preempted"
                )
        return ""


def pools(facts: Facts) -> tuple[ClusterPool, ...]:
    """Every pool of the spec with known numbers; use it with `facts.derive`."""
    return tuple(_pools(facts))


def _pools(facts: Facts) -> Iterator[ClusterPool]:
    if facts.plan is None:
        return
    by_node: dict[str, list[Holder]] = {}
    for holder in facts.cluster.derive(holders):
        by_node.setdefault(holder.pod.node, []).append(holder)
    rest = {name: left for tree in facts.plan.trees for name, left in tree.rest.items()}
    for pool_facts in facts.plan.pools:
        left = rest.get(pool_facts.name, pool_facts.available)
        guaranteed = {
            name: pool_facts.available[name] - left[name] for name in pool_facts.resources
        }
        labels = dict(pool_facts.pool.node_selector).items()
        nodes = tuple(node for node in facts.cluster.nodes if labels <= node.labels.items())
        there = [holder for node in nodes for holder in by_node.get(node.name, ())]
        queue = tuple(holder for holder in there if _past_queue(facts, pool_facts, holder))
        scheduler = tuple(holder for holder in there if _past_scheduler(pool_facts, holder))
        yield ClusterPool(pool_facts, nodes, guaranteed, queue, scheduler)


def scheduler_name(holder: Holder) -> str:
    """The scheduler that placed a pod."""
    return holder.pod.spec.scheduler_name or DEFAULT_SCHEDULER


def _holds(pool: "PoolFacts", holder: Holder) -> bool:
    return not holder.gpus.keys().isdisjoint(pool.resources)


def _past_queue(facts: Facts, pool: "PoolFacts", holder: Holder) -> bool:
    """Whether a pod bypasses Kueue, which marks the pods that it manages or their owner.

    False if the owner is unknown.

    Source: pkg/controller/jobframework of Kueue 0.19.2.
    """
    if pool.scheduler != "kueue" or not _holds(pool, holder):
        return False
    pod = holder.pod
    if any(key.startswith(KUEUE_MARK) for key in (*pod.labels, *pod.annotations)):
        return False
    if pod.owner is None:
        return True
    owner = maker(facts.cluster, pod)
    return owner is not None and LOCAL_QUEUE not in owner.labels


def _past_scheduler(pool: "PoolFacts", holder: Holder) -> bool:
    other = (scheduler_name(holder) == "volcano") != (pool.scheduler == "volcano")
    return other and _holds(pool, holder)
