"""Texts about placement: where models run and why, or why a model runs on no pool."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence

from policygen.core.finding import Hit
from policygen.core.quoting import counted, listed, quoted
from policygen.plan import rules
from policygen.plan.amounts import readable_bytes
from policygen.plan.assignment import (
    Assignment,
    Criterion,
    ModelPlacement,
    Obstacle,
    Rejection,
    deciding,
)
from policygen.plan.fit import warn
from policygen.plan.pool import PoolFacts
from policygen.spec.types import Model

_SHOWN = 4
_SHOWN_KINDS = 10
_SHOWN_MODELS = 20


def placed(placements: Iterable[ModelPlacement]) -> Iterator[Hit]:
    """Where models run, why, and where else they could: one note for all with the same answer."""
    alike: defaultdict[tuple[str, str, tuple[str, ...]], list[ModelPlacement]] = defaultdict(list)
    for it in placements:
        if it.chosen is not None:
            place = f"{it.chosen.place} ({it.chosen.facts.scheduler})"
            alike[place, because(it.options), tuple(_others(it.options))].append(it)
    for (place, why, others), group in alike.items():
        names = [f'"{it.model.name}"' for it in group]
        one = len(names) == 1
        also = ""
        if others:
            also = f"; {'it also fits' if one else 'they also fit'} {_some(others, _SHOWN)}"
        first, *more = (it.model.at / "metadata" / "name" for it in group)
        yield Hit(
            rules.MODEL_PLACED,
            f"{'model' if one else 'models'} {_some(names, _SHOWN_MODELS)} "
            f"{'runs' if one else 'run'} on {place}, because {why}{also}",
            first,
            tuple(more),
        )


def _others(options: Sequence[Assignment]) -> Iterator[str]:
    """The other pools that a model fits, with the reason against those that lack more than the first."""
    why = deciding(options)
    for it in options[1:]:
        other = deciding((options[0], it))
        lacks = _LACKS.get(other, "") if other is not why else ""
        yield f"{it.place}{lacks}"


_LACKS = {
    Criterion.LIMIT: " (there the limit of the team is too low)",
    Criterion.ORDER: " (placement names it later)",
    Criterion.GANG: " (it does not start all pods of a gang together)",
    Criterion.GUARANTEE: " (there the guarantee of the team is too low)",
}
"""Why a pool is worse than the chosen one, if this is not also the reason against the next best."""


def _some(names: Sequence[str], most: int) -> str:
    """The first names, and the number of the others."""
    if len(names) > most:
        return f"{', '.join(names[:most])} and {len(names) - most} more"
    return listed(list(names), "and")


def because(options: Sequence[Assignment]) -> str:
    """Why a model runs on the first of the pools that it fits."""
    why, memory = deciding(options), options[0].memory
    if why is Criterion.MEMORY and memory.taken is not None:
        if memory.needed is None:
            return f"it takes the least GPU memory ({readable_bytes(memory.taken)} for a replica)"
        if memory.taken >= memory.needed:
            unused = readable_bytes(memory.taken - memory.needed)
            return f"it leaves the least GPU memory unused ({unused} for a replica)"
    return {
        Criterion.LIMIT: "only there the limit of the team covers the minimum",
        Criterion.ORDER: "placement names it first",
        Criterion.GANG: "it starts all pods of a gang together",
        Criterion.GUARANTEE: "the guarantee of the team covers the minimum",
        Criterion.MEMORY: "the memory of its GPUs fits best",
        Criterion.UNITS: "a replica takes the fewest units there",
        Criterion.NAME: "it comes first by name among equal pools",
        Criterion.FLAVOR: "its shared queue tries it first",
        Criterion.ONLY: "no other pool is possible",
    }[why]


def unplaced(
    model: Model,
    rejected: Sequence[Rejection],
    lacking: Sequence[str],
    smaller: Sequence[str],
    *,
    named: bool,
) -> Hit:
    """Why a model runs on no pool, and the change that is nearest to let it run.

    `lacking`: pools that it fits, but for which its team has no quota. A pool without quota is worth
    naming only if the model names pools (`named`), or if no other pool fits. `smaller`: the changes with which
    its GPUs fit a pool.
    """
    start = f'model "{model.name}" is not rendered, because'
    nearest = next(iter(rejected), None)
    if not named and nearest is not None and nearest.obstacle is not Obstacle.SIZE:
        lacking = ()
    if lacking and (nearest is None or nearest.obstacle is not Obstacle.PREEMPTIBLE):
        names = _some([f'"{name}"' for name in lacking], _SHOWN)
        own = [it for it in rejected if it.pool not in lacking]
        placement = ""
        if own and own[0].obstacle is Obstacle.PLACEMENT:
            placement = f'add pool "{own[0].pool}" to its placement, or '
        fits = (
            f"it can run on no pool of its team ({_reasons(own, of_all=True)}), and " if own else ""
        )
        return warn(
            rules.TEAM_WITHOUT_SHARE,
            f'{start} {fits}team "{model.team}" has no quota for the pools that it fits ({names}); '
            f"{placement}add one of these pools to the team's quotas",
            model,
        )
    if nearest is None:
        return warn(
            rules.MODEL_FITS_NO_POOL,
            f"{start} no pool is left for it; add a pool, or correct placement",
            model,
        )
    reasons = _reasons(rejected)
    if nearest.obstacle is Obstacle.PREEMPTIBLE:
        return Hit(
            rules.ONLY_PREEMPTIBLE_POOLS,
            f"{start} only preemptible pools are left for it ({reasons}); write "
            "toleratePreemptible: true, or allow another pool",
            nearest.at,
        )
    remedy = {
        Obstacle.PLACEMENT: f'add pool "{nearest.pool}" to its placement',
        Obstacle.NAMESPACE: f'write spec.namespaces of team "{model.team}"',
    }.get(nearest.obstacle, _smaller(nearest, smaller))
    return Hit(
        rules.MODEL_FITS_NO_POOL,
        f"{start} it fits no pool of its team or placement ({reasons}); {remedy}",
        nearest.at,
    )


def _reasons(rejected: Sequence[Rejection], *, of_all: bool = False) -> str:
    """Why a model runs on none of these pools, the nearest first.

    `of_all`: with the remedy of the nearest, too. Otherwise this remedy is the end of the message.
    """
    left = len(rejected) - _SHOWN
    more = f"; and {counted(left, 'more pool')}" if left > 0 else ""
    texts = [it.text if number or of_all else it.reason for number, it in enumerate(rejected)]
    shown = [f'"{it.pool}": {text}' for it, text in zip(rejected, texts, strict=True)]
    return "; ".join(shown[:_SHOWN]) + more


def _smaller(nearest: Rejection, smaller: Sequence[str]) -> str:
    """How a model that is too large for each node can fit. `smaller`: see `unplaced`."""
    if nearest.remedy:
        return f"{nearest.remedy}, or use another pool"
    field = nearest.at.path[-1]
    if field == "resources":
        return "lower resources.cpu and resources.memory, or use a pool with larger nodes"
    if field in ("cpu", "memory", "gpus", "gpuMemory"):
        return f"lower resources.{field}, or use a pool with larger nodes"
    return ", or ".join(smaller or ["use a smaller model or a pool with larger nodes"])


def unknown_node_types(
    model: Model, indexes: Sequence[int], elsewhere: Sequence[str], advice: str, *, alone: bool
) -> Hit:
    """Node types that no pool of a model has; `alone` if the model then has no pool.

    `elsewhere`: the pools with these types that placement.pools does not name.
    """
    kinds = [quoted(model.placement.node_types[index]) for index in indexes]
    types = f"node {'type' if len(kinds) == 1 else 'types'}"
    start = f'model "{model.name}"{" is not rendered, because" if alone else ":"}'
    if elsewhere:
        pools = _some([f'"{name}"' for name in elsewhere], _SHOWN)
        message = (
            f"placement.pools names no pool with {types} {listed(kinds, 'or')}; add {pools} to "
            f"placement.pools, or remove the {types}"
        )
    else:
        message = f"no pool offers {types} {listed(kinds, 'or')}; {advice}"
    at = model.field("placement") / "nodeTypes"
    first, *more = (at / index for index in indexes)
    return Hit(rules.NODE_TYPE_NOT_OFFERED, f"{start} {message}", first, tuple(more))


def node_kinds(pools: Iterable[PoolFacts]) -> str:
    """The advice to write a GPU product of one of the pools; for a pool of another product, its name."""
    kinds = sorted({facts.product.id if facts.product else facts.name for facts in pools})
    more = f" and {len(kinds) - _SHOWN_KINDS} more" if len(kinds) > _SHOWN_KINDS else ""
    if not kinds:
        return "add a ResourcePool with such nodes"
    of = "one of " if len(kinds) > 1 else ""
    return f"write {of}{', '.join(kinds[:_SHOWN_KINDS])}{more}"
