"""The steps to the values of the quotas and limit ranges of namespaces."""

from collections.abc import Iterator

from policygen.core.finding import Path
from policygen.core.quantity import MEBIBYTE
from policygen.explain import quotas
from policygen.explain.step import Step, Steps, exact, joined, of_platform, plus
from policygen.plan import tree
from policygen.plan.amounts import CPU, MEMORY
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.kubernetes import COUNTED, Allowed, allowed, container_defaults
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Team


class Namespaces:
    """Finds the steps in the namespaces of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided
        self._having = tree.shares(decided.trees)
        self._trees = {facts.name: it for it in decided.trees for facts in it.pools}
        self._teams: dict[str, list[tuple[Team, int]]] = {}
        for team in decided.spec.teams:
            for index, namespace in enumerate(team.namespaces):
                self._teams.setdefault(namespace.name, []).append((team, index))

    def of_quota(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a ResourceQuota."""
        match path:
            case ("spec", "hard", str(key)):
                parts = [
                    part
                    for team, index in self._teams[item.meta.namespace or ""]
                    for part in (
                        self._requested(team, index, key)
                        if key.startswith("requests.")
                        else self._counted(team, key)
                    )
                ]
                if len(parts) == 1:
                    return parts[0]
                resource = key.removeprefix("requests.")
                last = [part[-1] for part in parts]
                value = exact(resource, sum(_amount(it.value) for it in last))
                formula = " + ".join(it.value for it in last)
                note = "all teams of the namespace together"
                return joined(*parts, [Step(key, value, formula, note=note)])
        return self._owned(item, path)

    def of_limit_range(self, item: Item, path: Path) -> Steps:
        """The steps to a field of a LimitRange."""
        match path:
            case ("spec", "limits", _, "defaultRequest", str(resource)):
                team, _ = self._teams[item.meta.namespace or ""][0]
                spec = self._decided.spec
                default = container_defaults(team, spec)
                amount = 0
                if default is not None:
                    amount = default.cpu_milli if resource == CPU else default.memory_bytes
                at = team.at.to("spec", "containerDefaults", resource)
                if team.container_defaults is None and spec.platform.at is not None:
                    at = spec.platform.at.to("spec", "defaults", "containerDefaults", resource)
                return [Step(f"containerDefaults ({resource})", exact(resource, amount), at=at)]
        return self._owned(item, path)

    def _owned(self, item: Item, path: Path) -> Steps:
        platform = self._decided.platform
        match path:
            case ("metadata", "name"):
                path_of_name = ("metadata", "name")
                return [of_platform(platform, "name of the Platform", platform.name, *path_of_name)]
            case ("metadata", "namespace"):
                name = item.meta.namespace or ""
                team, index = self._teams[name][0]
                at = team.at.to("spec", "namespaces", index, "name")
                return [Step(f"namespace of team {team.name}", name, at=at)]
        return []

    def _requested(self, team: Team, index: int, key: str) -> Iterator[Steps]:
        """The steps to each part of a limit of requests: one for each pool."""
        for it in allowed(team, self._shares(team), index):
            if it.key == key:
                yield self._allowed(team, index, it)

    def _allowed(self, team: Team, index: int, it: Allowed) -> Steps:
        of = self._trees[it.facts.name]
        limit = quotas.limit(of, of.by_team[team.name], it.facts, it.resource)
        most = of.by_team[team.name].limit[it.facts.name][it.resource]
        if it.amount == most:
            return limit
        step = MEBIBYTE if it.resource == MEMORY else 1
        more = f" + {exact(it.resource, step)}" if index < most // step % it.parts else ""
        whole = exact(it.resource, most // step * step)
        formula = f"floor({whole} / {it.parts}){more}"
        namespaces = Step(
            f"namespaces of team {team.name}", str(it.parts), at=team.at.to("spec", "namespaces")
        )
        note = "the first namespaces have the remainder"
        return joined(
            limit, [namespaces, Step(it.key, exact(it.resource, it.amount), formula, note=note)]
        )

    def _counted(self, team: Team, key: str) -> Iterator[Steps]:
        """The steps to the largest number of objects: those that wait, and those that can run."""
        if team.max_pending is None:
            return
        shares = [
            (facts, resource, limit[resource])
            for facts, limit in self._shares(team)
            for resource in facts.resources
            if key in ("pods", COUNTED[facts.scheduler])
        ]
        if not any(COUNTED[facts.scheduler] == key for facts, _ in self._shares(team)):
            return
        waiting = Step(
            f"maxPending of team {team.name}", str(team.max_pending), at=team.max_pending_at
        )
        limits = [
            quotas.limit(
                self._trees[facts.name], self._trees[facts.name].by_team[team.name], facts, it
            )
            for facts, it, _ in shares
        ]
        amounts = [team.max_pending, *(amount for _, _, amount in shares)]
        note = "those that wait, and one for each unit that can run"
        yield joined(
            [waiting], *limits, [Step(key, str(sum(amounts)), plus(key, amounts), note=note)]
        )

    def _shares(self, team: Team) -> list[tuple[PoolFacts, dict[str, int]]]:
        return [
            (facts, dict(node.limit[facts.name])) for facts, node in self._having.get(team.name, ())
        ]


def _amount(value: str) -> int:
    """The number of a step, in the unit of its resource as the plan counts it."""
    if value.endswith("Mi"):
        return int(value.removesuffix("Mi")) * MEBIBYTE
    return int(value.removesuffix("m"))
