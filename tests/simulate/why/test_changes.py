"""Changes of objects and of what workloads request."""

from fractions import Fraction

from policygen.core.finding import At
from policygen.kubernetes.core import TolerationView
from policygen.kubernetes.kueue_workloads import PodSetTemplate, PodSetView, WorkloadView
from policygen.kubernetes.node_filters import REQUIRED
from policygen.kubernetes.object import Object
from policygen.kubernetes.workloads import Container, PodSpec, Resources
from policygen.simulate.why.changes import (
    AffinityRemoved,
    ConstraintRemoved,
    FieldChange,
    ObjectAdded,
    PodsChange,
    PriorityChange,
    QueueChange,
    RequestChange,
    SelectorChange,
    TolerationAdded,
    applied,
    asking,
    pod_spec,
    with_value,
)
from tests.simulate.why.waiting import local, queue


def spec(**amounts):
    requests = {name: Fraction(it) for name, it in amounts.items()}
    return PodSpec(containers=(Container("c", resources=Resources(requests, dict(requests))),))


def fields(it, count=4):
    return WorkloadView("q", 5, (PodSetView("main", count, None, PodSetTemplate(it)),))


def test_a_field_of_a_copy_changes():
    written = {"spec": {"flavors": [{"quota": 1}, {"quota": 2}]}}
    changed = with_value(written, ("spec", "flavors", 1, "quota"), 3)
    assert changed == {"spec": {"flavors": [{"quota": 1}, {"quota": 3}]}}
    assert written["spec"]["flavors"][1]["quota"] == 2
    assert with_value(written, ("spec", "flavors"), None) == {"spec": {}}
    assert with_value({}, ("spec", "preemption"), "Any") == {"spec": {"preemption": "Any"}}


def test_objects_change_and_are_added():
    objects = [Object.read(queue("q"), At(0))]
    change = FieldChange("ClusterQueue", "", "q", ("spec", "stopPolicy"), None, "Hold")
    found = applied(objects, [change, ObjectAdded(local("new"))])
    assert [it.name for it in found] == ["q", "new"]
    assert found[0].data["spec"]["stopPolicy"] == "Hold"
    assert "stopPolicy" not in objects[0].data["spec"]


def test_a_workload_asks_for_less_in_another_queue():
    changes = [PodsChange("main", 4, 2), QueueChange("q", "r"), PriorityChange(5, 9, "high")]
    found = asking(fields(spec(gpu=2)), changes)
    assert (found.pod_sets[0].count, found.queue_name, found.priority) == (2, "r", 9)
    active = FieldChange("Workload", "n", "w", ("spec", "active"), before=True, after=False)
    assert asking(found, [active]).active is False


def test_requests_and_limits_shrink_together_in_the_largest_container():
    pods = PodSpec(containers=(*spec(cpu=1).containers, *spec(cpu=4).containers))
    found = pod_spec(pods, RequestChange("main", "cpu", 5000, 3000))
    assert [it.resources.requests["cpu"] for it in found.containers] == [1, 2]
    assert [it.resources.limits["cpu"] for it in found.containers] == [1, 2]
    assert "gpu" not in pod_spec(spec(gpu=2), RequestChange("main", "gpu", 2, 0)).requests


def test_node_constraints_change():
    pods = PodSpec(
        node_selector={"gpu": "a"},
        affinity={"nodeAffinity": {REQUIRED: {}}, "podAntiAffinity": {REQUIRED: [{}]}},
        topology_spread_constraints=(
            {"whenUnsatisfiable": "DoNotSchedule"},
            {"whenUnsatisfiable": "ScheduleAnyway"},
        ),
    )
    assert pod_spec(pods, SelectorChange("main", "gpu", "a", "b")).node_selector == {"gpu": "b"}
    assert pod_spec(pods, SelectorChange("main", "gpu", "a", None)).node_selector == {}
    assert pod_spec(pods, AffinityRemoved("main")).affinity["nodeAffinity"] == {}
    apart = ConstraintRemoved("main", "podAntiAffinity")
    assert pod_spec(pods, apart).affinity["podAntiAffinity"] == {}
    spread = ConstraintRemoved("main", "topologySpreadConstraints")
    assert len(pod_spec(pods, spread).topology_spread_constraints) == 1
    one = TolerationView("gpu", "Exists", "", "NoSchedule")
    assert pod_spec(pods, TolerationAdded("main", one)).tolerations == (one,)
