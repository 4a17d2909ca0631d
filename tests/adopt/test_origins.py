"""The objects and fields of which documents of an adopted spec were made."""

from policygen.adopt.kueue import trees
from policygen.adopt.origins import field_of, origins
from policygen.adopt.volcano import trees as volcano_trees
from policygen.core.finding import at_path
from tests.adopt.round_trip import adopted, cluster
from tests.adopt.test_infer import HAND
from tests.adopt.test_workloads import VCJOB


def test_the_quota_of_a_team_is_a_field_of_its_queue():
    there = cluster(HAND)
    found = origins(trees(there), there.flavors)
    (queue,) = found["Team", "team-a-cq"]
    teams = {it.name: it for it in adopted(HAND, rendered=False).spec.teams}
    team = teams["team-a-cq"]
    limit = field_of(queue, team, "spec.quotas[0].limit")
    assert at_path(queue.data, limit) == 0
    assert at_path(queue.data, field_of(queue, team, "spec.quotas[0].guarantee")) == 8
    assert field_of(queue, team, "spec.quotas[0].cpu.guarantee") == ()  # it has no cpu
    assert field_of(queue, team, "spec.namespaces[0]") == ()
    names = [it.name for it in found["ResourcePool", "a100"]]
    assert names == ["a100", "research", "Team-A.cq", "team-b"]


def test_the_quota_of_a_team_is_a_field_of_its_queue_of_volcano():
    found = origins(volcano_trees(cluster(VCJOB)), ())
    (queue,) = found["Team", "research"]
    (team,) = adopted(VCJOB, rendered=False).spec.teams
    assert at_path(queue.data, field_of(queue, team, "spec.quotas[0].guarantee")) == 6


def test_labels_and_taints_of_a_pool_are_fields_of_its_flavor():
    there = cluster(HAND)
    flavor, _, queue, _ = origins(trees(there), there.flavors)["ResourcePool", "a100"]
    (pool,) = (it for it in adopted(HAND, rendered=False).spec.pools if it.name == "a100")
    assert field_of(flavor, pool, "spec.nodeSelector.gpu") == ("spec", "nodeLabels")
    assert field_of(flavor, pool, "spec.taints[0].key") == ("spec", "nodeTaints")
    assert field_of(queue, pool, "spec.nodeSelector.gpu") == ()
    assert field_of(flavor, pool, "spec.capacity.totalGPUs") == ()
    assert field_of(queue, pool, "spec.capacity.totalGPUs")[-1] == "nominalQuota"
