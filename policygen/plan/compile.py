"""Compiles a spec to the plan: every object to render, in apply order, and findings about it."""

from collections.abc import Container, Iterable, Iterator, Mapping

from msgspec import Struct

from policygen.core.finding import Hit
from policygen.core.rule import Severity
from policygen.plan import (
    advice,
    kubernetes,
    kueue,
    model_sums,
    needs,
    node_autoscaler,
    pods,
    pool,
    refusals,
    scheduler,
    second_scheduler,
    sums,
    tree,
    volcano,
    volcano_configuration,
    workloads,
)
from policygen.plan.admission import policies
from policygen.plan.catalog import KINDS
from policygen.plan.decisions import Decisions, Generators
from policygen.plan.extras import (
    ADMISSION,
    DEVICE_PLUGIN,
    MIG_MANAGER,
    MONITORING,
    NODE_AUTOSCALER,
    SECOND_SCHEDULER,
    VOLCANO_CONFIG,
    VPA,
    WORKLOADS,
)
from policygen.plan.kind import File, Item, Kind
from policygen.plan.monitoring import objects as monitoring
from policygen.plan.nvidia import collisions, device_plugin, mig_manager
from policygen.plan.pods import PodFields
from policygen.plan.pool import PoolFacts
from policygen.plan.rules import PODS_MUST_CARRY
from policygen.plan.tree import Tree
from policygen.plan.workload import missing, peak, vertical
from policygen.plan.workload import objects as workload
from policygen.plan.workloads import Workloads
from policygen.spec.rules import NAME_COLLISION
from policygen.spec.types import Spec

FAMILIES: Mapping[tuple[str, str], Generators] = {
    ("", "kubernetes"): kubernetes.OBJECTS,
    ("", "kueue"): kueue.OBJECTS,
    ("", "volcano"): volcano.OBJECTS,
    (SECOND_SCHEDULER, "kubernetes"): second_scheduler.OBJECTS,
    (WORKLOADS, "kubernetes"): workload.OBJECTS,
    (WORKLOADS, "volcano"): workload.VOLCANO_OBJECTS,
    (VPA, "kubernetes"): vertical.OBJECTS,
    (DEVICE_PLUGIN, "kubernetes"): {},
    (MIG_MANAGER, "kubernetes"): {},
    (MONITORING, "kubernetes"): monitoring.OBJECTS,
    (NODE_AUTOSCALER, "kubernetes"): node_autoscaler.OBJECTS,
    (ADMISSION, "kubernetes"): policies.OBJECTS,
}
"""The generators by `Kind.family`."""

_PARENTS_FIRST = ("Cohort", "Queue")


class Plan(Struct, frozen=True):
    """Every object to render. Has no items if `refused`."""

    items: tuple[Item, ...]
    files: tuple[File, ...]
    """The files inside ConfigMaps. That of Kueue is missing, since it needs a base file."""
    pools: tuple[PoolFacts, ...]
    trees: tuple[Tree, ...]
    workloads: Workloads
    hits: tuple[Hit, ...]
    pods: tuple[PodFields, ...] = ()
    """The fields that the pods of each model need."""

    @property
    def refused(self) -> bool:
        """Whether a hit forbids rendering."""
        return any(hit.rule.severity == Severity.ERROR for hit in self.hits)

    def file(self, kind: Kind) -> Item | None:
        """The file of a kind; None if it is not rendered."""
        return next((it.item for it in self.files if it.item.kind == kind), None)


