"""Whether a job that does not exist yet would run now, and if not, when and why not."""

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate import chance
from policygen.simulate.arrival import Arrival
from policygen.simulate.over_time.kueue_runs import RETRY_AFTER_S
from policygen.simulate.scene import Scene
from policygen.simulate.why.causes import Cause, CauseKind
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.fit_jobs import (
    KUBE_SCHEDULER,
    FitRequest,
    QueueChoice,
    choices,
    submitted,
    without_object,
)
from policygen.simulate.why.pool_access import PoolBounds
from policygen.simulate.why.remedy import Cost, Remedy
from policygen.simulate.why.start import Start
from policygen.spec.types import Scheduler


class FitOutcome(Struct, frozen=True):
    """What becomes of the job."""

    runs: bool
    """Whether it runs now."""
    after: float | None = None
    """Seconds until it starts; None: it runs now, or it is not known."""
    lasts: bool = False
    """Whether it never starts."""

    def equals(self, other: "FitOutcome") -> bool:
        """Whether it is the same for a reader: a retry of Kueue more or less makes no difference."""
        if self.after is None or other.after is None:
            return self == other
        return abs(self.after - other.after) <= 2 * RETRY_AFTER_S


class FitState(Struct, frozen=True, eq=False):
    """A state that random choices of the schedulers lead to."""

    scene: Scene
    arrivals: Sequence[Arrival]
    seed: int
    """Of what happens from now on."""


class FitAnswer(Struct, frozen=True, eq=False):
    """Whether a job would run now."""

    request: FitRequest
    arrival: Arrival
    """The job."""
    namespace: str
    queue: str
    resource: str
    explanation: Explanation
    cost: Cost | None
    """What it costs others if it runs now; None: it does not."""
    start: Start | None = None
    """None: it would run now, or waiting does not help."""
    scheduler: Scheduler = "kueue"
    """Kueue decides about a LocalQueue, Volcano about its own queue. kube-scheduler has none."""
    pool: str = ""
    """The pool or flavor that was tried; empty: it is not known, or the scheduler chooses it."""
    others: tuple[FitOutcome, ...] = ()
    """What becomes of it with other random choices of the schedulers, if that differs."""

    @property
    def outcome(self) -> FitOutcome:
        """What becomes of the job."""
        return _outcome(self.explanation, self.start)


def fit(
    scene: Scene,
    arrivals: Sequence[Arrival],
    request: FitRequest,
    others: Iterable[FitState] = (),
    learn: Callable[[FitAnswer], None] = lambda _: None,
) -> FitAnswer:
    """Whether the job would run now. Raises FitError.

    Of several queues that the request can mean, the answer is about the first one in which the job runs
    now, or else waits. `others` are the same state after other random choices; without them, only what
    happens from now on differs. `learn` gets the answer before other random choices are tried.
    """
    judged = _chosen(scene, arrivals, request)
    found = _answer(judged, request)
    learn(found)
    different = dict.fromkeys(
        it for it in _others(judged, found, request, others) if not it.equals(found.outcome)
    )
    return replace(found, others=tuple(different))


def _others(
    judged: "_JudgedQueue", found: FitAnswer, request: FitRequest, others: Iterable[FitState]
) -> Iterator[FitOutcome]:
    """What becomes of the job with other random choices."""
    others = tuple(others)
    competes = found.cost is not None and any((found.cost.preempted, found.cost.admitted))
    for it in others:
        one = _chosen(it.scene, it.arrivals, request)
        yield _simulated(one, it.seed, competes=competes)
    if competes:
        yield _simulated(judged, 1, competes=True)
    if not others and (competes or found.start is not None):
        for seed in chance.seeds(1, len(judged.explainer.arrivals)):
            yield _simulated(judged, seed, competes=competes)


def _simulated(judged: "_JudgedQueue", seed: int, *, competes: bool) -> FitOutcome:
    """What becomes of the job in a simulation. `competes`: others can take the nodes that become free for it."""
    if competes and not judged.explanation.waits:
        after = judged.explainer.start(judged.arrival, seed).after
        runs = after is not None and after <= 2 * RETRY_AFTER_S
        return FitOutcome(runs, None if runs else after)
    waits = _start(judged, seed)
    return _outcome(_decided(judged, waits), waits)


