"""The quotas of a flavor add up to more than its nodes have."""

from collections.abc import Mapping, Sequence
from fractions import Fraction

from policygen.core.amounts import amount_of, readable, written
from policygen.core.finding import THERE, At
from policygen.core.names import SET
from policygen.core.quoting import listed, some
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_groups import NATIVE
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.coverage import vendor
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.node_pools import node_pools
from policygen.lint.kueue.quotas import PlacedQuota, nominal_quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_NODES = 3
"""The most nodes that are related places."""
_QUOTAS = 5
"""The most quotas in a message."""


def check(facts: Facts) -> Hits:
    """Kueue admits workloads whose pods stay Pending. A Cohort's quota adds to its members'.

    Without nodes, a flavor has the devices of the spec's pools that it selects.
    Source: issues 2665, 1651, 5289.
    """
    growing = facts.cluster.derive(node_pools)
    for (name, resource), cells in facts.cluster.derive(nominal_quotas).items():
        flavor = facts.cluster.flavors.get(name)
        if flavor is None or resource == "pods" or growing.get(name):
            continue  # other rules report a missing flavor and the limits of NodePools
        who, own, related = _capacity(facts, flavor)
        total = Fraction(sum(it.quota.nominal_quota for it in cells))
        have = own.get(resource, Fraction(0))
        unlisted = resource in NATIVE or not related
        if not who or (unlisted and resource not in own) or total <= have:
            continue  # every node has the native ones
        ordered = sorted(cells, key=lambda it: -it.quota.nominal_quota)
        own_cells = [it for it in ordered if it.owner.at not in facts.cluster.context] or ordered
        places = [it.at / "nominalQuota" for it in own_cells]
        yield Hit(
            RULE,
            f"the quotas of {flavor} add up to {amount_of(resource, total, have)}"
            f"{_parts(facts, ordered, own_cells)},{_beside(facts, resource, cells)} but {who} "
            f"{readable(resource, have, total)}; {_replaced(facts, own_cells, cells)}"
            f"{_remedy(resource, total, have, own, cells)}",
            places[0],
            related=(*places[1:], flavor.at, *related),
        )


def _parts(facts: Facts, cells: Sequence[PlacedQuota], own_cells: Sequence[PlacedQuota]) -> str:
    """The quotas of the sum, the largest first, with the places of those that are not reported at."""
    if len(cells) == 1:
        return f", all in {cells[0].owner}"
    with_places = facts.cluster.seen is None and own_cells[0].owner.at not in facts.cluster.context
    parts = [
        f"{it.owner} has {readable(it.resource, Fraction(it.quota.nominal_quota))}"
        f"{f' at {THERE}' if i and with_places else ''}"
        for i, it in enumerate(own_cells)
    ]
    return f" ({some(parts, 'other quota', _QUOTAS)})"


def _remedy(
    resource: str,
    total: Fraction,
    have: Fraction,
    own: Mapping[str, Fraction],
    cells: Sequence[PlacedQuota],
) -> str:
    others = [] if have else _of_vendor(resource, own)
    if others:
        return f"cover {listed(others)}, which the nodes have, instead of {resource}"
    if len(cells) == 1:
        return f"lower nominalQuota to {written(resource, have)}, or add nodes"
    return f"lower nominalQuota by {written(resource, total - have)} in total, or add nodes"


def _of_vendor(resource: str, amounts: Mapping[str, Fraction]) -> list[str]:
    """The other resources of a resource's vendor that nodes have, such as MIG instances for nvidia.com/gpu."""
    own = vendor(resource)
    return sorted(it for it, amount in amounts.items() if own and amount and vendor(it) == own)


def _beside(facts: Facts, resource: str, cells: Sequence[PlacedQuota]) -> str:
    """How much of the sum is not in the manifests, if the sum has both."""
    others = [it for it in cells if it.owner.at in facts.cluster.context]
    if not others or len(others) == len(cells):
        return ""
    amount = Fraction(sum(it.quota.nominal_quota for it in others))
    applied = facts.state is not None and facts.state.seen is not None
    where = "the spec renders or the cluster has" if applied else "the spec renders"
    return f" with {amount_of(resource, amount)} of queues that {where},"


def _replaced(facts: Facts, own_cells: Sequence[PlacedQuota], cells: Sequence[PlacedQuota]) -> str:
    """What to do after `adopt`: the spec renders queues with other names, and the old ones still count."""
    beside = len(own_cells) < len(cells)
    by_hand = not any(it.owner.labels.get(SET) for it in own_cells)
    if not beside or not by_hand or facts.spec is None:
        return ""
    return "if queues of the spec replace these, remove these from the manifests, otherwise "


def _capacity(
    facts: Facts, flavor: Entry[ResourceFlavorView]
) -> tuple[str, Mapping[str, Fraction], tuple[At, ...]]:
    """Which nodes a flavor has, as a subject with its verb, their amounts, and places of some nodes."""
    own = facts.cluster.derive(nodes)[flavor.name]
    labels = flavor.fields.node_labels.items()
    pools = [
        it
        for it in (facts.plan.pools if facts.plan else ())
        if labels <= dict(it.pool.node_selector).items()
    ]
    if facts.cluster.nodes.any and not any(it.pool.autoscaler for it in pools):
        places = tuple(node.at for node in own.nodes[:_NODES])
        return f"its nodes ({len(own.nodes)}) have" if places else "", own.total, places
    amounts: dict[str, Fraction] = {}
    for pool in pools:
        for resource in pool.resources:
            amounts[resource] = amounts.get(resource, Fraction(0)) + pool.available[resource]
    names = some([f"pool {it.name}" for it in pools], "pool") if pools else ""
    return f"{names} {'has' if len(pools) == 1 else 'have'}" if pools else "", amounts, ()


RULE = ObjectRule(
    "quota-exceeds-capacity",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Lower the quotas to the capacity of the nodes, or add nodes.",
    judges=("ResourceFlavor", "ClusterQueue", "Cohort"),
    check=check,
    needs=frozenset({Need.KNOWN_NODES}),
    reads=("ClusterQueue", "Cohort", "NodePool"),
)
