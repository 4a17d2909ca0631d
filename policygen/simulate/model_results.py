"""What became of the models of a spec in a simulation: how many of their pods run."""

from collections.abc import Iterable, Iterator

from msgspec import Struct

from policygen.simulate.result import JobResult, JobState, SimulationResult


class ModelResult(Struct, frozen=True, eq=False):
    """The jobs of a model."""

    name: str
    """Its namespace and name."""
    team: str
    jobs: tuple[JobResult, ...]

    @property
    def pods(self) -> int:
        """All its pods."""
        return sum(it.pods for it in self.jobs)

    @property
    def run(self) -> int:
        """Its pods that run at the end, or ran until their job ended."""
        return sum(map(_run, self.jobs))

    @property
    def gpus(self) -> int:
        """What all its pods request."""
        return sum(it.gpus for it in self.jobs)

    @property
    def unit(self) -> str:
        """What one of its GPUs is (`JobResult.unit`)."""
        units = {it.unit for it in self.jobs}
        return units.pop() if len(units) == 1 else "accelerator"

    @property
    def waiting(self) -> tuple[JobResult, ...]:
        """Its jobs that wait, or never start."""
        return tuple(it for it in self.jobs if it.state in (JobState.WAITING, JobState.NEVER))


class SimulatedModelChange(Struct, frozen=True):
    """A model in two simulations; one that a simulation does not have has no pods in it."""

    name: str
    pods: tuple[int, int]
    run: tuple[int, int]
    gpus: tuple[int, int]

    @property
    def differs(self) -> bool:
        """Whether it has other pods, or others of them run."""
        return any(one != other for one, other in (self.pods, self.run, self.gpus))


def _run(job: JobResult) -> int:
    if job.pods_run or job.started is not None:
        return job.pods_run
    return sum(job.nodes.values())  # some pods have a node, and the job does not count as started


def model_results(jobs: Iterable[JobResult]) -> list[ModelResult]:
    """The models, in the order of their first jobs."""
    found: dict[tuple[str, str], list[JobResult]] = {}
    for it in jobs:
        if it.model:
            found.setdefault((it.name.partition("/")[0], it.model), []).append(it)
    return [
        ModelResult(f"{namespace}/{name}", them[0].team, tuple(them))
        for (namespace, name), them in found.items()
    ]


def model_changes(
    before: SimulationResult, after: SimulationResult
) -> Iterator[SimulatedModelChange]:
    """All models of both simulations, by name."""
    old, new = ({it.name: it for it in model_results(one.jobs)} for one in (before, after))
    none = ModelResult("", "", ())
    for name in sorted({*old, *new}):
        one, other = old.get(name, none), new.get(name, none)
        yield SimulatedModelChange(
            name, (one.pods, other.pods), (one.run, other.run), (one.gpus, other.gpus)
        )
