"""Which pool each model runs on, and why no other, with findings about single models."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.plan import demand, fit, rules
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.fit import Replica, warn
from policygen.plan.placement import (
    Assignment,
    Criterion,
    Obstacle,
    Placing,
    Rejection,
    Wish,
    deciding,
    placed,
)
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.types import Model, Spec

_SHOWN = 4


class ModelPlacement(Struct, frozen=True):
    """The decision about one model."""

    model: Model
    options: tuple[Assignment, ...]
    """Where it can run, the best first; empty if it fits no pool."""
    rejected: tuple[Rejection, ...]
    """The other pools of its team or placement, the nearest to running first."""

    @property
    def chosen(self) -> Assignment | None:
        """Where it runs."""
        return self.options[0] if self.options else None

    @property
    def criterion(self) -> Criterion | None:
        """Why it runs there."""
        return deciding(self.options) if self.options else None


class Workloads(Struct, frozen=True):
    """The decisions of the plan about models."""

    placements: tuple[ModelPlacement, ...] = ()
    hits: tuple[Hit, ...] = ()

    @property
    def assignments(self) -> tuple[Assignment, ...]:
        """The chosen place of each model that fits a pool."""
        return tuple(it.options[0] for it in self.placements if it.options)


def place(spec: Spec, pools: Mapping[str, PoolFacts], trees: Sequence[Tree]) -> Workloads:
    """Place every model on the best of its pools, with findings about it."""
    hits: list[Hit] = []
    placements: list[ModelPlacement] = []
    offers = fit.offers(pools.values())
    placing = Placing(tuple(pools.values()), trees, offers)
    for model in spec.models:
        replica = Replica(model)
        hits += demand.check(model, replica.workload)
        wish = placing.wish(model, hits)
        options = tuple(placing.options(replica, wish))
        rejected = tuple(placing.rejections(replica, wish))
        placements.append(ModelPlacement(model, options, rejected))
        if not options:
            if replica.known:  # otherwise `check` reports it
                hits.append(_unplaced(replica, wish, rejected, placing))
            continue
        hits.append(placed(options))
        hits += fit.crowding(replica, options[0].pools, offers)
        hits += _host_share(options[0])
    return Workloads(tuple(placements), tuple(hits))


def _unplaced(
    replica: Replica, wish: Wish | None, rejected: Sequence[Rejection], placing: Placing
) -> Hit:
    """Why a model runs on no pool, and the change that is nearest to let it run."""
    model = replica.model
    start = f'model "{model.name}" is not rendered, because'
    if wish == {}:
        return warn(
            rules.MODEL_FITS_NO_POOL,
            f"{start} no pool has a node type from placement.nodeTypes; correct "
            "placement.nodeTypes, or add a pool with such nodes",
            model,
        )
    nearest = next(iter(rejected), None)
    # A pool without quota is worth naming only if the model names it, or if no other pool fits.
    lacking: list[str] = []
    if wish is not None or nearest is None or nearest.obstacle is Obstacle.SIZE:
        lacking = placing.without_quota(replica, wish)
    if lacking and (nearest is None or nearest.obstacle is not Obstacle.PREEMPTIBLE):
        names = ", ".join(f'"{name}"' for name in lacking[:_SHOWN])
        more = f" and {len(lacking) - _SHOWN} more" if len(lacking) > _SHOWN else ""
        return warn(
            rules.TEAM_WITHOUT_SHARE,
            f'team "{model.team}" has no quota for the pools that model "{model.name}" fits '
            f"({names}{more}); add one of these pools to the team's quotas",
            model,
        )
    if nearest is None:
        return warn(
            rules.MODEL_FITS_NO_POOL,
            f"{start} no pool is left for it; add a pool, or correct placement",
            model,
        )
    more = f"; and {len(rejected) - _SHOWN} more pools" if len(rejected) > _SHOWN else ""
    reasons = "; ".join(f'"{it.pool}": {it.reason}' for it in rejected[:_SHOWN])
    if nearest.obstacle is Obstacle.PREEMPTIBLE:
        return Hit(
            rules.ONLY_PREEMPTIBLE_POOLS,
            f"{start} only preemptible pools are left for it ({reasons}{more}); write "
            "toleratePreemptible: true, or allow another pool",
            nearest.at,
        )
    remedy = {
        Obstacle.PLACEMENT: f'add pool "{nearest.pool}" to its placement',
        Obstacle.NAMESPACE: f'write spec.namespaces of team "{model.team}"',
    }.get(nearest.obstacle, "correct the resources or placement of the model")
    return Hit(
        rules.MODEL_FITS_NO_POOL,
        f"{start} it fits no pool of its team or placement ({reasons}{more}); {remedy}",
        nearest.at,
    )


def _host_share(assignment: Assignment) -> Iterator[Hit]:
    """Notes if a replica requests more cpu or memory than the units that it takes."""
    model, size, facts = assignment.model, assignment.size, assignment.facts
    if assignment.node is None:
        return
    share = facts.vector({**dict.fromkeys(facts.resources, 0), size.resource: size.units})
    for name, amount in ((CPU, model.cpu_milli), (MEMORY, model.memory_bytes)):
        if amount is not None and amount > share[name]:
            yield Hit(
                rules.HOST_SHARE_EXCEEDED,
                f'one replica of model "{model.name}" requests {amount_of(name, amount, share[name])}, '
                f'but only {amount_of(name, share[name], amount)} on pool "{facts.name}" belong to its '
                f"{size.units} {size.resource}, so some GPUs stay idle; lower the request",
                model.field("resources"),
            )
