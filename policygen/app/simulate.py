"""What `policygen simulate` does: reads a state and its jobs, and runs the schedulers."""

import math
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from msgspec.structs import replace

from policygen.app import cluster_gaps, simulation_input, simulation_scene
from policygen.app.inputs import RunSpec
from policygen.app.requests import SimulateRequest
from policygen.app.simulation_input import SimulationInput
from policygen.core.durations import duration
from policygen.core.errors import UsageError
from policygen.core.names import HOSTNAME
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes import manifests
from policygen.kubernetes.manifests import Manifests
from policygen.report.simulation import SimulationReport
from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.input_faults import RUNS_FOR
from policygen.simulate.kueue.jobs import is_foreign
from policygen.simulate.model_objects import ModelObjects
from policygen.simulate.oversized import oversized
from policygen.simulate.passing_by import passing_by
from policygen.simulate.recorder import Recorder
from policygen.simulate.result import JobResult, SimulationResult
from policygen.simulate.scene import Scene, timeline
from policygen.simulate.starving import MOST_JOBS, MOST_TRIED, overtaken, starving
from policygen.simulate.timeline import Timeline, TimelineProgress
from policygen.simulate.unmodelled import unmodelled
from policygen.simulate.unused_assumptions import unused_assumptions

_EVERY_S = 0.2
"""Seconds between two messages about the progress."""
_NAMES = 5
"""The number of names in a note."""
_UNTRIED = (
    "Ctrl-C came before all other random choices were tried; more jobs can depend on chance than the "
    "report marks"
)


