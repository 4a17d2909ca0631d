"""What differs between two simulations, as text for people: first who waits longer, and what that costs."""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from policygen.core.durations import duration
from policygen.core.quoting import counted, listed, times
from policygen.report.amount_words import gpus, names
from policygen.report.cause_words import brief
from policygen.report.simulation import (
    MAX_JOBS,
    SimulationReport,
    gpu_hours,
    not_read,
    remarks,
    several_resources,
    summary,
    wait,
    waited,
)
from policygen.report.simulation_models import changed_models
from policygen.report.tables import BOLD, NONE, TablePage
from policygen.simulate.comparison import Comparison, JobChange, TeamChange, small
from policygen.simulate.model_results import model_changes
from policygen.simulate.result import JobState, TeamResult, TeamUse
from policygen.simulate.state_facts import StateChange, state_changes

_TEAMS = 3
"""The most teams that are named because they wait longer, and as many that wait shorter."""
_SUBJECTS = 5
"""The most groups of objects that are named because they differ."""
_EQUAL = "No change of quotas, limits, weights, policies, nodes or priorities was found."
_NAMED = 3
"""The most jobs that are named because they start in only one simulation."""


def write(
    reports: tuple[SimulationReport, SimulationReport],
    page: TablePage,
    *,
    every: bool = False,
) -> None:
    """Write what differs between two simulations: first what it means for the teams."""
    before, after = reports
    compared = Comparison(before.result, after.result)
    for line in not_read(dict.fromkeys((*before.unread, *after.unread))):
        page.line(line)
    lent = [it.lent for it in reports if it.lent]
    for line in lent:
        page.line(f"note: {line}")
    if lent:
        page.line()
    if before.facts or after.facts:
        page.line(changed(state_changes(before.facts, after.facts)))
    for line in consequences(compared):
        page.line((line, BOLD))
    page.line()
    page.line(f"before: {summary(before.result)}")
    page.line(f"after:  {summary(after.result)}")
    _teams(page, compared)
    differing = [it for it in compared.jobs if it.differs]
    changes = sorted((it for it in differing if it.matters), key=_rank)
    changed_models(page, model_changes(before.result, after.result))
    _jobs(page, changes, every=every)
    _small(page, len(differing) - len(changes))
    ties = sum(it.either for it in changes)
    if ties:
        page.line()
        page.line(
            f"note: chance decides about {counted(ties, 'job')} of these in one of the simulations, "
            "so that other random choices can have other changes"
        )
    remarks(page, after)


def _small(page: TablePage, jobs: int) -> None:
    """A note about the jobs whose changes count as none."""
    if jobs:
        other = "1 other job waits or ends" if jobs == 1 else f"{jobs} other jobs wait or end"
        page.line()
        page.line(
            f"note: {other} a little earlier or later: less than a minute or 1 % of the time, which counts "
            "as equal; -f csv has the exact times"
        )


def changed(changes: Sequence[StateChange]) -> str:
    """What differs between the states: `Changed: ClusterQueue nlp.a100 (quota of a100 4 -> 8).`."""
    fields: dict[tuple[str, str], list[str]] = {}
    for it in changes:
        kind, _, name = it.subject.partition(" ")
        words = f"{it.field} {it.before or NONE} -> {it.after or NONE}".strip()
        if not it.field:
            words = "removed" if it.before else "new"
        fields.setdefault((kind, name), []).append(words)
    if not fields:
        return _EQUAL
    equal: dict[tuple[str, str], list[str]] = {}
    for (kind, name), words_ in fields.items():
        equal.setdefault((kind, ", ".join(words_)), []).append(name)
    parts = [f"{kind} {names(them, _NAMED)} ({words})" for (kind, words), them in equal.items()]
    more = len(parts) - _SUBJECTS
    shown = parts[:_SUBJECTS] + ([f"and {more} more"] if more > 0 else [])
    return f"Changed: {'; '.join(shown)}."


def consequences(compared: Comparison) -> Iterator[str]:
    """What a change means: who waits longer, what starts or never starts, and what preemptions cost."""
    teams = list(compared.teams)
    jobs = compared.jobs
    only = list(_only(jobs))
    yield from only
    yield from _starving(compared)
    yield from _waits(teams, jobs, "Other jobs wait" if only else "All jobs wait")
    yield from _hit_hardest(jobs)
    yield from _ends(jobs)
    yield from _last_end(compared)
    yield from _preemptions(teams)
    useful = sum(it.useful for it in teams)
    if round(useful / 360):
        word = "more" if useful > 0 else "fewer"
        yield f"All jobs together get {gpu_hours(abs(useful))} GPU hours {word} of useful work."


def _rank(it: JobChange) -> tuple[bool, float, str]:
    """Sorts jobs: those that start only in one simulation first, then the largest change."""
    return it.waited is not None, -abs(it.waited or 0.0), it.after.name


