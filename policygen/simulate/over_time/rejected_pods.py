"""Pods that name their node, so that no scheduler places them, and its kubelet admits or rejects them."""

from policygen.simulate.over_time.agenda import Agenda, TimelineEvent
from policygen.simulate.over_time.bindings import NodeBindings
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.over_time.starts import JobStarts
from policygen.simulate.placement.scheduler import KubeScheduler
from policygen.simulate.placement.shape import PodShape

_FIRST_BACKOFF_S, _MOST_BACKOFF_S = 10.0, 600.0
"""How long a Job waits after its first failed pod, and at most."""
_DOUBLED = 6
"""After more failed pods, a Job waits for the longest time."""


class RejectedPods:
    """Runs pods on the nodes that they name, and keeps those that a kubelet rejects."""

    def __init__(
        self, kube: KubeScheduler, agenda: Agenda, starts: JobStarts, bindings: NodeBindings
    ) -> None:
        self._kube, self._agenda = kube, agenda
        self._starts, self._bindings = starts, bindings
        self._jobs: dict[JobRun, None] = {}
        """The jobs with rejected pods, in their order."""

    def run(self, job: JobRun, shape: PodShape, count: int) -> None:
        """Pods of a job exist that name their node."""
        before = len(job.rejected)
        for _ in range(count):
            found = self._kube.place(shape)
            if found is None:
                job.unbound += 1
                job.rejected.append(shape)
                self._jobs[job] = None
            else:
                self._bindings.bind(job, shape, found.node)
        if len(job.rejected) > before and job.arrival.retries is not None:
            after = gives_up_after(job.arrival.retries, len(job.rejected))
            self._agenda.later(after, TimelineEvent.GIVE_UP, job.index, "", job.round)

    def retry(self) -> None:
        """Controllers create rejected pods again. They run if their node has room now."""
        if not self._jobs:
            return
        for job in [it for it in self._jobs if it.rejected]:
            shapes = [*job.rejected]
            job.rejected.clear()
            for shape in shapes:
                found = self._kube.place(shape)
                if found is None:
                    job.rejected.append(shape)
                else:
                    self._bindings.bind(job, shape, found.node)
                    job.unbound -= 1
            if not job.unbound:
                self._starts.start(job)
        self._jobs = {it: None for it in self._jobs if it.rejected}


def gives_up_after(retries: int, pods: int) -> float:
    """The seconds until more than so many pods of a Job failed, if this number fails at each attempt.

    The first wait is 10 seconds; it doubles with each failed pod, up to 10 minutes.
    Source: pkg/controller/job/backoff_utils.go of Kubernetes 1.36.3.
    """
    waits = range(pods, retries + 1, pods)
    first = sum(min(_FIRST_BACKOFF_S * 2.0 ** (it - 1), _MOST_BACKOFF_S) for it in waits[:_DOUBLED])
    return first + _MOST_BACKOFF_S * len(waits[_DOUBLED:])
