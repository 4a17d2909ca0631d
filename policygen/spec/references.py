"""What one part of the spec says about another: identities, references, the team tree, namespaces."""

from collections import defaultdict
from collections.abc import Iterator

from policygen.finding import At, Hit
from policygen.spec.nearest import suggest
from policygen.spec.types import Model, Pool, Spec, Team

NAME_LENGTH = 63
"""Composed names become label values, which hold no more."""

Named = tuple[str, str]
"""A kind of ours and a name."""


def check(spec: Spec, unread: frozenset[Named] = frozenset()) -> Iterator[Hit]:
    """Everything that refers to nothing, to itself, or to two things.

    `unread` names documents that were refused before they could be typed: a reference to
    one of them is no second error.
    """
    yield from _identities(spec)
    yield from _platform(spec, unread)
    yield from _teams(spec, unread)
    yield from _namespaces(spec)
    yield from _models(spec, unread)
    yield from _composed(spec)


def _identities(spec: Spec) -> Iterator[Hit]:
    seen: dict[Named, At] = {}
    entries: list[tuple[str, str, At]] = [
        *(("ResourcePool", pool.name, pool.at) for pool in spec.pools),
        *(("Team", team.name, team.at) for team in spec.teams),
        *(("Model", model.name, model.at) for model in spec.models),
        *(("priority", priority.name, priority.at) for priority in spec.platform.priorities),
    ]
    for kind, name, at in entries:
        if (kind, name) in seen:
            where = at / "metadata" / "name" if not at.path else at / "name"
            yield Hit("duplicate-identity", f'{kind} "{name}" is already there; rename one', where)
        seen[kind, name] = at


def _names(spec: Spec, unread: frozenset[Named], kind: str) -> set[str]:
    members: dict[str, tuple[Pool | Team | Model, ...]] = {
        "ResourcePool": spec.pools,
        "Team": spec.teams,
        "Model": spec.models,
    }
    return {it.name for it in members[kind]} | {name for of, name in unread if of == kind}


def _unknown(kind: str, name: str, known: set[str], at: At) -> Iterator[Hit]:
    if name not in known:
        yield Hit("unknown-reference", f'no {kind} "{name}"; {suggest(name, known)}', at)


def _platform(spec: Spec, unread: frozenset[Named]) -> Iterator[Hit]:
    pools = {pool.name: pool for pool in spec.pools}
    known = _names(spec, unread, "ResourcePool")
    queue_of: dict[str, str] = {}
    for queue in spec.platform.shared_queues:
        if queue.name in known:
            yield Hit(
                "name-collision",
                f'the shared queue "{queue.name}" has the name of a pool, and so its LocalQueue; '
                "rename the queue",
                queue.at / "name",
            )
        for index, name in enumerate(queue.pools):
            at = queue.at / "pools" / index
            yield from _unknown("ResourcePool", name, known, at)
            if name in queue_of:
                yield Hit(
                    "pool-in-two-queues",
                    f'pool "{name}" stands in shared queue "{queue_of[name]}" already; '
                    "remove it from one",
                    at,
                )
            queue_of[name] = queue.name
            pool = pools.get(name)
            if pool and (pool.scheduler or spec.platform.scheduler) != "kueue":
                yield Hit(
                    "shared-queue-not-kueue",
                    f'pool "{name}" is not scheduled by kueue, and only Kueue has queues over '
                    "several pools; set its scheduler to kueue or remove it here",
                    at,
                )
    for priority in spec.platform.priorities:
        if priority.name == "default" or priority.name.startswith("system-"):
            yield Hit(
                "reserved-name",
                f'a priority cannot be called "{priority.name}": Kubernetes keeps system-* and '
                'Kueue gives "default" to every job without a class; choose another name',
                priority.at / "name",
            )


def _teams(spec: Spec, unread: frozenset[Named]) -> Iterator[Hit]:
    pools = _names(spec, unread, "ResourcePool")
    teams = _names(spec, unread, "Team")
    parents = {team.name: team.parent for team in spec.teams}
    inner = set(parents.values())
    for team in spec.teams:
        if team.parent is not None:
            at = team.at / "spec" / "parent"
            yield from _unknown("Team", team.parent, teams, at)
            cycle = _cycle(team.name, parents)
            if cycle:
                yield Hit(
                    "team-cycle",
                    f"team {' → '.join(cycle)} is its own ancestor; remove one parent",
                    at,
                )
        if not team.namespaces and team.name not in inner:
            yield Hit(
                "team-without-namespaces",
                f'team "{team.name}" has neither namespaces nor child teams, so nothing could '
                "ever use its share; write spec.namespaces",
                team.at / "metadata" / "name",
            )
        for quota in team.quotas:
            yield from _unknown("ResourcePool", quota.pool, pools, quota.at / "pool")


