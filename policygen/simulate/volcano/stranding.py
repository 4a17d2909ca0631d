"""Gangs of Volcano that wait while GPUs are free, because earlier pods were spread over the nodes."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from policygen.kubernetes.accelerators import gpus_of, is_one
from policygen.kubernetes.untyped import text
from policygen.simulate.arrival import Arrival
from policygen.simulate.placement.stranding import free_for
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import kube_scheduler, shapes
from policygen.simulate.timeline import Timeline
from policygen.simulate.volcano.build import scheduler_settings, volcano_state
from policygen.simulate.volcano.choices import Choices
from policygen.simulate.volcano.scheduler import VolcanoScheduler
from policygen.simulate.volcano.settings import SchedulerSettings, TierPlugin

_SEEDS = (None, 1, 2)
_BINPACK, _ORDER = "binpack", "nodeorder"
_LISTED = "binpack.resources"
_STRATEGY = "resource-strategy-fit"
_SPREADS = {"leastrequested": 1, "balancedresource": 1, "podtopologyspread": 2}
"""Scores of nodeorder that oppose packing, with their default weights."""


class StrandedGangs(Struct, frozen=True, eq=False):
    """Gangs that wait only because the settings of Volcano do not pack GPUs."""

    waiting: Sequence[Arrival]
    free: Mapping[str, int]
    """The accelerators that no pod holds, by resource, on nodes that pods of these gangs may use."""
    packed: int
    """How many gangs wait with settings that pack."""
    binpack: Mapping[str, str | int]
    """The arguments of the plugin binpack that differ in these settings."""
    order: Mapping[str, int]
    """The arguments of the plugin nodeorder that differ in these settings."""
    removed: Sequence[str]
    """The plugins that these settings do not have."""


def stranded_gangs(scene: Scene, gangs: Sequence[Arrival]) -> StrandedGangs | None:
    """What waits only because Volcano does not pack; None: nothing does.

    No gang ends, and each is submitted when those with smaller pods run or wait. Where Volcano chooses at random, the best of
    several choices counts for the settings, and the worst for packing.
    """
    ordered = [
        replace(it, at=float(largest_pod(it)), duration=None)
        for it in sorted(gangs, key=largest_pod)
    ]
    settings = scheduler_settings(scene.cluster)
    found = [_played(scene, settings, ordered, seed) for seed in _SEEDS]
    waiting, unused = min(found, key=lambda it: len(it[0]))
    if not waiting:
        return None
    names = {name for it in gangs for one in it.pods for name in one.spec.requests if is_one(name)}
    packing = packing_settings(settings, sorted(names))
    packed = max(len(_played(scene, packing, ordered, seed)[0]) for seed in _SEEDS)
    if packed >= len(waiting):
        return None
    plugins = [it for tier in settings.tiers for it in tier]
    present, wanted = settings.plugin(_BINPACK), packing.plugin(_BINPACK)
    binpack = {
        name: value
        for name, value in (wanted.arguments if wanted else {}).items()
        if present is None or present.arguments.get(name) != value
    }
    spreading = [it for it in plugins if it.name == _ORDER]
    order = {
        f"{name}.weight": 0
        for name, default in _SPREADS.items()
        if any(it.number(f"{name}.weight", default) for it in spreading)
    }
    removed = [it.name for it in plugins if it.name == _STRATEGY]
    return StrandedGangs(waiting, unused, packed, binpack, order, removed)


def packing_settings(settings: SchedulerSettings, resources: Iterable[str]) -> SchedulerSettings:
    """The same settings, with a plugin binpack that fills nodes by these resources, and nothing opposes it."""
    present = settings.plugin(_BINPACK)
    own: Mapping[str, Any] = {} if present is None else present.arguments
    listed = [it for name in text(own, _LISTED).split(",") if (it := name.strip())]
    wanted = packing_arguments(names := [*resources])
    if set(names) <= set(listed):
        wanted[_LISTED] = text(own, _LISTED)
    else:
        wanted[_LISTED] = ", ".join(dict.fromkeys((*listed, *names)))
    binpack = TierPlugin(_BINPACK, arguments={**own, **wanted})
    tiers = [
        tuple(_without_spreading(it) for it in tier if it.name not in (_BINPACK, _STRATEGY))
        for tier in settings.tiers
    ]
    return replace(settings, tiers=(*tiers, (binpack,)))


def packing_arguments(resources: Iterable[str]) -> dict[str, str | int]:
    """The arguments of a plugin binpack that fills nodes by these resources."""
    names = [*resources]
    arguments: dict[str, str | int] = {"binpack.weight": 10, "binpack.cpu": 0, "binpack.memory": 0}
    weights = {f"binpack.resources.{name}": 10 for name in names}
    return {**arguments, _LISTED: ", ".join(names), **weights}


def _without_spreading(plugin: TierPlugin) -> TierPlugin:
    if plugin.name != _ORDER:
        return plugin
    zero = {f"{name}.weight": 0 for name in _SPREADS}
    return replace(plugin, arguments={**plugin.arguments, **zero})


def largest_pod(job: Arrival) -> int:
    """The most accelerators of one of its pods."""
    return max((gpus_of(it.spec.requests) for it in job.pods), default=0)


def _played(
    scene: Scene, settings: SchedulerSettings, jobs: Sequence[Arrival], seed: int | None
) -> tuple[Sequence[Arrival], Mapping[str, int]]:
    """The jobs that do not run in the end, and the free accelerators that their pods may use, by resource."""
    kube = kube_scheduler(scene, seed)
    if kube is None:
        return (), {}
    volcano = VolcanoScheduler(volcano_state(scene.cluster, scene.nodes), settings, Choices(seed))
    shape_of = shapes(scene, kube)
    timeline = Timeline(jobs, None, kube, volcano=volcano, shapes=shape_of)
    for _ in timeline.run():
        pass
    waiting = [it.arrival for it in timeline.jobs if not it.running]
    made = (shape_of(it, batch, {}, {}) for it in waiting for batch in it.pods)
    return waiting, free_for(kube.nodes, filter(None, made))
