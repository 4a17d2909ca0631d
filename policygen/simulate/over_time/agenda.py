"""The time of a simulation, and what happens later."""

import heapq
from collections.abc import Iterable, Iterator
from enum import IntEnum
from math import inf
from typing import NamedTuple


class TimelineEvent(IntEnum):
    """What happens at a time; at equal times in this order."""

    END = 0
    ARRIVAL = 1
    RETRY = 2
    DUE = 3
    """A wait of Kueue is over: for pods to be ready, for their end, or after an eviction."""
    CHECK = 4
    """An admission check has an outcome."""
    GATE = 5
    """Scheduling gates are removed."""
    GIVE_UP = 6
    """The controller of pods that a kubelet rejects creates no more."""
    NODE = 7
    """A node comes that an autoscaler added. `job` is its index."""
    IDLE = 8
    """A node can be empty for so long that the autoscaler removes it. `job` is its index."""


class AgendaEntry(NamedTuple):
    """An event."""

    at: float
    what: TimelineEvent
    job: int = 0
    """Its index."""
    name: str = ""
    """Of the root of a tree, of an admission check, or of a batch of pods."""
    round: int = 0
    """That of the job when the event was planned; at another one, it is about earlier pods."""


class Agenda:
    """The present time, and the events that are planned.

    With `still`, no job ends and no wait is over.
    """

    def __init__(self, events: Iterable[AgendaEntry], *, still: bool) -> None:
        self.now = 0.0
        self.last = 0.0
        """The last time at which a job arrived, started or ended."""
        self.still = still
        self.timed = 0
        """How many jobs run that will end."""
        self._events = [*events]
        heapq.heapify(self._events)

    @property
    def next(self) -> float:
        """The time of the next event; infinite: there is none."""
        return self._events[0][0] if self._events else inf

    def add(
        self, at: float, what: TimelineEvent, job: int = 0, name: str = "", round_: int = 0
    ) -> None:
        """Plan an event, also with `still`."""
        heapq.heappush(self._events, AgendaEntry(at, what, job, name, round_))

    def later(self, after: float, what: TimelineEvent, job: int, name: str, round_: int) -> None:
        """Plan an event so many seconds from now, except with `still`."""
        if not self.still:
            self.add(self.now + after, what, job, name, round_)

    def forward(self) -> Iterator[AgendaEntry]:
        """Go to the time of the next event. Yields all that happens at it."""
        self.now = max(self.now, self.next)
        while self._events and self._events[0][0] <= self.now:
            yield heapq.heappop(self._events)
