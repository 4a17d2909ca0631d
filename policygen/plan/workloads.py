"""Which pool each model runs on, and why no other, with findings about single models."""

from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.core.finding import Hit
from policygen.core.quoting import counted
from policygen.hardware import sizing
from policygen.plan import demand, explanation, fit, gang_sizes, model_limits, nodes, rules
from policygen.plan.amounts import amount_of
from policygen.plan.assignment import Assignment, ModelPlacement, Obstacle, Rejection
from policygen.plan.fit import Offer, Replica, Size
from policygen.plan.placement import Placing, Wish
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Tree
from policygen.spec.models import is_misspelt
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
                fit.misread(offers[it.pool])
                or pools[it.pool].is_of_unknown_product
                or (fit.above_node(model, offers[it.pool]) and _is_implausible(pools[it.pool]))
                for it in rejected
                if it.obstacle is Obstacle.SIZE
            )
            if replica.known and wish != {} and not misread and not is_misspelt(model):
                lacking = placing.without_quota(replica, wish)
                smaller = [*_smaller(replica, wish, rejected, placing)]
                named = wish is not None
                hits.append(explanation.unplaced(model, rejected, lacking, smaller, named=named))
            continue
        hits += fit.crowding(replica, options[0].pools, offers)
        hits += _stated_gpus(replica, options[0], offers[options[0].facts.name])
        hits += model_limits.host_share(options[0])
        hits += _target_concurrency(replica, options[0], offers[options[0].facts.name])
    hits += explanation.placed(placements)
    return Workloads(tuple(placements), tuple(hits))


def _is_implausible(facts: PoolFacts) -> bool:
    """Whether a finding asks to correct the cpu or memory of the nodes."""
    found = nodes.contradictions(facts.pool, facts.product, facts.per_node)
    return any(it.rule is rules.NODE_ALLOCATABLE_IMPLAUSIBLE for it in found)


def _smaller(
    replica: Replica, wish: Wish | None, rejected: Sequence[Rejection], placing: Placing
) -> Iterator[str]:
    """The changes with which the GPUs of a model fit a pool, with its share of cpu and memory there."""
    model = replica.model
    if lower := _lower_concurrency(replica, wish, placing):
        yield lower
        return
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


def _lower_concurrency(replica: Replica, wish: Wish | None, placing: Placing) -> str:
    """The most requests with which a model fits a pool, if their KV cache needs most of its memory; else ""."""
    model, workload = replica.model, replica.workload
    at = fit.concurrency_at(model, workload) if workload is not None else None
    if workload is None or at is None:
        return ""

    def is_above(concurrency: int) -> bool:
        sizes = replace(model.sizing, concurrency=concurrency)
        options = placing.options(Replica(replace(model, sizing=sizes), {}), wish)
        return not options or bool(options[0].rank.limit) or model_limits.exceeds(options[0])

    most = bisect_left(range(1, workload.concurrency), 1, key=is_above)
    field = ".".join(map(str, at.path[-2:]))
    because = "because the KV cache needs most of the memory"
    return f"lower {field} to at most {most}, {because}" if most else ""


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


def _target_concurrency(replica: Replica, chosen: Assignment, offer: Offer) -> Iterator[Hit]:
    """Whether the KV cache of targetConcurrency fits, if sizing.concurrency is lower."""
    model, stated = replica.model, replica.model.sizing.concurrency
    target = model.autoscaling.target_concurrency if model.autoscaling is not None else None
    if stated is None or target is None or target <= stated or model.workload != "serving":
        return

    own = chosen.size

    def size(concurrency: int) -> Size | None:
        sizes = replace(model.sizing, concurrency=concurrency)
        return Replica(replace(model, sizing=sizes), {}).size(offer)

    def is_larger(concurrency: int) -> bool:
        found = size(concurrency)
        return found is None or (found.resource, found.units) != (own.resource, own.units)

    if not is_larger(target):
        return
    most = stated + bisect_left(range(stated + 1, target), 1, key=is_larger)
    larger = size(target)
    raised = ""
    if larger is not None:
        needs = amount_of(larger.resource, larger.units)
        raised = f"raise sizing.concurrency to {target}, with which a replica needs {needs}, or "
    yield Hit(
        rules.GPU_MEMORY_BELOW_CONCURRENCY,
        f'model "{model.name}" has targetConcurrency {target}, but '
        f"a replica gets {amount_of(own.resource, own.units)} for sizing.concurrency {stated}, with room for the KV cache "
        f"of at most {counted(most, 'request')}; {raised}lower targetConcurrency to at most {most}",
        model.field("autoscaling") / "targetConcurrency",
    )
