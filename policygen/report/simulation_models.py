"""The models of a spec in a simulation, as tables for people: where they run, and what a change does to them."""

from collections import Counter
from collections.abc import Iterable, Sequence

from policygen.core.quoting import counted, listed
from policygen.report.amount_words import gpus, names
from policygen.report.tables import NONE, TablePage
from policygen.simulate.model_results import ModelResult, SimulatedModelChange
from policygen.simulate.result import JobState, PoolResult

_NODES = 3
"""The most nodes of a model that are named."""


def models(page: TablePage, found: Sequence[ModelResult], pools: Iterable[PoolResult]) -> None:
    """Write how many pods of each model run and where, and the GPUs that stay free."""
    if not found:
        return
    rows = [
        (
            it.name,
            it.team,
            f"{it.run} of {it.pods}",
            gpus(it.gpus, it.unit),
            ", ".join(dict.fromkeys(flavor for job in it.jobs for flavor in job.flavors)) or NONE,
            _nodes(it),
            _note(it),
        )
        for it in found
    ]
    heads = "MODEL", "TEAM", "PODS RUN", "GPUS", "FLAVOR", "NODES", "NOTES"
    page.table("Models", heads, rows, range(2, 4), {6: "", 5: "nodes ", 4: "flavor ", 1: "team "})
    having = [it for it in pools if it.gpus]
    free = [
        f"{it.gpus - it.used_most} of {gpus(it.gpus, it.unit)} in pool {it.name}" for it in having
    ]
    if free:
        what = "GPUs" if all(it.unit == "GPU" for it in having) else "Units"
        page.line(f"{what} that stay free when most are in use: {listed(free, 'and')}.")


def changed_models(page: TablePage, changes: Iterable[SimulatedModelChange]) -> None:
    """Write the models that have other pods, or of which others run."""
    rows = [
        (it.name, _both(it.pods), _both(it.run), _both(it.gpus)) for it in changes if it.differs
    ]
    if rows:
        page.table("Models that change", ("MODEL", "PODS", "PODS RUN", "GPUS"), rows, range(1, 4))


def _both(values: tuple[int, int]) -> str:
    before, after = values
    return f"{before}" if before == after else f"{before} -> {after}"


def _nodes(model: ModelResult) -> str:
    pods: Counter[str] = Counter()
    for it in model.jobs:
        pods.update(it.nodes)
    found = [name if count == 1 else f"{name} ×{count}" for name, count in pods.items()]
    return names(found, _NODES) or NONE


def _note(model: ModelResult) -> str:
    parts = []
    waiting = model.waiting
    count = sum(it.pods for it in waiting) - sum(
        sum(it.nodes.values()) for it in waiting if it.started is None
    )
    if waiting:
        never = all(it.state is JobState.NEVER for it in waiting)
        verb = (
            ("never starts" if never else "waits")
            if count == 1
            else ("never start" if never else "wait")
        )
        parts.append(f"{counted(count, 'pod')} {verb}")
    borrowed: Counter[str] = Counter()
    for it in model.jobs:
        borrowed.update(it.borrowed)
    parts += [f"borrows {amount} {flavor}" for flavor, amount in borrowed.items() if amount]
    preempted = sum(it.preempted for it in model.jobs)
    if preempted:
        by = dict.fromkeys(name for it in model.jobs for name in it.preempted_by)
        parts.append(f"preempted by {names([*by], 2)}")
    return "; ".join(parts)
