"""Which pool each model runs on, and why no other, with findings about single models."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.hardware import sizing
from policygen.plan import demand, explanation, fit, gang_sizes, model_limits
from policygen.plan.assignment import Assignment, ModelPlacement, Obstacle, Rejection
from policygen.plan.fit import Offer, Replica
from policygen.plan.placement import Placing, Wish
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.types import Gang, Spec


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
    sizes: fit.Sizes = {}
    placing = Placing(tuple(pools.values()), trees, offers)
    for model in spec.models:
        replica = Replica(model, sizes)
        hits += demand.check(model, replica.workload)
        wish = placing.wish(model, hits)
        options = tuple(placing.options(replica, wish))
        rejected = tuple(placing.rejections(replica, wish))
        placements.append(ModelPlacement(model, options, rejected))
        if not options:
            # Otherwise there is already a finding: the size, product or node type is unknown, or a unit
            # is missing.
            misread = any(
                fit.misread(offers[it.pool]) or pools[it.pool].is_of_unknown_product
                for it in rejected
                if it.obstacle is Obstacle.SIZE
            )
            if replica.known and wish != {} and not misread:
                lacking = placing.without_quota(replica, wish)
                smaller = [*_smaller(replica, wish, rejected, placing)]
                named = wish is not None
                hits.append(explanation.unplaced(model, rejected, lacking, smaller, named=named))
            continue
        hits += fit.crowding(replica, options[0].pools, offers)
        hits += _stated_gpus(replica, options[0], offers[options[0].facts.name])
        hits += model_limits.host_share(options[0])
    hits += explanation.placed(placements)
    return Workloads(tuple(placements), tuple(hits))


def _smaller(
    replica: Replica, wish: Wish | None, rejected: Sequence[Rejection], placing: Placing
) -> Iterator[str]:
    """The changes with which the GPUs of a model fit a pool, with its share of cpu and memory there."""
    model = replica.model
    changes = []
    pods = _divided(replica, rejected, placing)
    if pods is not None:
        gang = replace(model.gang or Gang(pods), size=pods)
        text = f"write gang.size: {pods} to divide it over {pods} pods"
        changes.append((text, replace(model, gang=gang)))
    if model.workload == "training" and model.sizing.training != "lora":
        adapters = replace(model.sizing, training="lora")
        text = "write sizing.training: lora to train adapters"
        changes.append((text, replace(model, sizing=adapters)))
    for text, changed in changes:
        options = placing.options(Replica(changed, {}), wish)
        if options and not options[0].rank.limit:
            above = model_limits.above_share(options[0])
            yield f"{text}, and {model_limits.lower_requests(above)}" if above else text


def _divided(replica: Replica, rejected: Sequence[Rejection], placing: Placing) -> int | None:
    """The size of a gang with which a model fits a pool that only has too small nodes."""
    small = [placing.by_name[it.pool] for it in rejected if it.obstacle is Obstacle.SIZE]
    team = replica.model.team
    leaves = {it.name: placing.tree_of[it.name].leaf_of.get(team or "") for it in small}
    limits = {name: node.limit[name] for name, node in leaves.items() if node is not None}
    usable = [it for it in small if team is None or it.name in limits]
    return gang_sizes.smallest(replica.model, usable, limits)


def _stated_gpus(replica: Replica, chosen: Assignment, offer: Offer) -> Iterator[Hit]:
    """Whether the GPUs that a model states hold its weights."""
    divided = offer.sharing in {"timeSlicing", "mps"}  # each pod can use the complete card
    has = offer.card_bytes if divided else chosen.memory.taken
    if replica.workload is None or has is None:
        return
    count = None
    if offer.sharing == "none" and offer.card_bytes:
        count = sizing.devices(replica.workload, offer.card_bytes)
    enough = count if count is not None and count <= offer.units else None
    yield from demand.below_stated_gpus(chosen.model, replica.workload, has, chosen.place, enough)
