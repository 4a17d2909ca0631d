"""Checks the sums of guarantees and limits of the teams on a pool.

The rules are those of docs/semantics.md: guarantee ≤ limit ≤ the parent's limit ≤ available,
Σ children's guarantees ≤ the parent's, Σ root guarantees ≤ available.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from policygen.core.finding import At, Hit
from policygen.core.quoting import listed, some
from policygen.hardware import catalog
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, Vector, amount_of, total
from policygen.plan.pool import PoolFacts
from policygen.plan.shares import Bound, Share, children_of, written_units
from policygen.spec.types import Bounds, Quota, Team

_SHOWN_TEAMS = 6
_OF_GPUS = (rules.MIG_INSTANCES_FEW, rules.PER_NODE_CONTRADICTS_NODE_TYPE)
_CAUSES = {
    rules.GUARANTEES_ABOVE_AVAILABLE.name: _OF_GPUS,
    rules.LIMIT_ABOVE_AVAILABLE.name: _OF_GPUS,
    rules.CONTAINER_DEFAULTS_EXCEED_NODE.name: (rules.NODE_ALLOCATABLE_IMPLAUSIBLE,),
}
"""What can be the cause of a finding about what exceeds a pool, by the names of the rules."""


def joined(hits: Sequence[Hit], pools: Iterable[PoolFacts]) -> list[Hit]:
    """The hits, but those about one pool that have one cause only once.

    The cause is a number of the pool, such as the MIG instances or the GPUs of a node: with another
    one, the sums could be right. The message about what exceeds the pool then includes the one about
    the number.
    """
    few = {it.pool.at.document for it in pools if _has_few_gpus(it)}
    causes = {
        (it.rule.name, it.at.document): it
        for it in hits
        if it.at and (it.rule is not rules.PER_NODE_CONTRADICTS_NODE_TYPE or it.at.document in few)
    }
    found: list[Hit] = []
    included: set[int] = set()
    for hit in hits:
        names = [it.name for it in _CAUSES.get(hit.rule.name, ())] if hit.related else []
        cause = next(
            (causes[key] for it in names if (key := (it, hit.related[0].document)) in causes), None
        )
        if cause is None:
            found.append(hit)
        elif id(cause) not in included:
            included.add(id(cause))
            found.append(
                hit._replace(message=f"{hit.message.rpartition('; ')[0]}; {cause.message}")
            )
    return [it for it in found if id(it) not in included]


def _has_few_gpus(facts: PoolFacts) -> bool:
    """Whether the spec states fewer GPUs for a node than its node type has."""
    shape = catalog.shape(facts.pool.capacity.node_type or "")
    return shape is not None and facts.per_node < shape.gpus


class Sums:
    """Checks the shares of one pool."""

    def __init__(
        self,
        facts: PoolFacts,
        teams: Sequence[Team],
        quotas: Mapping[str, Quota],
        shares: Mapping[str, Share],
    ) -> None:
        self.facts = facts
        self.order = [team for team in teams if team.name in shares]
        """Parents first."""
        self.children = children_of(self.order)
        self.quotas = quotas
        self.shares = shares

    def faults(self, *, ratio_exceeded: bool) -> Iterator[Hit]:
        """Every bound and sum that is exceeded.

        `ratio_exceeded`: overcommitRatio is already known to be exceeded, and not reported again.
        """
        for team in self.order:
            above = self.shares[team.parent] if team.parent is not None else None
            yield from self._bounds(team, above.limit if above else self.facts.available)
            if team.name in self.children:
                yield from self._below_parent(team, self.children[team.name])
        if roots := self.children.get(None):
            exceeded = self._exceeded(roots)
            if exceeded:
                yield self._above_available(roots, exceeded)
            yield from self._limits(roots, skipped=exceeded)
            if not ratio_exceeded:
                yield from self._below_ratio(roots)

    def _bounds(self, team: Team, wider: Vector) -> Iterator[Hit]:
        quota, share = self.quotas[team.name], self.shares[team.name]
        guarantee, limit = share.guarantee, share.limit
        below: set[str] = set()
        above: set[str] = set()
        for resource in self._units_first():
            # If the limit is just inherited, the sums report the fault.
            own = limit[resource] != wider[resource] or self._written(quota, resource, "limit")
            if guarantee[resource] > limit[resource] and own:
                if self._follows(resource, below, [quota]) or _is_derived(quota, resource):
                    continue
                below.add(resource)
                yield Hit(
                    rules.LIMIT_BELOW_GUARANTEE,
                    f'team "{team.name}" has the limit '
                    f"{amount_of(resource, limit[resource], guarantee[resource])}, below its guarantee of "
                    f"{amount_of(resource, guarantee[resource], limit[resource])}; raise the limit or lower "
                    "the guarantee",
                    self._place(quota, resource, "limit"),
                )
            if team.parent is not None and limit[resource] > wider[resource]:
                if self._follows(resource, above, [quota]):
                    continue
                above.add(resource)
                has = amount_of(resource, limit[resource], wider[resource])
                most = amount_of(resource, wider[resource], limit[resource])
                yield Hit(
                    rules.LIMIT_ABOVE_PARENT,
                    f'team "{team.name}" has the limit {has}, but its parent "{team.parent}" has '
                    f'the limit {most}; lower the limit of "{team.name}"',
                    self._place(quota, resource, "limit"),
                )

    def _above(self, roots: Sequence[Team], resource: str) -> list[Team]:
        """The root teams with a limit above the pool that does not follow from another resource."""
        most = self.facts.available[resource]
        units = {it for it in self.facts.resources if any(self._over(team, it) for team in roots)}
        return [
            team
            for team in roots
            if self.shares[team.name].limit[resource] > most
            and not self._follows(resource, units, [self.quotas[team.name]])
        ]

    def _over(self, team: Team, resource: str) -> bool:
        return self.shares[team.name].limit[resource] > self.facts.available[resource]

    def _limits(self, roots: Sequence[Team], skipped: Collection[str]) -> Iterator[Hit]:
        """The limits of root teams above the pool: one hit for each resource."""
        for resource in self._units_first():
            above = self._above(roots, resource) if resource not in skipped else ()
            if not above:
                continue
            available = self.facts.available[resource]
            limits = {it.name: self.shares[it.name].limit[resource] for it in above}
            first = above[0].name
            pool = (
                f'pool "{self.facts.name}" has only {amount_of(resource, available, limits[first])}'
            )
            message = f'team "{first}" has the limit {amount_of(resource, limits[first], available)}, but {pool}; lower the limit'
            if len(above) > 1:
                names = [
                    f'"{name}" ({amount_of(resource, limit, available)})'
                    for name, limit in limits.items()
                ]
                message = f"the limits of teams {some(names, 'other team')} are too high, because {pool}; lower the limits, or add nodes to the pool"
            yield Hit(
                rules.LIMIT_ABOVE_AVAILABLE,
                message,
                self._place(self.quotas[first], resource, "limit"),
                related=(self.facts.pool.at,),
            )

    def _below_parent(self, team: Team, children: Sequence[Team]) -> Iterator[Hit]:
        quota, guarantee = self.quotas[team.name], self.shares[team.name].guarantee
        involved = [quota, *(self.quotas[child.name] for child in children)]
        together = self._together(children)
        broken: set[str] = set()
        for resource in self._units_first():
            if together[resource] <= guarantee[resource]:
                continue
            if self._follows(resource, broken, involved):
                continue
            broken.add(resource)
            blamed = quota
            if not self._written(quota, resource, "guarantee"):
                blamed = self._largest(children, resource)
            yield Hit(
                rules.GUARANTEES_ABOVE_PARENT,
                f'the guarantees of the child teams of "{team.name}" on pool "{self.facts.name}" '
                f"sum to {amount_of(resource, together[resource], guarantee[resource])}, but the "
                f'guarantee of "{team.name}" is '
                f"{amount_of(resource, guarantee[resource], together[resource])}; raise the guarantee "
                f'of "{team.name}", or lower the guarantees of its child teams',
                self._place(blamed, resource, "guarantee"),
            )

    def _exceeded(self, roots: Sequence[Team]) -> list[str]:
        """The resources of which the guarantees of root teams need more than the pool has."""
        together = self._together(roots)
        involved = [self.quotas[team.name] for team in roots]
        broken: list[str] = []
        for resource in self._units_first():
            available = self.facts.available[resource]
            if together[resource] > available and not self._follows(resource, {*broken}, involved):
                broken.append(resource)
        return broken

    def _above_available(self, roots: Sequence[Team], exceeded: Sequence[str]) -> Hit:
        """One hit for all resources, which also names limits that lower guarantees would leave too high."""
        together, available = self._together(roots), self.facts.available
        names = ", ".join(f'"{team.name}"' for team in roots[:_SHOWN_TEAMS])
        if len(roots) > _SHOWN_TEAMS:
            names += f" and {len(roots) - _SHOWN_TEAMS} more"
        have = [amount_of(it, available[it], together[it]) for it in exceeded]
        sums = [amount_of(it, together[it], available[it]) for it in exceeded]
        limited = {team.name for it in exceeded for team in self._above(roots, it)}
        remedy = "lower the guarantees"
        if limited:
            limits = "limits of teams" if len(limited) > 1 else "limit of team"
            quoted_names = [f'"{it}"' for it in sorted(limited)]
            remedy += f" and the {limits} {some(quoted_names, 'other team')}"
        return Hit(
            rules.GUARANTEES_ABOVE_AVAILABLE,
            f'pool "{self.facts.name}" has {listed(have, "and")} available, but the guarantees of root '
            f"teams ({names}) sum to {listed(sums, 'and')}; {remedy}, or add nodes to the pool",
            self._place(self._largest(roots, exceeded[0]), exceeded[0], "guarantee"),
            related=(self.facts.pool.at,),
        )

    def _below_ratio(self, roots: Sequence[Team]) -> Iterator[Hit]:
        """Where teams write limits of cpu or memory, overcommitRatio applies to these too."""
        ratio = self.facts.policy.overcommit_ratio
        if ratio is None:
            return
        for resource in (CPU, MEMORY):
            writers = [
                team for team in roots if _own(self.quotas[team.name], resource).limit is not None
            ]
            together = sum(self.shares[team.name].limit[resource] for team in roots)
            product = int(self.facts.available[resource] * ratio)
            if writers and together > product:
                last = max(writers, key=lambda team: self.shares[team.name].limit[resource])
                yield Hit(
                    rules.OVERCOMMIT_EXCEEDED,
                    f"the limits of root teams sum to {amount_of(resource, together, product)}, but "
                    f"overcommitRatio {float(ratio):g} allows only "
                    f'{amount_of(resource, product, together)} in pool "{self.facts.name}"; lower the '
                    "limits, or raise overcommitRatio",
                    self.quotas[last.name].field(resource) / "limit",
                )

    def _together(self, teams: Sequence[Team]) -> dict[str, int]:
        return total(self.facts.keys, [self.shares[team.name].guarantee for team in teams])

    def _units_first(self) -> tuple[str, ...]:
        """All resources, units first, since cpu and memory are derived from them."""
        return (*self.facts.resources, CPU, MEMORY)

    def _follows(self, resource: str, broken: set[str], quotas: Sequence[Quota]) -> bool:
        """Whether cpu or memory exceed a bound only because the units that they are derived from do."""
        if resource not in (CPU, MEMORY) or broken <= {CPU, MEMORY}:
            return False
        own = [_own(quota, resource) for quota in quotas]
        return all(bounds.guarantee is None and bounds.limit is None for bounds in own)

    def _largest(self, teams: Sequence[Team], resource: str) -> Quota:
        """The quota with the largest guarantee. Quotas that write one come first."""
        quotas = {team.name: self.quotas[team.name] for team in teams}
        return quotas[
            max(
                quotas,
                key=lambda name: (
                    self._written(quotas[name], resource, "guarantee"),
                    self.shares[name].guarantee[resource],
                ),
            )
        ]

    def _written(self, quota: Quota, resource: str, bound: Bound) -> bool:
        """Whether a quota writes this bound, or units from which it is derived."""
        units = written_units(quota, bound)
        if resource in (CPU, MEMORY):
            return _of(_own(quota, resource), bound) is not None or bool(units)
        return resource in self.facts.units(units)

    def _place(self, quota: Quota, resource: str, bound: Bound) -> At:
        """The field of a quota with the amount of a resource; its other bound if only that is written."""
        other: Bound = "guarantee" if bound == "limit" else "limit"
        if resource in (CPU, MEMORY):
            for written in (bound, other):
                if _of(_own(quota, resource), written) is not None:
                    return quota.field(resource) / written
            return quota.field(bound if written_units(quota, bound) else other)
        profile = self.facts.profiles[self.facts.resources.index(resource)]
        for written in (bound, other):
            if profile in dict(written_units(quota, written)):
                return quota.field(written) / profile if profile else quota.field(written)
        return quota.field(bound)


def _is_derived(quota: Quota, resource: str) -> bool:
    """Whether both bounds of cpu or memory come from the units: the sums report the fault then."""
    own = _own(quota, resource)
    return resource in (CPU, MEMORY) and own.guarantee is None and own.limit is None


def _own(quota: Quota, resource: str) -> Bounds:
    """The bounds of cpu or memory that a quota writes."""
    return quota.cpu if resource == CPU else quota.memory


def _of(own: Bounds, bound: Bound) -> int | None:
    """One of two bounds."""
    return own.guarantee if bound == "guarantee" else own.limit
