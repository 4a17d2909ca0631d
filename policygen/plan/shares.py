"""Guarantee and limit of every team on one pool, and the sums that they must keep.

The rules are those of docs/semantics.md: guarantee ≤ limit ≤ the parent's limit ≤ available,
Σ children's guarantees ≤ the parent's, Σ root guarantees ≤ available.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from policygen.finding import At, Hit
from policygen.plan.amounts import CPU, MEMORY, Vector, apportion, text, total
from policygen.plan.pool import PoolFacts
from policygen.spec.echo import quoted
from policygen.spec.types import WHOLE, Amounts, Bounds, Quota, Team

_SHOWN_TEAMS = 6

_Bound = Literal["guarantee", "limit"]
"""A field of a quota, and of its cpu and memory."""


class Share(Struct, frozen=True):
    """Guarantee and limit of one team on one pool."""

    guarantee: dict[str, int]
    limit: dict[str, int]


_Units = tuple[dict[str, int], dict[str, int]]
"""Guarantee of every resource, and limit of those that have one written."""


Order = Mapping[str, tuple[int, Team]]
"""Every team with its rank, parents first."""


def in_order(names: Iterable[str], order: Order) -> list[Team]:
    """Teams by rank, without a look at all the others."""
    return [team for _, team in sorted(order[name] for name in names if name in order)]


def children_of(teams: Iterable[Team]) -> dict[str | None, list[Team]]:
    """Teams by the name of their parent."""
    children: dict[str | None, list[Team]] = {}
    for team in teams:
        children.setdefault(team.parent, []).append(team)
    return children


class Shares:
    """Works out guarantee and limit of every team on one pool."""

    def __init__(
        self,
        facts: PoolFacts,
        order: Order,
        quotas: Mapping[str, Quota],
        hits: list[Hit],
    ) -> None:
        self.facts = facts
        self.order = in_order(quotas, order)
        self.children = children_of(self.order)
        self.quotas = quotas
        self.hits = hits
        self.shares: dict[str, Share] = {}
        self.exceeded = False

    def all(self) -> dict[str, Share]:
        """Every team's share, parents first; faults go to `hits`."""
        units: dict[str, _Units] = {}
        for team in self.order:
            before = len(self.hits)
            counted = self._units(self.quotas[team.name])
            if len(self.hits) == before:
                units[team.name] = counted
        self.order = [team for team in self.order if team.name in units]
        roots = [team for team in self.order if team.parent is None]
        self._by_weight(roots, units)
        root_limits = self._overcommitted(roots, units)
        for team in self.order:
            quota = self.quotas[team.name]
            above = self.shares.get(team.parent) if team.parent is not None else None
            if team.parent is not None and above is None:
                if team.parent not in self.quotas:
                    self._hit(
                        "parent-without-quota",
                        f'team "{team.name}" has a share of pool "{self.facts.name}", and its '
                        f'parent "{team.parent}" has none to give; add the pool to the '
                        "parent's quotas",
                        quota.field("pool"),
                    )
                continue
            wider = above.limit if above else self.facts.available
            guarantee = self.facts.vector(
                units[team.name][0], quota.cpu.guarantee, quota.memory.guarantee
            )
            limit = dict(wider)
            limit_units = {**root_limits.get(team.name, {}), **units[team.name][1]}
            if limit_units:
                whole = {name: wider[name] for name in self.facts.resources}
                limit = self.facts.vector({**whole, **limit_units})
                # What merely comes along with the units gives way to a parent's own words.
                limit[CPU] = min(limit[CPU], wider[CPU])
                limit[MEMORY] = min(limit[MEMORY], wider[MEMORY])
            if quota.cpu.limit is not None:
                limit[CPU] = quota.cpu.limit
            if quota.memory.limit is not None:
                limit[MEMORY] = quota.memory.limit
            self.shares[team.name] = Share(guarantee, limit)
            self._bounds(team, guarantee, limit, wider)
        self._sums()
        return self.shares

    def _hit(self, rule: str, message: str, at: At) -> None:
        self.hits.append(Hit(rule, message, at))

    def _units(self, quota: Quota) -> _Units:
        nothing = dict.fromkeys(self.facts.resources, 0)
        guarantee = {**nothing, **self._counted(quota, "guarantee")}
        return guarantee, self._counted(quota, "limit")

    def _counted(self, quota: Quota, bound: _Bound) -> dict[str, int]:
        """Units by resource, after a look at how the pool is counted."""
        profiles = self.facts.profiles
        amounts = _amounts(quota, bound)
        given = dict(amounts)
        at = quota.field(bound)
        if profiles == (WHOLE,) and set(given) - {WHOLE}:
            self._hit(
                "counted-by-profile",
                f'pool "{self.facts.name}" counts one resource, {self.facts.resources[0]}; '
                f"write {bound} as a number",
                at,
            )
        elif profiles != (WHOLE,) and WHOLE in given:
            example = ", ".join(f"{profile}: {given[WHOLE]}" for profile in profiles[:1])
            self._hit(
                "counted-by-profile",
                f'pool "{self.facts.name}" counts instances of {", ".join(profiles)}; '
                f"write {bound} by profile, such as {{{example}}}",
                at,
            )
        else:
            for profile in set(given) - set(profiles):
                self._hit(
                    "unknown-mig-profile",
                    f'pool "{self.facts.name}" has no {quoted(profile)}; it has {", ".join(profiles)}',
                    (at / profile).on_key(),
                )
        return self.facts.units(amounts)

    def _by_weight(self, roots: Sequence[Team], units: Mapping[str, _Units]) -> None:
        """Guarantees that are their weight's share of what is available (the articles' queues)."""
        sharing = [team.name for team in roots if self.quotas[team.name].guarantee is None]
        if not sharing:
            return
        for resource in self.facts.resources:
            taken = sum(units[team.name][0][resource] for team in roots)
            free = max(0, self.facts.available[resource] - taken)
            weights = [self.quotas[name].weight for name in sharing]
            parts = apportion(free, weights, [0] * len(sharing), [free] * len(sharing))
            for name, part in zip(sharing, parts or (), strict=True):
                units[name][0][resource] = part

    def _overcommitted(
        self, roots: Sequence[Team], units: Mapping[str, _Units]
    ) -> dict[str, dict[str, int]]:
        """Limits of root teams that wrote none, where the pool bounds the sum of limits."""
        ratio = self.facts.policy.overcommit_ratio
        limits: dict[str, dict[str, int]] = {team.name: {} for team in roots}
        if ratio is None:
            return limits
        for resource in self.facts.resources:
            available = self.facts.available[resource]
            product = int(available * ratio)
            silent = [team.name for team in roots if resource not in units[team.name][1]]
            written = sum(units[team.name][1].get(resource, 0) for team in roots)
            floors = [units[name][0][resource] for name in silent]
            weights = [self.quotas[name].weight for name in silent]
            parts = apportion(max(0, product - written), weights, floors, [available] * len(silent))
            if written > product or parts is None:
                self._hit(
                    "overcommit-exceeded",
                    f"limits and guarantees of root teams need {written + sum(floors)} "
                    f"{resource}, and overcommitRatio {float(ratio):g} of {available} "
                    f"allows {product}; lower them or raise the ratio",
                    self.facts.pool.at / "spec" / "schedulingPolicy" / "overcommitRatio",
                )
                self.exceeded = True
                continue
            for name, part in zip(silent, parts, strict=True):
                limits[name][resource] = part
        return limits

    def _bounds(self, team: Team, guarantee: Vector, limit: Vector, wider: Vector) -> None:
        quota = self.quotas[team.name]
        rule, whose = "limit-above-available", "what the pool has"
        if team.parent is not None:
            rule, whose = "limit-above-parent", f'that of its parent "{team.parent}"'
        below: set[str] = set()
        above: set[str] = set()
        for resource in self._units_first():
            # Above a limit that is just the wider one, it is the sums that break.
            own = limit[resource] != wider[resource] or self._written(quota, resource, "limit")
            if guarantee[resource] > limit[resource] and own:
                if self._follows(resource, below, [quota]):
                    continue
                below.add(resource)
                self._hit(
                    "limit-below-guarantee",
                    f'team "{team.name}" is guaranteed {text(resource, guarantee[resource])} '
                    f"{resource} and limited to {text(resource, limit[resource])}; "
                    "raise the limit or lower the guarantee",
                    self._place(quota, resource, "limit"),
                )
            if limit[resource] > wider[resource]:
                if self._follows(resource, above, [quota]):
                    continue
                above.add(resource)
                self._hit(
                    rule,
                    f'team "{team.name}" has the limit {text(resource, limit[resource])} '
                    f"{resource}, above {whose}, {text(resource, wider[resource])}; lower it",
                    self._place(quota, resource, "limit"),
                )

    def _sums(self) -> None:
        for team in self.order:
            children = [
                child for child in self.children.get(team.name, ()) if child.name in self.shares
            ]
            if team.name in self.shares and children:
                self._below_parent(team, children)
        roots = [team for team in self.order if team.parent is None and team.name in self.shares]
        if roots:
            self._below_available(roots)
            self._below_ratio(roots)

    def _below_parent(self, team: Team, children: Sequence[Team]) -> None:
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
            self._hit(
                "guarantees-above-parent",
                f'child teams of "{team.name}" are guaranteed '
                f"{text(resource, together[resource])} {resource} of pool "
                f'"{self.facts.name}" together, and it has only '
                f"{text(resource, guarantee[resource])}; raise its guarantee or lower theirs",
                self._place(blamed, resource, "guarantee"),
            )

    def _below_available(self, roots: Sequence[Team]) -> None:
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
            self._hit(
                "guarantees-above-available",
                f'pool "{self.facts.name}" has {text(resource, available)} {resource} '
                f"available, and root teams ({names}) are guaranteed "
                f"{text(resource, together[resource])}; lower guarantees",
                self._place(self._largest(roots, resource), resource, "guarantee"),
            )

    def _below_ratio(self, roots: Sequence[Team]) -> None:
        """The pool's overcommit ratio binds cpu and memory too, where limits of them are written."""
        ratio = self.facts.policy.overcommit_ratio
        if ratio is None or self.exceeded:
            return
        for resource in (CPU, MEMORY):
            writers = [
                team for team in roots if _own(self.quotas[team.name], resource).limit is not None
            ]
            together = sum(self.shares[team.name].limit[resource] for team in roots)
            product = int(self.facts.available[resource] * ratio)
            if writers and together > product:
                last = max(writers, key=lambda team: self.shares[team.name].limit[resource])
                self._hit(
                    "overcommit-exceeded",
                    f"limits of root teams sum to {text(resource, together)} {resource}, and "
                    f"overcommitRatio {float(ratio):g} allows {text(resource, product)} of pool "
                    f'"{self.facts.name}"; lower them or raise the ratio',
                    self.quotas[last.name].field(resource) / "limit",
                )

    def _together(self, teams: Sequence[Team]) -> dict[str, int]:
        return total(self.facts.keys, [self.shares[team.name].guarantee for team in teams])

    def _units_first(self) -> tuple[str, ...]:
        """All resources, those first that the others come along with."""
        return (*self.facts.resources, CPU, MEMORY)

    def _follows(self, resource: str, broken: set[str], quotas: Sequence[Quota]) -> bool:
        """Whether cpu or memory break a rule only since the units do that they come along with."""
        if resource not in (CPU, MEMORY) or broken <= {CPU, MEMORY}:
            return False
        own = [_own(quota, resource) for quota in quotas]
        return all(bounds.guarantee is None and bounds.limit is None for bounds in own)

    def _largest(self, teams: Sequence[Team], resource: str) -> Quota:
        """The quota with the largest guarantee, of those that write one if there are any."""
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

    def _written(self, quota: Quota, resource: str, bound: _Bound) -> bool:
        """Whether a quota says this itself, or units that it comes along with."""
        amounts = _amounts(quota, bound)
        if resource in (CPU, MEMORY):
            return _of(_own(quota, resource), bound) is not None or bool(amounts)
        return resource in self.facts.units(amounts)

    def _place(self, quota: Quota, resource: str, bound: _Bound) -> At:
        """Where a quota says how much of a resource; its other bound where it says only that."""
        other: _Bound = "guarantee" if bound == "limit" else "limit"
        if resource in (CPU, MEMORY):
            for said in (bound, other):
                if _of(_own(quota, resource), said) is not None:
                    return quota.field(resource) / said
            return quota.field(bound if _amounts(quota, bound) else other)
        profile = self.facts.profiles[self.facts.resources.index(resource)]
        for said in (bound, other):
            if profile in dict(_amounts(quota, said)):
                return quota.field(said) / profile if profile else quota.field(said)
        return quota.field(bound)


def _amounts(quota: Quota, bound: _Bound) -> Amounts:
    """The units that a quota writes."""
    return (quota.guarantee if bound == "guarantee" else quota.limit) or ()


def _own(quota: Quota, resource: str) -> Bounds:
    """What a quota itself says of cpu or memory."""
    return quota.cpu if resource == CPU else quota.memory


def _of(own: Bounds, bound: _Bound) -> int | None:
    """One of two bounds."""
    return own.guarantee if bound == "guarantee" else own.limit
