"""What `policygen why` and `policygen fit` do: read a state, and explain workloads of it."""

from collections.abc import Callable, Sequence
from io import StringIO
from typing import BinaryIO

from policygen.app import simulate
from policygen.app.requests import SimulateRequest
from policygen.core.errors import UsageError
from policygen.core.suggest import Names
from policygen.report import why as report
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.unmodelled import unmodelled
from policygen.simulate.why.explanation import Explainer
from policygen.simulate.why.fit import FitError, FitRequest, fit

Progress = Callable[[str], None]


def why(
    request: SimulateRequest,
    names: Sequence[str],
    form: str,
    *,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
) -> tuple[str, bool]:
    """Why these workloads wait, and whether any waits; without names, why all pending ones do.

    Raises UsageError for a name that no workload has, and what `simulate` raises.
    """
    scene, jobs = _read(request, stdin, progress)
    explainer = Explainer(scene, jobs)
    chosen = [it for name in names for it in _named(explainer, name)]
    if not names:
        chosen = list(explainer.pending())
    found = []
    for i, it in enumerate(chosen):
        progress(f"{i + 1} of {len(chosen)}: {it.name}")
        found.append(explainer.explain(it))
    progress("")
    if not names:
        found = [it for it in found if it.waits]
    features, out = unmodelled(scene, jobs), StringIO()
    if form == "json":
        report.json(found, features, out)
    else:
        report.text(found, features, out, every=not names)
    return out.getvalue(), any(it.waits for it in found)


def would_fit(
    request: SimulateRequest,
    asked: FitRequest,
    form: str,
    *,
    stdin: BinaryIO | None = None,
    progress: Progress = lambda _: None,
) -> tuple[str, bool]:
    """Whether a job would run now: the report, and the answer.

    Raises UsageError for a team or pool that does not exist, and what `simulate` raises.
    """
    scene, jobs = _read(request, stdin, progress)
    try:
        answer = fit(scene, jobs, asked)
    except FitError as error:
        raise UsageError(str(error)) from None
    features, out = unmodelled(scene, jobs), StringIO()
    (report.fit_json if form == "json" else report.fit_text)(answer, features, out)
    return out.getvalue(), not answer.explanation.waits


def _read(
    request: SimulateRequest, stdin: BinaryIO | None, progress: Progress
) -> tuple[Scene, list[Arrival]]:
    request = simulate.by_content(request)
    spec, given = simulate.read(request, stdin, progress)
    scene = simulate.scene_of(request, spec, given)
    progress("")
    return scene, arrivals(scene, request.duration or None)


def _named(explainer: Explainer, name: str) -> list[Arrival]:
    found = explainer.named(name)
    if found:
        return found
    advice = Names(dict.fromkeys(it.name for it in explainer.arrivals)).advice(name)
    raise UsageError(
        f"no workload has the name {name}, and no file or folder has it"
        f"{f'; {advice}' if advice else ''}"
    )
