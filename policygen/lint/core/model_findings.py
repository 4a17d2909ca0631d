"""Models about whose pods a spec has a finding of its own, so that their manifests need no second one."""

from collections.abc import Iterable

from policygen.kubernetes.workloads import Workload
from policygen.lint.rule import Facts
from policygen.plan.model_names import MODEL
from policygen.plan.rules import MODELS_EXCEED_NODES


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