def _waits(teams: Sequence[TeamChange], jobs: Sequence[JobChange], who: str) -> Iterator[str]:
    changed = [(it.name, it.waited) for it in teams if it.waited and not small(it.waited)]
    parts = []
    for sign, word in ((-1, "less"), (1, "more")):
        them = sorted(
            ((name, abs(waited)) for name, waited in changed if waited * sign > 0),
            key=lambda it: (-it[1], it[0]),
        )
        parts += [f"{name} waits {duration(waited)} {word}" for name, waited in them[:_TEAMS]]
        if len(them) > _TEAMS:
            wait_ = "waits" if len(them) == _TEAMS + 1 else "wait"
            parts.append(f"{counted(len(them) - _TEAMS, 'other team')} {wait_} {word}")
    if parts:
        yield f"On average, {listed(parts, 'and')}."
    elif any(it.shift for it in jobs):
        yield "On average, the jobs of each team wait as long as before, within a minute."
    else:
        yield f"{who} as long as before."


def _hit_hardest(jobs: Sequence[JobChange]) -> Iterator[str]:
    """How many jobs wait longer, and the one that waits most of all longer."""
    longer = [it for it in jobs if it.shift > 0]
    if not longer:
        return
    shorter = sum(it.shift < 0 for it in jobs)
    worst = min(longer, key=_rank)
    later = f" and ends {duration(worst.delay)} later" if worst.delay > 0 else ""
    wait_ = "waits" if len(longer) == 1 else "wait"
    yield (
        f"{counted(len(longer), 'job')} {wait_} longer and {shorter} shorter. {worst.after.name} of "
        f"{worst.after.team} loses most: it waits {duration(worst.waited or 0.0)} longer "
        f"({waited(worst.after)} instead of {waited(worst.before)}){later}."
    )


def _last_end(compared: Comparison) -> Iterator[str]:
    """How much later or earlier the last job ends, if as many end."""
    old, new = (
        [it.ended for it in one.jobs if it.ended is not None]
        for one in (compared.before, compared.after)
    )
    if len(old) != len(new) or not old:
        return
    before, after = max(old), max(new)
    if not small(after - before, before, after):
        word = "later" if after > before else "earlier"
        yield (
            f"The last job ends {duration(abs(after - before))} {word} "
            f"({duration(after)} after the start instead of {duration(before)})."
        )


def _ends(jobs: Sequence[JobChange]) -> Iterator[str]:
    """The jobs that end at another time, although they wait as long as before."""
    found: dict[tuple[str, str], list[str]] = {}
    for sign, word in ((-1, "earlier"), (1, "later")):
        for it in jobs:
            if not it.shift and it.delay * sign > 0:
                found.setdefault((word, _why_ended(it, word)), []).append(it.after.name)
    for (word, why), them in found.items():
        end = "ends" if len(them) == 1 else "end"
        yield f"{counted(len(them), 'job')} {end} {word}, because of {why}: {names(them, _NAMED)}."


def _why_ended(change: JobChange, word: str) -> str:
    """Why a job that waits as long as before ends earlier or later."""
    before, after = change.before, change.after
    if after.lost_gpu_seconds != before.lost_gpu_seconds:
        return f"{'less' if word == 'earlier' else 'more'} work lost to preemptions"
    if after.pods_run != before.pods_run:
        return f"{'more' if after.pods_run > before.pods_run else 'fewer'} pods"
    return f"pods that start {word}"


def _only(jobs: Sequence[JobChange]) -> Iterator[str]:
    """The jobs that start only in one simulation, by the reason."""
    stopped: dict[tuple[str, str], list[str]] = {}
    for it in jobs:
        if it.after.state is JobState.NEVER and it.before.state is not JobState.NEVER:
            stopped.setdefault((it.after.team, brief(it.after, 1)), []).append(it.after.name)
    for (team, why), them in stopped.items():
        start = "starts" if len(them) == 1 else "start"
        yield (
            f"{counted(len(them), 'job')} of {team} never {start} after the change "
            f"({names(them, _NAMED)}): {why}"
        )
    begun = [
        it.after.name
        for it in jobs
        if it.before.state is JobState.NEVER and it.after.state is not JobState.NEVER
    ]
    if begun:
        start = "starts" if len(begun) == 1 else "start"
        yield f"{counted(len(begun), 'job')} {start} only after the change: {names(begun, _NAMED)}."


def _starving(compared: Comparison) -> Iterator[str]:
    """The jobs that later jobs keep waiting in only one simulation."""
    new, gone = compared.starving
    if new:
        yield (
            f"{_starve(new)} only after the change, because jobs that were submitted later start first: {names(new, _NAMED)}."
        )
    if gone:
        yield f"{_starve(gone)} only before the change: {names(gone, _NAMED)}."
    if not (compared.before.examined and compared.after.examined):
        yield "There are too many jobs to look for those that starve."


def _starve(jobs: Sequence[str]) -> str:
    return f"{counted(len(jobs), 'job')} {'starves' if len(jobs) == 1 else 'starve'}"


