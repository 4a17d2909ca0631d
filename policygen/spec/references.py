"""Checks between the parts of a spec: references, the team tree, namespaces, names."""

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from policygen.core.finding import At, Hit
from policygen.core.names import SYSTEM_NAMESPACES
from policygen.core.quoting import quoted, some
from policygen.core.suggest import suggest
from policygen.spec import clusters, joined_names, rules
from policygen.spec.pools import scheduler_of
from policygen.spec.types import Model, Platform, Spec, Team, TeamNamespace
from policygen.spec.unread import Unread

_MOST_COMPARED = 20_000
"""The most comparisons of unknown names of one kind, to suggest the most similar name."""

_SHOWN_IN_CYCLE = 6


class _Known:
    """The names of one kind, and the advice for a name that is not among them."""

    def __init__(self, kind: str, names: Iterable[str], unread: Unread) -> None:
        self.kind = kind
        self.names = frozenset(names)
        self.known = self.names | unread.defined.get(kind, set())
        self.unread = unread
        self.advice: dict[tuple[str, str], str] = {}

    def check(self, name: str, at: At, own: str = "") -> Iterator[Hit]:
        """A hit if the name does not exist; `own` is the name of the object that refers to it."""
        if name in self.names or self.unread.may_define(self.kind, name):
            return
        if (name, own) not in self.advice:
            few = len(self.advice) * len(self.known) <= _MOST_COMPARED
            hidden = self.unread.cut and self.known <= {own}
            kind = f"other {self.kind}" if own else self.kind
            advice = (
                suggest(name, self.known - {own}, kind)
                if few and not hidden
                else "write a name that the spec defines"
            )
            self.advice[name, own] = f"{self.kind} {quoted(name)} does not exist; {advice}"
        yield Hit(rules.UNKNOWN_REFERENCE, self.advice[name, own], at)


def check(
    spec: Spec,
    unread: Unread | None = None,
    remnants: Sequence[Platform | Team | Model] = (),
) -> Iterator[Hit]:
    """References without a target, cycles of teams, and names that are used twice.

    `unread` has the names that refused documents may define, and `remnants` their readable parts.
    """
    unread = unread or Unread()
    named = _Names(
        pools=_Known("ResourcePool", (pool.name for pool in spec.pools), unread),
        teams=_Known("Team", (team.name for team in spec.teams), unread),
        priorities=_Known("priority", (it.name for it in spec.platform.priorities), unread),
    )
    parts = spec.platform, *spec.teams, *spec.models, *remnants
    yield from _grouped((_shown(part), hit) for part in parts for hit in _dangling(part, named))
    yield from _platform(spec, named.pools)
    yield from _unused(spec.teams, unread)
    yield from _cycles(spec.teams)
    yield from _namespaces(spec)
    yield from _models(spec, unread)
    yield from joined_names.check(spec)
    yield from clusters.check(spec)


def _shown(part: Platform | Team | Model) -> str:
    return (
        "the Platform"
        if isinstance(part, Platform)
        else f"{type(part).__name__} {quoted(part.name)}"
    )


def _grouped(found: Iterable[tuple[str, Hit]]) -> Iterator[Hit]:
    """One hit for each missing name, with all objects that refer to it."""
    by_message: dict[str, list[tuple[str, Hit]]] = {}
    for owner, hit in found:
        by_message.setdefault(hit.message, []).append((owner, hit))
    for message, hits in by_message.items():
        owners = list(dict.fromkeys(owner for owner, _ in hits))
        first = hits[0][1]
        if len(owners) == 1:
            yield from (hit for _, hit in hits)
            continue
        fault, _, remedy = message.rpartition("; ")
        others = tuple(hit.at for _, hit in hits[1:] if hit.at)
        who = f"{some(owners, 'other object')} refer to it"
        yield first._replace(message=f"{fault}, but {who}; {remedy}", related=others)


class _Names(NamedTuple):
    """Everything that a reference can name."""

    pools: _Known
    teams: _Known
    priorities: _Known


def _dangling(part: Platform | Team | Model, named: _Names) -> Iterator[Hit]:
    match part:
        case Platform():
            for queue in part.shared_queues:
                for index, name in enumerate(queue.pools):
                    yield from named.pools.check(name, queue.at / "pools" / index)
            for pool in (it for cluster in part.clusters for it in cluster.pools):
                yield from named.pools.check(pool.name, pool.at / "name")
                for each in pool.quotas:
                    yield from named.teams.check(each.team, each.at / "team")
        case Team():
            if part.parent is not None:
                yield from named.teams.check(
                    part.parent, part.at / "spec" / "parent", own=part.name
                )
            for quota in part.quotas:
                yield from named.pools.check(quota.pool, quota.field("pool"))
        case Model():
            yield from _of_model(part, named)


def _of_model(model: Model, named: _Names) -> Iterator[Hit]:
    if not model.renamed:  # in the articles' form, one field names both: legacy_forms.classes
        if model.team is not None:
            yield from named.teams.check(model.team, model.field("team"))
        if model.priority is not None:
            yield from named.priorities.check(model.priority, model.field("priority"))
    for index, name in enumerate(model.placement.pools):
        yield from named.pools.check(name, model.field("placement") / "pools" / index)


