"""Pods must run beside other pods that run only on other nodes, so they stay Pending."""

from collections.abc import Sequence

from policygen.core.names import HOSTNAME
from policygen.core.quoting import some
from policygen.kubernetes.workloads import KINDS
from policygen.lint.core.known_nodes import known_nodes
from policygen.lint.core.partner_nodes import separated
from policygen.lint.core.pod_demands import READS
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity


def check(facts: Facts) -> Hits:
    """No domain of the topologyKey has nodes for both. Source: see lint/core/partner_nodes.py."""
    for it in separated(facts):
        pools = facts.derive(known_nodes).all[0].at is None
        others = some([str(each.workload) for each in it.partners], "other workload")
        where = "on one node" if it.term.key == HOSTNAME else f"in one value of {it.term.key}"
        yield Hit(
            RULE,
            f"{it.pods.workload} must run {where} with pods of {others}, but fits only "
            f"{_nodes(it.own, pools=pools)}, and they fit only {_nodes(it.others, pools=pools)}, so its pods "
            "stay Pending; select the same nodes for both, or remove the required podAffinity",
            it.pods.template.at.to("spec", *it.path),
            tuple(each.workload.at for each in it.partners),
        )


def _nodes(names: Sequence[str], *, pools: bool) -> str:
    """The nodes, or those of pools of a spec."""
    one, several = ("pool", "pools") if pools else ("node", "nodes")
    shown = f"{one if len(names) == 1 else several} {some(names, one)}"
    return f"nodes of {shown}" if pools else shown


RULE = ObjectRule(
    "pod-affinity-on-other-nodes",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Select the same nodes for the pods and their partners, or remove the required podAffinity.",
    judges=KINDS,
    check=check,
    needs=frozenset({Need.WHOLE, Need.KNOWN_NODES}),
    reads=(*READS, "Node", "Namespace"),
)
