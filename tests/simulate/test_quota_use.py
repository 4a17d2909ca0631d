"""What teams, cohorts and queues may use and use, computed by hand."""

from msgspec.structs import replace

from policygen.simulate.recorder import Recorder
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from tests.simulate.scenes import NODES, scene
from tests.simulate.scenes import job as with_cpu
from tests.simulate.volcano.test_over_time import conf, vcjob

HOUR = 3600.0


def job(*arguments, **more):
    """A job that requests only GPUs."""
    return with_cpu(*arguments, **more).replace("requests: {cpu: 4}, ", "")


def recorded(text, **teams):
    it = replace(scene(text), teams=teams)
    recorder = Recorder(it)
    made = timeline(it, arrivals(it, HOUR), observer=recorder)
    recorder.follow(made)
    for _ in made.run():
        pass
    return recorder.result()


def table(uses):
    return {it.resource.rpartition("/")[2]: (it.guarantee, it.limit, it.most) for it in uses}


def queue(name, cohort, **amounts):
    limit = amounts.pop("limit", "")
    quotas = "\n".join(
        f"      - {{name: nvidia.com/{key.replace('_', '-')}, nominalQuota: {it}{limit}}}"
        for key, it in amounts.items()
    )
    covered = ", ".join(f"nvidia.com/{key.replace('_', '-')}" for key in amounts)
    return f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {{name: {name}}}
spec:
  namespaceSelector: {{}}
  cohortName: {cohort}
  resourceGroups:
  - coveredResources: [{covered}]
    flavors:
    - name: a100
      resources:
{quotas}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {{name: {name}, namespace: nlp}}
spec: {{clusterQueue: {name}}}
"""


FLAVOR = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {gpu: a100}}
---
apiVersion: v1
kind: Namespace
metadata: {name: nlp}
"""


def cohort(name, parent, limit=""):
    return f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {{name: {name}}}
spec:
  parentName: {parent}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: a100
      resources: [{{name: nvidia.com/gpu, nominalQuota: 2{limit}}}]
"""


def test_each_resource_of_a_pool_counts_on_its_own():
    mig = NODES.replace("nvidia.com/gpu: 8", "nvidia.com/mig-1g.5gb: 8, nvidia.com/mig-3g.20gb: 2")
    text = FLAVOR + mig + queue("q", "c", **{"mig_1g.5gb": 10, "mig_3g.20gb": 3})
    one = job("a", 2, queue="q").replace("nvidia.com/gpu", "nvidia.com/mig-1g.5gb")
    (team,) = recorded(text + one, nlp="nlp").teams
    assert table(team.uses) == {"mig-1g.5gb": (10, 10, 2), "mig-3g.20gb": (3, 3, 0)}


def test_several_queues_of_a_team_use_no_more_than_their_cohort_has():
    """Each queue can borrow all 12 GPUs, and both together have no more."""
    text = FLAVOR + NODES + queue("q", "c", gpu=4) + queue("r", "c", gpu=8)
    (team,) = recorded(text + job("a", 6, queue="q") + job("b", 6, queue="r"), nlp="nlp").teams
    assert table(team.uses) == {"gpu": (12, 12, 12)}


def test_a_cohort_between_teams_and_the_pool_has_the_sum_of_its_queues():
    """Its quota is 2 + 4 + 1, and it borrows at most 3 from the 8 of the other queue."""
    text = FLAVOR + NODES + cohort("part", "root", ", borrowingLimit: 3")
    text += queue("q", "part", gpu=4) + queue("r", "part", gpu=1) + queue("s", "root", gpu=8)
    found = recorded(text + job("a", 6, queue="q") + job("b", 4, queue="r"), nlp="nlp")
    (uses,) = found.groups.values()
    assert list(found.groups) == ["Cohort part"]
    assert table(uses) == {"gpu": (7, 10, 10)}
    assert uses[0].gpu_seconds == 10 * HOUR


TREE = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: above}
spec: {parent: root, deserved: {nvidia.com/gpu: 8}, capability: {nvidia.com/gpu: 10}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: own}
spec: {parent: above, guarantee: {resource: {nvidia.com/gpu: 2}}}
"""


def test_a_queue_of_volcano_has_the_lowest_capability_above_it():
    """It deserves nothing, so its guarantee counts."""
    text = FLAVOR + NODES + TREE + conf("allocate") + vcjob("a", "own", 4, 2)
    found = recorded(text, ns="nlp")
    (team,) = found.teams
    assert table(team.uses) == {"gpu": (2, 10, 8)}
    assert {name: table(uses) for name, uses in found.groups.items()} == {
        "Queue above": {"gpu": (8, 10, 8)}
    }