def _preemptions(teams: Sequence[TeamChange]) -> Iterator[str]:
    more = sorted((it for it in teams if it.preempted), key=lambda it: (-it.preempted, it.name))
    parts = [
        f"{it.name} {times(it.after.preempted)} (before: {it.before.preempted})" for it in more
    ]
    if parts:
        lost = sum(it.lost for it in teams)
        word = "more" if lost > 0 else "fewer"
        hours = f"{gpu_hours(abs(lost))} GPU hours {word} are lost" if round(lost / 360) else ""
        shown = [*parts[: 2 * _TEAMS], *(["others"] if len(parts) > 2 * _TEAMS else [])]
        yield f"Preempted: {listed(shown, 'and')}{f'; {hours}' if hours else ''}."


def _both(value: Callable[[TeamResult], str], it: TeamChange) -> str:
    before, after = value(it.before), value(it.after)
    return before if before == after else f"{before} -> {after}"


def _guarantees(teams: Iterable[TeamChange]) -> Iterator[str]:
    """The guarantees of teams in each pool, added up: `4 a100`, or `4 -> 8 a100`."""
    old, new = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    uses: list[TeamUse] = []
    for it in teams:
        for one, found in ((it.before, old), (it.after, new)):
            uses += one.uses
            for use in one.uses:
                found[use.pool, use.resource] += use.guarantee
    several = several_resources(uses)
    for pool, resource in {**old, **new}:
        before, after = old.get((pool, resource), 0), new.get((pool, resource), 0)
        what = f"{pool} {resource.rpartition('/')[2]}" if pool in several else pool
        yield f"{before} {what}" if before == after else f"{before} -> {after} {what}"


def _teams(page: TablePage, compared: Comparison) -> None:
    """One row for each team, and of several teams one for all of them together."""
    teams = list(compared.teams)
    total = [(compared.total, teams)] if len(teams) > 1 else []
    rows = [
        (
            f"{it.name} (was {it.renamed})" if it.renamed else it.name,
            NONE if it.waited is None else _signed(it.waited),
            _both(lambda one: wait(one.waiting_median), it),
            _both(lambda one: wait(one.waiting_p95), it),
            _both(lambda one: f"{one.preempted}", it),
            _both(lambda one: gpu_hours(one.gpu_seconds - one.lost_gpu_seconds), it),
            _both(lambda one: gpu_hours(one.lost_gpu_seconds), it),
            _both(lambda one: f"{one.finished}", it),
            _both(lambda one: f"{one.never}", it) if it.before.never or it.after.never else "",
            _both(lambda one: f"{one.jobs}", it),
            ", ".join(_guarantees(of)) or NONE,
        )
        for it, of in [*((it, [it]) for it in teams), *total]
    ]
    heads = (
        "TEAM", "WAIT CHANGE", "MEDIAN WAIT", "95 % WAIT", "PREEMPTIONS", "USEFUL GPU HOURS", "LOST",
        "ENDED", "NEVER START", "JOBS", "GUARANTEE",
    )  # fmt: skip
    below = {
        10: "guarantee ", 9: "jobs ", 7: "ended ", 8: "never start ", 6: "GPU hours lost ",
        5: "useful GPU hours ", 4: "preemptions ",
    }  # fmt: skip
    page.table("Teams", heads, rows, range(1, 10), below)


def _jobs(page: TablePage, changes: Sequence[JobChange], *, every: bool) -> None:
    shown = changes if every else changes[:MAX_JOBS]
    rows = [
        (
            it.after.name,
            it.after.team,
            gpus(it.after.gpus, it.after.unit),
            waited(it.before),
            waited(it.after),
            NONE if it.waited is None else _signed(it.waited),
            f"{it.before.preempted}" + (f" -> {it.after.preempted}" if it.preempted else ""),
            _ended(it),
            _note(it),
        )
        for it in shown
    ]
    heads = (
        "JOB", "TEAM", "GPUS", "WAITED BEFORE", "AFTER", "CHANGE", "PREEMPTED", "ENDED", "NOTES",
    )  # fmt: skip
    below = {8: "", 7: "ended ", 1: "team ", 2: "GPUs "}
    page.table("Jobs that change, the largest change first", heads, rows, range(2, 8), below)
    page.rest(len(changes) - len(shown), "job")


def _ended(change: JobChange) -> str:
    """When it ends: `3h`, or `3h -> 4h`."""
    before, after = (
        NONE if it.ended is None else duration(it.ended) for it in (change.before, change.after)
    )
    return before if before == after else f"{before} -> {after}"


def _signed(seconds: float) -> str:
    return ("+" if round(seconds) > 0 else "") + duration(seconds)


def _note(change: JobChange) -> str:
    parts = []
    if change.after.state is JobState.NEVER and change.before.state is not JobState.NEVER:
        parts.append(f"never starts after the change: {brief(change.after, 1)}")
    elif change.before.state is JobState.NEVER and change.after.state is not JobState.NEVER:
        parts.append("starts only after the change")
    if (
        change.after.pods_run != change.before.pods_run
        and change.after.pods_run
        and change.before.pods_run
    ):
        parts.append(
            f"runs with {change.after.pods_run} of {change.after.pods} pods instead of {change.before.pods_run}"
        )
    if change.preempted > 0:
        parts.append(f"preempted by {names(change.after.preempted_by, 2)}")
    if change.either:
        parts.append("a tie: it can also come out differently")
    return "; ".join(parts)