def _cycle(name: str, parents: dict[str, str | None]) -> list[str]:
    """The way from a team back to itself, or nothing."""
    way = [name]
    step = parents.get(name)
    while step is not None and step not in way:
        way.append(step)
        step = parents.get(step)
    return [*way, name] if step == name else []


def _namespaces(spec: Spec) -> Iterator[Hit]:
    owner: dict[str, Team] = {}
    for team in spec.teams:
        for index, namespace in enumerate(team.namespaces):
            first = owner.setdefault(namespace.name, team)
            if first is not team and not (first.shares_namespace and team.shares_namespace):
                yield Hit(
                    "namespace-in-two-teams",
                    f'namespace "{namespace.name}" belongs to team "{first.name}" already; '
                    "a namespace has one team",
                    team.at / "spec" / "namespaces" / index / "name",
                )


def _models(spec: Spec, unread: frozenset[Named]) -> Iterator[Hit]:
    pools = _names(spec, unread, "ResourcePool")
    teams = {team.name: team for team in spec.teams}
    known_teams = _names(spec, unread, "Team")
    priorities = {priority.name for priority in spec.platform.priorities}
    platform_unread = any(kind == "Platform" for kind, _ in unread)
    parents = {team.parent for team in spec.teams}
    # The articles' models name a queue of a ConfigMap that may not be at hand.
    queues_absent = not known_teams and not priorities
    for model in spec.models:
        lenient = bool(model.renamed) and queues_absent
        if model.team is not None and not lenient:
            yield from _unknown("Team", model.team, known_teams, model.field("team"))
        if model.priority is not None and not lenient and not platform_unread:
            # One word names queue and priority in the articles' form: one error is enough.
            if not (model.renamed and model.team not in known_teams):
                yield from _unknown("priority", model.priority, priorities, model.field("priority"))
        for index, name in enumerate(model.placement.pools):
            at = model.at / "spec" / "placement" / "pools" / index
            yield from _unknown("ResourcePool", name, pools, at)
        team = teams.get(model.team or "")
        if team is None:
            continue
        if not team.namespaces and team.name in parents:
            yield Hit(
                "model-in-inner-team",
                f'team "{team.name}" has no namespaces of its own, so model "{model.name}" could '
                "run nowhere; name one of its child teams, or give it a namespace",
                model.field("team"),
            )
        owned = [namespace.name for namespace in team.namespaces]
        if model.namespace is not None and model.namespace not in owned:
            yield Hit(
                "unknown-reference",
                f'namespace "{model.namespace}" is none of team "{team.name}"; '
                f"{suggest(model.namespace, owned)}",
                model.field("namespace"),
            )
        if model.autoscaling and model.autoscaling.min_replicas > model.autoscaling.max_replicas:
            yield Hit(
                "replicas-reversed",
                f"minReplicas {model.autoscaling.min_replicas} is above maxReplicas "
                f"{model.autoscaling.max_replicas}",
                model.at / "spec" / "autoscaling" / "minReplicas",
            )


def _composed(spec: Spec) -> Iterator[Hit]:
    """Names that become illegal only once joined."""
    queue_of = {pool: queue.name for queue in spec.platform.shared_queues for pool in queue.pools}
    parents = {team.parent for team in spec.teams}
    reported: defaultdict[str, set[str]] = defaultdict(set)
    for team in spec.teams:
        own = ".own" if team.name in parents and team.namespaces else ""
        for quota in team.quotas:
            composed = f"{team.name}{own}.{queue_of.get(quota.pool, quota.pool)}"
            if len(composed) > NAME_LENGTH and composed not in reported[team.name]:
                reported[team.name].add(composed)
                yield Hit(
                    "composed-name-too-long",
                    f'the queue "{composed}" would have {len(composed)} characters, and jobs name '
                    f"it in a label, which holds {NAME_LENGTH}; shorten the team or the pool",
                    quota.at if quota.by_weight else quota.at / "pool",
                )
    for priority in spec.platform.priorities:
        composed = f"{priority.name}.preempting"
        if len(composed) > NAME_LENGTH:
            yield Hit(
                "composed-name-too-long",
                f'the priority "{priority.name}" leaves no room for "{composed}", which mixed '
                f"platforms need; keep it to {NAME_LENGTH - len('.preempting')} characters",
                priority.at / "name",
            )
    if len(f"{spec.platform.name}-kube-scheduler") > NAME_LENGTH and spec.platform.at:
        yield Hit(
            "composed-name-too-long",
            f'the set\'s name "{spec.platform.name}" is too long for '
            f'"{spec.platform.name}-kube-scheduler"; keep it to '
            f"{NAME_LENGTH - len('-kube-scheduler')} characters",
            spec.platform.at / "metadata" / "name",
        )
