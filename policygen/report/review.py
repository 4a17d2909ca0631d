"""What a change of a spec does, as text, Markdown or JSON: for people first, then objects and fields."""

import html
import shlex
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final, TextIO

from msgspec import UNSET, Struct

from policygen.core.finding import dotted
from policygen.core.names import SET
from policygen.core.quoting import counted, listed, quoted, some
from policygen.drift.changes import What
from policygen.drift.compare import FieldDifference
from policygen.drift.messages import subject, value
from policygen.plan.amounts import HOST
from policygen.plan.amounts import text as quantity
from policygen.report.markdown import MAX_CHARACTERS, escaped
from policygen.report.phrases import headline, whereabouts, write_json
from policygen.report.text import folded, printable
from policygen.review.consequences import ModelChange, Pair, PoolChange, QuotaChange
from policygen.review.deletions import Deletion
from policygen.review.kueue_settings import FRAMEWORKS, SettingChange
from policygen.review.review import Review
from policygen.review.uses import Use

VERSION: Final = 1
_MARKS: Final = {What.ADDED: "+", What.REMOVED: "-", What.CHANGED: "~"}


_WIDE: Final = 60
"""A longer first column has no second one beside it."""


class _Section(Struct, frozen=True):
    """A title, and lines in two columns."""

    title: str
    lines: tuple[tuple[str, str], ...]
    command: str = ""
    """A command that writes what the lines describe."""


def text(review: Review, out: TextIO, wide: int | None = None) -> None:
    """Write sections with indented lines, and the changed fields at the end.

    `wide` is the number of columns of a terminal; None: lines may have any length.
    """
    lines = [f"note: {it}" for it in review.notes]
    lines += [f"not read: {it}" for it in review.unread]
    for section in _sections(review):
        short = (len(first) for first, _ in section.lines if len(first) <= _WIDE)
        width = max(short, default=0)
        lines.append(section.title)
        lines += [f"  {first:<{width}}  {rest}".rstrip() for first, rest in section.lines]
        if section.command:
            lines.append(f"  {'':<{width}}  `{section.command}` writes them")
    if not review.changed:
        lines.append("no difference")
    for line in lines:
        shown = folded(printable(line, out.encoding or "utf-8"), wide)
        out.writelines(f"{it}\n" for it in shown)


def markdown(review: Review, out: TextIO) -> None:
    """Write a table for each section; the objects are folded. Cut to the size of a comment."""
    sections = list(_sections(review))
    out.write(f"## policygen diff: {escaped(_summary(review))}\n")
    notes = (*review.notes, *(f"not read: {it}" for it in review.unread))
    out.writelines(f"\n> {escaped(it)}\n" for it in notes)
    room = MAX_CHARACTERS
    for section in sections:
        rows = [f"| {escaped(first)} | {escaped(rest)} |\n" for first, rest in section.lines]
        kept = [row for row in rows if (room := room - len(row)) > 0]
        folded = section.title.startswith("objects")
        # Markdown has no effect within a block of HTML.
        title = html.escape(printable(section.title), quote=False)
        summary = f"<details><summary>{title}</summary>\n"
        out.write(f"\n{summary if folded else '### ' + escaped(section.title)}\n\n")
        out.write("| | |\n|---|---|\n")
        out.writelines(kept)
        if len(kept) < len(rows):
            out.write(f"\n{len(rows) - len(kept)} more lines; -f json lists all of them\n")
        if section.command:
            out.write(f"\nThis command writes them:\n\n    {printable(section.command)}\n")
        if folded:
            out.write("\n</details>\n")


