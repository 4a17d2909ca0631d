"""Guarantee and limit of every team on one pool: units of the quota, and proportional cpu and memory."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from msgspec import Struct

from policygen.core.finding import At, Hit
from policygen.core.quoting import quoted
from policygen.core.rule import Rule
from policygen.plan import rules
from policygen.plan.amounts import CPU, MEMORY, apportion
from policygen.plan.pool import PoolFacts
from policygen.spec.types import WHOLE, Amounts, Quota, Team

Bound = Literal["guarantee", "limit"]
"""A field of a quota, and of its cpu and memory."""


class Share(Struct, frozen=True):
    """Guarantee and limit of one team on one pool."""

    guarantee: dict[str, int]
    limit: dict[str, int]


_Units = tuple[dict[str, int], dict[str, int]]
"""Guarantee of every resource, and limit of those with a written limit."""


Order = Mapping[str, tuple[int, Team]]
"""Every team with its rank, parents first."""


def in_order(names: Iterable[str], order: Order) -> list[Team]:
    """The named teams by rank. The cost depends on their number only."""
    return [team for _, team in sorted(order[name] for name in names if name in order)]


def children_of(teams: Iterable[Team]) -> dict[str | None, list[Team]]:
    """Teams by the name of their parent."""
    children: dict[str | None, list[Team]] = {}
    for team in teams:
        children.setdefault(team.parent, []).append(team)
    return children


class Shares:
    """Calculates guarantee and limit of every team on one pool."""

    def __init__(
        self,
        facts: PoolFacts,
        order: Order,
        quotas: Mapping[str, Quota],
        hits: list[Hit],
    ) -> None:
        self.facts = facts
        self.order = in_order(quotas, order)
        self.quotas = quotas
        self.hits = hits
        self.shares: dict[str, Share] = {}
        self.proposed: Counter[str] = Counter()
        """The instances of each profile that errors propose as guarantees."""
        self.exceeded = False
        """Whether the limits exceed the pool's overcommitRatio."""

    def all(self) -> dict[str, Share]:
        """The share of every team, parents first. Adds errors to `hits`."""
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
                        rules.PARENT_WITHOUT_QUOTA,
                        f'team "{team.name}" has a quota for pool "{self.facts.name}", but its '
                        f'parent "{team.parent}" has no quota for this pool; add the pool to the '
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
                # Proportional cpu and memory are capped by the limits that a parent writes itself.
                limit[CPU] = min(limit[CPU], wider[CPU])
                limit[MEMORY] = min(limit[MEMORY], wider[MEMORY])
            if quota.cpu.limit is not None:
                limit[CPU] = quota.cpu.limit
            if quota.memory.limit is not None:
                limit[MEMORY] = quota.memory.limit
            self.shares[team.name] = Share(guarantee, limit)
        return self.shares

    def _hit(self, rule: Rule, message: str, at: At) -> None:
        self.hits.append(Hit(rule, message, at))

    def _units(self, quota: Quota) -> _Units:
        nothing = dict.fromkeys(self.facts.resources, 0)
        guarantee = {**nothing, **self._counted(quota, "guarantee")}
        return guarantee, self._counted(quota, "limit")

    def _left(self, quota: Quota, bound: Bound) -> dict[str, int]:
        """The instances of each profile that the guarantees of other teams leave; for a limit, all."""
        others = [it for it in self.quotas.values() if it is not quota and bound == "guarantee"]
        return {
            profile: max(
                self.facts.available[resource]
                - (self.proposed[profile] if bound == "guarantee" else 0)
                - sum(dict(written_units(it, bound)).get(profile, 0) for it in others),
                0,
            )
            for profile, resource in zip(self.facts.profiles, self.facts.resources, strict=True)
        }

    def _counted(self, quota: Quota, bound: Bound) -> dict[str, int]:
        """Units by resource. Adds an error to `hits` if the pool is counted another way."""
        profiles = self.facts.profiles
        amounts = written_units(quota, bound)
        given = dict(amounts)
        at = quota.field(bound)
        if profiles == (WHOLE,) and set(given) - {WHOLE}:
            self._hit(
                rules.MIG_QUOTA_MISMATCH,
                f'{bound} must be a number, because pool "{self.facts.name}" has only the resource '
                f"{self.facts.resources[0]}; write {bound} as a number",
                at,
            )
        elif profiles != (WHOLE,) and WHOLE in given:
            # A profile that a guarantee omits counts as 0.
            left = self._left(quota, bound)
            parts = {it: min(given[WHOLE], left[it]) for it in profiles}
            example = ", ".join(f"{it}: {part}" for it, part in parts.items())
            if bound == "guarantee":
                self.proposed.update(parts)
            self._hit(
                rules.MIG_QUOTA_MISMATCH,
                f'{bound} must be one number per MIG profile, because pool "{self.facts.name}" has '
                f"instances of {', '.join(profiles)}; write {bound}: {{{example}}}",
                at,
            )
        else:
            for profile in set(given) - set(profiles):
                self._hit(
                    rules.UNKNOWN_MIG_PROFILE,
                    f'pool "{self.facts.name}" has no MIG profile {quoted(profile)}; '
                    f"write one of {', '.join(profiles)}",
                    (at / profile).on_key(),
                )
        return self.facts.units(amounts)

    def _by_weight(self, roots: Sequence[Team], units: Mapping[str, _Units]) -> None:
        """Sets guarantees that are the share of a weight in the available units (the articles' queues)."""
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
        """Limits of root teams without a written limit, if the pool limits the sum of limits."""
        ratio = self.facts.policy.overcommit_ratio
        limits: dict[str, dict[str, int]] = {team.name: {} for team in roots}
        if ratio is None:
            return limits
        for resource in self.facts.resources:
            available = self.facts.available[resource]
            product = int(available * ratio)
            unwritten = [team.name for team in roots if resource not in units[team.name][1]]
            written = sum(units[team.name][1].get(resource, 0) for team in roots)
            floors = [units[name][0][resource] for name in unwritten]
            weights = [self.quotas[name].weight for name in unwritten]
            parts = apportion(
                max(0, product - written), weights, floors, [available] * len(unwritten)
            )
            if written > product or parts is None:
                self._hit(
                    rules.OVERCOMMIT_EXCEEDED,
                    f"the limits and guarantees of root teams sum to {written + sum(floors)} "
                    f"{resource}, but with {available} available, overcommitRatio {float(ratio):g} "
                    f"allows only {product}; lower the limits and guarantees, or raise "
                    "overcommitRatio",
                    self.facts.pool.at / "spec" / "schedulingPolicy" / "overcommitRatio",
                )
                self.exceeded = True
                continue
            for name, part in zip(unwritten, parts, strict=True):
                limits[name][resource] = part
        return limits


def written_units(quota: Quota, bound: Bound) -> Amounts:
    """The units that a quota writes for a bound."""
    return (quota.guarantee if bound == "guarantee" else quota.limit) or ()
