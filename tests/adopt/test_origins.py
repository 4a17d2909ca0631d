"""The objects and fields of which documents of an adopted spec were made."""

from policygen.adopt.kueue import trees
from policygen.adopt.origins import field_of, origins
from policygen.adopt.volcano import trees as volcano_trees
from policygen.core.finding import at_path
from tests.adopt.round_trip import adopted, cluster
from tests.adopt.test_infer import HAND
from tests.adopt.test_workloads import VCJOB


def test_the_quota_of_a_team_is_a_field_of_its_queue():
    found = origins(trees(cluster(HAND)))
    (queue,) = found["Team", "team-a-cq"]
    teams = {it.name: it for it in adopted(HAND, rendered=False).spec.teams}
    team = teams["team-a-cq"]
    limit = field_of(queue, team, "spec.quotas[0].limit")
    assert at_path(queue.data, limit) == 0
    assert at_path(queue.data, field_of(queue, team, "spec.quotas[0].guarantee")) == 8
    assert field_of(queue, team, "spec.quotas[0].cpu.guarantee") == ()  # it has no cpu
    assert field_of(queue, team, "spec.namespaces[0]") == ()
    names = [it.name for it in found["ResourcePool", "a100"]]
    assert names == ["research", "Team-A.cq", "team-b"]


def test_the_quota_of_a_team_is_a_field_of_its_queue_of_volcano():
    found = origins(volcano_trees(cluster(VCJOB)))
    (queue,) = found["Team", "research"]
    (team,) = adopted(VCJOB, rendered=False).spec.teams
    assert at_path(queue.data, field_of(queue, team, "spec.quotas[0].guarantee")) == 6
