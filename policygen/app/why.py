"""What `policygen why` and `policygen fit` do: read a state, and explain workloads of it."""

from collections import Counter
from collections.abc import Callable, Sequence
from io import StringIO
from pathlib import Path
from typing import BinaryIO

from msgspec.structs import replace

from policygen.app import simulate
from policygen.app.requests import SimulateRequest
from policygen.core.errors import UsageError
from policygen.core.suggest import Names
from policygen.documents.document import Document
from policygen.report import why as report
from policygen.simulate.arrival import Arrival
from policygen.simulate.scene import Scene
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.unmodelled import unmodelled
from policygen.simulate.why.changes import SpecChange, SpecEdit
from policygen.simulate.why.explanation import Explainer, Explanation
from policygen.simulate.why.fit import FitError, FitRequest, fit
from policygen.simulate.why.remedy import Remedy

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
    scene, jobs, documents = _read(request, stdin, progress)
    explainer = Explainer(scene, jobs)
    chosen = [it for name in names for it in _named(explainer, name)]
    if not names:
        chosen = list(explainer.pending())
    found = []
    for i, it in enumerate(chosen):
        progress(f"{i + 1} of {len(chosen)}: {it.name}")
        found.append(_located(explainer.explain(it), documents))
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
    scene, jobs, documents = _read(request, stdin, progress)
    try:
        answer = fit(scene, jobs, asked)
    except FitError as error:
        raise UsageError(str(error)) from None
    answer = replace(answer, explanation=_located(answer.explanation, documents))
    features, out = unmodelled(scene, jobs), StringIO()
    (report.fit_json if form == "json" else report.fit_text)(answer, features, out)
    return out.getvalue(), not answer.explanation.waits


def _read(
    request: SimulateRequest, stdin: BinaryIO | None, progress: Progress
) -> tuple[Scene, list[Arrival], Sequence[Document]]:
    """The scene, its jobs, and the documents of the spec."""
    request = simulate.by_content(request)
    spec, given = simulate.read(request, stdin, progress)
    scene = simulate.scene_of(request, spec, given)
    progress("")
    return scene, arrivals(scene, request.duration or None), spec.documents


def _located(it: Explanation, documents: Sequence[Document]) -> Explanation:
    """The explanation, with the places of the fields of the spec that its remedies change."""
    known = {document.index: document for document in documents}
    files = {document.place(()).file for document in documents}
    same = Counter(Path(file).name for file in files)

    def edited(edit: SpecEdit) -> SpecEdit:
        document = known.get(edit.at.document)
        if document is None:
            return edit
        place = document.place(edit.at.path, key=True)
        name = Path(place.file).name
        return replace(edit, place=f"{name if same[name] == 1 else place.file}:{place.line}")

    def located(remedy: Remedy) -> Remedy:
        changes = (
            replace(one, edits=tuple(map(edited, one.edits)))
            if isinstance(one, SpecChange)
            else one
            for one in remedy.changes
        )
        return replace(remedy, changes=tuple(changes))

    remedies, later = map(located, it.remedies), map(located, it.later)
    return replace(it, remedies=tuple(remedies), later=tuple(later))


def _named(explainer: Explainer, name: str) -> list[Arrival]:
    found = explainer.named(name)
    if found:
        return found
    advice = Names(dict.fromkeys(it.name for it in explainer.arrivals)).advice(name)
    raise UsageError(
        f"no workload has the name {name}, and no file or folder has it"
        f"{f'; {advice}' if advice else ''}"
    )
