"""Writes why workloads wait, and whether a job would run, as text or JSON."""

from collections.abc import Iterable, Iterator
from typing import Any, TextIO

import msgspec
from msgspec import Struct
from msgspec.structs import replace

from policygen.core.durations import duration
from policygen.core.quoting import counted
from policygen.report import cause_words, remedy_words
from policygen.report.amount_words import amount, names
from policygen.report.phrases import write_json
from policygen.report.simulation import not_read
from policygen.report.tables import BOLD, TablePage
from policygen.simulate.result import JobState, Unmodelled
from policygen.simulate.why.changes import Change
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.fit import FitAnswer
from policygen.simulate.why.remedy import Remedy

VERSION = 1
TIE = "Kueue may decide otherwise, because a tie decides."
SHOWN = 5
"""The number of remedies in text."""
PAST = 3
"""The number of past preemptions in text."""
_INDENT, _DEEPER = 2, 5
_STATES = {
    None: "is not submitted at this time",
    JobState.WAITING: "waits at this time",
    JobState.RUNNING: "runs at this time",
    JobState.ENDED: "has ended by then",
}
"""What a job does at the time of the answer."""


class AnswerTime(Struct, frozen=True):
    """The instant for which an answer holds."""

    at: float | None = None
    """Seconds from the start of a simulation until then; None: no time has passed."""
    taken: str = ""
    """When the state of a cluster was read."""
    jobs: int | None = None
    """Jobs that are there; None: nothing was simulated, and they are those of the cluster."""
    running: int = 0
    """Those of them that run."""
    later: int = 0
    """Jobs that arrive later. If no time has passed, they count as submitted."""
    models: int = 0
    """The models of the spec that count as jobs."""

    @property
    def text(self) -> str:
        """What the answer is about."""
        if not self.models:
            return self._instant
        count = f"{counted(self.models, 'model')} of the spec"
        return f"{self._instant} {count} {'counts' if self.models == 1 else 'count'} as jobs."

    @property
    def _instant(self) -> str:
        start = f"the state of {self.taken}" if self.taken else "the start"
        if self.jobs is None:
            return f"At {start}."
        waits = self.jobs - self.running
        counts = (
            f"{counted(self.running, 'job')} {'runs' if self.running == 1 else 'run'}",
            f"{waits} {'waits' if waits == 1 else 'wait'}",
        )
        if self.at is not None:
            return (
                f"{duration(self.at)} after {start}, in a simulation: {', '.join(counts)} "
                f"and {self.later or 'none'} {'is' if self.later == 1 else 'are'} submitted later."
            )
        if self.later:
            jobs = "the only job was submitted"
            if self.jobs > 1:
                jobs = f"all {self.jobs} jobs were submitted in their order and no job had ended"
            return (
                f"At {start}, as if {jobs}: {' and '.join(counts)}. "
                "--at TIME simulates until a time after it."
            )
        return f"At {start}, in a simulation: {' and '.join(counts)}."


class WhyReport(Struct, frozen=True, eq=False):
    """Why workloads wait."""

    found: tuple[Explanation, ...]
    unmodelled: tuple[Unmodelled, ...] = ()
    time: AnswerTime = AnswerTime()
    every: bool = False
    """Whether these are all pending workloads of the input."""
    grouped: bool = False
    """Whether text groups them by their causes. Changes were tried only for some of them."""
    partial: bool = False
    """Whether Ctrl-C ended it."""
    omitted: int = 0
    """The workloads that are not explained, because it was ended."""
    asked: int = 0
    """All workloads that were to be explained."""
    unread: tuple[str, ...] = ()
    """What could not be read of the cluster."""

    @property
    def waiting(self) -> int:
        """How many workloads wait."""
        return sum(1 + len(it.equal) for it in self.found if it.waits)


class FitReport(Struct, frozen=True, eq=False):
    """Whether a job would run."""

    answer: FitAnswer
    unmodelled: tuple[Unmodelled, ...] = ()
    time: AnswerTime = AnswerTime()
    unread: tuple[str, ...] = ()
    """What could not be read of the cluster."""
    unmodelled_of_job: tuple[Unmodelled, ...] = ()
    """The features of `unmodelled` that can affect the job itself."""

    @property
    def waiting(self) -> int:
        """1 if the job would wait."""
        return int(self.answer.explanation.waits)


