"""The value of a toleration looks misspelled, so the pods never use the nodes or the flavor that it means."""

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet

from msgspec.structs import replace

from policygen.core.quoting import as_yaml, bare, some
from policygen.core.suggest import is_typo
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.daemons import with_controller_tolerations
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import node_index
from policygen.lint.core.pod_demands import READS, PodDemand, Way, fits_no_node, pod_demands
from policygen.lint.core.rules import daemon_set_without_node
from policygen.lint.core.template_demand import own_demand
from policygen.lint.kueue.coverage import PodRequest, pod_requests
from policygen.lint.kueue.flavor_fits import refusal
from policygen.lint.other_rules import is_inside, places
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """A toleration matches a taint only if key and value are equal, with case.

    Skips pods that fit nowhere: pod-fits-no-node, workload-fits-no-flavor or daemon-set-without-node reports
    them. Skips a value that a flavor or a node has, and one that resembles none: such nodes can be added later.
    Source: k8s.io/api, ToleratesTaint of Kubernetes 1.36.3.
    """
    known = facts.derive(_values)
    if not known:
        return
    requests = {id(it.template): it for it in pod_requests(facts)}
    for it in (*facts.derive(pod_demands), *_daemons(facts, known)):
        if fits_no_node(facts, it.template):
            continue
        own = it.template.spec.tolerations
        for i, toleration in enumerate(own):
            near = _near(toleration, known.get(toleration.key, frozenset()))
            if not near:
                continue
            changed = replace(toleration, value=near)
            request = requests.get(id(it.template))
            flavors = _flavors(facts, request, (*own, changed)) if request else []
            names = flavors or _nodes(facts, it, changed)
            if names:
                place = it.template.at.to("spec", "tolerations", i, "value")
                kind, have, them = "flavor" if flavors else "node", "has", "it"
                if len(names) > 1:
                    kind, have, them = f"{kind}s", "have", "them"
                yield Hit(
                    RULE,
                    f"{it.workload} tolerates taint {toleration.key} with value {bare(toleration.value)}, but no node "
                    f"or flavor has this value; {kind} {some(names, 'other')} {have} value {bare(near)}, so the "
                    f"pods do not use {them}; write value: {as_yaml(near)}",
                    place,
                    meant=(Edit(Verb.REWRITE, place, near),),
                )


def _daemons(facts: Facts, known: Mapping[str, AbstractSet[str]]) -> Iterator[PodDemand]:
    """The demand of each DaemonSet with a misspelled value that daemon-set-without-node does not report."""
    found = [
        (workload, template)
        for workload in facts.cluster.workloads
        for template in (workload.templates if workload.kind == "DaemonSet" else ())
        if any(_near(it, known.get(it.key, frozenset())) for it in template.spec.tolerations)
    ]
    reported = [*places(facts, (daemon_set_without_node.RULE,))] if found else []
    for workload, template in found:
        if not any(is_inside(at, template.at) for at in reported):
            own = with_controller_tolerations(own_demand(facts.cluster, workload, template))
            way = Way(replace(own, requests=()))  # the nodes have room beside these pods
            yield PodDemand(workload, template, (way,), None, None)


def _near(toleration: TolerationView, known: AbstractSet[str]) -> str:
    """The only value of a taint that was certainly meant; empty: there is none."""
    if (
        toleration.operator not in ("", "Equal")
        or not toleration.value
        or toleration.value in known
    ):
        return ""
    found = [it for it in sorted(known) if is_typo(toleration.value, it)]
    return found[0] if len(found) == 1 else ""


def _flavors(facts: Facts, request: PodRequest, tolerations: Sequence[TolerationView]) -> list[str]:
    """The flavors of the queue that Kueue skips now, but not with these tolerations."""
    spec, flavors = request.template.spec, facts.cluster.flavors
    fixed = replace(spec, tolerations=tuple(tolerations))
    found = (flavors.get(it.name) for group in request.groups for it in group.flavors)
    return [
        it.name for it in found if it and refusal(it.fields, spec) and not refusal(it.fields, fixed)
    ]


def _nodes(facts: Facts, it: PodDemand, added: TolerationView) -> list[str]:
    """The nodes that take the pods only with one more toleration, or the pools that imply them."""
    index, found = facts.derive(node_index), 0
    for way in it.ways:
        more = replace(way.demand, tolerations=(*way.demand.tolerations, added))
        found |= index.takers(more) & ~index.takers(way.demand)
    return [node.name for _, node in index.entries(found)]


def _values(facts: Facts) -> Mapping[str, frozenset[str]]:
    """The values of the taints of nodes and flavors by their key, and what flavors tolerate; use it with `facts.derive`."""
    flavors = [it.fields for it in facts.cluster.flavors]
    pairs = [
        (it.key, it.value) for node in facts.derive(node_index).nodes.all for it in node.taints
    ]
    pairs += [(it.key, it.value) for flavor in flavors for it in flavor.node_taints]
    pairs += [(it.key, it.value) for flavor in flavors for it in flavor.tolerations]
    found: dict[str, set[str]] = {}
    for key, value in pairs:
        found.setdefault(key, set()).add(value)
    return {key: frozenset(values) for key, values in found.items()}


RULE = ObjectRule(
    "toleration-value-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the value of the taint.",
    judges=KINDS,
    check=check,
    reads=(*READS, "Node"),
)
