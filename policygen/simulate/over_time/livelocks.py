"""Who preempts whom, and jobs that preempt each other again and again."""

from collections import Counter
from collections.abc import Iterable

from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.result import JobPreemption

_REPEATS = 3
"""After preemptions led so often to the same state, and no job arrived or ended, they do so without end."""


class Livelocks:
    """The preemptions of a simulation, and the livelocks among them."""

    def __init__(self) -> None:
        self.found: dict[tuple[str, ...], None] = {}
        """The names of the jobs of each livelock."""
        self._states: Counter[frozenset[str]] = Counter()
        """The admitted workloads after preemptions, since jobs last arrived or ended."""
        self._fighting: set[str] = set()
        """The jobs of these preemptions, since a state came back."""

    def add(self, names: Iterable[str]) -> None:
        """These jobs preempt each other again and again."""
        self.found[tuple(sorted(names))] = None

    def forget(self) -> None:
        """Something else happens, so that the same states can be reached again."""
        self._states.clear()
        self._fighting.clear()

    def preempts(self, now: float, job: JobRun, victim: JobRun, rule: str) -> None:
        """A job preempts another one."""
        self._fighting |= {job.arrival.name, victim.arrival.name}
        job.preempts[victim.arrival.name] = None
        found = JobPreemption(now, job.arrival.name, rule)
        if found not in victim.preemptions[-1:]:  # several pods of a job can leave at once
            victim.preemptions.append(found)

    def repeats(self, admitted: frozenset[str]) -> bool:
        """Whether each retry leads to the same preemptions, after which these workloads are admitted."""
        self._states[admitted] += 1
        came_back = [it for it, times in self._states.items() if times == _REPEATS - 1]
        if came_back == [admitted]:  # it is the first one; others follow in the same round
            self._fighting.clear()
        if self._states[admitted] < _REPEATS:
            return False
        self.add(self._fighting)
        return True