def simulate(
    request: SimulateRequest,
    *,
    stdin: BinaryIO | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> SimulationReport:
    """Simulate the jobs of a state. Ctrl-C ends it early; the report is then partial.

    Raises UsageError, SpecError, and UnreadError.
    """
    request = simulation_input.by_content(request)
    spec, given = simulation_input.read(request, stdin, progress)
    scene = simulation_scene.scene_of(request, spec, given)
    return played(request, scene, spec, given, progress)


def played(
    request: SimulateRequest,
    scene: Scene,
    spec: RunSpec,
    given: SimulationInput,
    progress: Callable[[str], None],
) -> SimulationReport:
    """Run the schedulers until all jobs have ended, or until Ctrl-C."""
    traced, found = simulation_input.jobs(request, scene, given, request.duration)
    gaps = cluster_gaps.gaps(given.snapshot)
    gaps.check(found)
    simulation_input.check_trace(given, traced)
    if not found:
        gaps.require_jobs()
        unplaced = "".join(f"; {it}" for it in _unplaced(scene.models))
        raise UsageError(
            "the input has no job to simulate; name manifests of jobs with --workloads PATH, a trace with "
            f"--trace FILE, a spec with models, or a snapshot with jobs{unplaced}"
        )
    others: list[SimulationResult] = []
    made, recorder = _recorded(request, scene, found, request.seed)
    partial, interrupted = False, ""
    try:
        try:
            _watch(made.run(), progress)
            if len(found) <= chance.MOST_JOBS:
                others += _others(request, scene, given)
        except KeyboardInterrupt:
            partial = not made.finished
            interrupted = "" if partial else _UNTRIED
        progress(f"the simulation ended; adding up {counted(len(found), 'job')}")
        result = chance.marked(recorder.result(partial=partial), others)
        try:
            result = _with_starving(request, scene, given, result)
        except KeyboardInterrupt:
            interrupted = interrupted or _UNTRIED
    finally:
        progress("")
    result = replace(result, unmodelled=unmodelled(scene, found))
    models = _models(scene.models) if scene.models is not None else ()
    notes = (
        *_skipped(*given.files),
        *traced.notes,
        *models,
        *_notes(scene, found, result, spec),
        *_unexplained(result),
    )
    at = f"--at {math.ceil(result.until)}s" if given.trace else ""
    return SimulationReport(
        result, notes, request.seed, at=at, interrupted=interrupted, unread=gaps.messages()
    )


def _others(
    request: SimulateRequest, scene: Scene, given: SimulationInput
) -> Iterator[SimulationResult]:
    """The results of other random choices."""
    for seed in range(request.seed + 1, request.seed + 1 + chance.OTHERS):
        _, found = simulation_input.jobs(request, scene, given, request.duration)
        chance.draw_uids(found, seed)
        made, recorder = _recorded(request, scene, found, seed)
        for _ in made.run():
            pass
        yield recorder.result()


def _with_starving(
    request: SimulateRequest, scene: Scene, given: SimulationInput, result: SimulationResult
) -> SimulationResult:
    """The result with the jobs that jobs submitted later keep waiting."""

    def without_later(job: JobResult) -> SimulationResult:
        _, found = simulation_input.jobs(request, scene, given, request.duration)
        earlier = [it for it in found if it.at <= job.submitted]
        made, recorder = _recorded(request, scene, earlier, request.seed)
        for _ in made.run():
            pass
        return recorder.result()

    if result.partial:
        return result
    if len(result.jobs) + len(result.later) > MOST_JOBS:
        return replace(result, examined=not any(overtaken(result)))
    tried = islice(overtaken(result), MOST_TRIED)
    return replace(result, starving=tuple(starving(tried, without_later)))


def _recorded(
    request: SimulateRequest, scene: Scene, found: Sequence[Arrival], seed: int
) -> tuple[Timeline, Recorder]:
    """A simulation that has not begun, and what it will write down."""
    recorder = Recorder(scene)
    made = timeline(scene, found, seed=seed, until=request.until, observer=recorder)
    recorder.follow(made)
    return made, recorder


def _watch(steps: Iterable[TimelineProgress], progress: Callable[[str], None]) -> None:
    """Run all steps, and show progress a few times each second."""
    shown = time.monotonic()
    for it in steps:
        now = time.monotonic()
        if now - shown > _EVERY_S:
            shown = now
            progress(f"simulating: {it.ended} of {it.jobs} jobs ended, {it.arrived} arrived")


def _skipped(*files: Manifests) -> Iterator[str]:
    """What a simulation does not use of manifests."""
    for found in files:
        yield from (it.message for it in manifests.notes(found, ()))
    foreign = (it for found in files for it in found.objects if is_foreign(it))
    kinds = Counter(f"{it.kind} of {it.api_version}" for it in foreign)
    if kinds:
        names = [counted(count, kind, kind) for kind, count in sorted(kinds.items())]
        yield f"these objects have no effect on the simulation: {some(names, 'other kind')}"


def _models(models: ModelObjects) -> Iterator[str]:
    """How the models of the spec are simulated."""
    if models.names:
        yield (
            f"{counted(len(models.names), 'model')} of the spec {'is' if len(models.names) == 1 else 'are'} simulated: "
            "serving models run from the start, without an end, with their least replicas; training and "
            "batch models are jobs; --no-models omits all"
        )
    if models.own:
        names = some(models.own, "other", _NAMES)
        yield f"these models run in jobs of the input, and are not added: {names}"
    yield from _unplaced(models)


def _unplaced(models: ModelObjects | None) -> Iterator[str]:
    if models is not None and models.unplaced:
        names = some(models.unplaced, "other", _NAMES)
        yield (
            "these models have no pool or namespace, so they do not run; `policygen validate` has the "
            f"reasons: {names}"
        )


def _unexplained(result: SimulationResult) -> Iterator[str]:
    if result.unexplained:
        yield (
            f"after Ctrl-C, the causes of {counted(result.unexplained, 'waiting job')} were not computed; "
            "the messages of the scheduler are shown"
        )


def _growing(scene: Scene, result: SimulationResult) -> Iterator[str]:
    """How the autoscaler is simulated."""
    most = {it.name: it.most_nodes for it in result.pools}
    for it in scene.growing:
        growth = it.growth
        yield (
            f"pool {it.name} begins with {counted(it.begins, 'node')}, and an autoscaler adds nodes up to {len(it.nodes)}, each "
            f"{duration(growth.delay)} after pods wait for it; it removes nodes that are empty for {duration(growth.idle)}, down to "
            f"{growth.least}; at most {counted(most[it.name] or 0, 'node')} existed"
        )
    if scene.growing:
        yield (
            "of the autoscaler, these are not simulated: its pauses between two decisions, and the move of pods "
            "from nodes in little use"
        )


def _endless(found: Iterable[Arrival]) -> Iterator[str]:
    """The jobs, except models, that run until the simulation ends."""
    endless = Counter(it.kind for it in found if it.duration is None and not it.model)
    if endless:
        names = [counted(count, kind, kind) for kind, count in sorted(endless.items())]
        yield (
            f"the pods of {some(names, 'other kind')} do not end, so they keep their quota and their nodes until the "
            "simulation ends"
        )


def _starving(result: SimulationResult) -> Iterator[str]:
    """What it means that a job starves, or that it was not examined."""
    if result.starving:
        yield (
            "a job starves if it still waits at the end, and would have ended without the jobs that were "
            "submitted after it; --against a state with other priorities, or with queueingStrategy: StrictFIFO, "
            "shows what helps"
        )
    elif not result.examined:
        yield (
            f"with more than {MOST_JOBS:,} jobs, policygen does not look for jobs that starve; use a shorter trace"
        )


def _notes(
    scene: Scene,
    found: Sequence[Arrival],
    result: SimulationResult,
    spec: RunSpec,
) -> Iterator[str]:
    """Assumptions, and inputs that are missing."""
    queued = sum(it.workload is not None for it in found)
    if queued and not scene.cluster.cluster_queues.any:
        yield (
            f"the input has no ClusterQueue, so {counted(queued, 'job')} with the name of a queue "
            f"never {'starts' if queued == 1 else 'start'}; also pass the SPEC or the manifests of the queues"
        )
    if not scene.nodes:
        yield (
            "nodes are not known, so pods start as soon as their job is admitted; to simulate their "
            "placement, pass a SPEC, a snapshot or manifests of nodes"
        )
    if spec.compiled is not None:
        unknown = Counter(it.team for it in found if it.name.partition("/")[0] not in scene.teams)
        if unknown:
            names = [f"{name} ({counted(n, 'job')})" for name, n in sorted(unknown.items())]
            yield (
                f"no team of the spec has namespace {some(names, 'other', _NAMES)}; each is counted as a "
                "team of its own"
            )
        for pool in spec.compiled.plan.pools if scene.is_implied else ():
            levels = [it for it in pool.pool.topology_levels if it != HOSTNAME]
            if levels and pool.policy.topology_aware:
                yield (
                    f"the spec does not have the values of {listed(levels)} of the nodes of pool {pool.name}, so all "
                    "nodes have the same value; to simulate their topology, pass a snapshot or manifests of nodes"
                )
    assumed = sum(it.assumed for it in found)
    if assumed:
        yield (
            f"{counted(assumed, 'job')} {'runs' if assumed == 1 else 'run'} for --duration; the "
            f"annotation {RUNS_FOR} of a job sets another duration"
        )
    yield from _growing(scene, result)
    yield from _endless(found)
    yield from passing_by(found)
    yield from oversized(scene, found, {it.name: it.cause for it in result.jobs})
    yield from unused_assumptions(scene, found)
    yield from _starving(result)
    if len(found) > chance.MOST_JOBS:
        yield (
            f"with more than {chance.MOST_JOBS} jobs, policygen does not try other seeds; use --seed"
        )
    ties = sum(it.either for it in result.jobs)
    if ties:
        yield (
            f"the schedulers decide about {counted(ties, 'job')} at random among equal choices; "
            "--seed makes other choices"
        )
