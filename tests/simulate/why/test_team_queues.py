"""The queues of Volcano that a job may use."""

from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.why.team_queues import team_queues
from tests.simulate.why.gangs import vcjob, vcqueue
from tests.simulate.why.waiting import node, scene


def test_neither_queues_with_children_nor_those_of_others():
    queues = vcqueue("top", 8), vcqueue("one", 4, parent="top"), vcqueue("two", 4, parent="top")
    made = scene(*queues, node("x"), vcjob("a", 1, "on"), vcjob("b", 1, "two", namespace="cv"))
    jobs = arrivals(made)
    (own,) = (it for it in jobs if it.name == "nlp/a")
    assert team_queues(made, timeline(made, jobs).jobs, own) == ["one"]
