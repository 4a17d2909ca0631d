"""Whether a job that does not exist yet would run now, and if not, when and why not."""

from collections.abc import Sequence

from msgspec import Struct
from msgspec.structs import replace

from policygen.simulate.arrival import Arrival
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


class FitAnswer(Struct, frozen=True, eq=False):
    """Whether a job would run now."""

    request: FitRequest
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


def fit(scene: Scene, arrivals: Sequence[Arrival], request: FitRequest) -> FitAnswer:
    """Whether the job would run now. Raises FitError.

    Of several queues that the request can mean, the answer is about the first one in which the job runs
    now, or else waits.
    """
    first, *others = choices(scene, request)
    shared: dict[PoolBounds | None, Explainer] = {}
    found = _judged(scene, arrivals, request, first, shared)
    for choice in others:
        if not found.explanation.waits:
            break
        one = _judged(scene, arrivals, request, choice, shared)
        if one.rank < found.rank:
            found = one
    return _answer(found, request)


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


def _answer(judged: _JudgedQueue, request: FitRequest) -> FitAnswer:
    """The answer for the chosen queue, with changes if the job waits."""
    choice, explainer, arrival = judged.choice, judged.explainer, judged.arrival
    explanation = judged.explanation
    cost: Cost | None = None
    start: Start | None = None
    if explanation.waits and not explanation.cause.lasts:
        start = explainer.start(arrival)
    if start is not None and start.after == 0.0 and choice.scheduler == KUBE_SCHEDULER:
        explanation = replace(explanation, cause=Cause(CauseKind.ADMISSIBLE))
        cost, start = Cost(start.preempts), None  # its pods preempt others
    elif explanation.waits:
        explanation = explainer.explain(arrival)
        if start is not None and start.after is not None:
            # `start` names them, with the time
            explanation = replace(explanation, ends=(), start=None)
    else:
        cost = explainer.cost(arrival)
    return FitAnswer(
        request,
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
