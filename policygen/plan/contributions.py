"""What a model, or a team with its child teams, adds to a sum of one resource."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.plan import model_limits
from policygen.plan.amounts import HOST, amount_of
from policygen.plan.assignment import Assignment
from policygen.plan.tree import TeamNode

_SHOWN = 6


class Contribution(Struct, frozen=True):
    """What a model needs of one resource, or all models of a team and of its child teams."""

    name: str
    always: int
    """In use all the time: the least replicas of serving models."""
    start: int
    """What the largest other model needs in addition, at one time, to start."""
    starter: str
    """This model, in a message: `m`, or `m of team a`."""
    most: int
    """In use if all replicas run."""
    always_text: str
    most_text: str
    models: tuple[Assignment, ...] = ()
    cut: bool = False
    """Whether the models need more, but cannot use it together."""
    blocked: int = 0
    """What the largest model needs to start that cannot start beside other models of its team."""
    blocked_starter: str = ""
    """This model, as `starter`."""
    others: tuple[tuple[int, str], ...] = ()
    """What other models of the team need to start, and these models, as `start` and `starter`."""

    @property
    def starts(self) -> Sequence[tuple[int, str]]:
        """What each model needs to start that does not always run, and its name; the largest first."""
        return ((self.start, self.starter), *self.others) if self.start else ()

    def least_always(self, resource: str) -> int:
        """What one replica of each serving model needs; all that is in use if it is less."""
        running = (it for it in self.models if it.replicas.always)
        return min(self.always, sum(it.replicas.piece.get(resource, 0) for it in running))


def of_model(chosen: Assignment, resource: str) -> Contribution:
    """What a model needs of a resource."""
    pieces, name = chosen.replicas, chosen.model.name
    each = pieces.piece[resource]

    def text(count: int) -> str:
        amount = _text(resource, each)
        return f"{name} {count} × {amount}" if count > 1 else f"{name} {amount}"

    return Contribution(
        name=name,
        always=pieces.always * each,
        start=0 if pieces.always else pieces.least * each,
        starter=name,
        most=pieces.most * each,
        always_text=text(pieces.always),
        most_text=text(pieces.most),
        models=(chosen,),
    )


def of_excessive(chosen: Assignment, resource: str) -> Contribution:
    """What the replicas of a model use that fit the limit of its team, if not all of them fit."""
    pieces = chosen.replicas
    count = min(pieces.always, model_limits.fitting(chosen))
    used = count * pieces.piece[resource]
    return replace(of_model(chosen, resource), always=used, start=0, most=used)


def of_team(
    node: TeamNode, parts: Sequence[Contribution], limit: int | None, resource: str
) -> Contribution:
    """What a team and its child teams can use at one time."""
    always, most = sum(it.always for it in parts), sum(it.most for it in parts)
    if limit is None:
        limit = most
    starting = [it for it in parts if always + it.start <= limit]
    name = f"team {node.team.name}"
    starts = [
        (amount, f"{model} of {name}" if model == it.name else model)
        for it in starting
        for amount, model in it.starts
    ]
    starts.sort(key=lambda it: -it[0])
    start, starter = starts[0] if starts else (0, name)
    blocked = [(it.blocked, it.blocked_starter) for it in parts if it.blocked]
    blocked += [
        (it.start, _of_team(it, name)) for it in parts if limit - always < it.start <= limit
    ]
    most_blocked, blocked_starter = max(blocked, default=(0, ""))
    cut = most > limit or any(it.cut or always + it.start > limit for it in parts)
    always, most = min(always, limit), min(most, limit)
    return Contribution(
        name=name,
        always=always,
        start=start,
        starter=starter,
        others=tuple(starts[1:]),
        most=most,
        always_text=f"{name} {_text(resource, always)}",
        most_text=f"{name} {_text(resource, most)}",
        models=tuple(model for it in parts for model in it.models),
        cut=cut,
        blocked=min(most_blocked, limit),
        blocked_starter=blocked_starter,
    )


def _text(resource: str, amount: int) -> str:
    """An amount in a list of parts, where GPUs need no unit."""
    return amount_of(resource, amount) if resource in HOST else f"{amount}"


def _of_team(part: Contribution, team: str) -> str:
    """The model that a part starts, with its team."""
    return f"{part.starter} of {team}" if part.starter == part.name else part.starter


def with_excessive(
    part: Contribution, excessive: Sequence[Contribution], limit: int | None, resource: str
) -> Contribution:
    """The part of a team with what its models use that exceed its limit alone."""
    if not excessive:
        return part
    always = part.always + sum(it.always for it in excessive)
    most = part.most + sum(it.most for it in excessive)
    if limit is not None:
        always, most = min(always, limit), min(most, limit)
    return replace(
        part,
        always=always,
        start=max(0, part.always + part.start - always),
        others=_beside(part, always),
        most=most,
        always_text=f"{part.name} {_text(resource, always)}",
        most_text=f"{part.name} {_text(resource, most)}",
        models=(*part.models, *(model for it in excessive for model in it.models)),
    )


def with_guarantee(part: Contribution, held: int, resource: str) -> Contribution:
    """The part with at least the guarantee of its team, if other teams cannot borrow it."""
    if held <= part.always:
        return part
    text = f"{part.name} {_text(resource, held)} (its guarantee)"
    return replace(
        part,
        always=held,
        start=max(0, part.always + part.start - held),
        others=_beside(part, held),
        most=max(held, part.most),
        always_text=text,
        most_text=part.most_text if part.most > held else text,
    )


def _beside(part: Contribution, always: int) -> tuple[tuple[int, str], ...]:
    """`others` of a part if more of it is always in use."""
    more = always - part.always
    return tuple((amount - more, name) for amount, name in part.others if amount > more)


def shown(texts: Sequence[str]) -> str:
    """The first texts of some parts, and the number of the others."""
    more = f" and {len(texts) - _SHOWN} more" if len(texts) > _SHOWN else ""
    return ", ".join(texts[:_SHOWN]) + more