def json(review: Review, out: TextIO) -> None:
    """Write one JSON object and a newline, as schemas/review.schema.json describes it."""
    found = review.consequences
    write_json(
        {
            "version": VERSION,
            "old": review.names[0],
            "new": review.names[1],
            "pools": [
                {
                    "pool": pool.pool,
                    "available": {name: _both(name, pair) for name, pair in pool.available},
                    "unassigned": {name: _both(name, pair) for name, pair in pool.unassigned},
                    "quotas": [
                        {
                            "team": it.team,
                            "otherName": it.other_name or None,
                            "resource": it.resource,
                            "guarantee": _both(it.resource, it.guarantee),
                            "limit": _both(it.resource, it.limit),
                            "weight": [it.weight.before, it.weight.after],
                            "unchanged": {name: quantity(name, held) for name, held in it.fixed},
                        }
                        for it in pool.quotas
                    ],
                }
                for pool in found.pools
            ],
            "models": [
                {
                    "model": it.model,
                    "existed": it.exists[0],
                    "exists": it.exists[1],
                    "pool": list(it.places),
                    "takes": [dict(it.needs[0]), dict(it.needs[1])],
                    "replicas": [it.replicas.before, it.replicas.after],
                    "borrowingReplicas": [it.borrowing.before, it.borrowing.after],
                    "replicasAboveLimit": [it.beyond.before, it.beyond.after],
                    "spread": [it or None for it in it.spread],
                    "priority": list(it.priority),
                }
                for it in found.models
            ],
            "kueueConfiguration": [
                {
                    "field": it.field,
                    "before": it.before,
                    "after": it.after,
                    "effect": it.effect or None,
                }
                for it in found.kueue
            ],
            "objects": [
                {
                    "what": it.what.value,
                    "object": str(it.object),
                    "foreign": it.foreign,
                    "otherNames": list(it.other_names),
                    "uses": None
                    if review.uses is None
                    else [
                        {"noun": use.noun, "names": list(use.names), "effect": use.effect}
                        for use in review.uses[index]
                    ],
                    "fields": [
                        {
                            "path": dotted(field.path),
                            "before": None if field.expected is UNSET else field.expected,
                            "after": None if field.found is UNSET else field.found,
                        }
                        for field in it.fields
                    ],
                }
                for index, it in enumerate(review.objects)
            ],
            "applyOrder": {
                "recreate": [
                    {"object": str(it.object), "why": it.why} for it in review.order.recreated
                ],
                "applies": [
                    {"delete": list(it.delete), "queues": list(it.changed)}
                    for it in review.order.steps
                ],
                "unknown": review.order.unknown,
                "last": [
                    {
                        "delete": str(it.object),
                        "renamedTo": it.new_name or None,
                        "why": it.why,
                        "users": list(it.users),
                    }
                    for it in review.order.last
                ],
            },
            "notes": [
                *review.notes,
                *filter(None, [review.not_compared, review.kueue_not_compared]),
            ],
            "unread": list(review.unread),
            "warnings": {
                "new": [headline(it) for it in review.new],
                "gone": [headline(it) for it in review.gone],
            },
        },
        out,
    )


def _both(resource: str, pair: Pair) -> list[str | None]:
    return [None if it is None else quantity(resource, it) for it in (pair.before, pair.after)]


def _sections(review: Review) -> Iterator[_Section]:
    found = review.consequences
    for pool in found.pools:
        yield _Section(f"pool {pool.pool}", tuple(_pool(pool)))
    if found.models:
        lines = tuple((it.model, _model(it)) for it in found.models)
        if review.not_compared:
            lines = (*lines, ("", review.not_compared))
        yield _Section("models", lines)
    if found.kueue:
        yield _Section("Configuration of Kueue", tuple(_kueue(review)))
    for title, findings in (("new warnings", review.new), ("warnings gone", review.gone)):
        if findings:
            lines = tuple(
                (it.rule.name, ": ".join(filter(None, (whereabouts(it), it.message))))
                for it in findings
            )
            yield _Section(title, lines)
    if review.order.matters:
        yield from _order(review)
    if review.objects:
        numbers = ", ".join(
            f"{sum(it.what is what for it in review.objects)} {what.value}" for what in _MARKS
        )
        renamed = sum(it.what is What.ADDED and bool(it.other_names) for it in review.objects)
        numbers += f"; {renamed} of them renamed" if renamed else ""
        yield _Section(f"objects: {numbers}", tuple(_objects(review)))


def _summary(review: Review) -> str:
    """The numbers of what changes: `2 pools, 1 model and 3 objects change, 1 new warning`."""
    found = review.consequences
    counts: Sequence[tuple[int, str] | tuple[int, str, str]] = (
        (len(found.pools), "pool"),
        (len(found.models), "model"),
        (len(found.kueue), "setting of Kueue", "settings of Kueue"),
        (len(review.objects), "object"),
    )
    parts = [counted(*it) for it in counts if it[0]]
    verb = "changes" if [it[0] for it in counts if it[0]] == [1] else "change"
    changes = [f"{listed(parts, 'and')} {verb}"] if parts else []
    changes += [counted(len(review.new), "new warning")] if review.new else []
    changes += [f"{counted(len(review.gone), 'warning')} gone"] if review.gone else []
    return ", ".join(changes) or "no difference"


