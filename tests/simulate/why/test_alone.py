"""Jobs that are tried one by one on a platform without others."""

from policygen.lint.kueue.simulated import open_namespaces, scene_of
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.alone import EmptyPlatform
from policygen.simulate.why.causes import CauseKind
from tests.examples_of_rules import examples
from tests.objects import facts


def test_no_job_stays():
    """The same job starts again and again, and two of them do not fit together."""
    found = facts(examples("workload-never-starts", good=True)[0].text)
    scene = scene_of(found, nodes=True)
    (job,) = arrivals(scene)
    platform = EmptyPlatform(scene)
    open_namespaces(found, platform.state, [job])
    for _ in range(3):
        assert platform.cause(job) is None
        assert job.workload.admission is None or platform.state.queues["vision"].workloads == {}


def test_the_cause_names_the_flavor_whose_nodes_are_too_small():
    found = facts(examples("workload-never-starts", good=False)[0].text)
    scene = scene_of(found, nodes=True)
    (job,) = arrivals(scene)
    platform = EmptyPlatform(scene)
    open_namespaces(found, platform.state, [job])
    cause = platform.cause(job)
    assert (cause.kind, cause.names) == (CauseKind.NO_NODES, ("a100-4",))
    assert (cause.never.nearest.free, cause.never.nearest.asked) == (4, 8)
