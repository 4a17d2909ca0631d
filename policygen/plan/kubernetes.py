"""Decides the objects of Kubernetes itself: namespaces, priority classes, quotas and limit ranges."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from msgspec import Struct

from policygen.core.quantity import MEBIBYTE
from policygen.plan import tree
from policygen.plan.amounts import CPU, MEMORY, part, text
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.kind import Meta
from policygen.plan.pool import PoolFacts
from policygen.spec import derived_names
from policygen.spec.types import NodeResources, Priority, Scheduler, Spec, Team

COUNTED: Mapping[Scheduler, str] = {
    "kueue": "count/workloads.kueue.x-k8s.io",
    "volcano": "count/podgroups.scheduling.volcano.sh",
    "kube-scheduler": "pods",
}
"""The objects whose number limits waiting workloads, by scheduler."""


class Namespace(Struct, frozen=True):
    """A namespace that policygen renders, and that no GitOps tool must prune."""

    meta: Meta


class PriorityClass(Struct, frozen=True):
    """A priority of pods."""

    meta: Meta
    value: int
    preemption_policy: str
    description: str | None


class ResourceQuota(Struct, frozen=True):
    """Limits of one namespace; amounts are canonical quantities."""

    meta: Meta
    hard: dict[str, str]


class LimitRange(Struct, frozen=True):
    """Default requests of containers, never of a GPU: each container would get a card."""

    meta: Meta
    default_request: dict[str, str]


class ConfigMap(Struct, frozen=True):
    """A ConfigMap with a file of a controller."""

    meta: Meta
    data: dict[str, str]


def namespaces(decided: Decisions) -> Iterator[Namespace]:
    """The namespaces that teams set to be created."""
    for team in decided.spec.teams:
        for namespace in team.namespaces:
            if namespace.create:
                yield Namespace(Meta(namespace.name, decided.platform.name))


def priority_classes(decided: Decisions) -> Iterator[PriorityClass]:
    """One class for each priority, or two if pools need both policies.

    On Kueue pools, kube-scheduler must not evict admitted pods, so the policy there is Never.
    Volcano preempts nothing for pods with that policy (volcano-sh/volcano#3739), so a platform with
    both also has `<priority>.preempting`.
    """
    for priority in decided.platform.priorities:
        preempting = {_preempts(priority, facts) for facts in decided.pools} or {False}
        names = {
            False: priority.name,
            True: derived_names.preempting_class(priority)
            if len(preempting) > 1
            else priority.name,
        }
        for preempts in sorted(preempting):
            yield PriorityClass(
                Meta(names[preempts], decided.platform.name),
                priority.value,
                "PreemptLowerPriority" if preempts else "Never",
                priority.description,
            )


def priority_class_name(spec: Spec, pools: Sequence[PoolFacts], name: str, pool: PoolFacts) -> str:
    """The name of the class for a priority on a pool."""
    priority = next((each for each in spec.platform.priorities if each.name == name), None)
    if priority is None:
        return name  # the articles' models may name a queue of a ConfigMap that is not in the input
    mixed = any(not _preempts(priority, facts) for facts in pools)
    return derived_names.preempting_class(priority) if mixed and _preempts(priority, pool) else name


def _preempts(priority: Priority, pool: PoolFacts) -> bool:
    """Whether pods of a priority can evict others on a pool."""
    return priority.preempts and pool.scheduler != "kueue" and pool.policy.preemption_enabled


def resource_quotas(decided: Decisions) -> Iterator[ResourceQuota]:
    """One quota for each namespace where the API server must reject objects.

    A quota also counts suspended and waiting workloads, so on Kueue and Volcano pools it limits no
    compute resources unless `quotaBackstop` is set.
    """
    hard: defaultdict[str, defaultdict[str, int]] = defaultdict(lambda: defaultdict(int))
    having = tree.shares(decided.trees)
    for team in decided.spec.teams:
        shares = [(facts, node.limit[facts.name]) for facts, node in having.get(team.name, ())]
        counted = _counted(team, shares)
        for index, namespace in enumerate(team.namespaces):
            keys = hard[namespace.name]
            for key, amount in counted.items():
                keys[key] += amount
            for it in allowed(team, shares, index):
                keys[it.key] += it.amount
    for name in sorted(hard):
        keys = hard[name]
        if keys:
            yield ResourceQuota(
                Meta(decided.platform.name, decided.platform.name, name),
                {key: text(key.removeprefix("requests."), keys[key]) for key in sorted(keys)},
            )


class Allowed(Struct, frozen=True):
    """What the limit of a team on one pool allows the pods of one namespace to request."""

    key: str
    """Of `hard`: `requests.nvidia.com/gpu`."""
    facts: PoolFacts
    resource: str
    amount: int
    parts: int
    """The namespaces that divide the limit; 1: each has all of it."""


def allowed(
    team: Team, shares: Iterable[tuple[PoolFacts, Mapping[str, int]]], index: int
) -> Iterator[Allowed]:
    """The requests that the limits of a team allow one of its namespaces."""
    shares = tuple(shares)
    backstopped = {
        resource for facts, _ in shares if facts.pool.quota_backstop for resource in facts.resources
    }
    count = len(team.namespaces)
    for facts, limit in shares:
        refused = facts.scheduler == "kube-scheduler"
        for name in facts.resources:
            if refused:
                most = part(limit[name], count, index)
                yield Allowed(f"requests.{name}", facts, name, most, count)
            elif name in backstopped:
                yield Allowed(f"requests.{name}", facts, name, limit[name], 1)
        if refused and facts.pool.quota_cpu_and_memory:
            for name, step in ((CPU, 1), (MEMORY, MEBIBYTE)):
                most = part(limit[name], count, index, step)
                yield Allowed(f"requests.{name}", facts, name, most, count)


def _counted(team: Team, shares: Sequence[tuple[PoolFacts, Mapping[str, int]]]) -> dict[str, int]:
    """The bound of `maxPending` on the number of objects. They wait or run, so it adds those that can run."""
    counted: dict[str, int] = {}
    if team.max_pending is None:
        return counted
    for facts, limit in shares:
        key = COUNTED[facts.scheduler]
        running = sum(limit[resource] for resource in facts.resources)
        counted[key] = counted.get(key, team.max_pending) + running
    if "pods" in counted:
        # Pods of the other pools count too.
        counted["pods"] = team.max_pending + sum(
            limit[resource] for facts, limit in shares for resource in facts.resources
        )
    return counted


def limit_ranges(decided: Decisions) -> Iterator[LimitRange]:
    """Default requests, if a team or the Platform sets them and the team has pools."""
    made: set[str] = set()
    having = tree.shares(decided.trees)
    for team in decided.spec.teams:
        default = container_defaults(team, decided.spec)
        if default is None or team.name not in having:
            continue
        for namespace in team.namespaces:
            if namespace.name in made:
                continue  # queues of the articles' form share one namespace
            made.add(namespace.name)
            yield LimitRange(
                Meta(decided.platform.name, decided.platform.name, namespace.name),
                {
                    CPU: text(CPU, default.cpu_milli),
                    MEMORY: text(MEMORY, default.memory_bytes),
                },
            )


def container_defaults(team: Team, spec: Spec) -> NodeResources | None:
    """The containerDefaults of a team, or those of the Platform."""
    return team.container_defaults or spec.platform.container_defaults


OBJECTS: Generators = {
    "Namespace": namespaces,
    "PriorityClass": priority_classes,
    "ResourceQuota": resource_quotas,
    "LimitRange": limit_ranges,
}