def _outcome(explanation: Explanation, start: Start | None) -> FitOutcome:
    after = start.after if start is not None and explanation.waits else None
    return FitOutcome(not explanation.waits, after, explanation.cause.lasts)


def _chosen(scene: Scene, arrivals: Sequence[Arrival], request: FitRequest) -> "_JudgedQueue":
    """The best queue. Raises FitError."""
    first, *others = choices(scene, request)
    shared: dict[PoolBounds | None, Explainer] = {}
    found = _judged(scene, arrivals, request, first, shared)
    for choice in others:
        if not found.explanation.waits:
            break
        one = _judged(scene, arrivals, request, choice, shared)
        if one.rank < found.rank:
            found = one
    return found


class _JudgedQueue(Struct, frozen=True, eq=False):
    """A queue that was tried, without a search for changes."""

    choice: QueueChoice
    explainer: Explainer
    arrival: Arrival
    explanation: Explanation

    @property
    def rank(self) -> int:
        """Lower is better: the job runs now, waits, or never starts."""
        return 2 if self.explanation.cause.lasts else int(self.explanation.waits)


def _judged(
    scene: Scene,
    arrivals: Sequence[Arrival],
    request: FitRequest,
    choice: QueueChoice,
    shared: dict[PoolBounds | None, Explainer],
) -> _JudgedQueue:
    """The cause in one queue. `shared` explain the scene without an object for the job."""
    own, arrival = submitted(scene, arrivals, request, choice)
    bounds = _bounds(request, choice)
    explainer = shared.get(bounds) if own is scene else None
    if explainer is None:
        explainer = Explainer(own, arrivals, bounds)
        if own is scene:
            shared[bounds] = explainer
    explanation = explainer.explain(arrival, search=False)
    return _JudgedQueue(choice, explainer, arrival, explanation)


def _typed(it: Remedy) -> Remedy:
    """The remedy without fields of an object that does not exist."""
    return replace(it, changes=tuple(own for one in it.changes for own in without_object(one)))


def _bounds(request: FitRequest, choice: QueueChoice) -> PoolBounds | None:
    """What changes must keep, because the request names it."""
    if request.pool and request.pool == choice.pool:
        return PoolBounds(choice.pool, choice.resource)
    return PoolBounds(queue=True) if request.pool else None


def _start(judged: _JudgedQueue, seed: int = 1) -> Start | None:
    """When the job starts; None: it would run now, or never starts."""
    explanation = judged.explanation
    if explanation.waits and not explanation.cause.lasts:
        return judged.explainer.start(judged.arrival, seed)
    return None


def _decided(judged: _JudgedQueue, start: Start | None) -> Explanation:
    """Why the job waits. In a pool of kube-scheduler, it runs now if its pods preempt others."""
    at_once = start is not None and start.after == 0.0
    if at_once and judged.choice.scheduler == KUBE_SCHEDULER:
        return replace(judged.explanation, cause=Cause(CauseKind.ADMISSIBLE))
    return judged.explanation


def _answer(judged: _JudgedQueue, request: FitRequest) -> FitAnswer:
    """The answer for the chosen queue, with changes if the job waits."""
    choice, explainer, arrival = judged.choice, judged.explainer, judged.arrival
    cost: Cost | None = None
    start = _start(judged)
    explanation = _decided(judged, start)
    if start is not None and not explanation.waits:
        cost, start = Cost(start.preempts), None
    elif explanation.waits:
        explanation = explainer.explain(arrival)
        if start is not None and start.after is not None:
            # `start` names them, with the time
            explanation = replace(explanation, ends=(), start=None)
    else:
        cost = explainer.cost(arrival)
    return FitAnswer(
        request,
        arrival,
        choice.namespace,
        choice.queue,
        choice.resource,
        replace(
            explanation,
            remedies=tuple(map(_typed, explanation.remedies)),
            later=tuple(map(_typed, explanation.later)),
        ),
        cost,
        start,
        choice.scheduler,
        choice.pool,
    )
