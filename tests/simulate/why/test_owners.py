"""The jobs of users behind Workloads."""

from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.owners import WorkloadOwners
from policygen.simulate.why.remedy import Cost, Remedy
from tests.simulate.why.waiting import PLAIN, job, scene


def test_a_remedy_names_the_objects_of_users():
    made = scene(*PLAIN, job("a", gpus=1))
    jobs = arrivals(made)
    (workload,) = (it.workload.name for it in jobs if it.workload)
    owners = WorkloadOwners(made, jobs)
    shown = owners.shown(Remedy((), Cost((workload,), ("x/gone",)), ends=(workload,)))
    assert workload != "n/a"
    assert (shown.cost.preempted, shown.ends) == (("n/a",), ("n/a",))
    assert shown.cost.delayed == ("x/gone",)
    assert owners.history(jobs[0]) == ()
