"""Whether a model alone exceeds the limit of its team, or its share of a node."""

from collections.abc import Iterator, Mapping, Sequence

from policygen.core.finding import Hit
from policygen.core.quoting import listed
from policygen.plan import rules
from policygen.plan.amounts import CPU, HOST, MEMORY, Vector, amount_of, at_most
from policygen.plan.assignment import Assignment
from policygen.plan.replicas import counted_resources, limit_of


def bounds(chosen: Assignment) -> Sequence[Vector]:
    """The limits of the team in the namespace of a model, by pool; none without a team."""
    node = chosen.node
    return [limit_of(it, node, chosen.namespace) for it in chosen.pools] if node else []


def most(chosen: Assignment) -> int:
    """The replicas that the limit must hold: independent jobs wait, unless an autoscaler starts them."""
    model, pieces = chosen.model, chosen.replicas
    waits = model.workload == "batch" and (model.autoscaling is None or model.gang is not None)
    return pieces.least if waits else pieces.most


def exceeded(chosen: Assignment) -> Iterator[str]:
    """The resources of which a model alone needs more than the limit."""
    for resource in counted_resources(chosen.facts) if chosen.node else ():
        need = most(chosen) * chosen.replicas.piece.get(resource, 0)
        if need > sum(it[resource] for it in bounds(chosen)):
            yield resource


def exceeds(chosen: Assignment) -> bool:
    """Whether a model alone exceeds the limit of its team."""
    if chosen.node is None:
        return False
    return any(exceeded(chosen)) or fitting(chosen) < chosen.replicas.least


def fitting(chosen: Assignment) -> int:
    """The number of replicas of a model that fit the limit of its team."""
    return chosen.replicas.pieces(bounds(chosen), counted_resources(chosen.facts))


def held(chosen: Assignment, resource: str) -> int:
    """What a guarantee must cover, so that other teams reclaim nothing of it."""
    pieces = chosen.replicas
    if not chosen.facts.lends(resource):
        return 0
    whole = chosen.tree.scheduler == "volcano" and chosen.model.gang is not None
    return max(pieces.always, int(whole)) * pieces.piece.get(resource, 0)


def above_share(assignment: Assignment) -> dict[str, tuple[int, int]]:
    """What a replica requests of cpu and memory above the share of the units that it takes, and this share."""
    model, size, facts = assignment.model, assignment.size, assignment.facts
    share = facts.vector({**dict.fromkeys(facts.resources, 0), size.resource: size.units})
    requested = {CPU: model.cpu_milli, MEMORY: model.memory_bytes}
    return {
        name: (amount, share[name])
        for name, amount in requested.items()
        if amount is not None and amount > share[name]
    }


def lower_requests(above: Mapping[str, tuple[int, int]]) -> str:
    """The change after which a replica requests its share."""
    shares = [at_most(name, share) for name, (_, share) in above.items()]
    return (
        f"lower {'the requests' if len(shares) > 1 else 'the request'} to {listed(shares, 'and')}"
    )


def host_share(assignment: Assignment) -> Iterator[Hit]:
    """A note if a replica requests more cpu or memory than the units that it takes.

    If the model therefore exceeds the limit of its team, model-above-limit reports it.
    """
    model, size, facts = assignment.model, assignment.size, assignment.facts
    above = above_share(assignment) if assignment.node is not None else {}
    if above and next(exceeded(assignment), None) not in HOST:
        has = [amount_of(name, amount, share) for name, (amount, share) in above.items()]
        own = [amount_of(name, share, amount) for name, (amount, share) in above.items()]
        yield Hit(
            rules.HOST_SHARE_EXCEEDED,
            f'one replica of model "{model.name}" requests {listed(has, "and")}, but only '
            f'{listed(own, "and")} on pool "{facts.name}" belong to its {size.units} {size.resource}, '
            f"so some GPUs stay idle; {lower_requests(above)}",
            model.field("resources"),
        )
