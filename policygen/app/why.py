"""What `policygen why` and `policygen fit` do: read a state, and explain workloads of it."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import BinaryIO

from msgspec import Struct
from msgspec.structs import replace

from policygen.app import cluster_gaps, simulation_input
from policygen.app.cluster_gaps import ClusterGaps
from policygen.app.interrupted import AnswerInterrupted, stops
from policygen.app.remedy_places import RemedyPlaces
from policygen.app.requests import SimulateRequest
from policygen.app.simulation_input import SimulationInput
from policygen.app.simulation_scene import scene_of
from policygen.app.throttle import Throttle
from policygen.core.durations import duration
from policygen.core.errors import PolicygenError, UsageError
from policygen.core.finding import At
from policygen.core.quoting import counted, listed
from policygen.core.suggest import Names
from policygen.documents.document import Document
from policygen.report import cause_words, remedy_words
from policygen.report.why import AnswerTime, FitReport, WhyReport
from policygen.simulate.arrival import Arrival
from policygen.simulate.instant import Instant, instant
from policygen.simulate.scene import Scene
from policygen.simulate.timeline import TimelineProgress
from policygen.simulate.unmodelled import unmodelled
from policygen.simulate.unused_assumptions import unused_assumptions
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.equal_jobs import equal_jobs, for_equal
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.fit import FitAnswer, FitState, fit
from policygen.simulate.why.fit_jobs import FitError, FitRequest
from policygen.simulate.why.history import Preempted

Progress = Callable[[str], None]
MANY = 50
"""More pending workloads are grouped by their causes."""
SEARCHED = 3
"""The number of groups, the largest ones, for whose first workload changes are tried."""
_NAMED = 3
"""The most workloads whose causes are named after Ctrl-C."""
_COMPLETED_BYTES = 4 * 2**20
"""Larger files are not read to complete names."""
_LEAST_BYTES = 2**10
"""Each file and folder counts as much, because to find it takes time, too."""


class AnswerState(Struct, frozen=True, eq=False):
    """The state for which an answer holds."""

    scene: Scene
    jobs: Sequence[Arrival]
    time: AnswerTime
    instant: Instant | None
    """None: this is the state of a cluster, as it was read."""
    others: Sequence[Instant]
    """The same time after other random choices of the schedulers."""
    documents: Sequence[Document]
    """Of the spec and of manifests."""
    gaps: ClusterGaps


def why(
    request: SimulateRequest,
    names: Sequence[str],
    *,
    at: float | None = None,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
) -> WhyReport:
    """Why these workloads wait; without names, why all pending ones do.

    With `at`, the jobs are simulated until that number of seconds after the start. Without it, the
    state of a cluster is as it was read, and jobs of manifests have been submitted in their order.
    After Ctrl-C, the report has what was found until then; without any change, it raises AnswerInterrupted.
    Raises UsageError for a name that no workload has then, and what `simulate` raises.
    """
    state = _read(request, at, stdin, progress)
    with stops(lambda: "Ctrl-C came before policygen explained the first workload"):
        explainer = Explainer(state.scene, state.jobs)
    chosen = [_named(explainer, name, state) for name in names] or [list(explainer.pending())]
    every = [it for them in chosen for it in them]
    state.gaps.check(every)
    known: list[tuple[Arrival, Explanation]] = []
    found: list[Explanation] = []
    partial, many = False, False
    try:
        for it in every:
            progress(f"{len(known) + 1} of {len(every)}: {it.name}")
            known.append((it, _explained(explainer, it, state, search=False)))
        groups = equal_jobs(known)
        many = len(groups) > MANY and not names
        found += _grouped(explainer, groups, state, progress) if many else ()
        for i, group in enumerate(groups if not many else ()):
            progress(f"changes for {i + 1} of {len(groups)}: {group[0][0].name}")
            found.append(_searched(explainer, group, state))
    except KeyboardInterrupt:
        many = not found and len(known) > MANY
        if not found and not many:
            raise AnswerInterrupted(_known_causes(known, len(every))) from None
        found = found or [it for _, it in known]
        partial = True
    progress("")
    documents = RemedyPlaces(state.documents, state.scene.cluster.objects, _models(state.scene))
    return WhyReport(
        found=tuple(documents.located(it) for it in found if names or it.waits),
        unmodelled=unmodelled(state.scene, state.jobs),
        time=state.time,
        every=not names,
        grouped=many,
        partial=partial,
        omitted=len(every) - sum(1 + len(it.equal) for it in found),
        asked=len(every),
        unread=state.gaps.messages(every if names else None),
    )


def _known_causes(known: Sequence[tuple[Arrival, Explanation]], total: int) -> str:
    """What Ctrl-C stopped before any change was found, and the causes that are known."""
    if not known:
        return f"Ctrl-C came before policygen explained the first of {counted(total, 'workload')}"
    shown = [
        f"{it.name} ({cause_words.title(it.cause) if it.waits else 'does not wait'})"
        for _, it in known[:_NAMED]
    ]
    more = len(known) - len(shown)
    names = listed([*shown, *([f"{more} more"] if more else [])], "and")
    return f"Ctrl-C came before policygen found changes; it explained {len(known)} of {counted(total, 'workload')}: {names}"


JobGroup = Sequence[tuple[Arrival, Explanation]]
"""Equal jobs, each with its cause."""


def _searched(explainer: Explainer, group: JobGroup, state: AnswerState) -> Explanation:
    """Why equal jobs wait, with the changes for the first one, and those for as many as possible."""
    jobs = [it for it, _ in group]
    found = _explained(explainer, jobs[0], state)
    return found if len(jobs) == 1 else for_equal(explainer, jobs, found)


def _grouped(
    explainer: Explainer, groups: Sequence[JobGroup], state: AnswerState, progress: Progress
) -> list[Explanation]:
    """Why many jobs wait. Changes are tried for the first one of each of the largest groups of a cause."""
    found = [replace(them[0][1], equal=tuple(it.name for it, _ in them[1:])) for them in groups]
    causes = Counter[tuple[str, ...]]()
    for it in found:
        if it.waits:
            causes[it.cause.group] += 1 + len(it.equal)
    for cause, _ in causes.most_common(SEARCHED):
        i = next(i for i, it in enumerate(found) if it.waits and it.cause.group == cause)
        progress(f"changes for {found[i].name}")
        searched = _explained(explainer, groups[i][0][0], state)
        found[i] = replace(searched, equal=found[i].equal)
    return found


def would_fit(
    request: SimulateRequest,
    asked: FitRequest,
    *,
    at: float | None = None,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
) -> FitReport:
    """Whether a job would run now, or that number of seconds after the start.

    Raises UsageError for a team or pool that does not exist, what `simulate` raises, and AnswerInterrupted.
    """
    state = _read(request, at, stdin, progress)
    first: list[FitAnswer] = []
    progress("trying the job")
    try:
        others = (FitState(it.scene, it.arrivals, seed) for seed, it in enumerate(state.others, 2))
        with stops(lambda: _known_answer(first)):
            answer = fit(state.scene, state.jobs, asked, others, first.append)
    except FitError as error:
        state.gaps.require(kueue=True, volcano=True)
        raise UsageError(str(error)) from None
    finally:
        progress("")
    state.gaps.require(kueue=answer.scheduler == "kueue", volcano=answer.scheduler == "volcano")
    places = RemedyPlaces(state.documents, state.scene.cluster.objects, _models(state.scene))
    answer = replace(answer, explanation=places.located(answer.explanation))
    unread = state.gaps.messages()
    unknown = unmodelled(state.scene, [*state.jobs, answer.arrival])
    of_job = unmodelled(state.scene, [answer.arrival])
    return FitReport(answer, unknown, state.time, unread, of_job)


def _known_answer(first: Sequence[FitAnswer]) -> str:
    """What Ctrl-C stopped while a job was tried, and what becomes of the job as far as it is known."""
    if not first:
        return "Ctrl-C came before policygen knew whether the job would run"
    outcome = remedy_words.outcome(first[0].outcome)
    return f"Ctrl-C came before all other random choices were tried; with the first ones, the job {outcome}"


def _models(scene: Scene) -> dict[str, At]:
    """Where the spec has each model."""
    return {it.name: it.at for it in scene.spec.models} if scene.spec is not None else {}


def workload_names(request: SimulateRequest) -> list[str]:
    """The names of workloads, to complete them on a command line; empty: reading them takes too long."""
    paths = [*request.specs, *request.workloads, *map(str, request.clusters.snapshots)]
    if "-" in paths or request.clusters.contexts:
        return []
    try:
        if not _small(paths):
            return []
        jobs = _opened(request, None, lambda _: None).jobs
    except (PolicygenError, OSError, ValueError):
        return []
    return [
        it.name if it.name == it.object_name else f"{it.kind.lower()}/{it.object_name}"
        for it in jobs
    ]


def _small(paths: Iterable[str]) -> bool:
    """Whether files, and the files in folders, are read at once. Raises OSError and ValueError."""
    size = 0
    for it in (file for path in map(Path, paths) for file in chain([path], path.rglob("*"))):
        size += max(_LEAST_BYTES, it.stat().st_size if it.is_file() else 0)
        if size > _COMPLETED_BYTES:
            return False
    return True


class OpenedState(Struct, frozen=True, eq=False):
    """What a request names, before any simulation."""

    scene: Scene
    jobs: Sequence[Arrival]
    given: SimulationInput
    documents: Sequence[Document]
    """Of the spec and of manifests."""


def _opened(request: SimulateRequest, stdin: BinaryIO | None, progress: Progress) -> OpenedState:
    request = simulation_input.by_content(request)
    spec, given = simulation_input.read(request, stdin, progress)
    scene = scene_of(request, spec, given)
    traced, found = simulation_input.jobs(request, scene, given, request.duration or None)
    simulation_input.check_trace(given, traced)
    for unused in unused_assumptions(scene, found):
        raise UsageError(unused)
    files = (it.documents for it in given.files)
    return OpenedState(scene, found, given, [*spec.documents, *chain.from_iterable(files)])


def _read(
    request: SimulateRequest, at: float | None, stdin: BinaryIO | None, progress: Progress
) -> AnswerState:
    """The state for which an answer holds."""
    with stops(lambda: "Ctrl-C came while policygen read the input"):
        opened = _opened(request, stdin, progress)
    scene, found, documents = opened.scene, opened.jobs, opened.documents
    gaps = cluster_gaps.gaps(opened.given.snapshot)
    taken = scene.cluster.seen.taken.strftime("%Y-%m-%dT%H:%M:%SZ") if scene.cluster.seen else ""
    adds = simulation_input.adds_jobs(opened.given) or bool(scene.models and scene.models.names)
    if at is None and not adds:
        progress("")
        return AnswerState(scene, found, AnswerTime(None, taken), None, (), documents, gaps)
    if at is None:
        progress(f"simulating the start of {counted(len(found), 'job')}")
    else:
        progress(f"simulating until {duration(at)} after the start")
    watch = _Watch(at, progress)
    with stops(watch.words):
        then = instant(scene, found, at, request.seed, watch.see)
    again = simulation_input.with_other_choices(
        request, scene, opened.given, request.duration or None, len(found)
    )
    with stops(lambda: "Ctrl-C came while policygen simulated other random choices"):
        others = [instant(scene, them, at, seed) for seed, them in again]
    progress("")
    later = len(then.later) if at is not None else sum(it.at > 0 for it in found)
    models = len(scene.models.names) if scene.models is not None else 0
    known = sum(not it.unknown for it in then.arrivals)
    time = AnswerTime(at, taken, known, then.running, later, models)
    return AnswerState(then.scene, then.arrivals, time, then, others, documents, gaps)


class _Watch:
    """How far the simulation is before an answer."""

    def __init__(self, at: float | None, progress: Progress) -> None:
        self._at, self._progress = at, progress
        self._now: TimelineProgress | None = None
        self._throttle = Throttle()

    def see(self, now: TimelineProgress) -> None:
        """Show it a few times each second."""
        self._now = now
        if self._throttle.allows():
            until = "" if self._at is None else f" {duration(now.now)} of {duration(self._at)}"
            self._progress(f"simulating{until}: {self._counts(now)}")

    def words(self) -> str:
        """What Ctrl-C stopped."""
        if self._now is None:
            return "Ctrl-C came before the simulation began"
        until = "" if self._at is None else f" at {duration(self._now.now)} of {duration(self._at)}"
        return f"Ctrl-C ended the simulation{until}, when {self._counts(self._now)}"

    def _counts(self, now: TimelineProgress) -> str:
        counts = f"{now.arrived:,} of {counted(f'{now.jobs:,}', 'job')} were submitted"
        return counts if self._at is None else f"{counts} and {now.ended:,} ended"


def _explained(
    explainer: Explainer, arrival: Arrival, state: AnswerState, *, search: bool = True
) -> Explanation:
    """Why a workload waits, with its preemptions until then."""
    found, then = explainer.explain(arrival, search=search), state.instant
    if then is None:
        return found
    cause = then.gangs.get(arrival.name)
    if cause is not None and cause.kind is not CauseKind.ADMITTED and not found.waits:
        found = Explanation(
            arrival.name, arrival.kind, arrival.team, cause
        )  # random choices differ
    past = _past(then, arrival.name)
    own = then.state(arrival.name)
    others = (it.state(arrival.name) for it in state.others)
    otherwise = tuple(dict.fromkeys(it for it in others if it is not own))
    return replace(found, preempted=(*found.preempted, *past), otherwise=otherwise)


def _past(then: Instant, name: str) -> Iterator[Preempted]:
    """The preemptions of a job. Without the passing of time, each is named once."""
    found = then.preemptions.get(name, ())
    if then.at is None:
        times = ((it.by, it.rule, "") for it in found)
    else:
        times = ((it.by, it.rule, duration(it.at)) for it in found)
    for by, rule, at in dict.fromkeys(times):
        yield Preempted(by, rule, "", at)


def _named(explainer: Explainer, name: str, state: AnswerState) -> list[Arrival]:
    found = explainer.named(name)
    if found:
        return found
    then = state.instant
    if then is not None:
        for one, time in _like(name, then.later):
            raise UsageError(f"{one} is submitted only after {duration(time)}; write a later --at")
        for one, time in _like(name, then.ended):
            raise UsageError(f"{one} ended after {duration(time)}; write an earlier --at")
    state.gaps.require_jobs()
    known = [it.object_name for it in explainer.arrivals]
    known += sorted({f"{it.namespace}/{it.model}" for it in explainer.arrivals if it.model})
    if "/" not in name:
        known = [it.partition("/")[2] for it in known]
    advice = Names(known).advice(name)
    raise UsageError(
        f"no workload has the name {name}, and no file or folder has it"
        f"{f'; {advice}' if advice else ''}"
    )


def _like(name: str, times: Mapping[str, float]) -> Iterable[tuple[str, float]]:
    """The jobs with this name: with a namespace, or in any."""
    return [
        it
        for it in times.items()
        if it[0] == name or f"/{it[0].partition(' (')[0]}".endswith(f"/{name}")
    ]
