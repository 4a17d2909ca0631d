"""Writes why workloads wait, and whether a job would run, as text or JSON."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TextIO

import msgspec

from policygen.core.quoting import counted
from policygen.report import why_words as words
from policygen.report.phrases import write_json
from policygen.report.text import printable
from policygen.simulate.result import Unmodelled
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.changes import Change
from policygen.simulate.why.explanation import Explanation
from policygen.simulate.why.fit import FitAnswer
from policygen.simulate.why.remedy import Remedy

VERSION = 1
SHOWN = 5
"""The number of remedies in text."""


def text(
    found: Sequence[Explanation], unmodelled: Iterable[Unmodelled], out: TextIO, *, every: bool
) -> None:
    """Write the reasons and remedies. With `every`, these are all pending workloads of the input."""
    lines: list[str] = []
    for it in found:
        lines += [words.headline(it), *(f"  {line}" for line in _about(it)), ""]
    if every:
        waiting = sum(it.waits for it in found)
        lines.append(f"{counted(waiting, 'workload')} waiting.")
    lines += _unmodelled(unmodelled)
    while lines and not lines[-1]:
        lines.pop()
    _write(lines, out)


def fit_text(answer: FitAnswer, unmodelled: Iterable[Unmodelled], out: TextIO) -> None:
    """Write whether a job would run now, and if not, why not and when."""
    it, request = answer.explanation, answer.request
    each = f"{counted(request.pods, 'pod')} of {words.amount(answer.resource, request.gpus)}"
    what = f"{each} for team {request.team} in LocalQueue {answer.namespace}/{answer.queue}"
    if not it.waits:
        flavors = f" in flavor {words.names(it.admission)}" if it.admission else ""
        lines = [f"Yes: {what} would run now{flavors}."]
        if answer.cost is not None:
            lines.append(f"  {words.costs(answer.cost)}")
    else:
        waits = "would never start" if it.cause.lasts else "would wait"
        lines = [f"No: {what} {waits} ({it.cause.kind.value})."]
        lines += [f"  {line}" for line in _about(it)]
        if answer.start is not None:
            lines.append(f"  {words.start(answer.start)}")
    lines += _unmodelled(unmodelled)
    _write(lines, out)


def json(found: Sequence[Explanation], unmodelled: Iterable[Unmodelled], out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/why.schema.json describes it."""
    write_json(
        {
            "version": VERSION,
            "workloads": [_workload(it) for it in found],
            "unmodelled": [{"feature": it.feature, "workloads": it.workloads} for it in unmodelled],
        },
        out,
    )


def fit_json(answer: FitAnswer, unmodelled: Iterable[Unmodelled], out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/fit.schema.json describes it."""
    request, start = answer.request, answer.start
    write_json(
        {
            "version": VERSION,
            "runs": not answer.explanation.waits,
            "team": request.team,
            "namespace": answer.namespace,
            "queue": answer.queue,
            "resource": answer.resource,
            "gpus": request.gpus,
            "pods": request.pods,
            "preempts": list(answer.cost.preempted) if answer.cost else [],
            "delays": list(answer.cost.delayed) if answer.cost else [],
            "startsAfterSeconds": start.after if start else None,
            "startsAfterEnds": list(start.ends) if start else [],
            "workload": _workload(answer.explanation),
            "unmodelled": [{"feature": it.feature, "workloads": it.workloads} for it in unmodelled],
        },
        out,
    )


def _about(it: Explanation) -> Iterator[str]:
    yield from words.reasons(it)
    if it.cause.message and it.waits and it.cause.kind not in words.WITH_MESSAGE:
        yield f"The scheduler reports: {it.cause.message}"
    yield from map(words.past, it.preempted)
    if it.remedies:
        placing = it.cause.kind in (CauseKind.NO_NODES, CauseKind.VOLCANO)
        what = "lets it start" if placing else "lets Kueue admit it"
        yield f"Each of these changes {what} now (policygen tried each):"
        for number, one in enumerate(it.remedies[:SHOWN], 1):
            yield f"{number}. {words.remedy(one.changes)}"
            tie = " Kueue may decide otherwise, because a tie decides." if one.either else ""
            room = " But no node has room for all its pods." if one.placed is False else ""
            yield f"   {words.costs(one.cost)}{tie}{room}"
        if len(it.remedies) > SHOWN:
            yield f"{len(it.remedies) - SHOWN} more with -f json."
    elif it.waits and it.tried:
        yield f"policygen tried {counted(it.tried, 'change')}, but no single one lets it start now."
    elif it.waits:
        yield "policygen knows no change that lets it start now."
    if it.later:
        yield "With each of these changes, it starts when others have ended:"
        for number, one in enumerate(it.later[:SHOWN], 1):
            yield f"{number}. {words.remedy(one.changes)}"
    if it.ends:
        yield words.ends(it.ends)


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
        "cause": {
            "kind": it.cause.kind.value,
            "text": " ".join(words.reasons(it)),
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
                }
                for one in cause["obstacles"]
            ],
            "nodes": cause["node_reasons"],
            "never": cause["never"],
            "names": list(it.cause.names),
        },
        "remedies": [_remedy(one) for one in it.remedies],
        "laterRemedies": [_remedy(one) for one in it.later],
        "startsAfter": list(it.ends),
        "preempted": [
            {"by": one.by, "reason": one.reason, "at": one.at or None, "message": one.message}
            for one in it.preempted
        ],
        "flavors": list(it.admission),
    }


def _remedy(it: Remedy) -> dict[str, Any]:
    return {
        "text": words.remedy(it.changes),
        "changes": [_change(one) for one in it.changes],
        "preempts": list(it.cost.preempted),
        "delays": list(it.cost.delayed),
        "admits": list(it.cost.admitted),
        "flavors": list(it.flavors),
        "either": it.either,
        "placed": it.placed,
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


def _write(lines: Iterable[str], out: TextIO) -> None:
    out.writelines(f"{printable(line, out.encoding or 'utf-8')}\n" for line in lines)
