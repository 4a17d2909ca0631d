"""What Volcano's scheduler chooses at random: one of equal nodes, and orders of Go's maps and threads."""

import random
from collections.abc import Sequence
from typing import TypeVar

from policygen.simulate.volcano.job import VolcanoJob, VolcanoTask

T = TypeVar("T")


class Choices:
    """Random choices from a seed; None: always the first."""

    def __init__(self, seed: int | None = 1) -> None:
        self._random = None if seed is None else random.Random(seed)  # noqa: S311 - a simulation
        self.made = 0
        """How many choices about evictions there were so far."""
        self.rounded = 0
        """How often an order of sums decided about a GPU."""

    def node(self, task: VolcanoTask, equal: Sequence[int]) -> int:  # noqa: ARG002 - for subclasses
        """One of the nodes with the best score. It is not counted: the names of nodes do not matter."""
        if len(equal) == 1:
            return equal[0]
        return equal[0] if self._random is None else self._random.choice(equal)

    def jobs(self, jobs: Sequence[VolcanoJob]) -> list[VolcanoJob]:
        """The order in which an action goes through all jobs.

        Queues in a tree can precede each other in a circle; then this order decides.
        """
        return self._shuffled(jobs, counts=False)

    def queues(self, queues: Sequence[str]) -> list[str]:
        """The order in which an action goes through queues that it does not sort."""
        return self._shuffled(queues)

    def sums(self, items: Sequence[T]) -> list[T]:
        """The order in which a plugin adds up fractions; another order may round differently."""
        return self._shuffled(items, counts=False)

    def visits(self, task: VolcanoTask, nodes: Sequence[int]) -> list[int]:  # noqa: ARG002 - for subclasses
        """The order in which equal nodes are tried for evictions."""
        return self._shuffled(nodes)

    def victims(self, tasks: Sequence[VolcanoTask]) -> list[VolcanoTask]:
        """The order in which plugins look at the tasks of a node."""
        return self._shuffled(tasks)

    def _shuffled(self, items: Sequence[T], *, counts: bool = True) -> list[T]:
        found = list(items)
        if len(found) > 1:
            self.made += counts
            if self._random is not None:
                self._random.shuffle(found)
        return found
