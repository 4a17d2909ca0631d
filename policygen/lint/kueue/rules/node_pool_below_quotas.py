"""The limits of NodePools allow fewer nodes than the quotas of a flavor need."""

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of
from policygen.core.finding import At
from policygen.core.quoting import listed, some
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.table import Entry
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.node_pools import LABEL, NodePool, node_pools
from policygen.lint.kueue.quotas import PlacedQuota, nominal_quotas
from policygen.lint.rule import Facts, Family, Hit, Hits, Need, ObjectRule, Severity

_NODES = "nodes"
"""The limit of the number of nodes."""


class _Room(Struct, frozen=True, eq=False):
    """What the nodes of a flavor can have at most, if all its NodePools have a limit."""

    others: Mapping[str, Fraction]
    """What nodes have that Karpenter did not add."""
    per_node: Mapping[str, Fraction]
    """The most that a known node has."""
    pools: Sequence[NodePool]

    def most(self, resource: str) -> tuple[Fraction, Sequence[At]] | None:
        """The amount, and the limits that it follows from; None without limit."""
        total, places = self.others.get(resource, Fraction(0)), []
        for pool in self.pools:
            bounds = {
                key: amount * (self.per_node[resource] if key == _NODES else 1)
                for key, amount in pool.fields.limits.items()
                if key == resource or (key == _NODES and resource in self.per_node)
            }
            if not bounds:
                return None
            key = min(bounds, key=bounds.__getitem__)
            total += bounds[key]
            places.append(pool.at.to("spec", "limits", key))
        return total, places


def check(facts: Facts) -> Hits:
    """Kueue admits workloads for which Karpenter adds no node.

    Source: website/content/en/docs/concepts/nodepools.md of Karpenter, "spec.limits"; issue 1651 of Kueue.
    """
    makers = facts.cluster.derive(node_pools)
    for flavor in facts.cluster.flavors:
        if not makers.get(flavor.name):
            continue
        room = _room(facts, flavor, makers[flavor.name])
        places: dict[At, str] = {}
        for resource, cells in _quotas(facts, flavor.name):
            total, most = Fraction(sum(it.quota.nominal_quota for it in cells)), room.most(resource)
            if most is None or total <= most[0] or places.keys() >= {*most[1]}:
                continue  # the same limit of nodes is too low for cpu and memory, too
            allowed, at = most
            places |= dict.fromkeys(at, resource)
            yield Hit(
                RULE,
                f"the nodes of {some([f'{it}' for it in room.pools], 'NodePool')} can have "
                f"{amount_of(resource, allowed, total)}, but the quotas of {flavor} add up to "
                f"{amount_of(resource, total, allowed)}; raise {listed(sorted({f'spec.limits.{it.path[-1]}' for it in at}))}, "
                "or lower nominalQuota in the ClusterQueues and Cohorts",
                at[0],
                related=(*at[1:], flavor.at, *(it.at / "nominalQuota" for it in cells)),
            )


def _quotas(facts: Facts, flavor: str) -> Iterator[tuple[str, Sequence[PlacedQuota]]]:
    """The quotas of a flavor by resource, devices first."""
    found = facts.cluster.derive(nominal_quotas)
    for name, resource in sorted(found, key=lambda it: ("/" not in it[1], it[1])):
        if name == flavor and resource != "pods":
            yield resource, found[name, resource]


def _room(facts: Facts, flavor: Entry[ResourceFlavorView], pools: Sequence[NodePool]) -> _Room:
    own = facts.cluster.derive(nodes)[flavor.name]
    names = {it.name for it in pools}
    others: dict[str, Fraction] = {}
    for node in own.nodes:
        if node.labels.get(LABEL) not in names:
            for resource, amount in node.fields.status.allocatable.items():
                others[resource] = others.get(resource, Fraction(0)) + amount
    per_node: dict[str, Fraction] = {}
    for size in own.sizes:
        per_node |= {it: max(amount, per_node.get(it, amount)) for it, amount in size.items()}
    labels = flavor.fields.node_labels.items()
    for pool in facts.plan.pools if facts.plan else ():
        if labels <= dict(pool.pool.node_selector).items():
            for resource in pool.resources:
                known = per_node.get(resource, Fraction(0))
                per_node[resource] = max(known, Fraction(pool.units_per_node))
    return _Room(others, per_node, pools)


RULE = ObjectRule(
    "node-pool-below-quotas",
    Severity.WARNING,
    Family.INERT,
    __doc__,
    remedy="Raise spec.limits of the NodePool to the sum of the quotas, or lower the quotas.",
    judges=("NodePool",),
    check=check,
    needs=frozenset({Need.WHOLE}),
    reads=("ResourceFlavor", "ClusterQueue", "Cohort", "Node"),
)
