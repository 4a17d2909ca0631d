"""Which of its pools each model runs on, in which queue, and whether its team's quota is enough."""

from collections.abc import Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.plan import demand, fit, rules
from policygen.plan.amounts import CPU, MEMORY, amount_of
from policygen.plan.fit import Offer, Replica, Size, warn
from policygen.plan.placement import Placing
from policygen.plan.pool import PoolFacts
from policygen.plan.tree import TeamNode, Tree
from policygen.spec.types import Model, Spec, TeamNamespace

_SHOWN = 4


class Assignment(Struct, frozen=True):
    """A model, the pool that it is planned for, and the queue of its pods."""

    model: Model
    facts: PoolFacts
    size: Size
    tree: Tree
    node: TeamNode | None
    """The leaf of its team, or None if the model has no team."""
    pools: tuple[PoolFacts, ...]
    """The pools of the queue that it may use and fits."""

    @property
    def queue(self) -> str | None:
        """The name of its team's queue."""
        return self.tree.name_of(self.node) if self.node else None

    @property
    def namespace(self) -> TeamNamespace | None:
        """The namespace of the model's pods: the one that it names, or its team's first."""
        owned = self.node.team.namespaces if self.node else ()
        name = self.model.namespace
        if name is None:
            return owned[0] if owned else None
        return next((it for it in owned if it.name == name), TeamNamespace(name))


class Workloads(Struct, frozen=True):
    """The decisions of the plan about models."""

    assignments: tuple[Assignment, ...]
    hits: tuple[Hit, ...]


def place(spec: Spec, pools: Mapping[str, PoolFacts], trees: Sequence[Tree]) -> Workloads:
    """Place every model on the first of its pools that it fits, with findings about it."""
    hits: list[Hit] = []
    assignments: list[Assignment] = []
    placing = Placing(tuple(pools.values()))
    offers = fit.offers(pools.values())
    trees_of = {facts.name: tree for tree in trees for facts in tree.pools}
    for model in spec.models:
        replica = Replica(model)
        hits += demand.check(model, replica.workload)
        allowed = placing.allowed(model, hits)
        assignment = _assigned(replica, allowed, offers, trees_of)
        if assignment is not None:
            assignments.append(assignment)
            hits += fit.crowding(replica, assignment.pools, offers)
            hits += _limits(assignment)
        elif allowed:
            hits.append(_unassigned(replica, allowed, offers))
    return Workloads(tuple(assignments), tuple(hits))


def _assigned(
    replica: Replica,
    allowed: Sequence[PoolFacts],
    offers: Mapping[str, Offer],
    trees_of: Mapping[str, Tree],
) -> Assignment | None:
    """The first pool that holds a replica and is in the quotas of its team; None if no pool is."""
    model = replica.model
    for facts in allowed:
        size = replica.size(offers[facts.name])
        if size is None:
            continue
        tree = trees_of[facts.name]
        node = tree.leaf_of.get(model.team) if model.team is not None else None
        if node is None and model.team is not None:
            continue
        pools = tree.pools
        if len(pools) > 1:
            names = {it.name for it in allowed}
            pools = tuple(it for it in pools if it.name in names and replica.size(offers[it.name]))
        return Assignment(model, facts, size, tree, node, pools)
    return None


def _unassigned(replica: Replica, allowed: Sequence[PoolFacts], offers: Mapping[str, Offer]) -> Hit:
    """Why a model fits no pool."""
    model = replica.model
    fits = [f'"{facts.name}"' for facts in allowed if replica.size(offers[facts.name])]
    if fits:
        more = f" and {len(fits) - _SHOWN} more" if len(fits) > _SHOWN else ""
        return warn(
            rules.TEAM_WITHOUT_SHARE,
            f'team "{model.team}" has no quota for the pools that model "{model.name}" fits '
            f"({', '.join(fits[:_SHOWN])}{more}); add one of these pools to the team's quotas",
            model,
        )
    misfits = [(facts.name, *fit.misfit(replica, offers[facts.name])) for facts in allowed[:_SHOWN]]
    reasons = "; ".join(f'"{name}": {reason}' for name, _, reason in misfits)
    return Hit(
        rules.MODEL_FITS_NO_POOL,
        f'model "{model.name}" is not rendered, because it fits no node of its pools ({reasons}); '
        "correct the resources or placement of the model",
        misfits[0][1],
    )


def _together(model: Model) -> tuple[int, int]:
    """The least and the most replicas, or pods of gangs, that run at one time."""
    if model.gang is None and model.autoscaling is not None:
        return model.autoscaling.min_replicas, model.autoscaling.max_replicas
    pods = model.gang.size if model.gang is not None else 1
    if model.workload == "batch":
        return pods, pods  # independent jobs: those above the limit wait
    most = pods * (model.replicas or 1)
    return (most if model.gang is None else pods), most


def _limits(assignment: Assignment) -> Iterator[Hit]:
    """Warnings if the team's quota is too small for the model's least or most replicas."""
    model, size, node = assignment.model, assignment.size, assignment.node
    if node is None:
        return
    pool = assignment.facts.name
    limit = node.limit[pool][size.resource]
    guarantee = node.guarantee[pool][size.resource]
    least, most = _together(model)
    if least * size.units > limit:
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs at least {least * size.units} {size.resource}, but team '
            f'"{model.team}" has the limit {limit} on pool "{pool}", so the model never runs '
            "completely; raise the limit",
            model,
        )
    elif most * size.units > limit:
        yield warn(
            rules.MODEL_ABOVE_LIMIT,
            f'model "{model.name}" needs up to {most * size.units} {size.resource}, but team '
            f'"{model.team}" has the limit {limit} on pool "{pool}"; lower the model\'s replicas, '
            "or raise the limit",
            model,
        )
    lends = assignment.facts.scheduler != "kube-scheduler"
    count = len(node.team.namespaces)
    if not lends and count and size.units > -(-limit // count) and size.units <= limit:
        yield warn(
            rules.MODEL_ABOVE_QUOTA,
            f'one replica of model "{model.name}" needs {size.units} {size.resource}, but its '
            f"team's limit of {limit} is divided over {count} namespaces, at most "
            f"{-(-limit // count)} for each; raise the limit, or give the team fewer namespaces",
            model,
        )
    if lends and model.workload == "serving" and guarantee < least * size.units <= limit:
        yield warn(
            rules.SERVING_ON_BORROWED_GPUS,
            f'serving model "{model.name}" needs at least {least * size.units} {size.resource}, '
            f'but team "{model.team}" has the guarantee {guarantee} on pool "{pool}", so other '
            "teams can reclaim the rest at any time; raise the guarantee",
            model,
        )
    for name, amount in ((CPU, model.cpu_milli), (MEMORY, model.memory_bytes)):
        share = assignment.facts.vector(
            {**dict.fromkeys(assignment.facts.resources, 0), size.resource: size.units}
        )
        if amount is not None and amount > share[name]:
            yield Hit(
                rules.HOST_SHARE_EXCEEDED,
                f'one replica of model "{model.name}" requests {amount_of(name, amount, share[name])}, '
                f'but only {amount_of(name, share[name], amount)} on pool "{pool}" belong to its '
                f"{size.units} {size.resource}, so some GPUs stay idle; lower the request",
                model.field("resources"),
            )
