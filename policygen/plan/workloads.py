"""Which of its pools each model runs on, in which queue, and whether its team's share holds it."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.finding import Hit, Severity
from policygen.hardware import catalog
from policygen.plan import fit as fitting
from policygen.plan.amounts import CPU, MEMORY, text
from policygen.plan.fit import Fit, warn
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import Node, Tree
from policygen.spec.types import Model, Spec

_SHOWN = 4


class Seat(Struct, frozen=True):
    """A model, the pool it is planned for, and the queue that its pods join there."""

    model: Model
    fit: Fit
    node: Node | None
    queue: str | None
    fits: tuple[PoolFacts, ...] = ()
    """All pools that the model may use and fits, in its order."""


class Workloads(Struct, frozen=True):
    """What the plan knows of the models."""

    seats: tuple[Seat, ...]
    hits: tuple[Hit, ...]


def place(spec: Spec, pools: Mapping[str, PoolFacts], trees: Sequence[Tree]) -> Workloads:
    """Every model on the first of its pools that it fits, with what should be known about it."""
    hits: list[Hit] = []
    seats: list[Seat] = []
    by_pool = {facts.name: tree for tree in trees for facts in tree.pools}
    for model in spec.models:
        hits += fitting.needs(model)
        allowed = list(_allowed(model, pools, hits))
        fits = [fit for facts in allowed if (fit := fitting.fit(model, facts, hits)) is not None]
        entitled = [
            fit for fit in fits if model.team is None or _leaf(model, by_pool[fit.facts.name])
        ]
        if allowed and not fits:
            reasons = "; ".join(
                f'"{facts.name}": {fitting.reason(model, facts)}' for facts in allowed[:_SHOWN]
            )
            hits.append(
                warn(
                    "model-fits-no-pool",
                    f'a replica of model "{model.name}" fits no node of its pools ({reasons}); '
                    "nothing is rendered for it",
                    model,
                )
            )
        elif fits and not entitled:
            names = ", ".join(f'"{fit.facts.name}"' for fit in fits)
            hits.append(
                warn(
                    "team-without-share",
                    f'model "{model.name}" fits {names}, where team "{model.team}" has no share; '
                    "add the pool to the team's quotas",
                    model,
                )
            )
        if entitled:
            fit = entitled[0]
            tree = by_pool[fit.facts.name]
            node = _leaf(model, tree)
            queue = tree.name_of(node) if node else None
            seats.append(Seat(model, fit, node, queue, tuple(each.facts for each in fits)))
            hits += _limits(model, fit, node)
    return Workloads(tuple(seats), tuple(hits))


def _allowed(model: Model, pools: Mapping[str, PoolFacts], hits: list[Hit]) -> Iterator[PoolFacts]:
    """Pools that the placement admits, in its own order."""
    placement = model.placement
    named = placement.pools or tuple(pools)
    found = [pools[name] for name in named if name in pools]
    if placement.node_types:
        matched = []
        for index, kind in enumerate(placement.node_types):
            of_kind = [facts for facts in found if _is_of(facts, kind)]
            matched += [facts for facts in of_kind if facts not in matched]
            if not of_kind:
                hits.append(
                    Hit(
                        "node-type-not-offered",
                        f'no pool offers node type "{kind}" to model "{model.name}"; '
                        f"pools offer {_offers(found)}",
                        model.field("placement") / "nodeTypes" / index,
                        Severity.WARNING,
                    )
                )
        if not matched:
            hits.append(
                warn(
                    "model-fits-no-pool",
                    f'model "{model.name}" can be placed nowhere: no pool offers any of its '
                    "node types; nothing is rendered for it",
                    model,
                )
            )
        found = matched
    firm = [
        facts for facts in found if placement.tolerate_preemptible or not facts.pool.preemptible
    ]
    if found and not firm:
        hits.append(
            warn(
                "only-preemptible-pools",
                f'every pool that model "{model.name}" could use is preemptible, which it does '
                "not tolerate; allow another pool or write toleratePreemptible: true",
                model,
                "placement",
            )
        )
    yield from firm


def _is_of(facts: PoolFacts, kind: str) -> bool:
    """Whether a pool's nodes are of the type that a model names: product, label or instance."""
    if kind in (facts.name, facts.pool.capacity.node_type):
        return True
    if any(value == kind for _, value in facts.pool.node_selector):
        return True
    match = catalog.product(kind)
    return match is not None and facts.product is not None and match.product.id == facts.product.id


def _offers(pools: Sequence[PoolFacts]) -> str:
    kinds = sorted({facts.product.id if facts.product else facts.name for facts in pools})
    return ", ".join(kinds) or "none"


def _leaf(model: Model, tree: Tree) -> Node | None:
    """The leaf that takes a model's pods: its team's, or the team's `.own`."""
    if model.team is None:
        return None
    return tree.leaf_of.get(model.team)


def _limits(model: Model, fit: Fit, node: Node | None) -> Iterator[Hit]:
    """Whether the team's share holds what the model wants at its least and at its most."""
    if node is None:
        return
    pool = fit.facts.name
    limit = node.limit[pool][fit.resource]
    guarantee = node.guarantee[pool][fit.resource]
    if model.gang is not None:
        least, most = model.gang.size, model.gang.size * (model.replicas or 1)
    elif model.autoscaling is not None:
        least, most = model.autoscaling.min_replicas, model.autoscaling.max_replicas
    else:
        least = most = model.replicas or 1
    if least * fit.units > limit:
        yield warn(
            "model-above-limit",
            f'model "{model.name}" needs {least * fit.units} {fit.resource} at the least, and '
            f'team "{model.team}" may have {limit} of pool "{pool}"; it will never run whole',
            model,
        )
    elif most * fit.units > limit:
        yield warn(
            "model-above-limit",
            f'model "{model.name}" takes {most * fit.units} {fit.resource} at its most, and '
            f'team "{model.team}" may have {limit} of pool "{pool}"; lower its replicas or raise '
            "the limit",
            model,
        )
    lends = fit.facts.scheduler != "kube-scheduler"
    count = len(node.team.namespaces)
    if not lends and count and fit.units > -(-limit // count) and fit.units <= limit:
        yield warn(
            "model-above-quota",
            f'a replica of model "{model.name}" takes {fit.units} {fit.resource}, and the limit '
            f"of {limit} is divided over {count} namespaces, so none has more than "
            f"{-(-limit // count)}; raise the limit or give the team fewer namespaces",
            model,
        )
    if lends and model.workload == "serving" and guarantee < least * fit.units <= limit:
        yield warn(
            "serving-on-borrowed-gpus",
            f'model "{model.name}" serves with {least * fit.units} {fit.resource} at the least, '
            f'and team "{model.team}" is guaranteed {guarantee} of pool "{pool}": the rest can '
            "be reclaimed at any time; raise the guarantee",
            model,
        )
    for name, asked in ((CPU, model.cpu_milli), (MEMORY, model.memory_bytes)):
        share = fit.facts.vector({**dict.fromkeys(fit.facts.resources, 0), fit.resource: fit.units})
        if asked is not None and asked > share[name]:
            yield Hit(
                "host-share-exceeded",
                f'a replica of model "{model.name}" asks {text(name, asked)} {name}, and '
                f'{fit.units} {fit.resource} of pool "{pool}" come with {text(name, share[name])}: '
                "the queue's GPUs cannot all be used",
                model.field("resources"),
                Severity.INFO,
            )
