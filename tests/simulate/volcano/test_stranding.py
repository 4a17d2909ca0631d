"""Gangs that wait while GPUs are free."""

from policygen.core.names import GPU
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.volcano.settings import BUILT_IN
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


def found(*gpus):
    it = scene(NODES + "".join(JOB.format(name=f"j{i}", gpus=one) for i, one in enumerate(gpus)))
    return stranded_gangs(it, arrivals(it, 60.0))


def test_small_gangs_on_two_nodes_leave_no_room_for_a_large_one():
    """The large gang is listed first, and starts last all the same."""
    it = found(8, 1, 1)
    assert [job.name for job in it.waiting] == ["nlp/j0"]
    assert (it.free, it.packed) == (14, 0)


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