def _platform(spec: Spec, pools: _Known) -> Iterator[Hit]:
    by_name = {pool.name: pool for pool in spec.pools}
    queue_of: dict[str, str] = {}
    for queue in spec.platform.shared_queues:
        if queue.name in pools.names:
            yield Hit(
                rules.NAME_COLLISION,
                f'shared queue "{queue.name}" and a pool have the same name, so their LocalQueues would have the '
                "same name; rename the shared queue",
                queue.at / "name",
            )
        for index, name in enumerate(queue.pools):
            at = queue.at / "pools" / index
            if name in queue_of:
                yield Hit(
                    rules.POOL_IN_TWO_QUEUES,
                    f'pool {quoted(name)} is already in shared queue "{queue_of[name]}"; '
                    "remove the pool from one of the two queues",
                    at,
                )
            queue_of[name] = queue.name
            pool = by_name.get(name)
            if pool and scheduler_of(pool, spec.platform) != "kueue":
                yield Hit(
                    rules.SHARED_QUEUE_NOT_KUEUE,
                    f'Kueue does not schedule pool "{name}", but only Kueue has shared queues; '
                    "set the pool's scheduler to kueue, or remove the pool from the shared queue",
                    at,
                )
    for priority in spec.platform.priorities:
        if priority.name == "default" or priority.name.startswith("system-"):
            yield Hit(
                rules.RESERVED_NAME,
                f'priority "{priority.name}" has a reserved name: Kubernetes reserves system-*, and '
                'Kueue uses the class "default" for jobs that set no class; choose another name',
                priority.at / "name",
            )


def _unused(teams: Sequence[Team], unread: Unread) -> Iterator[Hit]:
    inner = {team.parent for team in teams}
    for team in teams:
        childless = team.name not in inner and not unread.may_have_child(team.name)
        if not team.namespaces and childless:
            yield Hit(
                rules.TEAM_WITHOUT_NAMESPACES,
                f'team "{team.name}" has neither namespaces nor child teams, so no pod can '
                "use its quota; write spec.namespaces, or remove the team",
                team.at / "metadata" / "name",
            )


def _cycles(teams: Iterable[Team]) -> Iterator[Hit]:
    """Each cycle of parents once, at its first member by name."""
    by_name = {team.name: team for team in teams}
    done: set[str] = set()
    for start in by_name:
        way: dict[str, int] = {}
        step: str | None = start
        while step is not None and step in by_name and step not in done and step not in way:
            way[step] = len(way)
            step = by_name[step].parent
        if step is not None and step in way:
            cycle = list(way)[way[step] :]
            first = cycle.index(min(cycle))
            cycle = [*cycle[first:], *cycle[:first]]
            yield Hit(
                rules.TEAM_CYCLE,
                _cycle_message(cycle),
                by_name[cycle[0]].at / "spec" / "parent",
            )
        done.update(way)


def _cycle_message(cycle: list[str]) -> str:
    if len(cycle) == 1:
        return f'team "{cycle[0]}" is its own parent; remove the parent, or write another parent'
    shown = cycle
    if len(cycle) > _SHOWN_IN_CYCLE:
        shown = [*cycle[: _SHOWN_IN_CYCLE - 1], f"({len(cycle) - _SHOWN_IN_CYCLE} more)", cycle[-1]]
    way = " → ".join([*shown, cycle[0]])
    return f"these teams form a cycle of parents: {way}; remove the parent of one of these teams"


def _namespaces(spec: Spec) -> Iterator[Hit]:
    owner: dict[str, tuple[Team, TeamNamespace]] = {}
    platform = spec.platform
    systems = {platform.kueue.namespace, platform.volcano.namespace}
    systems |= {*SYSTEM_NAMESPACES, platform.kube_scheduler.namespace}
    for team in spec.teams:
        for index, namespace in enumerate(team.namespaces):
            if namespace.name in systems and not namespace.shared:
                yield Hit(
                    rules.RESERVED_NAMESPACE,
                    f'components of the cluster run in namespace "{namespace.name}", and a quota of a '
                    "team must not limit them; write another namespace",
                    team.at / "spec" / "namespaces" / index / "name",
                )
            first, owned = owner.setdefault(namespace.name, (team, namespace))
            if first is team or (owned.shared and namespace.shared):
                continue
            # A queue of the ConfigMap has no field for its namespace, so the place is in the team.
            blamed, other = (first, team) if namespace.shared else (team, first)
            if not owned.shared and not namespace.shared and first.at.document > team.at.document:
                blamed, other = first, team  # the later one in the file
            message = (
                f'namespace "{namespace.name}" is already in team "{other.name}"; '
                "remove the namespace from one of the two teams"
            )
            if owned.shared or namespace.shared:
                message = (
                    f'the queues of ConfigMap gpu-scheduler-config already use namespace "{namespace.name}"; '
                    "give the team another namespace"
                )
            place = [it.name for it in blamed.namespaces].index(namespace.name)
            yield Hit(
                rules.NAMESPACE_IN_TWO_TEAMS,
                message,
                blamed.at / "spec" / "namespaces" / place / "name",
            )


def _models(spec: Spec, unread: Unread) -> Iterator[Hit]:
    by_name = {team.name: team for team in spec.teams}
    inner = {team.parent for team in spec.teams}
    for model in spec.models:
        team = by_name.get(model.team or "")
        if team is not None and team.at.document not in unread.parts:
            yield from _home(model, team, inner=team.name in inner)


def _home(model: Model, team: Team, *, inner: bool) -> Iterator[Hit]:
    """Whether a model's team has a namespace for it."""
    if not team.namespaces and inner:
        yield Hit(
            rules.MODEL_TEAM_WITHOUT_NAMESPACES,
            f'team "{team.name}" has no namespace for model "{model.name}"; '
            "assign the model to one of the child teams, or give the team a namespace",
            model.field("team"),
        )
        return
    owned = [namespace.name for namespace in team.namespaces]
    if model.namespace is not None and model.namespace not in owned:
        yield Hit(
            rules.UNKNOWN_REFERENCE,
            f'namespace {quoted(model.namespace)} is not in team "{team.name}"; '
            f"{suggest(model.namespace, owned)}",
            model.field("namespace"),
        )
