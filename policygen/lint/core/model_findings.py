"""Models and pools about which a spec has a finding of its own, so that manifests need no second one."""

from collections.abc import Iterable

from policygen.core.finding import Hit
from policygen.core.rule import Rule
from policygen.kubernetes.workloads import Workload
from policygen.lint.rule import Facts
from policygen.plan.model_names import MODEL
from policygen.plan.rules import MODELS_EXCEED_NODES, NODE_ALLOCATABLE_IMPLAUSIBLE


def without_nodes(facts: Facts) -> frozenset[str]:
    """The models of which the spec reports that the nodes do not hold all of them; use it with `facts.derive`."""
    if facts.plan is None or facts.spec is None or facts.cluster.nodes.any:
        return frozenset()
    hits = (it for it in facts.plan.hits if it.rule is MODELS_EXCEED_NODES)
    places = {place for hit in hits for place in hit.related}
    return frozenset(it.name for it in facts.spec.models if it.at / "metadata" / "name" in places)


def are_reported(facts: Facts, workloads: Iterable[Workload]) -> bool:
    """Whether all these workloads run models about which the spec reports the same."""
    names = facts.derive(without_nodes)
    return bool(names) and all(it.labels.get(MODEL) in names for it in workloads)


def doubtful_amounts(facts: Facts) -> frozenset[tuple[str, str]]:
    """The pools, and the queues of them, with the resource that their nodes probably have more or less of.

    Use it with `facts.derive`.
    """
    if facts.plan is None:
        return frozenset()
    resources: dict[int, set[str]] = {}
    for hit in facts.plan.hits:
        if hit.rule is NODE_ALLOCATABLE_IMPLAUSIBLE and hit.at is not None:
            resources.setdefault(hit.at.document, set()).add(str(hit.at.path[-1]))
    found: set[tuple[str, str]] = set()
    for tree in facts.plan.trees if resources else ():
        queues = [tree.name_of(leaf) for leaf in tree.leaves]
        for pool in tree.pools:
            own = resources.get(pool.pool.at.document, ())
            found.update((name, it) for it in own for name in (pool.name, *queues))
    return frozenset(found)


def reported(facts: Facts, rule: Rule) -> dict[str, Hit]:
    """The finding of a rule about the spec for each model that has one."""
    if facts.plan is None or facts.spec is None:
        return {}
    found = {it.at.document: it for it in facts.plan.hits if it.rule is rule and it.at is not None}
    return {it.name: found[it.at.document] for it in facts.spec.models if it.at.document in found}
