"""Jobs that later ones keep waiting. Times are computed by hand."""

import io
from collections import UserList

from policygen.app import compare
from policygen.app import simulate as app_simulate
from policygen.app.requests import SimulateRequest
from policygen.report.simulation import write
from policygen.report.simulation_changes import consequences
from policygen.report.tables import TablePage
from policygen.simulate.comparison import Comparison
from policygen.simulate.result import SimulationResult, StarvingJob
from policygen.simulate.starving import overtaken
from tests.app.simulations import written
from tests.simulate import results
from tests.simulate.scenes import NODES, QUEUES, job

HOUR = 3600.0


def at(minutes, name, gpus, hours, pods=1):
    times = f'policygen.dev/arrives-after: "{60 * minutes}", policygen.dev/runs-for: {hours}h'
    return job(name, gpus, pods, annotations=times)


def simulated(folder, text, hours, **more):
    path = written(folder, QUEUES + NODES + text)
    request = SimulateRequest(workloads=(path,), until=hours * HOUR, **more)
    return app_simulate.simulate(request)


def small(hours):
    """A job of 4 of the 12 GPUs every 30 minutes, which runs 2 hours: three or four of them run at once."""
    return "".join(at(30 * i, f"s{i}", 4, 2) for i in range(2 * hours))


def test_a_large_job_starves_behind_small_ones(tmp_path):
    # Three small jobs hold the 12 GPUs. At 2h, the first ends, and the next one takes its GPUs.
    # Without the jobs after 45m, s0 and s1 end at 2h and 2h 30m. Then the 12 GPUs are free.
    report = simulated(tmp_path, small(10) + at(45, "large", 6, 3, pods=2), 10)
    (found,) = report.result.starving
    started = [it for it in report.result.jobs if it.submitted > 45 * 60 and it.started is not None]
    assert found == StarvingJob("nlp/large", len(started), 2.5 * HOUR + 1, 5.5 * HOUR + 1)
    out = io.StringIO()
    write(report, TablePage(out))
    assert (
        f"starves: {len(started)} jobs that were submitted later started; without later jobs, it starts at "
        "2h 30m and ends at 5h 30m\n"
    ) in out.getvalue().replace(" 1s", "")


def test_a_job_that_needs_longer_than_the_rest_of_the_time_does_not_starve(tmp_path):
    report = simulated(tmp_path, small(10) + at(45, "large", 6, 8, pods=2), 10)
    assert report.result.starving == ()


def test_a_job_behind_earlier_jobs_does_not_starve(tmp_path):
    text = at(0, "a", 6, 20, pods=2) + at(1, "b", 6, 1, pods=2) + at(2, "c", 8, 1)
    report = simulated(tmp_path, text, 10)
    assert [it.name for it in report.result.jobs if it.started is None] == ["nlp/b", "nlp/c"]
    assert report.result.starving == ()


def test_jobs_that_all_end_do_not_starve(tmp_path):
    path = written(tmp_path, QUEUES + NODES + small(10) + at(45, "large", 6, 3, pods=2))
    found = app_simulate.simulate(SimulateRequest(workloads=(path,)))
    assert found.result.starving == ()
    assert all(it.ended is not None for it in found.result.jobs)


def test_pods_that_do_not_end_are_noted(tmp_path):
    text = job("serve", 1).replace("batch/v1", "apps/v1").replace("kind: Job", "kind: Deployment")
    text = text.replace(
        "parallelism: 1\n  completions: 1", "replicas: 1\n  selector: {matchLabels: {a: b}}"
    )
    text = text.replace(
        "    spec:\n      restartPolicy: Never", "    metadata: {labels: {a: b}}\n    spec:"
    )
    report = simulated(tmp_path, text, 1)
    assert report.notes == (
        "the pods of 1 Deployment do not end, so they keep their quota and their nodes until the simulation ends",
    )


def test_a_comparison_names_the_jobs_that_starve_in_one_state(tmp_path):
    """With StrictFIFO, the small jobs that arrive later wait for the large one."""
    before, after = tmp_path / "before", tmp_path / "after"
    for folder, strategy in ((before, "BestEffortFIFO"), (after, "StrictFIFO")):
        folder.mkdir()
        queues = QUEUES.replace("spec:\n  names", f"spec:\n  queueingStrategy: {strategy}\n  names")
        written(folder, queues + NODES)
    jobs = written(tmp_path, small(10) + at(45, "large", 6, 3, pods=2))
    for first, second, words in (
        (before, after, "1 job starves only before the change: nlp/large."),
        (
            after,
            before,
            "1 job starves only after the change, because jobs that were submitted later start first: nlp/large.",
        ),
    ):
        request = SimulateRequest(specs=(str(first),), workloads=(jobs,), until=10 * HOUR)
        compared = Comparison(*(it.result for it in compare.compare(request, str(second))))
        assert words in [*consequences(compared)]


class _CountedJobs(UserList):
    """Counts how often its items are read one after the other."""

    reads = 0

    def __iter__(self):
        type(self).reads += 1
        return super().__iter__()


def test_jobs_that_wait_are_not_each_compared_with_all_others():
    """Without a limit, 40,000 jobs behind a StrictFIFO head took minutes."""
    jobs = _CountedJobs(
        (
            *(results.waiting(f"n/w{i}", submitted=float(i)) for i in range(300)),
            results.job("n/same", submitted=298.0),
            results.job("n/later", submitted=299.5),
        )
    )
    found = list(overtaken(SimulationResult(jobs, (), (), 3600.0)))
    assert len(found) == 300
    assert {job.name: later for job, later in found if later == 1} == {
        "n/w298": 1,
        "n/w299": 1,
    }
    assert _CountedJobs.reads == 2
