"""The quotas of a flavor add up to more than its nodes have."""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec import Struct

from policygen.core.amounts import amount_of, readable, sums, written
from policygen.core.finding import THERE, At
from policygen.core.quoting import listed, some
from policygen.kubernetes.kueue import ResourceFlavorView
from policygen.kubernetes.node_groups import NATIVE
from policygen.kubernetes.table import Entry
from policygen.lint import replaced_queues
from policygen.lint.core.known_nodes import daemons, node_index
from policygen.lint.core.pod_demands import READS as READS_OF_PODS
from policygen.lint.core.resource_names import extended
from policygen.lint.kueue.configuration import settings
from policygen.lint.kueue.coverage import pod_requests, refused, vendor
from policygen.lint.kueue.flavor_nodes import nodes
from policygen.lint.kueue.node_pools import flavors_with_more_nodes
from policygen.lint.kueue.quotas import PlacedQuota, left_of, nominal_quotas
from policygen.lint.kueue.rules.quota_unlimited import is_unlimited
from policygen.lint.rule import (
    Edit,
    Facts,
    Family,
    Hit,
    Hits,
    Need,
    ObjectRule,
    Severity,
    Verb,
)

_NODES = 3
"""The most nodes that are related places."""
_QUOTAS = 5
"""The most quotas in a message."""


class _FlavorExcess(Struct, frozen=True, eq=False):
    """A resource of a flavor whose quotas add up to more than its nodes have."""

    resource: str
    total: Fraction
    have: Fraction
    cells: Sequence[PlacedQuota]
    """The quotas, the largest first."""
    used: Sequence[str]
    """The DaemonSets that hold some of it."""
    before: str
    """The beginning of a remedy, such as the reason why nodes offer too little; else ""."""
    instead: list[str]
    """The resources of the same vendor that the nodes have, if they have none of this one."""

    @property
    def is_plain(self) -> bool:
        """Whether nodes are missing, or quotas too large: one cause can be that of several resources."""
        return not (self.used or self.before or self.instead)


def check(facts: Facts) -> Hits:
    """Kueue admits workloads whose pods stay Pending. A Cohort's quota adds to its members'.

    Kueue does not count the pods of DaemonSets, which leave fewer devices for its workloads.
    Without nodes, a flavor has the devices of the spec's pools that it selects. The resources of a flavor
    are one hit, because a missing node is a cause for all of them.
    Source: issues 2665, 1651, 5289.
    """
    growing, limits_all = (
        facts.cluster.derive(flavors_with_more_nodes),
        "quota-unlimited" in facts.run,
    )
    made = settings(facts).makes
    by_flavor: dict[str, list[tuple[str, Sequence[PlacedQuota]]]] = {}
    for (name, resource), placed in facts.cluster.derive(nominal_quotas).items():
        cells = [it for it in placed if not is_unlimited(it)] if limits_all else placed
        # node-pool-below-quotas reports flavors whose nodes are created on demand.
        if cells and resource != "pods" and not made(resource) and name not in growing:
            by_flavor.setdefault(name, []).append((resource, cells))
    for name, quotas in by_flavor.items():
        flavor = facts.cluster.flavors.get(name)
        if flavor is None:
            continue  # flavor-missing reports it
        who, own, related = _capacity(facts, flavor)
        excesses = _excesses(facts, flavor, quotas, own, is_of_nodes=bool(related)) if who else ()
        joined: dict[str, list[_FlavorExcess]] = {}
        for it in sorted(excesses, key=lambda it: (not extended(it.resource), it.resource)):
            joined.setdefault("" if it.is_plain else it.resource, []).append(it)
        yield from (_hit(facts, flavor, who, it, related) for it in joined.values())


