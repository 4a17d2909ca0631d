"""What the reader of a simulation must know besides its numbers: assumptions, missing input, and its limits."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from policygen.app.inputs import RunSpec
from policygen.core.durations import duration
from policygen.core.names import HOSTNAME
from policygen.core.quoting import counted, listed, some
from policygen.kubernetes import manifests
from policygen.kubernetes.manifests import Manifests
from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.input_faults import RUNS_FOR
from policygen.simulate.kueue.jobs import is_foreign
from policygen.simulate.model_objects import ModelObjects
from policygen.simulate.oversized import oversized
from policygen.simulate.passing_by import passing_by
from policygen.simulate.result import SimulationResult
from policygen.simulate.scene import Scene
from policygen.simulate.shared_nodes import shared_nodes
from policygen.simulate.starving import MOST_JOBS
from policygen.simulate.traces.arrivals import TraceArrivals
from policygen.simulate.unused_assumptions import unused_assumptions
from policygen.simulate.why.causes import Cause, CauseKind

_NAMES = 5
"""The number of names in a note."""


def of_input(
    files: Iterable[Manifests], traced: TraceArrivals, models: ModelObjects | None
) -> Iterator[str]:
    """How manifests, the trace and the models of the spec become jobs, and what of them has no effect."""
    yield from _skipped(files)
    yield from traced.notes
    if models is not None:
        yield from _models(models)


def of_result(
    scene: Scene, spec: RunSpec, found: Sequence[Arrival], result: SimulationResult
) -> Iterator[str]:
    """What is assumed about the jobs, and what the result does not show. `found` are all jobs."""
    causes = {it.name: it.cause for it in result.jobs}
    yield from _missing_state(scene, found, causes)
    if spec.compiled is not None:
        yield from _unknown_teams(scene, found)
        yield from _unknown_levels(scene, spec)
    yield from _assumed(found)
    yield from _growing(scene, result)
    yield from _endless(found)
    yield from passing_by(found)
    yield from oversized(scene, found, causes)
    yield from shared_nodes(scene, found, result.jobs)
    yield from unused_assumptions(scene, found)
    yield from _starving(result)
    yield from _ties(result, len(found))
    yield from _unexplained(result)


def _skipped(files: Iterable[Manifests]) -> Iterator[str]:
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
    yield from unplaced(models)


def unplaced(models: ModelObjects | None) -> Iterator[str]:
    """The models that do not run, because they have no place; None: no model is simulated."""
    if models is not None and models.unplaced:
        names = some(models.unplaced, "other", _NAMES)
        yield (
            "these models have no pool or namespace, so they do not run; `policygen validate` has the "
            f"reasons: {names}"
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


def _missing_state(
    scene: Scene, found: Iterable[Arrival], causes: Mapping[str, Cause | None]
) -> Iterator[str]:
    refused = {it for it, cause in causes.items() if cause and cause.kind is CauseKind.NOT_MANAGED}
    queued = sum(it.workload is not None or it.name in refused for it in found)
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


def _unknown_teams(scene: Scene, found: Iterable[Arrival]) -> Iterator[str]:
    unknown = Counter(it.team for it in found if it.namespace not in scene.teams)
    if unknown:
        names = [f"{name} ({counted(n, 'job')})" for name, n in sorted(unknown.items())]
        yield (
            f"no team of the spec has namespace {some(names, 'other', _NAMES)}; each is counted as a "
            "team of its own"
        )


def _unknown_levels(scene: Scene, spec: RunSpec) -> Iterator[str]:
    """The topology levels of pools whose nodes have labels that a spec does not state."""
    plan = spec.compiled.plan if spec.compiled is not None and scene.is_implied else None
    for pool in plan.pools if plan is not None else ():
        levels = [it for it in pool.pool.topology_levels if it != HOSTNAME]
        if levels and pool.policy.topology_aware:
            yield (
                f"the spec does not have the values of {listed(levels)} of the nodes of pool {pool.name}, so all "
                "nodes have the same value; to simulate their topology, pass a snapshot or manifests of nodes"
            )


def _assumed(found: Iterable[Arrival]) -> Iterator[str]:
    assumed = sum(it.assumed for it in found)
    if assumed:
        yield (
            f"{counted(assumed, 'job')} {'runs' if assumed == 1 else 'run'} for --duration; the "
            f"annotation {RUNS_FOR} of a job sets another duration"
        )


def _ties(result: SimulationResult, jobs: int) -> Iterator[str]:
    """How many jobs depend on random choices, of which others are tried only if there are few jobs."""
    if jobs > chance.MOST_JOBS:
        yield (
            f"with more than {chance.MOST_JOBS} jobs, policygen does not try other seeds; use --seed"
        )
    ties = sum(it.either for it in result.jobs)
    if ties:
        yield (
            f"the schedulers decide about {counted(ties, 'job')} at random among equal choices; "
            "--seed makes other choices"
        )


def _unexplained(result: SimulationResult) -> Iterator[str]:
    if result.unexplained:
        yield (
            f"after Ctrl-C, the causes of {counted(result.unexplained, 'waiting job')} were not computed; "
            "the messages of the scheduler are shown"
        )
