"""Changes of a spec with which a ResourceQuota that it renders allows more pods."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from fractions import Fraction

from msgspec.structs import replace

from policygen.core import quantity
from policygen.core.rule import Severity
from policygen.plan import kubernetes, pool, tree
from policygen.plan.decisions import Decisions
from policygen.plan.shares import written_units
from policygen.plan.tree import Tree
from policygen.plan.workloads import Workloads
from policygen.simulate.why.changes import FieldChange, SpecChange, SpecEdit
from policygen.spec.types import Quota, Spec, Team

Needed = Mapping[tuple[str, str], Fraction]
"""By namespace and key of `hard`: what a quota must allow."""
_Hard = Mapping[tuple[str, str], str]
"""By namespace and key: the amount of the rendered quota."""


class SpecPodQuotas:
    """The ResourceQuotas that a spec renders: limits of teams in pools of kube-scheduler, and maxPending."""

    def __init__(self, spec: Spec) -> None:
        self._spec = spec
        hard = _compiled(spec)
        self._hard: _Hard = hard[1] if hard is not None else {}
        self._trees: Sequence[Tree] = hard[0] if hard is not None else ()

    def renders(self, namespace: str, name: str) -> bool:
        """Whether a quota comes from the spec, so that only the spec may change it."""
        return name == self._spec.platform.name and any(of == namespace for of, _ in self._hard)

    def raised(self, needed: Needed) -> SpecChange | None:
        """The smallest change of the spec with which its quotas allow this; None: the spec allows none."""
        spec = self._spec
        # A higher limit also raises the number of objects.
        for (namespace, key), amount in sorted(
            needed.items(), key=lambda it: _is_counted(it[0][1])
        ):
            short = amount - _allowed(spec, namespace, key)
            if short <= 0:
                continue
            found = next(filter(None, self._enough(spec, (namespace, key), amount, short)), None)
            if found is None:
                return None
            spec = found
        after = _compiled(spec)
        edits = tuple(_edits(self._spec, spec))
        if after is None or not edits:
            return None
        name = self._spec.platform.name
        effects = tuple(
            FieldChange("ResourceQuota", of, name, ("spec", "hard", key), before, after[1][of, key])
            for (of, key), before in self._hard.items()
            if after[1][of, key] != before
        )
        return SpecChange(edits, effects)

    def _enough(
        self, spec: Spec, of: tuple[str, str], amount: Fraction, short: Fraction
    ) -> Iterator[Spec | None]:
        """The spec with the smallest amount of each field that can raise a key; None: it has too little."""
        namespace, key = of
        for team in spec.teams:
            if all(it.name != namespace for it in team.namespaces):
                continue
            if _is_counted(key):
                if team.max_pending is None:
                    continue
                yield _with(spec, replace(team, max_pending=team.max_pending + int(short)))
                continue
            for found in self._trees:
                node = found.by_team.get(team.name)
                for facts in found.pools if node is not None else ():
                    if node is not None and key.removeprefix("requests.") in facts.keys:
                        teams = [node.team, *(it.team for it in found.ancestors(node))]
                        yield _limited(spec, of, amount, teams, facts)


def _is_counted(key: str) -> bool:
    """Whether a key bounds the number of objects, which maxPending and the limits decide."""
    return not key.startswith("requests.")


def _allowed(spec: Spec, namespace: str, key: str) -> Fraction:
    """What the quota of a namespace allows."""
    found = _compiled(spec)
    return quantity.read(found[1].get((namespace, key), "0") if found is not None else "0").value


def _limited(
    spec: Spec,
    key: tuple[str, str],
    amount: Fraction,
    teams: Iterable[Team],
    facts: pool.PoolFacts,
) -> Spec | None:
    """With higher limits of those teams that have one in a pool: a team and those above it."""
    resource = key[1].removeprefix("requests.")
    profile = facts.profiles[facts.resources.index(resource) if resource in facts.resources else 0]
    names = [
        it.name
        for it in teams
        if any(
            one.pool == facts.name and profile in dict(written_units(one, "limit"))
            for one in it.quotas
        )
    ]
    best, low, high = None, 1, max(facts.available.values(), default=0) if names else 0
    while low <= high:
        middle = (low + high) // 2
        changed = _raised(spec, names, facts.name, profile, middle)
        if _compiled(changed) is None:  # more than the pool or a parent team has
            high = middle - 1
        elif _allowed(changed, *key) >= amount:
            best, high = changed, middle - 1
        else:
            low = middle + 1
    return best


def _compiled(spec: Spec) -> tuple[Sequence[Tree], _Hard] | None:
    """The trees, and the amounts of all ResourceQuotas; None: the spec is invalid."""
    facts, _ = pool.resolve(spec)
    trees, hits = tree.build(spec, facts)
    if any(it.rule.severity == Severity.ERROR for it in hits):
        return None
    decided = Decisions(spec, tuple(facts.values()), tuple(trees), Workloads())
    hard = {
        (it.meta.namespace or "", key): str(amount)
        for it in kubernetes.resource_quotas(decided)
        for key, amount in it.hard.items()
    }
    return trees, hard


def _with(spec: Spec, *teams: Team) -> Spec:
    """The spec with other teams of the same names."""
    named = {it.name: it for it in teams}
    return replace(spec, teams=tuple(named.get(it.name, it) for it in spec.teams))


def _raised(spec: Spec, names: Sequence[str], name: str, profile: str, units: int) -> Spec:
    """The spec with a higher limit of the first team in a pool, and at least this limit of those above it."""
    named = {it.name: it for it in spec.teams}
    least = 0

    def more(quota: Quota) -> Quota:
        nonlocal least
        if quota.pool != name:
            return quota
        amounts = dict(written_units(quota, "limit"))
        least = max(amounts[profile], least) if least else amounts[profile] + units
        return replace(quota, limit=tuple({**amounts, profile: least}.items()))

    changed = [
        replace(it, quotas=tuple(map(more, it.quotas))) for it in map(named.get, names) if it
    ]
    return _with(spec, *changed)


def _edits(before: Spec, after: Spec) -> Iterator[SpecEdit]:
    """The fields of teams that differ."""
    for old, new in zip(before.teams, after.teams, strict=True):
        if old.max_pending != new.max_pending:
            at = old.max_pending_at or old.at
            yield SpecEdit(
                "Team", old.name, "", "maxPending", "", f"{old.max_pending}", f"{new.max_pending}", at
            )  # fmt: skip
        for one, other in zip(old.quotas, new.quotas, strict=True):
            grown = dict(written_units(other, "limit"))
            for profile, amount in written_units(one, "limit"):
                if amount != grown[profile]:
                    yield SpecEdit(
                        "Team",
                        old.name,
                        one.pool,
                        dict(one.renamed).get("limit", "limit"),
                        profile,
                        str(amount),
                        str(grown[profile]),
                        one.field("limit"),
                    )