def _excesses(
    facts: Facts,
    flavor: Entry[ResourceFlavorView],
    quotas: Iterable[tuple[str, Sequence[PlacedQuota]]],
    own: Mapping[str, Fraction],
    *,
    is_of_nodes: bool,
) -> Iterator[_FlavorExcess]:
    """The resources of a flavor whose quotas exceed the nodes."""
    for resource, cells in quotas:
        total = Fraction(sum(it.quota.nominal_quota for it in cells))
        used = facts.derive(_used_by_daemons).get((flavor.name, resource), {})
        have = max(own.get(resource, Fraction(0)) - sum(used.values()), Fraction(0))
        unlisted = resource in NATIVE or not is_of_nodes
        if (unlisted and resource not in own) or total <= have:
            continue  # every node has the native ones
        if replaced_queues.are_reported(facts, (it.owner.object for it in cells)):
            continue  # rendered-object-replaced proposes to remove the queue
        ordered = sorted(cells, key=lambda it: -it.quota.nominal_quota)
        instead = [] if have else _of_vendor(resource, own)
        if instead and any(
            not facts.derive(_not_covered).get(it.owner.at, set()).isdisjoint(instead)
            for it in cells
        ):
            continue  # request-not-covered proposes the other resource
        yield _FlavorExcess(
            resource, total, have, ordered, [*used], _lost(facts, flavor, resource), instead
        )


def _not_covered(facts: Facts) -> Mapping[At, set[str]]:
    """The resources that request-not-covered reports, by their ClusterQueue; use it with `facts.derive`."""
    found: dict[At, set[str]] = {}
    for request in pod_requests(facts) if "request-not-covered" in facts.run else ():
        if names := set(refused(facts, request)):
            found.setdefault(request.queue.at, set()).update(names)
    return found


def _hit(
    facts: Facts,
    flavor: Entry[ResourceFlavorView],
    who: str,
    found: Sequence[_FlavorExcess],
    related: Sequence[At],
) -> Hit:
    """One hit for all these resources."""
    first, *more = found
    cells = [it for one in found for it in one.cells]
    by_owner: dict[At, list[PlacedQuota]] = {}
    for it in [it for it in cells if it.owner.at not in facts.cluster.context] or cells:
        by_owner.setdefault(it.owner.at, []).append(it)
    beside = f" beside {some([*first.used], 'DaemonSet', 2)}" if first.used else ""
    heads = [own[0].at / "nominalQuota" for own in by_owner.values()]
    others = [it.at / "nominalQuota" for own in by_owner.values() for it in own[1:]]
    owners = {it.owner.at: it.owner.object for it in cells}
    totals, have = sums((it.resource, it.total, it.have) for it in found)
    words = amount_of if more else readable
    parts = [
        listed([words(it.resource, Fraction(it.quota.nominal_quota)) for it in own], "and")
        for own in by_owner.values()
    ]
    return Hit(
        RULE,
        f"the quotas of {flavor} add up to {totals}{_parts(facts, found, [*by_owner.values()], parts)},"
        f"{_beside(facts, found)} but {who} {have}{beside}; "
        f"{replaced_queues.advice(owners.values())}{_unused(facts, by_owner.values())}{first.before}{_remedy(found, are_one=len(owners) == 1)}",
        heads[0],
        related=(*heads[1:], *others, flavor.at, *related),
        meant=tuple(it for one in found for it in _lowered(one)),
    )


def _lowered(it: _FlavorExcess) -> Iterator[Edit]:
    """What was probably meant by quotas that alone exceed the nodes: what the others leave."""
    amounts = (one.quota.nominal_quota for one in it.cells)
    others = sum((amount for amount in amounts if amount <= it.have), Fraction(0))
    meant = written(it.resource, left_of(it.have, others))
    for one in it.cells:
        if one.quota.nominal_quota > it.have > 0:
            yield Edit(Verb.REWRITE, one.at / "nominalQuota", meant)


def _unused(facts: Facts, by_owner: Collection[Sequence[PlacedQuota]]) -> str:
    """The beginning of a remedy if a flavor that no queue uses has room for the quotas of one owner; else ""."""
    in_use = {name for name, _ in facts.cluster.derive(nominal_quotas)}
    for flavor in facts.cluster.flavors:
        have = facts.cluster.derive(nodes)[flavor.name].total
        for cells in by_owner if flavor.name not in in_use and len(by_owner) > 1 else ():
            if all(it.quota.nominal_quota <= have.get(it.quota.name, -1) for it in cells):
                return f"write flavor {flavor.name}, which no queue uses, in {cells[0].owner}, or "
    return ""


