"""A label of nodes, or one by which pods select or divide nodes, looks misspelled."""

from collections.abc import Collection
from functools import cache

from policygen.core.label_grammar import key_fault
from policygen.core.quoting import as_arguments, quoted, some
from policygen.core.suggest import SEPARATORS
from policygen.kubernetes.node_groups import REPLACED_LABELS, USUAL_LABELS, knows_label, meant_label
from policygen.kubernetes.workloads import KINDS, PodTemplate, Workload
from policygen.lint.core.known_nodes import known_nodes, node_index
from policygen.lint.core.label_uses import LabelUse, label_uses
from policygen.lint.core.odd_labels import OddLabel, odd_labels
from policygen.lint.core.refused_pods import near_label
from policygen.lint.rule import Edit, Facts, Family, Hit, Hits, ObjectRule, Severity, Verb


def check(facts: Facts) -> Hits:
    """Kueue ignores keys that no flavor has, and admits the workload; its pods then fit no node.

    Compares with the labels of flavors and topologies, and with those that each node has. With nodes, or with the
    pools of a spec, pod-fits-no-node and anti-affinity-without-domain report what pods certainly require; this rule
    reports preferences, and labels that were replaced, if the nodes have the new ones.
    Source: pkg/scheduler/flavorassigner/flavorassigner.go of Kueue 0.19.2, flavorSelector.
    """
    cluster = facts.cluster
    yield from map(_of_nodes, cluster.derive(odd_labels))
    if facts.derive(node_index).all:
        yield from _beside_nodes(facts)
        return
    if cluster.seen is not None:
        return
    known = {key for flavor in cluster.flavors for key in flavor.fields.node_labels}
    known |= {it.node_label for topology in cluster.topologies for it in topology.fields.levels}
    meant = cache(lambda key: _meant(key, sorted(known.union(USUAL_LABELS))))
    for workload in cluster.workloads:
        for template in workload.templates:
            spec = template.spec
            if not (spec.node_selector or spec.affinity or spec.topology_spread_constraints):
                continue
            uses = [it for it in label_uses(spec) if it.required]
            selected = {it.key for it in uses if it.path[-1] != "topologyKey"}
            for it in uses:
                right = meant(it.key)
                if not right:
                    continue
                at = template.at.to("spec", *it.path)
                if it.path[-1] == "topologyKey":
                    yield Hit(
                        RULE,
                        f'{it.field} of {workload} names topologyKey "{it.key}", which looks misspelled, so '
                        f'{_effect(it)}; did you mean "{right}"?',
                        at,
                    )
                elif right not in selected:
                    yield Hit(
                        RULE,
                        f'{workload} selects nodes by label "{it.key}", which looks misspelled, so its '
                        f'pods fit no node; did you mean "{right}"?',
                        at.on_key() if it.field == "nodeSelector" else at,
                        tuple(
                            flavor.at.to("spec", "nodeLabels", right).on_key()
                            for flavor in cluster.flavors
                            if right in flavor.fields.node_labels
                        )[:1],
                    )


def _beside_nodes(facts: Facts) -> Hits:
    """Labels that no node has, although nodes have the right one."""
    nodes = facts.derive(known_nodes).all
    odd = {it.right for it in facts.cluster.derive(odd_labels)}

    @cache
    def wrong(key: str) -> tuple[str, bool]:
        """The right key, and whether the nodes certainly lack this one; "": this key may be right."""
        if not key or key_fault(key) or any(key in it.labels for it in nodes):
            return "", False
        is_certain = all(knows_label(it, key) for it in nodes)
        right = near_label(key, nodes) if is_certain or key in REPLACED_LABELS else ""
        return ("" if right in odd else right), is_certain

    for workload in facts.cluster.workloads:
        for template in workload.templates:
            spec = template.spec
            if not (
                spec.affinity
                or spec.topology_spread_constraints
                or (
                    spec.node_selector and not spec.node_selector.keys().isdisjoint(REPLACED_LABELS)
                )
            ):
                continue  # pod-fits-no-node reports other keys in nodeSelector
            for it in label_uses(spec):
                right, is_certain = wrong(it.key)
                if right and not (it.required and is_certain):
                    yield _of_pods(workload, template, it, right)


def _of_pods(workload: Workload, template: PodTemplate, it: LabelUse, right: str) -> Hit:
    is_replaced = right == REPLACED_LABELS.get(it.key)
    why = f" because {right} replaced it" if is_replaced else ""
    remedy = f"write {right}" if is_replaced else f"did you mean {quoted(right)}?"
    at = template.at.to("spec", *it.path)
    verb = Verb.RENAME if it.field == "nodeSelector" else Verb.REWRITE
    return Hit(
        RULE,
        f"{it.field} of {workload} names label {it.key}, which no node has{why}, so {_effect(it)}; {remedy}",
        at.on_key() if verb is Verb.RENAME else at,
        meant=(Edit(verb, at, right),),
    )


def _effect(it: LabelUse) -> str:
    """What a label that no node has causes."""
    if not it.required:
        return "it has no effect"
    return "it separates no pods" if it.field == "podAntiAffinity" else "its pods fit no node"


def _of_nodes(it: OddLabel) -> Hit:
    owners = [*dict.fromkeys(str(user.owner) for user in it.users)]
    names = [node.name for node in it.nodes]
    at = it.nodes[0].at.to("metadata", "labels", it.key)
    selects = "selects" if len(owners) == 1 else "select"
    if it.is_key:
        label, right = f"label {it.key}", it.right
        change = f"rename {it.key} to {it.right} there"
    else:
        label, right = f"{it.key}={it.value}", f"{it.key}={it.right}"
        change = f"run: kubectl label nodes {as_arguments(names)} {right} --overwrite"
    return Hit(
        RULE,
        f"{some(names, 'node')} {'has' if len(names) == 1 else 'have'} {label}, which nothing selects, but "
        f"{some(owners, 'other object')} {selects} {right}; correct the selectors, or {change}",
        at.on_key() if it.is_key else at,
        tuple(user.at for user in it.users),
        meant=tuple(it.edits),
    )


def _meant(key: str, known: Collection[str]) -> str:
    """The known key of which a key is a misspelling, or "": a letter too many or too few, or other separators."""
    if key in known:
        return ""
    plain = key.translate(SEPARATORS)
    return meant_label(key, known) or next(
        (it for it in known if it.translate(SEPARATORS) == plain), ""
    )


RULE = ObjectRule(
    "node-label-misspelt",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Write the label that the nodes have, or correct that of the nodes.",
    judges=("Node", *KINDS),
    check=check,
    reads=("ResourceFlavor", "Topology", "Node"),
)
