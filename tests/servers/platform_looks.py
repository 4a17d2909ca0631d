"""What `platforms.py` compares: the state of a platform on the servers and in the simulation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

SEEDS = 20
"""The number of outcomes of chance that are compared at most: the next one if one differs."""
STARVED_S = 2.0
"""Without load, an evicted Job holds its quota for 1.2 s. A second more, and Kueue tries others before it leaves."""
SHOWN = 6

Admitted = dict[str, frozenset[str]]
"""The flavors of each Job that Kueue admits, by namespace and name."""


@dataclass
class Played:
    """What became of a platform."""

    jobs: int = 0
    ends: int = 0
    preempted: int = 0
    compared: int = 0
    placed: int = 0
    """The number of comparisons in which the same Jobs had nodes for all pods."""
    seeds: int = SEEDS
    """Seeds whose results have not differed until now."""
    admitted: int = 0
    livelock: bool = False
    """In the simulation, Jobs preempt each other again and again. Nothing is compared from then on."""
    slowest: float = 0.0
    """The longest time in which an evicted Job still held its quota, in seconds."""
    differences: list[str] = field(default_factory=list)

    @property
    def starved(self) -> bool:
        """Whether the servers had too little processor time: a difference proves nothing."""
        return self.slowest > STARVED_S


@dataclass(frozen=True)
class Look:
    """The state of the servers, or of the simulation."""

    admitted: Admitted
    placed: frozenset[str]
    """The Jobs of which all pods have a node."""
    evictions: int = 0
    livelock: bool = False
    reserved: Mapping[str, float] = field(default_factory=dict)
    """The second at which Kueue admitted each Job."""
    leaving: frozenset[str] = frozenset()
    """The evicted Jobs that still hold quota."""


def differences(theirs: Admitted, ours: Admitted) -> Iterator[str]:
    """A line for each way in which the admitted Jobs differ."""
    both = theirs.keys() & ours.keys()
    for words, names in (
        ("only Kueue admits", theirs.keys() - both),
        ("only the simulation admits", ours.keys() - both),
        ("other flavors", {it for it in both if theirs[it] != ours[it]}),
    ):
        if names:
            yield f"{words} {', '.join(sorted(names)[:SHOWN])} ({len(names)})"
