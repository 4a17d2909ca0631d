"""Checks composed names, which can be too long, or equal to other names."""

from collections.abc import Iterator

from policygen.core.finding import Hit
from policygen.spec import derived_names
from policygen.spec.pools import scheduler_of
from policygen.spec.rules import COMPOSED_NAME_TOO_LONG, NAME_COLLISION
from policygen.spec.types import Spec

NAME_LENGTH = 63
"""The most characters of a label value; composed names become label values."""


def check(spec: Spec) -> Iterator[Hit]:
    """Names of queues, pod groups, classes and the second scheduler."""
    yield from _queues(spec)
    yield from _pod_groups(spec)
    yield from _classes(spec)
    yield from _second_scheduler(spec)


def _classes(spec: Spec) -> Iterator[Hit]:
    priorities = {priority.name: priority for priority in spec.platform.priorities}
    # A priority has a second class only if kube-scheduler or Volcano may preempt for it.
    mixed = any(scheduler_of(pool, spec.platform) != "kueue" for pool in spec.pools)
    for priority in spec.platform.priorities if mixed else ():
        composed = derived_names.preempting_class(priority)
        if len(composed) > NAME_LENGTH:
            yield Hit(
                COMPOSED_NAME_TOO_LONG,
                f'the name of priority "{priority.name}" is too long, because policygen also renders a PriorityClass '
                f'"{composed}"; shorten the name to {_room(priority.name, composed)} characters',
                priority.at / "name",
            )
        if composed in priorities:
            yield Hit(
                NAME_COLLISION,
                f'priority "{composed}" has the same name as the PriorityClass that policygen also renders for priority '
                f'"{priority.name}"; rename one of the two priorities',
                priorities[composed].at / "name",
            )


def _second_scheduler(spec: Spec) -> Iterator[Hit]:
    composed = derived_names.second_scheduler(spec.platform)
    if len(composed) > NAME_LENGTH and spec.platform.at:
        yield Hit(
            COMPOSED_NAME_TOO_LONG,
            f'the name of Platform "{spec.platform.name}" is too long, because policygen names its second scheduler '
            f'"{composed}"; shorten the name to {_room(spec.platform.name, composed)} characters',
            spec.platform.at / "metadata" / "name",
        )


def _pod_groups(spec: Spec) -> Iterator[Hit]:
    """Each of several gangs of a model has its own numbered pod group."""
    for model in spec.models:
        count = model.replicas or 1
        last = derived_names.pod_group(model, count - 1)
        if model.gang is not None and len(last) > NAME_LENGTH:
            yield Hit(
                COMPOSED_NAME_TOO_LONG,
                f'the name of model "{model.name}" is too long, because the last of its {count} gangs '
                f'is called "{last}", but at most {NAME_LENGTH} characters are allowed; shorten the name',
                model.at / "metadata" / "name",
            )


def _queues(spec: Spec) -> Iterator[Hit]:
    queue_of = {pool.name: pool.name for pool in spec.pools}
    for queue in spec.platform.shared_queues:
        queue_of.update((pool, queue.name) for pool in queue.pools if pool in queue_of)
    divided = {
        (team.parent, queue_of[quota.pool])
        for team in spec.teams
        for quota in team.quotas
        if quota.pool in queue_of
    }
    for team in spec.teams:
        reported: set[str] = set()
        for quota in team.quotas:
            name = queue_of.get(quota.pool)
            if name is None or name in reported:
                continue
            parted = team.namespaces and (team.name, name) in divided
            composed = derived_names.queue(
                derived_names.own_leaf(team.name) if parted else team.name, name
            )
            if len(composed) > NAME_LENGTH:
                reported.add(name)
                yield Hit(
                    COMPOSED_NAME_TOO_LONG,
                    f'the name of queue "{composed}" has {len(composed)} characters, but a label value has '
                    f"at most {NAME_LENGTH}; shorten the name of the team or the pool",
                    quota.field("pool"),
                )


def _room(name: str, composed: str) -> int:
    """The most characters that a name may have, so that the composed name fits."""
    return NAME_LENGTH - (len(composed) - len(name))
