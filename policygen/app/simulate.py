"""What `policygen simulate` does: reads a state and its jobs, and runs the schedulers."""

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import BinaryIO

from msgspec.structs import replace

from policygen.app import cluster_gaps, simulation_input, simulation_notes, simulation_scene
from policygen.app.inputs import RunSpec
from policygen.app.requests import SimulateRequest
from policygen.app.simulation_input import SimulationInput
from policygen.app.throttle import Throttle
from policygen.core.errors import UsageError
from policygen.core.quoting import counted
from policygen.report.simulation import SimulationReport
from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.recorder import Recorder
from policygen.simulate.result import JobResult, SimulationResult
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.starving import MOST_JOBS, MOST_TRIED, overtaken, starving
from policygen.simulate.timeline import Timeline, TimelineProgress
from policygen.simulate.unmodelled import unmodelled

_UNTRIED = (
    "Ctrl-C came before all other random choices were tried; more jobs can depend on chance than the "
    "report marks"
)
_UNEXAMINED = "Ctrl-C came before policygen had examined all jobs that can starve"


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
        unplaced = "".join(f"; {it}" for it in simulation_notes.unplaced(scene.models))
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
            others += _others(request, scene, given, len(found))
        except KeyboardInterrupt:
            partial = not made.finished
            interrupted = "" if partial else _UNTRIED
        progress(f"the simulation ended; adding up {counted(len(found), 'job')}")
        result = chance.marked(recorder.result(partial=partial), others)
        try:
            result = _with_starving(request, scene, given, result)
        except KeyboardInterrupt:
            interrupted = interrupted or _UNEXAMINED
    finally:
        progress("")
    result = replace(result, unmodelled=unmodelled(scene, found))
    notes = (
        *simulation_notes.of_input(given.files, traced, scene.models),
        *simulation_notes.of_result(scene, spec, found, result),
    )
    at = f"--at {math.ceil(result.until)}s" if given.trace else ""
    return SimulationReport(
        result, notes, request.seed, at=at, interrupted=interrupted, unread=gaps.messages()
    )


def _others(
    request: SimulateRequest, scene: Scene, given: SimulationInput, count: int
) -> Iterator[SimulationResult]:
    """The results of other random choices."""
    for seed, found in simulation_input.with_other_choices(
        request, scene, given, request.duration, count
    ):
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
    # A CronJob does not run itself, it creates Jobs later; `unmodelled` names it.
    runs = [it for it in found if not (it.unknown and it.kind == "CronJob")]
    made = timeline(scene, runs, seed=seed, until=request.until, observer=recorder)
    recorder.follow(made)
    return made, recorder


def _watch(steps: Iterable[TimelineProgress], progress: Callable[[str], None]) -> None:
    """Run all steps, and show progress a few times each second."""
    throttle = Throttle()
    for it in steps:
        if throttle.allows():
            progress(f"simulating: {it.ended} of {it.jobs} jobs ended, {it.arrived} arrived")
