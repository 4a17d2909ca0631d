"""Changes of a spec that can give a workload quota, with the fields of Kueue's objects that follow from them.

A change is compiled as `policygen render` does it. So no change exceeds what a pool or a parent team has.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import overload

from msgspec.structs import replace

from policygen.core.finding import Path
from policygen.core.rule import Severity
from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.object import Object
from policygen.plan import kueue, pool, tree, volcano
from policygen.plan.decisions import Decisions
from policygen.plan.shares import Bound, written_units
from policygen.plan.tree import TeamNode, Tree
from policygen.plan.workloads import Workloads
from policygen.simulate.why.causes import Shortage
from policygen.simulate.why.changes import FieldChange, SpecChange, SpecEdit, quota_path
from policygen.spec.types import Quota, SchedulingPolicy, Spec, Team

_DONORS = 3
"""The most teams whose guarantee is lowered."""
_KUEUE, _VOLCANO = "kueue", "volcano"
Edits = Sequence[tuple[Team, Bound, int]]
"""Fields of quotas, and 1 or -1: whether the amount grows."""
Item = kueue.ClusterQueue | kueue.Cohort | volcano.Queue
Items = Mapping[tuple[str, str], Item]


class SpecPolicy:
    """The queues that a spec renders, and changes of the spec."""

    def __init__(self, spec: Spec) -> None:
        self.spec = spec
        facts, _ = pool.resolve(spec)
        trees, _ = tree.build(spec, facts)
        self.trees = tuple(it for it in trees if it.scheduler in (_KUEUE, _VOLCANO))
        self._nodes = {it.name_of(node): (it, node) for it in self.trees for node in it.nodes}
        of_kueue = [it for it in self.trees if it.scheduler == _KUEUE]
        self._flavors = {facts.name for it in of_kueue for facts in it.pools}
        self._local = {
            (namespace.name, kueue.local_queue_name(it, node, namespace))
            for it in of_kueue
            for node in it.leaves
            for namespace in node.team.namespaces
        }

    def renders(self, kind: str, namespace: str, name: str) -> bool:
        """Whether an object comes from the spec, so that only the spec may change it."""
        match kind:
            case "ClusterQueue" | "Cohort" | "Queue":
                return name in self._nodes or any(it.queue == name for it in self.trees)
            case "ResourceFlavor":
                return name in self._flavors
            case "LocalQueue":
                return (namespace, name) in self._local
        return False

    def families(
        self,
        cluster: Cluster,
        queue: str,
        wanted: Mapping[tuple[str, str], Shortage],
        idle: Mapping[str, int],
    ) -> Iterator[Sequence[Sequence[SpecChange]]]:
        """Changes of the quotas of a queue, and of the policy of its pools.

        `wanted` is by flavor and resource. `idle` is what other queues do not use.
        """
        found, node = self._nodes[queue]
        objects = {
            (it.kind, it.name): it
            for it in cluster.objects
            if it.kind in ("ClusterQueue", "Cohort", "Queue")
        }
        flavors = {flavor for flavor, _ in wanted}
        for facts in found.pools:
            if facts.name not in flavors:
                continue
            most_of = {name: it.most for (of, name), it in wanted.items() if of == facts.name}
            resources = [it for it in facts.resources if it in most_of] or facts.resources[:1]
            for resource in resources:
                most = facts.available[resource]
                most = min(most_of.get(resource, most), most)
                for edits in self._edits(found, node, facts.name, idle):
                    one = QuotaSteps(self, objects, found, facts.name, resource, edits, most)
                    yield one.valid()
        if found.scheduler == _KUEUE:
            yield self._preemption(objects, found)

    def of_volcano(
        self, cluster: Cluster, queue: str, asked: Mapping[str, Shortage]
    ) -> Iterator[Sequence[Sequence[SpecChange]]]:
        """Changes of the quotas of a queue of Volcano. `asked` is what a job requests."""
        found, _ = self._nodes.get(queue, (None, None))
        if found is not None:
            (facts,) = found.pools
            wanted = {(facts.name, name): it for name, it in asked.items()}
            yield from self.families(cluster, queue, wanted, {})

    def _edits(
        self, found: Tree, node: TeamNode, name: str, idle: Mapping[str, int]
    ) -> Iterator[Edits]:
        """Fields of quotas that can grow, alone and together."""
        above = [node.team, *(it.team for it in found.ancestors(node) if it.team is not node.team)]
        teams = [it for it in above if _quota(it, name) is not None]
        if not teams or teams[0] is not node.team:
            return
        limited = [it for it in teams if written_units(_of(it, name), "limit")]
        own_limit: Edits = [(it, "limit", 1) for it in limited[:1] if it is node.team]
        if own_limit:
            yield own_limit
        if len(limited) > len(own_limit):
            yield [(it, "limit", 1) for it in limited]
        if _of(node.team, name).guarantee is None:
            return  # a share by weight
        mine: Edits = [(node.team, "guarantee", 1)]
        yield mine
        if own_limit:
            yield [*mine, *own_limit]
        if len(teams) > 1:
            yield [(it, "guarantee", 1) for it in teams]
        donors = [
            it
            for it in found.nodes
            if it.team not in teams and it.leaf and _has_guarantee(it.team, name)
        ]
        donors.sort(key=lambda it: (-idle.get(found.name_of(it), 0), it.name))
        for donor in donors[:_DONORS]:
            yield [(donor.team, "guarantee", -1), *mine]

    def effects(
        self, objects: Mapping[tuple[str, str], Object], found: Tree, spec: Spec
    ) -> tuple[FieldChange, ...] | None:
        """The fields that another spec changes in the objects of a queue; None: it is invalid."""
        names = {facts.name for facts in found.pools}
        facts, _ = pool.resolve(
            replace(spec, pools=tuple(it for it in spec.pools if it.name in names))
        )
        trees, hits = tree.build(spec, facts)
        if any(it.rule.severity == Severity.ERROR for it in hits) or len(trees) != 1:
            return None
        before, after = _items(self.spec, found), _items(spec, trees[0])
        return tuple(
            change
            for key, item in after.items()
            if key in before and key in objects
            for change in _differences(objects[key], before[key], item)
        )

    def _preemption(
        self, objects: Mapping[tuple[str, str], Object], found: Tree
    ) -> list[list[SpecChange]]:
        """Preemption in all pools of a queue, if it is off."""
        off = [facts.pool for facts in found.pools if not facts.policy.preemption_enabled]
        if not off:
            return []
        on = SchedulingPolicy(preemption_enabled=True)
        pools = tuple(
            replace(it, scheduling_policy=on.over(it.scheduling_policy)) if it in off else it
            for it in self.spec.pools
        )
        effects = self.effects(objects, found, replace(self.spec, pools=pools))
        field = ("schedulingPolicy", "preemptionEnabled")
        edits = tuple(
            SpecEdit("ResourcePool", it.name, "", ".".join(field), "", "false", "true",
                     it.at.to("spec", *field))
            for it in off
        )  # fmt: skip
        return [[SpecChange(edits, effects)]] if effects else []


@dataclass(frozen=True, slots=True, eq=False)
class QuotaSteps(Sequence[Sequence[SpecChange]]):
    """Alternatives in which fields of quotas change by 1, 2 and more units. Each is compiled when it is used."""

    policy: SpecPolicy
    objects: Mapping[tuple[str, str], Object]
    found: Tree
    pool: str
    resource: str
    edits: Edits
    most: int

    def __len__(self) -> int:
        return self.most

    @overload
    def __getitem__(self, index: int) -> Sequence[SpecChange]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Sequence[SpecChange]]: ...
    def __getitem__(
        self, index: int | slice
    ) -> Sequence[SpecChange] | Sequence[Sequence[SpecChange]]:
        if isinstance(index, slice):
            return [self[it] for it in range(*index.indices(self.most))]
        if not 0 <= index < self.most:
            raise IndexError(index)
        found = self._change(index + 1)
        return [found] if found is not None else []

    def valid(self) -> "QuotaSteps":
        """Those that the spec allows. What exceeds the pool by some units also does by more."""
        low, high = 0, self.most
        while low < high:
            middle = (low + high + 1) // 2
            if self._change(middle) is None:
                high = middle - 1
            else:
                low = middle
        return QuotaSteps(
            self.policy, self.objects, self.found, self.pool, self.resource, self.edits, low
        )

    def _change(self, units: int) -> SpecChange | None:
        """The fields changed by a number of units; None: the spec does not allow it."""
        facts = next(it for it in self.found.pools if it.name == self.pool)
        profile = facts.profiles[facts.resources.index(self.resource)]
        teams = {it.name: it for it in self.policy.spec.teams}
        written = []
        for team, field, sign in self.edits:
            quota = _of(teams[team.name], self.pool)
            amounts = dict(written_units(quota, field))
            before = amounts.get(profile, 0)
            after = before + sign * units
            if after < 0:
                return None
            value = tuple({**amounts, profile: after}.items())
            changed = replace(quota, **{field: value})
            own = tuple(changed if it is quota else it for it in teams[team.name].quotas)
            teams[team.name] = replace(teams[team.name], quotas=own)
            name = dict(quota.renamed).get(field, field)
            written.append(
                SpecEdit("Team", team.name, self.pool, name, profile, str(before), str(after),
                         quota.field(field))
            )  # fmt: skip
        spec = replace(self.policy.spec, teams=tuple(teams.values()))
        effects = self.policy.effects(self.objects, self.found, spec)
        return SpecChange(tuple(written), effects) if effects else None


def _quota(team: Team, name: str) -> Quota | None:
    return next((it for it in team.quotas if it.pool == name), None)


def _of(team: Team, name: str) -> Quota:
    return next(it for it in team.quotas if it.pool == name)


def _has_guarantee(team: Team, name: str) -> bool:
    """Whether a team has a guarantee that it can give away."""
    quota = _quota(team, name)
    return quota is not None and any(amount for _, amount in quota.guarantee or ())


def _items(spec: Spec, found: Tree) -> Items:
    decided = Decisions(spec, found.pools, (found,), Workloads())
    if found.scheduler == _VOLCANO:
        return {("Queue", it.meta.name): it for it in volcano.queues(decided)}
    queues = {("ClusterQueue", it.meta.name): it for it in kueue.cluster_queues(decided)}
    return {**queues, **{("Cohort", it.meta.name): it for it in kueue.cohorts(decided)}}


def _differences(
    object_: Object,
    before: Item,
    after: Item,
) -> Iterator[FieldChange]:
    """The fields of an object that have another value."""
    for path, old, new, of in _values(object_, before, after):
        if old != new:
            yield FieldChange(object_.kind, "", object_.name, path, old, new, of)


def _values(
    object_: Object,
    before: Item,
    after: Item,
) -> Iterator[tuple[Path, str | None, str | None, str]]:
    if isinstance(before, volcano.Queue) or isinstance(after, volcano.Queue):
        yield from _amounts_of(before, after)
        return
    for old, new in zip(before.flavors, after.flavors, strict=True):
        for one, other in zip(old.resources, new.resources, strict=True):
            path = quota_path(object_, old.name, one.resource)
            of = f"{one.resource} in flavor {old.name}"
            if path is not None:
                yield (*path, "nominalQuota"), one.nominal_quota, other.nominal_quota, of
                yield (*path, "borrowingLimit"), one.borrowing_limit, other.borrowing_limit, of
                yield (*path, "lendingLimit"), one.lending_limit, other.lending_limit, of
    if isinstance(before, kueue.ClusterQueue) and isinstance(after, kueue.ClusterQueue):
        path = "spec", "preemption"
        yield (
            (*path, "reclaimWithinCohort"),
            before.reclaim_within_cohort,
            after.reclaim_within_cohort,
            "",
        )
        yield (
            (*path, "withinClusterQueue"),
            before.within_cluster_queue,
            after.within_cluster_queue,
            "",
        )


def _amounts_of(before: Item, after: Item) -> Iterator[tuple[Path, str | None, str | None, str]]:
    """The amounts of a queue of Volcano."""
    if isinstance(before, volcano.Queue) and isinstance(after, volcano.Queue):
        for field in ("deserved", "capability"):
            old, new = getattr(before, field), getattr(after, field)
            for name in new:
                yield ("spec", field, name), old.get(name), new[name], name
        for name, amount in after.guarantee.items():
            path = "spec", "guarantee", "resource", name
            yield path, before.guarantee.get(name), amount, name
