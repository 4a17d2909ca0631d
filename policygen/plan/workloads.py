"""Which pool each model runs on, and why no other, with findings about single models."""

from collections.abc import Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.plan import demand, explanation, fit, model_limits
from policygen.plan.assignment import Assignment, ModelPlacement
from policygen.plan.fit import Replica
from policygen.plan.placement import Placing
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.types import Spec


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
            # Otherwise `check` reports that the size is unknown, or `wish` an unknown node type.
            if replica.known and wish != {}:
                lacking = placing.without_quota(replica, wish)
                hits.append(explanation.unplaced(model, rejected, lacking, named=wish is not None))
            continue
        hits += fit.crowding(replica, options[0].pools, offers)
        hits += model_limits.host_share(options[0])
    hits += explanation.placed(placements)
    return Workloads(tuple(placements), tuple(hits))
