"""Two schedulers place GPU pods on the same nodes."""

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from policygen.core.names import DEFAULT_SCHEDULER, LOCAL_QUEUE
from policygen.kubernetes.kueue_jobs import labels
from policygen.kubernetes.node_index import Bits
from policygen.kubernetes.workloads import KINDS, Workload
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.node_users import FirstUsers, NodeUser, gpu_requests, node_users
from policygen.lint.core.pod_demands import READS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.scheduler.packing import unpacked
from policygen.lint.volcano.queues import SCHEDULER

if TYPE_CHECKING:  # imported only if there is a spec
    from policygen.plan.pool import PoolFacts


def check(facts: Facts) -> Hits:
    """Each scheduler sees the other's pods only once they are bound, so both can use the same GPU.

    Pods compete if a known node takes both. Without known nodes, they compete if no label that they need has different
    values, and their node selectors are equal or they need a label in common.
    A pool of a spec belongs to the scheduler that the spec names. Skips schedulers that the input does
    not distinguish.
    Source: the kubelet's admission, UnexpectedAdmissionError; kube-scheduler's cache.
    """
    return (hit for _, hit in facts.derive(conflicts))


def conflicts(facts: Facts) -> tuple[tuple[Workload, Hit], ...]:
    """The workloads at fault, each with its hit; use it with `facts.derive`."""
    return tuple(_conflicts(facts))


def _conflicts(facts: Facts) -> Iterator[tuple[Workload, Hit]]:
    # On a cluster, the other rule reports the pods that such nodes took.
    reported = facts.cluster.seen and "pod-bypasses-scheduler" in facts.run
    pools = () if reported else tuple(_pools(facts))
    requests = tuple(gpu_requests(facts))
    if not pools and len({it.process for it in requests}) < 2:
        return
    users: dict[tuple[object, ...], NodeUser] = {}
    for user in node_users(facts, requests):
        key = (user.process, user.resource, user.nodes, user.needed, user.selector)
        users.setdefault(key, user)
    first = FirstUsers()
    for user in users.values():
        used = [it for it in pools if it.nodes & user.nodes]
        if pool := _foreign_pool(user, used):
            yield user.workload, _in_pool(user, pool, used, facts)
            continue
        rival = first.rival(user)
        if rival is None:
            first.add(user)
        else:
            wide, other = sorted((user, rival), key=_is_at_fault, reverse=True)
            same = facts.derive(unpacked).get(id(wide.workload))
            advice = (
                f"write schedulerName: {same.profile} in {wide.workload}"
                if same and same.profile == other.workload.scheduler_name(other.template)
                else "give each scheduler its own nodes with a taint and a nodeSelector"
            )
            yield (
                wide.workload,
                Hit(
                    RULE,
                    f"{wide.workload} and {other.workload} request {user.resource} on the same nodes, but use different "
                    f"schedulers, which can assign one GPU to both; {advice}",
                    wide.workload.scheduler_at(wide.template),
                    (other.template.at / "spec",),
                ),
            )


class PoolNodes(Struct, frozen=True, eq=False):
    """A pool of the spec."""

    facts: "PoolFacts"
    nodes: Bits

    @property
    def is_of_volcano(self) -> bool:
        """Whether Volcano places its pods."""
        return self.facts.scheduler == SCHEDULER


def _is_at_fault(user: NodeUser) -> tuple[int, bool]:
    """The larger for the user with more nodes than the other; if both have the same, for one without a scheduler."""
    size = user.nodes.bit_count() or -len(user.needed)  # more labels mean fewer nodes
    return size, not user.workload.scheduler_name(user.template)


def _pools(facts: Facts) -> Iterator[PoolNodes]:
    """The nodes of each pool of the spec. A node with the labels of several pools belongs to the first one."""
    index = facts.derive(node_index)
    others = index.all
    for pool in facts.plan.pools if facts.plan else ():
        selector = dict(pool.pool.node_selector).items()
        nodes: Bits = 0
        for bit, node in index.entries(others):
            own = node.name == pool.name if node.at is None else selector <= node.labels.items()
            nodes |= bit * own
        others &= ~nodes
        yield PoolNodes(pool, nodes)


def _foreign_pool(user: NodeUser, used: Sequence[PoolNodes]) -> "PoolFacts | None":
    """The first pool by name, of those with nodes that take the pods, that the spec gives to the other scheduler."""
    foreign = [
        it.facts
        for it in used
        if user.resource in it.facts.resources and it.is_of_volcano != (user.process == SCHEDULER)
    ]
    return min(foreign, key=lambda it: it.name, default=None)


def _in_pool(user: NodeUser, pool: "PoolFacts", used: Sequence[PoolNodes], facts: Facts) -> Hit:
    own = [
        it.name
        for it in (facts.plan.pools if facts.plan else ())
        if (it.scheduler == SCHEDULER) == (user.process == SCHEDULER)
        and user.resource in it.resources
    ]
    choice = f"pool {own[0]}" if len(own) == 1 else "one of its own pools"
    scheduler = user.workload.scheduler_name(user.template) or DEFAULT_SCHEDULER
    its = SCHEDULER if pool.scheduler == SCHEDULER else _profile(facts, pool)
    at = user.workload.scheduler_at(user.template)
    if user.process == SCHEDULER and facts.spec and LOCAL_QUEUE in labels(user.workload):
        return Hit(
            RULE,
            f"the queue of {user.workload} uses pool {pool.name}, where scheduler {its} places pods, but the pods "
            f"use scheduler {scheduler}, so both schedulers can assign one GPU; write schedulerName: {its}",
            at,
        )
    advice = f"add a nodeSelector that excludes pool {pool.name}"
    others = user.nodes
    for each in used:
        others &= ~each.nodes if each.is_of_volcano else user.nodes
    chosen = not others  # only pools of Volcano have these nodes
    if chosen:
        advice = f"write schedulerName: {its}, or a nodeSelector for another pool"
    elif own:
        advice = f"set nodeSelector to the labels of {choice}"
    return Hit(
        RULE,
        f"scheduler {scheduler} can place pods of {user.workload} on nodes of pool {pool.name}, where scheduler "
        f"{its} places pods, so both can assign one GPU; {advice}",
        at if chosen else user.template.at.to("spec", "nodeSelector"),
    )


def _profile(facts: Facts, pool: "PoolFacts") -> str:
    """The profile of kube-scheduler that the spec renders for a pool."""
    if facts.spec is None:
        return DEFAULT_SCHEDULER
    from policygen.plan.scheduler import scheduler_name  # noqa: PLC0415 - only with a spec

    return scheduler_name(facts.spec.platform, pool) or DEFAULT_SCHEDULER


RULE = ObjectRule(
    "two-schedulers-one-pool",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Give each scheduler its own nodes, with a taint and a nodeSelector.",
    judges=tuple(it for it in KINDS if it != "DaemonSet"),
    check=check,
    needs=frozenset({Need.WORKLOADS}),
    reads=("KubeSchedulerConfiguration", "Node", *READS),
)
