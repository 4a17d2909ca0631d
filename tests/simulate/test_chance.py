"""Which jobs come out differently with other random choices."""

from policygen.simulate.chance import marked, with_uids
from policygen.simulate.scene_jobs import arrivals
from tests.simulate import results
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, scene


def test_a_job_that_comes_out_differently_is_marked():
    found = results.result(results.job("n/a"), results.job("n/b"), results.waiting())
    other = results.result(results.job("n/a"), results.job("n/b", waited=60.0), results.waiting())
    assert [it.either for it in marked(found, [found, other]).jobs] == [False, True, False]


def test_other_nodes_are_no_other_outcome():
    found, other = (results.result(results.job(nodes={node: 1})) for node in ("n1", "n2"))
    assert not any(it.either for it in marked(found, [other]).jobs)


def test_only_uids_that_are_made_up_are_drawn():
    text = QUEUES + NODES + WORKLOAD + job("a", 8) + job("b", 1) + job("c", 1)
    orders = set()
    for seed in range(20):
        made = [*with_uids(arrivals(scene(text)), seed)]
        uids = {it.name: it.workload.uid for it in made}
        assert uids.pop("nlp/a") == "u1"
        orders.add(tuple(sorted(uids, key=uids.get)))
    assert len(orders) == 2


def test_the_end_of_the_simulation_marks_no_job_that_waits():
    """How long a job waits that never starts depends on when other jobs end."""
    never = [results.waiting("n/a", never=True, waited=it, evicted=it // 60) for it in (60, 120)]
    found, other = (results.result(results.job("n/b"), it) for it in never)
    assert not any(it.either for it in marked(found, [other]).jobs)
    later = results.result(results.job("n/b"), results.job("n/a"))
    assert [it.either for it in marked(found, [later]).jobs] == [False, True]
