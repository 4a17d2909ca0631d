"""Checks the sums of guarantees and limits of the teams on a pool.

The rules are those of docs/semantics.md: guarantee ≤ limit ≤ the parent's limit ≤ available,
Σ children's guarantees ≤ the parent's, Σ root guarantees ≤ available.
"""

from collections.abc import Iterator, Mapping, Sequence

from policygen.core.finding import At, Hit
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, Vector, amount_of, total
from policygen.plan.pool import PoolFacts
from policygen.plan.shares import Bound, Share, children_of, written_units
from policygen.spec.types import Bounds, Quota, Team

_SHOWN_TEAMS = 6


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
            yield from self._below_available(roots)
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
                if self._follows(resource, below, [quota]):
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
            if limit[resource] > wider[resource]:
                if self._follows(resource, above, [quota]):
                    continue
                above.add(resource)
                rule = rules.LIMIT_ABOVE_AVAILABLE
                has = amount_of(resource, limit[resource], wider[resource])
                most = amount_of(resource, wider[resource], limit[resource])
                message = (
                    f'team "{team.name}" has the limit {has}, but pool "{self.facts.name}" has only '
                    f"{most}; lower the limit"
                )
                if team.parent is not None:
                    rule = rules.LIMIT_ABOVE_PARENT
                    message = (
                        f'team "{team.name}" has the limit {has}, but its parent "{team.parent}" has '
                        f'the limit {most}; lower the limit of "{team.name}"'
                    )
                yield Hit(
                    rule,
                    message,
                    self._place(quota, resource, "limit"),
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

    def _below_available(self, roots: Sequence[Team]) -> Iterator[Hit]:
        together = self._together(roots)
        involved = [self.quotas[team.name] for team in roots]
        names = ", ".join(f'"{team.name}"' for team in roots[:_SHOWN_TEAMS])
        if len(roots) > _SHOWN_TEAMS:
            names += f" and {len(roots) - _SHOWN_TEAMS} more"
        broken: set[str] = set()
        for resource in self._units_first():
            available = self.facts.available[resource]
            if together[resource] <= available or self._follows(resource, broken, involved):
                continue
            broken.add(resource)
            yield Hit(
                rules.GUARANTEES_ABOVE_AVAILABLE,
                f'pool "{self.facts.name}" has {amount_of(resource, available, together[resource])} '
                f"available, but the guarantees of root teams ({names}) sum to "
                f"{amount_of(resource, together[resource], available)}; lower the guarantees",
                self._place(self._largest(roots, resource), resource, "guarantee"),
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


def _own(quota: Quota, resource: str) -> Bounds:
    """The bounds of cpu or memory that a quota writes."""
    return quota.cpu if resource == CPU else quota.memory


def _of(own: Bounds, bound: Bound) -> int | None:
    """One of two bounds."""
    return own.guarantee if bound == "guarantee" else own.limit
