"""Trees of teams from Queues of Volcano, written by hand and rendered."""

import pytest

from policygen.adopt.volcano import trees
from policygen.documents.files import Source
from tests.adopt.round_trip import adopted, again, cluster, rendered

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


POOL = """
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: v}
spec:
  nodeSelector: {pool: v}
  gpu: {memory: 80Gi, perNode: 10}
  capacity: {nodes: 1, nodeAllocatable: {cpu: 10007m, memory: 10247Mi}}
  scheduler: volcano
"""


def of_pool(name, parent=None, *, works=True, cpu=""):
    return f"""---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {{name: {name}}}
spec:
  {f"parent: {parent}" if parent else ""}
  namespaces: [{f"{{name: {name}}}" if works else ""}]
  quotas: [{{pool: v, guarantee: 0{cpu and f", cpu: {{limit: {cpu}}}"}}}]
"""


TREES = {
    "own queue beside child teams": of_pool("lab") + of_pool("a", "lab") + of_pool("b", "lab"),
    "below a team without an own queue": (
        of_pool("lab", works=False) + of_pool("a", "lab") + of_pool("b", "a") + of_pool("c", "a")
    ),
    "on two levels": of_pool("lab") + of_pool("a", "lab") + of_pool("b", "a") + of_pool("c", "a"),
    "that a limit of cpu leaves": of_pool("lab")
    + of_pool("a", "lab", cpu="1m")
    + of_pool("b", "lab"),
    "that is no multiple of 1Mi": (
        of_pool("lab")
        + of_pool("a", "lab").replace("guarantee: 0", "guarantee: 0, memory: {limit: 1500M}")
    ),
    "below a team with a limit": of_pool("lab", cpu="5001m")
    + of_pool("a", "lab")
    + of_pool("b", "a"),
    "beside a team with child teams": of_pool("lab")
    + of_pool("a", "lab", works=False)
    + of_pool("b", "a"),
}


@pytest.mark.parametrize("name", TREES)
def test_cpu_and_memory_that_rounding_leaves_are_those_of_the_own_queue(name):
    first = rendered(Source("spec.yaml", POOL + TREES[name], None))
    assert again(first) == first


JOB = """---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: mpi, namespace: ml}
spec:
  queue: research
  minAvailable: 3
  priorityClassName: high
  plugins: {ssh: []}
  tasks:
  - {name: master, replicas: 1, template: {spec: {containers: [{name: m, resources: {requests: {cpu: 1}}}]}}}
  - {name: worker, replicas: 2, template: {spec: {containers: [{name: w, resources: {limits: {nvidia.com/gpu: 2}}}]}}}
"""
QUOTA = """---
apiVersion: v1
kind: ResourceQuota
metadata: {name: %s, namespace: web}
spec: {hard: {requests.nvidia.com/gpu: %s}%s}
"""


def test_a_job_of_several_tasks_in_a_queue_with_child_queues():
    inferred = adopted(QUEUES + JOB, rendered=False)
    (mpi,) = (it for it in inferred.spec.models if it.name == "mpi")
    assert (mpi.team, mpi.gang.size, mpi.gpus, mpi.priority) == ("research", 2, 2, None)
    assert [text for name, text in inferred.left if name == "Job ml/mpi"] == [
        'its priority class "high" does not exist, so the model has no priority',
        "a Model has one kind of pods, so 1 other template of its pods is not in the spec",
        "a Model has no field for these of its Job: plugins",
    ]


def test_all_quotas_of_a_namespace_apply_and_it_is_no_namespace_of_another_team():
    scoped = ", scopes: [BestEffort]"
    quotas = [QUOTA % ("a", 9, ""), QUOTA % ("b", 5, ""), QUOTA % ("c", 1, scoped)]
    inferred = adopted(QUEUES + "".join(quotas), rendered=False)
    (web,) = (it for it in inferred.spec.teams if it.name == "web")
    assert ([it.name for it in web.namespaces], web.quotas[0].limit) == (["web"], (("", 5),))
    others = {
        space.name for it in inferred.spec.teams if it.name != "web" for space in it.namespaces
    }
    assert "web" not in others


HELD = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: speech}
spec:
  reclaimable: false
  deserved: {nvidia.com/gpu: 6}
  guarantee: {resource: {nvidia.com/gpu: 4}}
  capability: {nvidia.com/gpu: 8}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: robotics}
spec: {weight: 3, deserved: {nvidia.com/gpu: 2}, capability: {nvidia.com/gpu: 8}}
"""


def guarantees(inferred):
    return {it.name: dict(it.quotas[0].guarantee)[""] for it in inferred.spec.teams}


def test_a_queue_that_keeps_what_it_borrowed_also_gets_back_what_it_deserves():
    """Volcano reclaims from reclaimable queues, for any queue."""
    inferred = adopted(HELD, rendered=False)
    assert guarantees(inferred) == {"speech": 6, "robotics": 2}
    (text,) = (it.text for it in inferred.guesses if it.path == ("spec", "scheduler"))
    assert text.startswith("Guess: reclaimable is false for Queue speech, and true for others;")


def test_where_no_queue_is_reclaimable_guarantees_and_weights_make_what_queues_deserve():
    text = HELD.replace("{weight: 3,", "{weight: 3, reclaimable: false,")
    inferred = adopted(text, rendered=False)
    assert dict(inferred.spec.teams[1].quotas[0].guarantee) == {"": 4}
    assert [it.quotas[0].weight for it in inferred.spec.teams] == [1, 1]
    assert "deserves" not in "".join(it.text for it in inferred.guesses)
    other = adopted(
        text.replace("deserved: {nvidia.com/gpu: 2}", "deserved: {nvidia.com/gpu: 1}"),
        rendered=False,
    )
    assert {it.text for it in other.guesses if "deserves" in it.text} == {
        f"Guess: Queue {name} deserves {count} nvidia.com/gpu; no weights of the teams give this amount."
        for name, count in (("speech", 6), ("robotics", 1))
    }


def test_child_queues_that_deserve_more_than_their_parent_have_what_it_has():
    queues = "".join(
        f"""---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {{name: {name}}}
spec: {{parent: {parent}, deserved: {{nvidia.com/gpu: {deserved}}}, capability: {{nvidia.com/gpu: 8}}}}
"""
        for name, parent, deserved in (("top", "root", 4), ("a", "top", 6), ("b", "top", 6))
    )
    inferred = adopted(queues, rendered=False)
    guarantees = {it.name: dict(it.quotas[0].guarantee) for it in inferred.spec.teams}
    assert guarantees == {it: {"": n} for it, n in (("top", 8), ("a", 6), ("b", 2))}
