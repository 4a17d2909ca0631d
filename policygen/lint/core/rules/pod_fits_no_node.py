"""No node takes the pods of a workload, so they stay Pending."""

from collections.abc import Collection, Iterator, Sequence

from policygen.core.amounts import amount_of
from policygen.core.finding import Edit, Exceeded, Verb
from policygen.core.quoting import listed
from policygen.core.suggest import Names
from policygen.kubernetes.accelerators import is_one
from policygen.kubernetes.node_filters import (
    Differs,
    Miss,
    NotTolerated,
    TooLittle,
)
from policygen.kubernetes.node_groups import NodeSet
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.containers import paths
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.model_findings import doubtful_amounts
from policygen.lint.core.near_nodes import NearNodes, nearest_nodes
from policygen.lint.core.pod_demands import READS, PodDemand, pod_demands
from policygen.lint.core.refused_pods import words
from policygen.lint.kueue.coverage import refused_by_template
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.queues import SCHEDULER


def check(facts: Facts) -> Hits:
    """Queues and quotas count all nodes together, but a pod needs one node.

    The nodes that need the fewest changes are reported. Kueue adds the labels and tolerations of a
    flavor; the pods start if they fit with any flavor of their queue, or of a queue that
    workload-names-no-queue proposes.
    Source: the filters of kube-scheduler (policygen/kubernetes/node_filters.py), which Volcano's
    predicates use too; docs on topology-aware scheduling: without a topology Kueue compares only sums.
    """
    index = facts.derive(node_index)
    if not index.all:
        return
    reported, nearest = facts.derive(refused_by_template), facts.derive(nearest_nodes)
    for it in facts.derive(pod_demands):
        best = nearest.of(it)
        if best is None or _is_of_another_scheduler(it, best, facts) or _is_of_flavors(best):
            continue
        if _is_doubtful(best, facts):
            continue
        names = reported.get(id(it.template), ())
        if not all(_lacks(each, names) for each in best.misses):
            yield _hit(it, best, facts)


def _is_of_another_scheduler(it: PodDemand, best: NearNodes, facts: Facts) -> bool:
    """Whether two-schedulers-one-pool reports the nodes: the pods select a pool of another scheduler."""
    if facts.plan is None or "two-schedulers-one-pool" not in facts.run:
        return False
    pools = {pool.name: pool.scheduler == SCHEDULER for pool in facts.plan.pools}
    is_volcano = it.workload.scheduler_name(it.template) == SCHEDULER
    return all(isinstance(miss, TooLittle) and miss.have for miss in best.misses) and all(
        node.at is None and pools.get(node.name, is_volcano) != is_volcano
        for group in best.groups
        for node in group.nodes
    )


def _is_doubtful(best: NearNodes, facts: Facts) -> bool:
    """Whether node-allocatable-implausible reports the amounts that nodes of a spec have too little of."""
    doubtful = facts.derive(doubtful_amounts)
    names = {node.name for group in best.groups for node in group.nodes if node.at is None}
    return bool(doubtful and names) and all(
        isinstance(miss, TooLittle) and (name, miss.resource) in doubtful
        for miss in best.misses
        for name in names
    )


def _lacks(miss: Miss, names: Collection[str]) -> bool:
    """Whether nodes have none of a resource of these names."""
    return isinstance(miss, TooLittle) and not miss.have and miss.resource in names


def _is_of_flavors(best: NearNodes) -> bool:
    """Whether rules about flavors report it: no node has the labels, or all have another taint."""
    return bool(best.way.flavors) and all(
        isinstance(it, NotTolerated) or (isinstance(it, Differs) and not it.placed.path)
        for it in best.misses
    )


def _hit(it: PodDemand, best: NearNodes, facts: Facts) -> Hit:
    nodes = facts.derive(node_index).of(best.way.demand).nodes
    misses = [each for each in best.misses if not _follows(each, best.misses)]
    parts = [words(each, it.template.spec, nodes.all, best.values) for each in misses]
    facts_of_nodes = ", and ".join(dict.fromkeys(part.fact for part in parts))
    advice = "; ".join(dict.fromkeys(part.advice for part in parts)) + _or_more_quota(it, facts)
    now = "at present, " if facts.cluster.seen else ""
    first = best.groups[0].nodes[0].at
    return Hit(
        RULE,
        f"{now}no node takes the pods of {it.workload}: {_who(best, nodes)} {facts_of_nodes}; {advice}",
        it.template.at.to("spec", *parts[0].path),
        related=(*(flavor.at for flavor in best.way.flavors), *((first,) if first else ())),
        exceeds=tuple(_exceeded(it, best, nodes)),
        meant=tuple(_meant(it, best, nodes)),
    )


def _follows(miss: Miss, others: Sequence[Miss]) -> bool:
    """Whether a label is that of a flavor, which Kueue chose because the pods select the same label."""
    if not isinstance(miss, Differs) or miss.placed.path:
        return False
    return any(
        isinstance(it, Differs)
        and it.placed.path
        and it.placed.requirement == miss.placed.requirement
        for it in others
    )


def _meant(it: PodDemand, best: NearNodes, nodes: NodeSet) -> Iterator[Edit]:
    """The pods with similar resources instead of those that no node has.

    Accelerators without a similar one are removed if the pods request others, too.
    """
    missing = {
        each.resource for each in best.misses if isinstance(each, TooLittle) and not each.have
    }
    offered = Names({name for node in nodes.all for name in node.allocatable} if missing else ())
    others = any(map(is_one, it.template.spec.requests.keys() - missing))
    for path, container in paths(it.template):
        at = it.template.at.to("spec", *path, "resources")
        for half, amounts in (
            ("requests", container.resources.requests),
            ("limits", container.resources.limits),
        ):
            for name in missing & amounts.keys():
                right = offered.meant(name)
                if right and right not in amounts:
                    yield Edit(Verb.RENAME, at.to(half, name), right)
                elif others:
                    yield Edit(Verb.REMOVE, at.to(half, name))


def _or_more_quota(it: PodDemand, facts: Facts) -> str:
    """The flavors on whose nodes the pods would have room, if they had enough quota."""
    index = facts.derive(node_index)
    found = [flavor.name for way in it.scarce if index.takers(way.demand) for flavor in way.scarce]
    return f", or raise the quota of flavor {listed([*dict.fromkeys(found)])}" if found else ""


def _exceeded(it: PodDemand, best: NearNodes, nodes: NodeSet) -> Iterator[Exceeded]:
    """The amounts that are too large, if nodes refuse the pods only for amounts."""
    if all(isinstance(miss, TooLittle) for miss in best.misses):
        for miss in best.misses:
            if isinstance(miss, TooLittle) and miss.have:
                most = amount_of(miss.resource, miss.have, miss.requested)
                limit = f"{_who(best, nodes)} have at most {most} for a pod"
                yield Exceeded(it.workload.at, miss.resource, miss.have, limit, of_pod=True)


def _who(best: NearNodes, nodes: NodeSet) -> str:
    """The nearest nodes, as a plural."""
    found = [node for group in best.groups for node in group.nodes]
    pools = [node.name for node in found if node.at is None]
    if pools:
        return f"nodes of {'pool' if len(pools) == 1 else 'pools'} {listed(pools, 'and')}"
    if len(found) == len(nodes.all):
        return "all nodes"
    return f"the nearest nodes ({found[0].name if len(found) == 1 else len(found)})"


RULE = ObjectRule(
    "pod-fits-no-node",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Change the field that the finding names, or add or label nodes.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=READS,
    aliases=("queued-pod-fits-no-node",),
)
