"""Whether a job would run now, and when it starts."""

from io import StringIO

import pytest

from policygen.app import why
from policygen.app.requests import SimulateRequest
from policygen.report.tables import TablePage
from policygen.report.why import fit_text
from policygen.simulate.input_faults import ARRIVES_AFTER, RUNS_FOR
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.explainer import Explainer
from policygen.simulate.why.fit import fit
from policygen.simulate.why.fit_jobs import FitError, FitRequest
from tests.app.simulations import ROOT
from tests.simulate.why.gangs import QUEUES, configuration, vcjob
from tests.simulate.why.waiting import (
    PLAIN,
    SHARED,
    flavor,
    job,
    local,
    node,
    priority,
    queue,
    scene,
    text,
    thing,
)

THREE = ROOT / "examples" / "three-schedulers" / "policy.yaml"


def answer(request, *things, duration=None):
    made = scene(*things)
    return fit(made, arrivals(made, duration), request)


def test_it_runs_now():
    found = answer(FitRequest("n", 2, 4), *PLAIN)
    assert not found.explanation.waits
    assert (found.queue, found.resource) == ("q", "nvidia.com/gpu")
    assert found.explanation.admission == ("f",)


def test_it_runs_now_and_others_must_leave():
    policy = {"withinClusterQueue": "LowerPriority"}
    things = flavor(), queue("q", preemption=policy), local(), priority("high", 9), job("b", pods=8)
    assert answer(FitRequest("n", 1), *things).explanation.waits
    found = answer(FitRequest("n", 1, priority="high"), *things)
    assert not found.explanation.waits
    assert found.cost.preempted == ("n/b",)


def test_it_starts_when_enough_jobs_have_ended():
    """b and c use 6 of 8. 5 are free when one of them has ended."""
    things = (*PLAIN, job("b", pods=3), job("c", pods=3))
    found = answer(FitRequest("n", 4), *things, duration=60.0)
    assert found.explanation.waits
    assert (found.start.after, len(found.start.ends)) == (60.0, 1)
    unknown = answer(FitRequest("n", 4), *things)
    assert (unknown.start.after, unknown.start.unknown) == (None, 2)
    assert answer(FitRequest("n", 9), *things, duration=60.0).start is None


def test_a_pool_is_a_flavor_or_a_queue():
    flavors = [flavor(it, nodeLabels={"gpu": it}) for it in ("f", "g")]
    things = (*flavors, queue("q", 2, flavors=("f", "g")), local())
    assert answer(FitRequest("n", 1, pool="g"), *things).explanation.admission == ("g",)
    assert answer(FitRequest("n", 1, pool="q"), *things).explanation.admission == ("f",)


@pytest.mark.parametrize(
    "request_, words",
    [
        (
            FitRequest("x", 1),
            "team x has no LocalQueue, no queue of Volcano and no quota in a pool",
        ),
        (FitRequest("n", 1, pool="h"), "no quota of GPUs in pool h; it has nvidia.com/gpu in f"),
        (
            FitRequest("n", 1, resource="amd.com/gpu"),
            "no quota of amd.com/gpu in any pool; it has nvidia.com/gpu in f",
        ),
        (FitRequest("n", 1, priority="p"), "WorkloadPriorityClass p does not exist"),
    ],
)
def test_a_request_that_names_what_does_not_exist(request_, words):
    with pytest.raises(FitError, match=words):
        answer(request_, *SHARED)


def test_pods_of_those_that_must_leave_do_not_count():
    """Job b holds the only node."""
    policy = {"withinClusterQueue": "LowerPriority"}
    things = flavor(), queue("q", preemption=policy), local(), priority("high", 9), node("x")
    made = scene(*things, job("b", gpus=8))
    state = instant(made, arrivals(made), 60)
    found = fit(state.scene, state.arrivals, FitRequest("n", 8, priority="high"))
    assert not found.explanation.waits
    assert found.cost.preempted == ("n/b",)


def test_a_job_without_a_class_has_the_default_priority():
    """Kueue and kube-scheduler use the global default, so job b, which has a lower one, must leave."""
    policy = {"withinClusterQueue": "LowerPriority"}
    default = thing("PriorityClass", "d", {}, version="scheduling.k8s.io/v1")
    default |= {"value": 5, "globalDefault": True}
    things = (
        flavor(),
        queue("q", preemption=policy),
        local(),
        priority("low", 1),
        node("x"),
        default,
    )
    made = scene(*things, job("b", gpus=8, rank="low"))
    state = instant(made, arrivals(made), 60)
    found = fit(state.scene, state.arrivals, FitRequest("n", 8))
    assert not found.explanation.waits
    assert found.cost.preempted == ("n/b",)


def test_nodes_that_others_of_manifests_will_use_are_not_free():
    things = flavor(), queue("q", 16), local(), node("x"), job("b", gpus=8)
    assert answer(FitRequest("n", 1), *things).explanation.cause.kind is CauseKind.NO_NODES


def test_a_queue_of_volcano():
    capacity = configuration("capacity")
    things = *PLAIN, *QUEUES, capacity, vcjob("b", 6, "large", namespace="n")
    yes = answer(FitRequest("n", 1, 2, pool="small"), *things)
    assert (yes.scheduler, yes.queue, yes.explanation.waits) == ("volcano", "small", False)
    assert yes.cost.preempted == ()
    no = answer(FitRequest("n", 1, 4, pool="large"), *things, duration=60.0)
    assert (no.start.after, no.start.ends) == (60.0, ("n/b",))
    assert answer(FitRequest("n", 1, 3, pool="small"), *things).explanation.cause.lasts


def test_the_first_queue_in_which_it_runs():
    capacity = configuration("capacity")
    found = answer(FitRequest("n", 8), flavor(), queue("q", 4), local(), *QUEUES, capacity)
    assert (found.queue, found.explanation.waits) == ("large", False)