def _pool(pool: PoolChange) -> Iterator[tuple[str, str]]:
    for name, pair in pool.available:
        if pair.before is None:
            said = f"{_amount(name, pair.after)} are new"
        elif pair.after is None:
            said = f"{_amount(name, pair.before)} are gone"
        else:
            said = f"{quantity(name, pair.before)} → {_amount(name, pair.after)} for all teams"
        yield "", said
    for name, pair in pool.unassigned:
        change = f"{quantity(name, pair.before or 0)} → {_amount(name, pair.after)}"
        more = "; every team may use them up to its limit" if pair.after else ""
        yield "", f"{change} guaranteed to no team{more}"
    for quota in pool.quotas:
        yield f"team {quota.team}", _quota(quota)


def _quota(quota: QuotaChange) -> str:
    name, guarantee, limit = quota.resource, quota.guarantee, quota.limit
    if guarantee.before is None:
        begins = f"renamed from {quota.other_name}" if quota.other_name else "new"
        return (
            f"{begins}: guaranteed {_amount(name, guarantee.after)}, may reach "
            f"{quantity(name, limit.after or 0)}"
        )
    if guarantee.after is None:
        begins = f"renamed to {quota.other_name}" if quota.other_name else "loses its quota"
        return (
            f"{begins}: was guaranteed {_amount(name, guarantee.before)}, could reach "
            f"{quantity(name, limit.before or 0)}"
        )
    parts = []
    if guarantee.changed:
        parts.append(
            f"guaranteed {quantity(name, guarantee.before)} → {_amount(name, guarantee.after)}"
        )
    if limit.changed:
        parts.append(
            f"may reach {quantity(name, limit.before or 0)} → {_amount(name, limit.after)}"
        )
    elif guarantee.changed:
        parts.append(f"may still reach {quantity(name, limit.after or 0)}")
    if quota.weight.changed:
        parts.append(f"weight {quota.weight.before} → {quota.weight.after}")
    if quota.fixed and guarantee.before:
        parts.append(f"still guaranteed {_needs(quota.fixed)}")
    return ", ".join(parts)


def _amount(resource: str, amount: int | None) -> str:
    what = {"cpu": "cores", "memory": "of memory"}[resource] if resource in HOST else resource
    return f"{quantity(resource, amount or 0)} {what}"


def _model(change: ModelChange) -> str:
    was, now = change.places
    if not change.exists[1]:
        return "removed"
    parts = []
    if not change.exists[0]:
        parts.append("new: " + (f"runs on {now}" if now else "fits no pool"))
    elif was != now:
        parts.append(
            f"runs on {now} instead of {was}"
            if was and now
            else (f"now fits {now}" if now else f"fits no pool any more; before {was}")
        )
    before, after = change.needs
    if before and after and before != after:
        parts.append(f"a replica takes {_needs(after)} instead of {_needs(before)}")
    return "; ".join([*parts, *_replicas(change), *_priority(change), *_spread(change)])


def _needs(needs: tuple[tuple[str, int], ...]) -> str:
    return listed([_amount(name, amount) for name, amount in needs], "and")


def _priority(change: ModelChange) -> Iterator[str]:
    """The priority of the pods of a model that exists before and after."""
    was, now = (it and quoted(it) for it in change.priority)
    if was != now and all(change.exists):
        words = [f"priority {it}" if it else "no priority" for it in (now, was)]
        yield f"its pods now have {words[0]} instead of {words[1]}"


def _spread(change: ModelChange) -> Iterator[str]:
    """What separates the replicas of a model that exists before and after."""
    was, now = change.spread
    if was == now or not all(change.exists):
        return
    yield {
        "": "replicas may now share a node",
        "own node": "each replica now needs its own node",
        "nodes": "replicas are now spread over nodes, but may share one if others are full",
        "zones": "replicas are now spread over zones, but may share one if others are full",
    }[now]


def _replicas(change: ModelChange) -> Iterator[str]:
    """How many replicas run all the time, and on what."""
    both = change.replicas
    if both.before and both.after and both.changed:
        yield f"{both.before} → {both.after} replicas"
    for pair, kept, gone in (
        (
            change.borrowing,
            "now run on borrowed GPUs",
            "no replica runs on borrowed GPUs any more",
        ),
        (
            change.beyond,
            "are now above the limit of the team and never run",
            "no replica is above the limit of the team any more",
        ),
    ):
        count, earlier = pair.after or 0, pair.before or 0
        if count and count != earlier:
            of = f"{count} of {both.after} replicas"
            yield f"{of} {kept}" if earlier == 0 else f"{of} {kept}, before {earlier}"
        elif earlier and not count:
            yield gone