def compile_plan(spec: Spec, extras: frozenset[str] = frozenset()) -> Plan:
    """Decide everything. The spec's references must be sound (spec.references)."""
    facts, hits = pool.resolve(spec)
    trees, faults = tree.build(spec, facts)
    pools = tuple(facts[name] for name in sorted(facts))
    hits = sums.joined([*hits, *faults, *refusals.check(spec, pools, trees)], pools)
    if any(hit.rule.severity == Severity.ERROR for hit in hits):
        return Plan((), (), pools, tuple(trees), Workloads(), tuple(hits))
    placed = workloads.place(spec, facts, trees)
    decided = Decisions(spec, pools, tuple(trees), placed)
    needed, notes = pods.pod_fields(decided)
    hits += [
        *placed.hits,
        *model_sums.check(trees, placed.placements),
        *notes,
        *advice.reports(spec, pools, trees, placed.assignments, extras),
        *peak.reports(spec, placed.assignments),
    ]
    if WORKLOADS in extras:
        # The rendered workloads have the fields of the notes.
        hits = [it for it in hits if it.rule is not PODS_MUST_CARRY]
        hits += missing.reports(decided)
    rendered = tuple(files(decided, extras))
    # A second scheduler without profiles would do the same as the main one.
    has_profiles = any(it.item.kind == scheduler.CONFIGURATION for it in rendered)
    used = extras if has_profiles else extras - {SECOND_SCHEDULER}
    kinds = [kind for kind in KINDS if not kind.extra or kind.extra in used]
    items = tuple(order(objects(decided, kinds)))
    made = {it.kind.extra for it in items} | {it.extra for it in rendered}
    hits += needs.empty_extras(extras, made)
    hits += [*_collisions(items), *collisions.reports(spec.platform, pools, extras)]
    return Plan(
        items=items,
        files=rendered,
        pools=pools,
        trees=tuple(trees),
        workloads=placed,
        hits=tuple(hits),
        pods=tuple(needed),
    )


def objects(decided: Decisions, kinds: Iterable[Kind]) -> Iterator[Item]:
    """The objects of some kinds. ConfigMaps are missing: they contain files that are rendered first."""
    for kind in kinds:
        generator = FAMILIES[kind.family].get(kind.name)
        if generator is not None:
            for fields in generator(decided):
                yield released(decided.spec, kind, fields)


def files(decided: Decisions, extras: Container[str]) -> Iterator[File]:
    """The files inside ConfigMaps, without that of Kueue."""
    spec, pools = decided.spec, decided.pools
    if (profiles := scheduler_file(spec, pools, raw=False)) is not None:
        yield File(profiles, scheduler.CONFIG_KEY)
    if VOLCANO_CONFIG in extras:
        made = volcano_configuration.decide(spec.platform, pools)
        if made is not None:
            item = released(spec, volcano_configuration.CONFIGURATION, made)
            yield File(item, volcano_configuration.CONFIG_KEY)
    if DEVICE_PLUGIN in extras:
        for it in device_plugin.configurations(spec.platform, pools):
            yield File(released(spec, device_plugin.CONFIGURATION, it), it.key, DEVICE_PLUGIN)
    if MIG_MANAGER in extras:
        layouts = mig_manager.configuration(spec.platform, pools)
        if layouts is not None:
            item = released(spec, mig_manager.CONFIGURATION, layouts)
            yield File(item, mig_manager.CONFIG_KEY, MIG_MANAGER)


def scheduler_file(spec: Spec, pools: tuple[PoolFacts, ...], *, raw: bool) -> Item | None:
    """The KubeSchedulerConfiguration as an item; None if no pool packs or spreads."""
    decided = scheduler.configuration(spec.platform, pools, raw=raw)
    return None if decided is None else released(spec, scheduler.CONFIGURATION, decided)


def released(spec: Spec, kind: Kind, it: object) -> Item:
    """An object in the form that the target version takes."""
    target = getattr(spec.platform.target, kind.component).release
    return Item(kind, [release for release in kind.releases if release.since <= target][-1], it)


def order(items: Iterable[Item]) -> Iterator[Item]:
    """Apply order: by kind, then namespace and name; parents before children where order matters."""
    by_kind: dict[Kind, list[Item]] = {kind: [] for kind in KINDS}
    for item in items:
        by_kind[item.kind].append(item)
    for kind, members in by_kind.items():
        if kind.name in _PARENTS_FIRST:
            yield from members
        else:
            yield from sorted(members, key=lambda item: (item.meta.namespace or "", item.meta.name))


def _collisions(items: tuple[Item, ...]) -> Iterator[Hit]:
    seen: set[tuple[str, str, str | None, str]] = set()
    for item in items:
        group = item.release.api_version.rpartition("/")[0]
        identity = (group, item.kind.name, item.meta.namespace, item.meta.name)
        if identity in seen:
            yield Hit(
                NAME_COLLISION,
                f'two rendered objects would both be {item.kind.name} "{item.meta.name}"; rename '
                "a pool, team or model",
            )
        seen.add(identity)