def _used_by_daemons(facts: Facts) -> Mapping[tuple[str, str], Mapping[str, Fraction]]:
    """The devices that DaemonSets hold on the nodes of each flavor, by their names; use it with `facts.derive`."""
    found: dict[tuple[str, str], dict[str, Fraction]] = {}
    pods = [
        it for it in facts.derive(daemons) if any(extended(name) for name, _ in it.demand.requests)
    ]
    index = facts.derive(node_index)
    for flavor in facts.cluster.flavors if pods else ():
        nodes_of_flavor = index.all
        for key, value in flavor.fields.node_labels.items():
            nodes_of_flavor &= index.values(key).get(value, 0)
        for it in pods:
            count = sum(node.count for _, node in index.entries(it.nodes & nodes_of_flavor))
            for name, amount in it.demand.requests if count else ():
                if extended(name):
                    users = found.setdefault((flavor.name, name), {})
                    users[str(it.workload)] = amount * count
    return found


def _parts(
    facts: Facts,
    found: Sequence[_FlavorExcess],
    by_owner: Sequence[Sequence[PlacedQuota]],
    amounts: Sequence[str],
) -> str:
    """The quotas of each owner, the largest first, with the places of those that are not reported at."""
    first = by_owner[0][0].owner
    if len({it.owner.at for one in found for it in one.cells}) == 1:
        return f", all in {first}"
    with_places = facts.cluster.seen is None and first.at not in facts.cluster.context
    parts = [
        f"{own[0].owner} has {amount}{f' at {THERE}' if i and with_places else ''}"
        for i, (own, amount) in enumerate(zip(by_owner, amounts, strict=True))
    ]
    return f" ({some(parts, 'other quota', _QUOTAS)})"


def _lost(facts: Facts, flavor: Entry[ResourceFlavorView], resource: str) -> str:
    """The beginning of a remedy if nodes have devices that their kubelet does not offer; else ""."""
    lost = [
        it
        for it in facts.cluster.derive(nodes)[flavor.name].nodes
        if extended(resource)
        and it.fields.status.allocatable.get(resource, 0)
        < it.fields.status.capacity.get(resource, 0)
    ]
    if not lost:
        return ""
    offer = "offers" if len(lost) == 1 else "offer"
    amounts = [
        sum((of.get(resource, Fraction(0)) for of in each), Fraction(0))
        for each in (
            [it.fields.status.allocatable for it in lost],
            [it.fields.status.capacity for it in lost],
        )
    ]
    return (
        f"find out why {some([str(it) for it in lost], 'other node', 2)} {offer} only {readable(resource, amounts[0])} "
        f"of {amount_of(resource, amounts[1])}, for example in the device plugin, otherwise "
    )


def _remedy(found: Sequence[_FlavorExcess], *, are_one: bool) -> str:
    """How to lower the quotas; `are_one`: they are in one object."""
    first, *more = found
    if first.instead:
        return f"cover {listed(first.instead)}, which the nodes have, instead of {first.resource}"
    lower = [it.have if are_one else it.total - it.have for it in found]
    amounts = [
        written(it.resource, amount) + (f" {it.resource}" if more else "")
        for it, amount in zip(found, lower, strict=True)
    ]
    if are_one:
        return f"lower nominalQuota to {listed(amounts, 'and')}, or add nodes"
    return f"lower nominalQuota by {listed(amounts, 'and')} in total, or add nodes"


def _of_vendor(resource: str, amounts: Mapping[str, Fraction]) -> list[str]:
    """The other resources of a resource's vendor that nodes have, such as MIG instances for nvidia.com/gpu."""
    own = vendor(resource)
    return sorted(it for it, amount in amounts.items() if own and amount and vendor(it) == own)


def _beside(facts: Facts, found: Sequence[_FlavorExcess]) -> str:
    """How much of the sums is not in the manifests, if they have both."""
    amounts = []
    for one in found:
        others = [it for it in one.cells if it.owner.at in facts.cluster.context]
        if others and len(others) < len(one.cells):
            amount = Fraction(sum(it.quota.nominal_quota for it in others))
            amounts.append(amount_of(one.resource, amount))
    if not amounts:
        return ""
    applied = facts.state is not None and facts.state.seen is not None
    where = "the spec renders or the cluster has" if applied else "the spec renders"
    return f" with {listed(amounts, 'and')} of queues that {where},"


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
    reads=tuple(
        dict.fromkeys(
            (
                "AdmissionCheck",
                "Cohort",
                "Configuration",
                "DaemonSet",
                "NodePool",
                "ProvisioningRequestConfig",
                *READS_OF_PODS,
            )
        )
    ),
)
