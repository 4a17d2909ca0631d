"""The steps to the numbers in the files of kube-scheduler and Volcano."""

from collections.abc import Sequence

from policygen.core.finding import Path
from policygen.explain.step import Step, Steps, of_platform
from policygen.plan import scheduler, volcano_configuration
from policygen.plan.amounts import HOST
from policygen.plan.decisions import Decisions
from policygen.plan.kind import Item
from policygen.plan.pool import PoolFacts
from policygen.spec import derived_names


class Controllers:
    """Finds the steps in the files of one spec."""

    def __init__(self, decided: Decisions) -> None:
        self._decided = decided

    def of(self, _: Item, path: Path) -> Steps:
        """The steps to a field of a file in a ConfigMap. The path has the names of list entries."""
        match path:
            case ("data", scheduler.CONFIG_KEY, "profiles", str(profile), *inside):
                return self._scheduler(profile, tuple(inside))
            case (
                "data",
                volcano_configuration.CONFIG_KEY,
                *_,
                str(plugin),
                "arguments",
                str(name),
            ):
                return self._volcano(plugin, name)
            case (
                "data",
                volcano_configuration.CONFIG_KEY,
                *_,
                "resources",
                str(resource),
                str(field),
            ):
                return self._strategy(resource, field)
        return []

    def _scheduler(self, profile: str, path: Path) -> Steps:
        placed = scheduler.placed(self._decided.pools)
        match path:
            case ("schedulerName",):
                platform = self._decided.platform
                path = ("metadata", "name")
                note = "<platform>.binpack or <platform>.spread"
                return [
                    of_platform(platform, "name of the Platform", platform.name, *path),
                    Step("schedulerName", profile, note=note),
                ]
            case (*_, "scoringStrategy", "resources", str(resource), "weight"):
                if profile != derived_names.profile(self._decided.platform, "binpack"):
                    most = resource not in HOST
                    weight = scheduler.MAX_WEIGHT if most else 1
                    note = "GPUs have the largest weight" if most else "it only breaks ties"
                    return [Step("weight", str(weight), note=note)]
                return _packing([it for it in placed if it.policy.bin_pack], resource)
            case (*_, "scoringStrategy", "resources", str(resource), "name"):
                return _named(placed, resource)
        return []

    def _volcano(self, plugin: str, name: str) -> Steps:
        mine = self._decided.pools_of("volcano")
        prefix = "binpack.resources."
        if plugin == "binpack" and name.startswith(prefix):
            return _unrounded(mine, name)
        return []

    def _strategy(self, resource: str, field: str) -> Steps:
        if field != "weight":
            return []
        if resource in HOST:
            return [Step("weight", "1", note="it only breaks ties")]
        return _unrounded(self._decided.pools_of("volcano"), "weight")


def _packing(pools: Sequence[PoolFacts], resource: str) -> Steps:
    """The least weight of GPUs by which one more GPU in use decides (docs/semantics.md)."""
    if resource in HOST:
        return [Step("weight", "1", note="it only breaks ties")]
    units = _most_units(pools)
    dominance = scheduler.choose(int(units[-1].value))
    weight = str(dominance.gpu_weight)
    if not dominance.other_weight:
        return [*units, Step("weight", weight, note="only GPUs count, since nodes have many units")]
    formula = f"ceil(101 × {dominance.other_weight} / (floor(100 / {units[-1].value}) - 1))"
    note = "the least with which one more GPU in use outweighs cpu and memory"
    return [*units, Step("weight", weight, formula, note=note)]


def _unrounded(pools: Sequence[PoolFacts], name: str) -> Steps:
    """Volcano does not round scores, so a smaller weight is enough."""
    units = _most_units(pools)
    weight = len(HOST) * int(units[-1].value) + 1
    note = "the least with which one more GPU in use outweighs cpu and memory"
    return [*units, Step(name, str(weight), f"{len(HOST)} × {units[-1].value} + 1", note=note)]


def _most_units(pools: Sequence[PoolFacts]) -> Steps:
    """The units of a node of each pool, then the most of them."""
    steps = [step for it in pools for step in _units(it)]
    if len(pools) == 1:
        return steps
    counts = [it.units_per_node for it in pools]
    formula = f"max({', '.join(map(str, counts))})"
    return [*steps, Step("most units of a node", str(max(counts)), formula)]


def _units(facts: PoolFacts) -> Steps:
    name, count = f"units of a node of pool {facts.name}", str(facts.units_per_node)
    gpu, at = facts.pool.gpu, facts.pool.at.to("spec", "gpu")
    cards = Step(
        f"GPUs of a node of pool {facts.name}",
        str(facts.per_node),
        at=at / "perNode" if gpu.per_node is not None else at,
    )
    if facts.units_per_node == facts.per_node:
        return [cards]
    if gpu.sharing == "mig":
        return [cards, Step(name, count, at=at.to("mig", "instances"))]
    replicas = Step(f"units of a GPU of pool {facts.name}", str(gpu.replicas), at=at / "replicas")
    return [cards, replicas, Step(name, count, f"{facts.per_node} × {gpu.replicas}")]


def _named(pools: Sequence[PoolFacts], resource: str) -> Steps:
    facts = next((it for it in pools if resource in it.resources), None)
    if facts is None:
        return [Step("resource", resource, note="cpu and memory break ties between nodes")]
    return [Step("resource of the GPUs", resource, at=facts.pool.at.to("spec", "gpu"))]