def _kueue(review: Review) -> Iterator[tuple[str, str]]:
    """The settings of Kueue that change, and how they take effect."""
    for it in review.consequences.kueue:
        yield it.field, f"{_both_settings(it)}{it.effect and f': {it.effect}'}"
    # Source: cmd/kueue/main.go of Kueue 0.19.
    yield "", "restart Kueue, which reads this file only when it starts"
    if review.kueue_not_compared:
        yield "", review.kueue_not_compared


def _both_settings(change: SettingChange) -> str:
    """`off → on`, `now also pod`, or `"30m" → "10m"`."""
    if change.field == FRAMEWORKS:
        names = listed([*change.before, *change.after], "and")
        return f"now also {names}" if change.after else f"no longer {names}"
    return " → ".join(map(_setting, (change.before, change.after)))


def _setting(data: object) -> str:
    match data:
        case None:
            return "not set"
        case bool():
            return "on" if data else "off"
    return value(data)


def _order(review: Review) -> Iterator[_Section]:
    """What must be deleted or applied first, and what is deleted last."""
    order = review.order
    lines = [
        ("first", f"delete {it.object}, since {it.why}; the apply creates it again")
        for it in order.recreated
    ]
    now = {
        it.object.name: f" (now {it.other_names[0]})"
        for it in review.objects
        if it.what is What.REMOVED and it.object.kind == "Queue" and it.other_names
    }
    for number, step in enumerate(order.steps, 1):
        if step.delete:
            gone = [f"Queue {it}{now.get(it, '')}" for it in step.delete]
            lines.append((f"before {number}", f"delete {some(gone, 'other')}"))
        lines.append((str(number), some([f"Queue {it}" for it in step.changed], "other")))
    if order.unknown:
        lines.append(("", order.unknown))
    applies = counted(max(len(order.steps), 1), "apply", "applies")
    lines += _last(order.last)
    last = f"; then {counted(len(order.last), 'deletion')}" if order.last else ""
    why = ""
    if len(order.steps) > 1:
        why = ", because Volcano refuses some changes in one apply"
    elif order.steps and order.steps[0].delete:
        why = " after the deletion, because Volcano refuses both in one apply"
    command = shlex.join(review.steps_command) if order.steps else ""
    yield _Section(f"apply order: {applies}{why}{last}", tuple(lines), command)


def _last(deletions: Sequence[Deletion]) -> Iterator[tuple[str, str]]:
    """What to delete after the applies, in one line for each kind."""
    for (_, why), several in groupby(deletions, key=lambda it: (it.object.kind, it.why)):
        group = list(several)
        names = [f"{it.object}{it.new_name and f' (now {it.new_name})'}" for it in group]
        them = "it" if len(group) == 1 else "them"
        users = [name for it in group for name in it.users]
        verb = "names" if len(users) == 1 else "name"
        still = f" ({some(users, 'other')} still {verb} {them})" if users else ""
        what = f"delete {some(names, 'other')} when no workload names {them}{still}"
        yield "last", f"{what}, because {why}"


def _objects(review: Review) -> Iterator[tuple[str, str]]:
    for index, it in enumerate(review.objects):
        by = (
            "the spec does not render it"
            if it.object.labels.get(SET)
            else "policygen did not render it"
        )
        kept = f"{by}, so it stays until you delete it"
        is_removed = it.what is What.REMOVED
        words = (
            [f"renamed {'to' if is_removed else 'from'} {listed([*it.other_names], 'and')}"]
            if it.other_names
            else []
        )
        words += [kept] if it.foreign and is_removed else []
        yield f"{_MARKS[it.what]} {it.object}", "; ".join(words)
        for use in review.uses[index] if review.uses else ():
            yield f"    {_used(use)}", ""
        for field in it.fields:
            yield f"    {subject(field)}", _values(field)


_SINGULAR = {"are": "is", "do": "does"}


def _used(use: Use) -> str:
    """`2 admitted workloads (nlp/a and nlp/b) keep running`."""
    verb, _, rest = use.effect.partition(" ")
    if len(use.names) == 1:
        verb = _SINGULAR.get(verb, f"{verb}s")
    return f"{counted(len(use.names), use.noun)} ({some(use.names, 'other')}) {verb} {rest}"


def _values(field: FieldDifference) -> str:
    if field.reordered:
        return "other order"
    before, after = (
        "not set" if it is UNSET else value(it) for it in (field.expected, field.found)
    )
    return f"{before} → {after}"
