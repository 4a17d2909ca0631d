"""Gangs that wait while GPUs are free."""

from msgspec.structs import replace

from policygen.core.names import GPU
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.volcano.settings import BUILT_IN, TierPlugin
from policygen.simulate.volcano.stranding import largest_pod, packing_settings, stranded_gangs
from tests.simulate.scenes import scene

NODE = """
---
apiVersion: v1
kind: Node
metadata: {{name: {name}, labels: {{kubernetes.io/hostname: {name}}}}}
status: {{allocatable: {{cpu: 64, memory: 1Ti, pods: 110, nvidia.com/gpu: 8}}}}
"""
JOB = """
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: {name}, namespace: nlp}}
spec:
  minAvailable: 1
  schedulerName: volcano
  tasks:
  - name: worker
    replicas: 1
    template:
      spec:
        containers:
        - name: main
          image: i
          resources: {{requests: {{cpu: 1}}, limits: {{nvidia.com/gpu: {gpus}}}}}
"""
NODES = NODE.format(name="a") + NODE.format(name="b")


def found(*gpus, nodes=NODES):
    it = scene(nodes + "".join(JOB.format(name=f"j{i}", gpus=one) for i, one in enumerate(gpus)))
    return stranded_gangs(it, arrivals(it, 60.0))


def test_small_gangs_on_two_nodes_leave_no_room_for_a_large_one():
    """The large gang is listed first, and starts last all the same."""
    it = found(8, 1, 1)
    assert [job.name for job in it.waiting] == ["nlp/j0"]
    assert (it.free, it.packed) == ({GPU: 14}, 0)


def test_free_instances_of_another_resource_do_not_count():
    """The waiting gang cannot use a free MIG instance."""
    nodes = NODES.replace("gpu: 8}", "gpu: 8, nvidia.com/mig-1g.10gb: 7}")
    assert found(8, 1, 1, nodes=nodes).free == {GPU: 14}


def test_free_gpus_of_nodes_that_the_gang_cannot_use_do_not_count():
    taint = "spec: {taints: [{key: team, value: vision, effect: NoSchedule}]}\nstatus"
    tainted = NODE.format(name="c").replace("status", taint)
    assert found(8, 1, 1, nodes=NODES + tainted).free == {GPU: 14}


def test_settings_that_are_present_are_not_named_again():
    own = {"binpack.weight": 10, "binpack.cpu": 0, "binpack.resources": f"{GPU},rdma/hca"}
    binpack = TierPlugin("binpack", arguments={**own, f"binpack.resources.{GPU}": 5})
    settings = replace(BUILT_IN, tiers=(*BUILT_IN.tiers, (binpack,)))
    packing = packing_settings(settings, [GPU]).plugin("binpack").arguments
    assert packing == {
        **own,
        "binpack.memory": 0,
        f"binpack.resources.{GPU}": 10,
    }


def test_nothing_is_stranded_if_all_run_or_packing_does_not_help():

    assert found(1, 4) is None
    assert found(8, 8, 8) is None


def test_settings_that_pack_have_no_score_that_spreads():
    packing = packing_settings(BUILT_IN, [GPU])
    assert packing.plugin("binpack").number(f"binpack.resources.{GPU}", 0) == 10
    assert packing.plugin("nodeorder").number("leastrequested.weight", 1) == 0
    assert packing.plugin("predicates").arguments == {}


def test_the_largest_pod_of_a_gang():
    it = scene(NODES + JOB.format(name="j", gpus=4))
    assert [largest_pod(job) for job in arrivals(it)] == [4]
