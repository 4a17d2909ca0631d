"""When jobs begin to run, and how long they run."""

from policygen.kubernetes.accelerators import gpus_of
from policygen.simulate.kueue.scheduler import Scheduler
from policygen.simulate.over_time.agenda import Agenda, TimelineEvent
from policygen.simulate.over_time.job_run import JobRun
from policygen.simulate.volcano.job import TaskStatus, VolcanoJob
from policygen.simulate.volcano.scheduler import VolcanoScheduler


class JobStarts:
    """Starts jobs, and plans their ends."""

    def __init__(
        self, agenda: Agenda, kueue: Scheduler | None, volcano: VolcanoScheduler | None
    ) -> None:
        self._agenda, self._kueue, self._volcano = agenda, kueue, volcano

    def start(self, job: JobRun) -> None:
        """All its pods run, or of a job of Volcano enough."""
        gang = self._gang(job)
        if gang is None:
            pods, gpus = job.size
            job.lasts = job.arrival.lasts(pods)
        else:
            pods, gpus = begin_pods(gang, self._agenda.now)
            job.lasts = job.arrival.duration
        job.starts(self._agenda.now, pods, gpus)
        if self._kueue is not None and job.workload is not None:
            self._kueue.ready(job.workload)
        job.reason = job.message = ""
        self.end_later(job)

    def end_later(self, job: JobRun) -> None:
        """It runs, and will end."""
        if job.lasts is not None and not self._agenda.still:
            self._agenda.timed += 1
            self.end_pods_later(job)

    def end_pods_later(self, job: JobRun) -> None:
        """Its pods that begin now will end."""
        if job.lasts is not None:
            self._agenda.later(job.lasts, TimelineEvent.END, job.index, "", job.round)

    def untime(self, job: JobRun) -> None:
        """It will not run any more."""
        if job.running and job.lasts is not None and not self._agenda.still:
            self._agenda.timed -= 1

    def _gang(self, job: JobRun) -> VolcanoJob | None:
        """What Volcano knows of a job; None: it does not schedule it."""
        if self._volcano is None or job.arrival.gang is None:
            return None
        return self._volcano.state.jobs.get(job.arrival.name)


def begin_pods(gang: VolcanoJob, now: float) -> tuple[int, int]:
    """The pods on nodes that do not run yet begin: their number, and the GPUs of all that run then."""
    running = gang.by_status[TaskStatus.RUNNING].values()
    more = [it for it in running if it.began is None]
    for it in more:
        it.began = now
    return len(more), sum(gpus_of(dict(it.shape.requests)) for it in running)