def test_a_team_without_a_local_queue_can_use_a_queue_of_volcano():
    things = *QUEUES, configuration("capacity"), thing("Namespace", "n", None, version="v1")
    found = answer(FitRequest("n", 1, pool="small"), *things)
    assert (found.scheduler, found.namespace, found.queue) == ("volcano", "n", "small")
    with pytest.raises(FitError, match="kube-scheduler; teams with one: n"):
        answer(FitRequest("x", 1, pool="small"), *things)


def test_changes_are_tried_only_for_the_queue_of_the_answer(monkeypatch):
    """In q and r the job waits; in z it never starts. The answer is about q."""
    searched = []
    explain = Explainer.explain

    def noted(self, arrival, *, search=True):
        searched.extend([arrival.workload.queue] * search)
        return explain(self, arrival, search=search)

    monkeypatch.setattr(Explainer, "explain", noted)
    queues = [
        it
        for name, most in (("z", 1), ("q", 4), ("r", 4))
        for it in (queue(name, most), local(name, name))
    ]
    held = [job(f"b{it}", 3, to=it) for it in ("q", "r")]
    found = answer(FitRequest("n", 2), flavor(), *queues, *held)
    assert (found.queue, bool(found.explanation.remedies)) == ("q", True)
    assert searched == ["n/q"]


def test_the_flavor_that_was_named_is_kept():
    """Flavor g is free, and flavor f is used."""
    flavors = [flavor(it, nodeLabels={"gpu": it}) for it in ("f", "g")]
    things = (*flavors, queue("q", 8, flavors=("f", "g")), local())
    things = (*things, job("b", gpus=8, nodeSelector={"gpu": "f"}))
    found = answer(FitRequest("n", 4, pool="f"), *things).explanation
    assert found.waits
    assert {it for one in found.remedies for it in one.flavors} <= {"f"}
    assert not answer(FitRequest("n", 4), *things).explanation.waits


def test_a_pool_of_kube_scheduler():
    """The ResourceQuota of each namespace has half of the team's 30 GPUs, and a model uses 2 of it."""
    request = SimulateRequest((str(THREE),), duration=0.0)

    def asked(pods):
        it = FitRequest("product", 1, pods, "serving-l4")
        return why.would_fit(request, it).answer

    yes = asked(13)
    assert (yes.scheduler, yes.namespace, yes.queue) == ("kube-scheduler", "product-live", "")
    assert not yes.explanation.waits
    assert asked(16).explanation.cause.kind is CauseKind.PODS_REFUSED
    out = StringIO()
    fit_text(why.would_fit(request, FitRequest("product", 4)), TablePage(out))
    assert (
        "namespace product-live and pool serving-l4 of kube-scheduler would run" in out.getvalue()
    )


FIGHT = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: p}
spec:
  target: {kubernetes: "1.36", kueue: "0.19", volcano: "1.14"}
  priorities: [{name: normal, value: 500}]
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: big}
spec:
  nodeSelector: {pool: big}
  gpu: {product: NVIDIA-A100-SXM4-80GB, perNode: 8}
  capacity: {nodes: 2, nodeType: a2-ultragpu-8g}
  scheduler: kueue
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: vol}
spec:
  nodeSelector: {pool: vol}
  gpu: {product: NVIDIA-H100-80GB-HBM3, perNode: 8}
  capacity: {nodes: 2, nodeType: p5.48xlarge}
  scheduler: volcano
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: blue}
spec: {namespaces: [{name: blue}], quotas: [{pool: vol, guarantee: 8}, {pool: big, guarantee: 4}]}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: gray}
spec: {namespaces: [{name: gray}], quotas: [{pool: vol, guarantee: 8, limit: 12}]}
"""


def test_a_job_in_a_livelock_starts_only_when_it_ends(tmp_path):
    """y1 and y2 select no nodes, and y1 preempts the new job, too."""
    spec, jobs = tmp_path / "spec.yaml", tmp_path / "jobs.yaml"
    spec.write_text(FIGHT)
    one = vcjob("y1", 2, "gray.vol", gpus=6, namespace="gray", rank="normal")
    two = vcjob("y2", 1, "blue.vol", gpus=8, namespace="blue", rank="normal")
    times = {ARRIVES_AFTER: "0s", RUNS_FOR: "2h"}, {ARRIVES_AFTER: "10m", RUNS_FOR: "1h"}
    for it, time in zip((one, two), times, strict=True):
        it["metadata"]["annotations"] = time
        (container,) = it["spec"]["tasks"][0]["template"]["spec"]["containers"]
        container["resources"]["requests"] |= {"cpu": "1", "memory": "1Gi"}
    jobs.write_text(text(one, two))
    request = SimulateRequest((str(spec),), workloads=(str(jobs),), duration=0.0)
    found = why.would_fit(request, FitRequest("blue", 1, pool="vol")).answer
    assert found.explanation.cause.kind is CauseKind.LIVELOCK
    assert found.start.after == pytest.approx(3600, abs=0.01)
    assert found.start.ends == ("blue/y2",)


def test_a_change_of_the_job_is_an_option_of_the_command():
    """Its Job does not exist, so no field of it can be set."""
    request = SimulateRequest((str(THREE),), duration=0.0)
    out = StringIO()
    found = why.would_fit(request, FitRequest("lab", 8, 9, "training-h100"))
    fit_text(found, TablePage(out))
    text = out.getvalue()
    assert "Run 4 pods instead of 9. Ask with --pods 4." in text
    assert "Job lab/fit" not in text
    assert "use at most 64." in text
    assert "it never starts as it is, however much is free: of the 64, 32 are free now." in text
