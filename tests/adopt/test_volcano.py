"""Trees of teams from Queues of Volcano that were written by hand, and the weights of rendered ones."""

from policygen.adopt.volcano import trees
from tests.adopt.round_trip import adopted, cluster

QUEUES = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {weight: 3, deserved: {cpu: 32, memory: 256Gi, nvidia.com/gpu: 4}, capability: {nvidia.com/gpu: 8}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: nlp}
spec: {parent: research, deserved: {nvidia.com/gpu: 2}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: prod}
spec:
  reclaimable: false
  guarantee: {resource: {nvidia.com/gpu: 2}}
  affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [h100]}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: default}
spec: {weight: 1}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: train, namespace: nlp-jobs}
spec:
  minAvailable: 2
  queue: nlp
  tasks:
    - replicas: 2
      template: {spec: {containers: [{name: x, image: y, resources: {limits: {nvidia.com/gpu: 1}}}]}}
"""


def test_queues_without_a_pool_are_teams_of_one():
    found = {it.queue: it for it in trees(cluster(QUEUES))}
    assert set(found) == {"volcano", "h100"}
    shared = {it.team: it for it in found["volcano"].branches}
    assert {it: shared[it].above for it in shared} == {"research": None, "nlp": "research"}
    assert shared["research"].guarantee["volcano"]["nvidia.com/gpu"] == 4
    assert shared["research"].weight == 3
    assert found["volcano"].available["volcano"]["nvidia.com/gpu"] == 8
    assert found["h100"].preempts is False


def test_queues_of_one_name_or_without_one_do_not_hang():
    again = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
    text = (
        f"{QUEUES}---\n{again}metadata: {{name: research}}\nspec: {{parent: research}}\n"
        f"---\n{again}spec: {{}}\n"
    )
    (tree,) = (it for it in trees(cluster(QUEUES)) if it.queue == "volcano")
    assert [it.team for it in tree.branches] == ["research", "nlp"]
    assert [it.queue for it in trees(cluster(text))] == ["h100"]


def test_a_queue_has_at_least_what_its_children_deserve():
    text = QUEUES.replace(
        "parent: research, deserved: {nvidia.com/gpu: 2}",
        "parent: research, deserved: {nvidia.com/gpu: 6}",
    )
    (tree,) = (it for it in trees(cluster(text)) if it.queue == "volcano")
    (above,) = (it for it in tree.branches if it.team == "research")
    assert above.guarantee["volcano"]["nvidia.com/gpu"] == 6


def test_the_namespaces_of_jobs_are_those_of_their_team():
    spec = adopted(QUEUES, rendered=False).spec
    teams = {it.name: [space.name for space in it.namespaces] for it in spec.teams}
    assert teams["nlp"] == ["nlp-jobs"]
    (model,) = spec.models
    assert (model.team, model.gang.size, model.gang.run_as) == ("nlp", 2, "vcjob")
    group = {it.name: dict(it.node_selector) for it in spec.pools}["h100"]
    assert group["volcano.sh/nodegroup-name"] == "h100"


def test_a_queue_whose_children_have_its_name_is_a_pool():
    head = "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\n"
    amounts = "deserved: {nvidia.com/gpu: 4}, capability: {nvidia.com/gpu: 8}"
    text = "---\n".join(
        f"{head}metadata: {{name: {name}}}\nspec: {{{parent}{amounts}}}\n"
        for name, parent in (
            ("h100", ""),
            ("a.h100", "parent: h100, "),
            ("b.h100", "parent: h100, "),
        )
    )
    (tree,) = trees(cluster(text))
    assert (tree.queue, [it.team for it in tree.branches]) == ("h100", ["a", "b"])
    (tree,) = trees(cluster(text.replace("b.h100", "b")))
    assert (tree.queue, [it.team for it in tree.branches]) == ("volcano", ["h100", "a-h100", "b"])
