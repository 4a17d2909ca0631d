"""A member of a HyperNode selects no Node or HyperNode."""

from policygen.core.quoting import some
from policygen.core.suggest import Names, suggest
from policygen.kubernetes.table import Entry
from policygen.kubernetes.volcano import HyperNodeView
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity
from policygen.lint.volcano.hyper_nodes import Member, members


def check(facts: Facts) -> Hits:
    """The scheduler skips the member, so the HyperNode and those above it lack its nodes.

    Source: pkg/scheduler/api/hyper_node_info.go, BuildHyperNodeCache and GetMembers.
    """
    every = facts.derive(members)
    for entry in facts.cluster.hyper_nodes:
        missing = [it for it in every[entry.name] if it.is_missing]
        if missing:
            first, *others = missing
            yield Hit(
                RULE,
                f"{entry} has {_fault(missing)}, so it and the HyperNodes above it lack these nodes; "
                f"{f'{first.shown}: ' if others else ''}{_advice(facts, entry, first)}",
                first.at,
                tuple(it.at for it in others),
            )


def _fault(missing: list[Member]) -> str:
    first, *others = missing
    if others:
        names = some([it.shown for it in missing], "other member")
        return f"{len(missing)} members that select nothing ({names})"
    if first.name:
        return f"the member {first.shown}, which does not exist"
    fault = "but no node matches" if first.kind == "Node" else "which Volcano ignores"
    return f"a member that selects {first.shown}, {fault}"


def _advice(facts: Facts, entry: Entry[HyperNodeView], it: Member) -> str:
    if not it.name and it.kind == "HyperNode":
        return "name each HyperNode in an exactMatch"
    if not it.name:
        return "correct the selector, or the labels or names of the nodes"
    cluster, every = facts.cluster, facts.derive(members)
    taken = {it.name for found in every.values() for it in found} | {entry.name}
    known = cluster.nodes.names() if it.kind == "Node" else cluster.hyper_nodes.names()
    free = Names(name for name in known if name not in taken)
    return suggest(it.name, free if free.meant(it.name) else known, it.kind)


RULE = ObjectRule(
    "hyper-node-member-missing",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Correct the name or the selector of the member.",
    judges=("HyperNode",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("Node",),
)
