"""Sums of GPUs over time: what jobs, teams and pools use."""

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(slots=True)
class Meter:
    """An amount that changes, and its sum over time."""

    amount: int = 0
    """At present."""
    most: int = 0
    """Until the end of the simulation."""
    total: float = 0.0
    """In amount times seconds, until `since`."""
    since: float = 0.0
    held: int = 0
    """The amount at `since`."""
    later: list[tuple[float, int]] = field(default_factory=list)
    """Changes behind `settled`, with their times: a simulation can end before them."""

    def add(self, now: float, amount: int, settled: float) -> None:
        """The amount changes now. The simulation lasts at least until `settled`."""
        if self.later and self.later[0][0] <= settled:
            if self.later[-1][0] <= settled:
                self._sum_up(self.later)
                self.later.clear()
            else:
                self._sum_up([it for it in self.later if it[0] <= settled])
                self.later = [it for it in self.later if it[0] > settled]
        self.later.append((now, amount))
        self.amount += amount

    def until(self, now: float) -> float:
        """The sum until now, the end of the simulation."""
        self._sum_up([it for it in self.later if it[0] <= now])
        self.later.clear()
        return self.total + self.held * (now - self.since)

    def _sum_up(self, changes: Iterable[tuple[float, int]]) -> None:
        for time, amount in changes:
            self.total += self.held * (time - self.since)
            self.since = time
            self.held += amount
            self.most = max(self.most, self.held)


@dataclass(slots=True)
class WorkMeter:
    """The GPUs that a job runs with, and its GPU seconds."""

    gpus: int = 0
    """Of its pods that run at present."""
    ran: float = 0.0
    """GPU seconds, also without effect; from the start of the simulation on."""
    lost: float = 0.0
    """GPU seconds without effect, because pods had to begin again."""
    since: float = 0.0
    _unfinished: float = 0.0
    """GPU seconds that are lost if the job begins again: those of pods that have not ended."""

    def change(self, now: float, gpus: int) -> None:
        """It runs with so many GPUs from now on."""
        self.ran = self.until(now)
        self._unfinished += self.gpus * (now - self.since)
        self.gpus, self.since = gpus, now

    def until(self, now: float) -> float:
        """The GPU seconds that it ran until now."""
        return self.ran + self.gpus * max(now - max(self.since, 0.0), 0.0)

    def begin_again(self, now: float) -> None:
        """The work of pods that have not ended is lost."""
        self.change(now, 0)
        self.lost += self._unfinished
        self._unfinished = 0.0

    def end_pod(self, now: float, gpus: int, began: float, *, lost: bool) -> None:
        """A pod that runs since `began` ends, or is evicted and its work is lost."""
        self.change(now, self.gpus - gpus)
        self._unfinished -= gpus * (now - began)
        if lost:
            self.lost += gpus * (now - began)


@dataclass(slots=True)
class Meters:
    """Meters by key, made when they are needed."""

    start: float = 0.0
    of: dict[tuple[str, ...], Meter] = field(default_factory=dict)
    settled: float = 0.0
    """The simulation lasts at least until then."""

    def add(self, now: float, key: tuple[str, ...], amount: int) -> None:
        """An amount changes now."""
        found = self.of.get(key)
        if found is None:
            found = self.of[key] = Meter(since=self.start)
        found.add(now, amount, self.settled)
