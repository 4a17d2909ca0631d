"""What a queue adds to the demand of its pods."""

from msgspec.structs import replace

from policygen.kubernetes.core import TolerationView
from policygen.lint.core.pod_demands import pod_demands
from policygen.lint.rule import Need
from tests.objects import facts

NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100, volcano.sh/nodegroup-name: g1}}
status: {allocatable: {cpu: 96, nvidia.com/gpu: 8}}
---
"""
KUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {pool: a100}
  tolerations: [{key: gpu, operator: Exists}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: spot}
spec:
  nodeLabels: {pool: spot}
  nodeTaints: [{key: spot, effect: NoSchedule}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: c}
spec:
  resourceGroups:
  - coveredResources: [cpu, nvidia.com/gpu]
    flavors: [{name: a100}, {name: spot}]
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: c}}
---
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: n, labels: {kueue.x-k8s.io/queue-name: %s}}
spec:
  template:
    spec:
      %s
      containers: [{name: a, image: a, resources: {limits: {cpu: 1, nvidia.com/gpu: 2}}}]
"""
VOLCANO = """
{kind: volcano-scheduler.conf, apiVersion: v1, actions: allocate, tiers: [{plugins: [{name: nodegroup%s}]}]}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: q}
spec: {%s}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: j, namespace: n}
spec:
  queue: q
  schedulerName: volcano
  tasks:
  - replicas: 1
    name: t
    template: {spec: {schedulerName: volcano, containers: [{name: a, image: a}]}}
"""


def ways(text):
    return [
        (
            [flavor.name for flavor in way.flavors],
            [(it.requirement.key, it.requirement.operator, it.requirement.values) for it in way.demand.selector],
            list(way.demand.tolerations),
        )
        for it in pod_demands(facts(NODE + text))
        for way in it.ways
    ]  # fmt: skip


POOL = ("pool", "In", ("a100",))
SPOT = ("pool", "In", ("spot",))
GPU, ANY = TolerationView("gpu", "Exists"), TolerationView(operator="Exists")


def test_each_flavor_that_kueue_accepts_is_a_way():
    assert ways(KUEUE + JOB % ("q", "")) == [(["a100"], [POOL], [GPU])]
    tolerant = ways(KUEUE + JOB % ("q", "tolerations: [{operator: Exists}]"))
    assert tolerant == [(["a100"], [POOL], [ANY, GPU]), (["spot"], [SPOT], [ANY])]


def test_flavors_with_too_little_quota_are_other_ways():
    """If no flavor has enough quota, workload-exceeds-quota reports it, and all count."""
    quota = "resources: [{name: cpu, nominalQuota: 9}, {name: nvidia.com/gpu, nominalQuota: %d}]"
    text = KUEUE.replace("{name: a100}, {name: spot}", "{name: a100, Q}, {name: spot, R}")
    job = JOB % ("q", "tolerations: [{operator: Exists}]")

    def found(first, other, given=frozenset({Need.QUEUES})):
        queue = text.replace("Q}", f"{quota % first}}}").replace("R}", f"{quota % other}}}")
        [it] = pod_demands(replace(facts(NODE + queue + job), given=given))
        return [[way.flavors[0].name for way in ways] for ways in (it.ways, it.scarce)]

    assert found(2, 2) == [["a100", "spot"], []]
    assert found(1, 2) == [["spot"], ["a100"]]
    assert found(1, 1) == [["a100", "spot"], []]
    assert found(1, 2, frozenset()) == [["a100", "spot"], []]


def test_pods_for_which_kueue_accepts_no_flavor_are_left_out():
    assert ways(KUEUE + JOB % ("q", "nodeSelector: {pool: h100}")) == []
    assert ways(KUEUE.replace("name: spot}]", "name: gone}]") + JOB % ("q", "")) == []


def test_an_unknown_queue_may_add_tolerations():
    assert ways(JOB % ("gone", "")) == [([], [], [ANY])]


def test_pods_that_should_name_a_queue_are_tested_as_if_they_did():
    """So a toleration that the flavor adds is not missing; only the missing label is reported."""
    text = NODE + KUEUE + (JOB % ("q", "")).replace(", labels: {kueue.x-k8s.io/queue-name: q}", "")
    reported = replace(facts(text), run=frozenset({"workload-names-no-queue"}))
    assert [it.ways[0].demand.tolerations for it in pod_demands(reported)] == [(GPU,)]
    assert [it.ways[0].demand.tolerations for it in pod_demands(facts(text))] == [()]


def test_pods_without_a_scheduler_that_chooses_are_left_out():
    assert (
        ways(
            "{apiVersion: apps/v1, kind: DaemonSet, metadata: {name: d}, spec: {template: {spec: {}}}}"
        )
        == []
    )
    assert ways((JOB % ("gone", "")).replace("spec:\n", "spec:\n  parallelism: 0\n", 1)) == []


GROUP = "volcano.sh/nodegroup-name"
REQUIRED = "requiredDuringSchedulingIgnoredDuringExecution"
PREFERRED = REQUIRED.replace("required", "preferred")


def test_node_groups_of_a_volcano_queue():
    toward = f"affinity: {{nodeGroupAffinity: {{{REQUIRED}: [g1, g2]}}}}"
    assert ways(VOLCANO % ("", toward)) == [([], [(GROUP, "In", ("g1", "g2"))], [])]
    # A task without a name of a scheduler has that of its Job.
    own = (VOLCANO % ("", toward)).replace("spec: {schedulerName: volcano, ", "spec: {")
    assert ways(own) == [([], [(GROUP, "In", ("g1", "g2"))], [])]
    both = f"affinity: {{nodeGroupAffinity: {{{REQUIRED}: [g1]}}, nodeGroupAntiAffinity: {{{REQUIRED}: [g1], {PREFERRED}: [g1]}}}}"
    assert ways(VOLCANO % ("", both)) == [([], [(GROUP, "In", ("g1",))], [])]
    loose = ", arguments: {strict: false}"
    away = f"affinity: {{nodeGroupAntiAffinity: {{{REQUIRED}: [g2]}}}}"
    assert ways(VOLCANO % (loose, away)) == []
    assert ways(VOLCANO % (loose, "weight: 1")) == [([], [(GROUP, "DoesNotExist", ())], [])]


def test_faults_of_queues_are_reported_by_other_rules():
    assert ways(VOLCANO % ("", "weight: 1")) == []
    assert ways(VOLCANO % ("", f"affinity: {{nodeGroupAffinity: {{{REQUIRED}: [g3]}}}}")) == []