Line = tuple[int, str]
"""A number of blanks, and the text behind them."""


def text(report: WhyReport, page: TablePage) -> None:
    """Write the reasons and remedies for people."""
    for line in not_read(report.unread):
        page.line(line)
    page.line(report.time.text)
    for them in _groups(report):
        if len(them) > 1:
            page.heading(cause_words.group(them))
            _write(page, ((_INDENT, it) for it in cause_words.group_parts(them)))
            page.line(f"The first one is {cause_words.headline(them[0])}", indent=_INDENT)
        else:
            page.heading(cause_words.headline(them[0]))
        _write(page, _about(them[0], changes=not report.grouped or bool(them[0].tried)))
    closing = [f"{counted(report.waiting, 'workload')} waiting."] if report.every else []
    if report.partial:
        closing.append(
            f"Interrupted, so the report is partial: {counted(report.omitted, 'workload')} not explained."
        )
    if report.grouped:
        closing.append("Name a workload to get the changes with which it starts.")
    closing += _unmodelled(report.unmodelled)
    if closing:
        page.line()
        _write(page, [(0, it) for it in closing])


def _groups(report: WhyReport) -> list[list[Explanation]]:
    """The workloads to describe together, most first."""
    if not report.grouped:
        return [[it] for it in report.found]
    groups: dict[tuple[str, ...], list[Explanation]] = {}
    for it in report.found:
        groups.setdefault(it.cause.group, []).append(it)
    return sorted(groups.values(), key=lambda them: -sum(1 + len(it.equal) for it in them))


def fit_text(report: FitReport, page: TablePage) -> None:
    """Write whether a job would run, and if not, why not and when."""
    answer = report.answer
    it, request = answer.explanation, answer.request
    each = f"{counted(request.pods, 'pod')} of {amount(answer.resource, request.gpus)}"
    what = f"{each} for team {request.team} in {_where(answer)}"
    for line in not_read(report.unread):
        page.line(line)
    page.line(report.time.text)
    if not it.waits:
        flavors = f" in flavor {names(it.admission)}" if it.admission else ""
        page.line((f"Yes: {what} would run{flavors}.", BOLD))
        if answer.cost is not None:
            page.line(remedy_words.costs(answer.cost), indent=_INDENT)
        if it.either:
            page.line(TIE, indent=_INDENT)
        _write(page, _other_outcomes(answer))
    else:
        waits = "would never start" if it.cause.lasts else "would wait"
        page.line((f"No: {what} {waits}: {cause_words.title(it.cause)}.", BOLD))
        _write(page, _about(it, fit=True))
        if answer.start is not None:
            page.line(remedy_words.start(answer.start), indent=_INDENT)
        _write(page, _other_outcomes(answer))
    _write(page, [(0, it) for it in _unmodelled(report.unmodelled)])


def _other_outcomes(answer: FitAnswer) -> Iterator[Line]:
    """What else can become of the job."""
    if answer.others:
        yield _INDENT, remedy_words.otherwise(map(remedy_words.outcome, answer.others))


def _where(answer: FitAnswer) -> str:
    """The queue or pool of a job that does not exist yet."""
    match answer.scheduler:
        case "kueue":
            return f"LocalQueue {answer.namespace}/{answer.queue}"
        case "volcano":
            return f"namespace {answer.namespace} and Volcano's queue {answer.queue}"
    return f"namespace {answer.namespace} and pool {answer.pool} of kube-scheduler"


