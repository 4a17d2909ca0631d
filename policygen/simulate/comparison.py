"""Compares two simulations of the same jobs."""

from collections.abc import Iterator, Mapping
from functools import cached_property
from math import isfinite
from statistics import fmean

from msgspec import Struct

from policygen.simulate.result import JobResult, JobState, SimulationResult, TeamResult

SMALL_S, SMALL_PART = 60.0, 0.01
"""A change of a time counts as none if it is smaller than a minute, or than this part of the time."""


def small(change: float, *times: float) -> bool:
    """Whether a change of times, in seconds, is too small to matter: retries of Kueue take a second each."""
    return abs(change) < max(SMALL_S, SMALL_PART * max(times, default=0.0))


class JobChange(Struct, frozen=True, eq=False):
    """A job in both simulations."""

    before: JobResult
    after: JobResult

    @property
    def waited(self) -> float | None:
        """How much longer it waits, in seconds; None: in one of the simulations it never starts."""
        if isfinite(self.before.wait) and isfinite(self.after.wait):
            return self.after.waited - self.before.waited
        return None

    @property
    def shift(self) -> float:
        """How much longer it waits, in seconds; 0: that is little, or it never starts in one of them."""
        waited = self.waited or 0.0
        return 0.0 if small(waited, self.before.waited, self.after.waited) else waited

    @property
    def delay(self) -> float:
        """How much later it ends, in seconds; 0: that is little, or it does not end in one of them."""
        ended = self.ended or 0.0
        times = (it.ended - it.submitted for it in (self.before, self.after) if it.ended)
        return 0.0 if small(ended, 0.0, *times) else ended

    @property
    def preempted(self) -> int:
        """How many times more often it is preempted."""
        return self.after.preempted - self.before.preempted

    @property
    def starts(self) -> int:
        """1 if it starts only in the second simulation, -1 if only in the first."""
        before, after = (
            it.started is not None and it.state is not JobState.NEVER
            for it in (self.before, self.after)
        )
        return after - before

    @property
    def differs(self) -> bool:
        """Whether the job comes out differently, other than by the names of its nodes."""
        ends = self.before.ended != self.after.ended
        pods = self.before.pods_run != self.after.pods_run
        return bool(self.waited or self.preempted or self.starts or ends or pods)

    @property
    def matters(self) -> bool:
        """Whether it differs by more than small changes of times."""
        other = self.preempted or self.starts or self.before.pods_run != self.after.pods_run
        one_ends = (self.before.ended is None) is not (self.after.ended is None)
        return bool(self.shift or self.delay or other or one_ends)

    @property
    def either(self) -> bool:
        """Whether chance decides about the job in one of the simulations."""
        return self.before.either or self.after.either

    @property
    def ended(self) -> float | None:
        """How much later it ends, in seconds; None: it does not end in one of the simulations."""
        if self.before.ended is None or self.after.ended is None:
            return None
        return self.after.ended - self.before.ended


class TeamChange(Struct, frozen=True, eq=False):
    """A team in both simulations."""

    before: TeamResult
    after: TeamResult
    waited: float | None = None
    """How much longer its jobs wait on average, in seconds; None: no job starts in both simulations."""

    @property
    def name(self) -> str:
        """Its name, in the second simulation."""
        return self.after.name

    @property
    def renamed(self) -> str:
        """Its name in the first simulation, if the second one has another; empty: it has the same."""
        return self.before.name if self.before.name != self.after.name else ""

    @property
    def useful(self) -> float:
        """How many GPU seconds more its jobs ran, without those that were lost."""
        return _useful(self.after) - _useful(self.before)

    @property
    def lost(self) -> float:
        """How many GPU seconds more it loses because its jobs are preempted."""
        return self.after.lost_gpu_seconds - self.before.lost_gpu_seconds

    @property
    def preempted(self) -> int:
        """How many times more often its jobs are preempted."""
        return self.after.preempted - self.before.preempted


class Comparison(Struct, frozen=True, eq=False, dict=True):
    """Two simulations, and what differs."""

    before: SimulationResult
    after: SimulationResult

    @cached_property
    def jobs(self) -> tuple[JobChange, ...]:
        """The jobs that arrived in both, in the order of the second."""
        old = {(it.kind, it.name): it for it in self.before.jobs}
        both = ((old.get((it.kind, it.name)), it) for it in self.after.jobs)
        return tuple(JobChange(before, after) for before, after in both if before is not None)

    @property
    def starving(self) -> tuple[tuple[str, ...], tuple[str, ...]]:
        """The jobs that starve only in the second simulation, and those that starve only in the first."""
        old, new = ({it.name for it in one.starving} for one in (self.before, self.after))
        return tuple(sorted(new - old)), tuple(sorted(old - new))

    @property
    def teams(self) -> Iterator[TeamChange]:
        """All teams by name; a team that one simulation does not know has no jobs in it.

        A team whose jobs all have another team in the second simulation, which has no others, is renamed.
        """
        waits: dict[str, list[float]] = {}
        for it in self.jobs:
            if it.waited is not None:
                waits.setdefault(it.after.team, []).append(it.waited)
        old, new = ({it.name: it for it in one.teams} for one in (self.before, self.after))
        former = dict(self._renamed(old, new))
        for name in sorted({*old, *new} - {*former.values()}):
            none = TeamResult(name, 0, 0, 0, 0.0, 0.0, 0, 0.0, 0.0)
            mean = fmean(waits[name]) if name in waits else None
            yield TeamChange(old.get(former.get(name, name), none), new.get(name, none), mean)

    @property
    def total(self) -> TeamChange:
        """All teams together."""
        waits = [it.waited for it in self.jobs if it.waited is not None]
        return TeamChange(self.before.total, self.after.total, fmean(waits) if waits else None)

    def _renamed(
        self, old: Mapping[str, TeamResult], new: Mapping[str, TeamResult]
    ) -> Iterator[tuple[str, str]]:
        """The new and the old name of teams that only one of the simulations has."""
        before: dict[str, set[str]] = {}
        after: dict[str, set[str]] = {}
        for it in self.jobs:
            before.setdefault(it.before.team, set()).add(it.after.team)
            after.setdefault(it.after.team, set()).add(it.before.team)
        for name, others in after.items():
            (other, *more) = others
            if name not in old and other not in new and not more and before[other] == {name}:
                yield name, other


def _useful(team: TeamResult) -> float:
    return team.gpu_seconds - team.lost_gpu_seconds