def json(report: WhyReport, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/why.schema.json describes it."""
    write_json(
        {
            "version": VERSION,
            "time": _time(report.time),
            "partial": report.partial,
            "workloads": [_workload(it) for it in report.found],
            "unread": list(report.unread),
            "unmodelled": _features(report.unmodelled),
        },
        out,
    )


def fit_json(report: FitReport, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/fit.schema.json describes it."""
    answer = report.answer
    request, start = answer.request, answer.start
    write_json(
        {
            "version": VERSION,
            "time": _time(report.time),
            "runs": not answer.explanation.waits,
            "team": request.team,
            "namespace": answer.namespace,
            "scheduler": answer.scheduler,
            "queue": answer.queue or None,
            "resource": answer.resource,
            "gpus": request.gpus,
            "pods": request.pods,
            "preempts": list(answer.cost.preempted) if answer.cost else [],
            "delays": list(answer.cost.delayed) if answer.cost else [],
            "startsAfterSeconds": start.after if start else None,
            "startsAfterEnds": list(start.ends) if start else [],
            "otherOutcomes": [
                {"runs": it.runs, "startsAfterSeconds": it.after, "never": it.lasts}
                for it in answer.others
            ],
            "workload": _workload(answer.explanation),
            "unread": list(report.unread),
            "unmodelled": _features(report.unmodelled),
        },
        out,
    )


def _time(it: AnswerTime) -> dict[str, Any]:
    return {"at": it.at, "cluster": it.taken or None, "text": it.text}


def _features(found: Iterable[Unmodelled]) -> list[dict[str, Any]]:
    return [{"feature": it.feature, "workloads": it.workloads} for it in found]


def _about(it: Explanation, *, changes: bool = True, fit: bool = False) -> Iterator[Line]:
    """With `fit`, it is about a job that does not exist: changes of it are options of the command."""
    if it.equal:
        yield _INDENT, cause_words.others(it)
    for reason in cause_words.reasons(it):
        yield _INDENT, reason
    if it.either:
        yield _INDENT, TIE
    if it.otherwise:
        yield _INDENT, remedy_words.otherwise(map(_STATES.__getitem__, it.otherwise))
    if it.cause.message and it.waits and it.cause.kind not in cause_words.WITH_MESSAGE:
        yield _INDENT, f"The scheduler reports: {it.cause.message}"
    if len(it.preempted) > PAST:
        yield _INDENT, f"It was preempted {len(it.preempted)} times. These are the last ones:"
    for past in it.preempted[-PAST:]:
        yield _INDENT, cause_words.past(past)
    if changes:
        yield from _changes(it, fit=fit)
    if it.start is not None:
        yield _INDENT, remedy_words.start(it.start)


def _numbered(number: int, one: Remedy, place: str, *, fit: bool) -> Line:
    """A remedy of a list. With `fit`, with the options that ask about it."""
    typed = remedy_words.options(one.changes) if fit else ""
    return _INDENT, f"{number}. {remedy_words.remedy(one.changes, place)}" + (
        f" Ask with {typed}." if typed else ""
    )


def _changes(it: Explanation, *, fit: bool = False) -> Iterator[Line]:
    """What lets it start."""
    if it.remedies:
        placing = it.cause.kind in cause_words.PLACING or it.cause.queue_kind == "Queue"
        what = "lets it start" if placing else "lets Kueue admit it"
        who = "The scheduler" if placing else "Kueue"
        yield _INDENT, f"Each of these changes {what} now (policygen tried each):"
        for number, one in enumerate(it.remedies[:SHOWN], 1):
            yield _numbered(number, one, it.place, fit=fit)
            tie = f" {who} may decide otherwise, because a tie decides." if one.either else ""
            room = " But no node has room for all its pods." if one.placed is False else ""
            every = remedy_words.replicas(one)
            yield _DEEPER, f"{every}{remedy_words.costs(one.cost)}{tie}{room}"
        if len(it.remedies) > SHOWN:
            yield _INDENT, f"{len(it.remedies) - SHOWN} more with -f json."
    elif it.waits and it.tried:
        tried = counted(it.tried, "change")
        yield _INDENT, f"policygen tried {tried}, but no single one lets it start now."
    elif it.waits:
        yield _INDENT, "policygen knows no change that lets it start now."
    yield from _for_equal(it)
    if it.later:
        yield _INDENT, "With each of these changes, it starts when other workloads have ended:"
        for number, one in enumerate(it.later[:SHOWN], 1):
            yield _numbered(number, one, it.place, fit=fit)
            yield _DEEPER, remedy_words.starts_after(one.ends)
    if it.ends:
        yield _INDENT, remedy_words.ends(it.ends)


def _for_equal(it: Explanation) -> Iterator[Line]:
    """What lets equal jobs start, too."""
    every = 1 + len(it.equal)
    which = f"{it.started} of the {every}"
    if it.started == every:
        which = "both" if len(it.equal) == 1 else f"all {every}"
    if it.for_equal:
        yield _INDENT, f"With each of these changes, {which} start now:"
    for number, one in enumerate(it.for_equal[:SHOWN], 1):
        yield _INDENT, f"{number}. {remedy_words.remedy(one.changes, it.place)}"
        others = tuple(name for name in one.cost.admitted if name not in (it.name, *it.equal))
        yield _DEEPER, remedy_words.costs(replace(one.cost, admitted=others))


def _unmodelled(found: Iterable[Unmodelled]) -> list[str]:
    return [
        f"Not modelled: {it.feature} ({counted(it.workloads, 'workload')})."
        for it in found
        if it.workloads
    ]


def _workload(it: Explanation) -> dict[str, Any]:
    cause = msgspec.to_builtins(it.cause)
    return {
        "name": it.name,
        "kind": it.kind,
        "team": it.team,
        "waits": it.waits,
        "place": it.place or None,
        "cause": {
            "kind": it.cause.kind.value,
            "text": " ".join(cause_words.reasons(it)),
            "message": it.cause.message or None,
            "queue": it.cause.queue or None,
            "obstacles": [
                {
                    "kind": one["kind"],
                    "podSet": one["pod_set"],
                    "flavor": one["flavor"] or None,
                    "resource": one["resource"] or None,
                    "asked": one["asked"],
                    "free": one["free"],
                    "nominal": one["nominal"],
                    "used": one["used"],
                    "most": one["most"],
                    "holders": one["holders"],
                    "limits": one["limits"],
                }
                for one in cause["obstacles"]
            ],
            "nodes": cause["node_reasons"],
            "waitingPods": [
                {"podSet": one.pod_set, "waiting": one.waiting, "pods": one.pods}
                for one in it.cause.waiting
            ],
            "never": cause["never"],
            "names": list(it.cause.names),
            "fewestPods": it.cause.fewest or None,
        },
        "remedies": [_remedy(one, it.place) for one in it.remedies],
        "laterRemedies": [_remedy(one, it.place) for one in it.later],
        "startsAfter": list(it.ends),
        "startsAfterSeconds": it.start.after if it.start is not None else None,
        "preempted": [
            {"by": one.by, "reason": one.reason, "at": one.at or None, "message": one.message}
            for one in it.preempted
        ],
        "flavors": list(it.admission),
        "either": it.either or bool(it.otherwise),
        "equal": list(it.equal),
        "remediesForEqual": [_remedy(one, it.place) for one in it.for_equal],
        "startedEqual": it.started or None,
    }


def _remedy(it: Remedy, place: str) -> dict[str, Any]:
    return {
        "text": remedy_words.remedy(it.changes, place),
        "changes": [_change(one) for one in it.changes],
        "preempts": list(it.cost.preempted),
        "delays": list(it.cost.delayed),
        "admits": list(it.cost.admitted),
        "flavors": list(it.flavors),
        "either": it.either,
        "placed": it.placed,
        "replicas": it.replicas or None,
        "startsAfter": list(it.ends),
    }


def _change(it: Change) -> dict[str, Any]:
    """A change with its type and fields."""
    fields = msgspec.to_builtins(it)
    for edit in fields.get("edits", ()):
        del edit["at"]  # an index of documents, which `place` names
    return {"type": type(it).__name__, **{_camel(key): value for key, value in fields.items()}}


def _camel(name: str) -> str:
    first, *rest = name.split("_")
    return first + "".join(it.title() for it in rest)


def _write(page: TablePage, lines: Iterable[Line]) -> None:
    for indent, it in lines:
        page.line(it, indent=indent)
