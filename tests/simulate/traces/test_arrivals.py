"""Jobs of traces in the queues of a scene."""

from fractions import Fraction

from policygen.core.names import GPU
from policygen.simulate.scene import Scene
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.traces.arrivals import arrivals
from policygen.simulate.traces.job import TraceJob, TraceRequest
from tests.simulate.scenes import NODES, QUEUES, scene

SECOND = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: other, namespace: nlp}
spec: {clusterQueue: nlp}
"""
CLASSES = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: urgent}
value: 9
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: pods}
value: 5
"""


def job(name="a", team="nlp", queue="", at=0.0, **request):
    return TraceJob(name, at, 10.0, team, queue, TraceRequest(**request))


def one(text, it, teams=None):
    (found,) = arrivals(scene(text), [it], teams).arrivals
    return found


def test_a_job_goes_to_the_queue_of_its_team():
    it = one(QUEUES, job(pods=2, gpus=4, cpu=Fraction(1), memory=Fraction(1 << 30), at=3.0))
    assert (it.name, it.kind, it.team, it.at, it.duration) == ("nlp/a", "Job", "nlp", 3, 10)
    assert it.workload.queue == "nlp/main"
    assert dict(it.workload.pod_sets[0].requests) == {GPU: 4, "cpu": 1000, "memory": 1 << 30}
    assert (it.workload.pod_sets[0].count, it.pods[0].count) == (2, 2)


def test_pods_that_are_no_gang_are_jobs_of_their_own():
    found = arrivals(scene(QUEUES), [job(pods=3, gang=False)]).arrivals
    assert [it.name for it in found] == ["nlp/a-0", "nlp/a-1", "nlp/a-2"]
    assert {it.workload.pod_sets[0].count for it in found} == {1}


def test_teams_that_are_not_known_are_counted():
    jobs = [job("a", "x"), job("b", "x"), job("c", "nlp"), job("d", "y")]
    found = arrivals(scene(QUEUES), jobs)
    assert [it.name for it in found.arrivals] == ["nlp/c"]
    assert found.unknown == {"x": 2, "y": 1}
    assert found.notes == (
        (
            "the input has no team or queue with the names x (2 jobs) and y (1 job), so these jobs of the "
            "trace were not simulated; write the name of a team (nlp) in the trace, or add --trace-team "
            "NAME=TEAM"
        ),
    )


def test_teams_of_the_trace_can_be_mapped():
    assert one(QUEUES, job(team="x"), {"x": "nlp"}).team == "nlp"
    assert one(QUEUES, job(team=""), {"*": "nlp"}).team == "nlp"
    assert one(QUEUES, job(team="nlp"), {"x": "vision"}).team == "nlp"


def test_jobs_without_a_team_are_counted():
    found = arrivals(scene(QUEUES), [job(team=""), job("b", team="")])
    assert found.unknown == {"": 2}
    assert found.notes == (
        (
            "the trace names no team for 2 jobs, which were not simulated; add --trace-team '*=TEAM' with "
            "the name of a team (nlp)"
        ),
    )
    (note,) = arrivals(scene(NODES), [job(team="")], {"*": "default"}).notes
    assert note == (
        "--trace-team *=default: the input has no team default, so 1 job of the trace was not simulated; "
        "no team is defined"
    )
    (note,) = arrivals(scene(NODES), [job(team="")]).notes
    assert note.endswith(
        "with the name of a team of a SPEC, or of a Namespace of --workloads (the input has neither)"
    )


def test_maps_to_unknown_teams_and_of_unknown_names_are_noted():
    jobs = [job(team="x"), job("b", team="y"), job("c")]
    found = arrivals(scene(QUEUES), jobs, {"x": "nlpp", "yy": "nlp"})
    assert [it.name for it in found.arrivals] == ["nlp/c"]
    assert found.notes[:2] == (
        (
            "--trace-team x=nlpp: the input has no team nlpp, so 1 job of the trace was not simulated; "
            'did you mean "nlp"?'
        ),
        ('--trace-team yy=nlp has no effect, because the trace has no team yy; did you mean "y"?'),
    )
    assert found.notes[2].startswith("the input has no team or queue with the name y (1 job), so")


def test_a_team_of_a_spec_has_namespaces():
    it = scene(QUEUES)
    named = Scene(it.cluster, it.settings, teams={"nlp": "language"})
    (found,) = arrivals(named, [job(team="language")]).arrivals
    assert (found.name, found.team) == ("nlp/a", "language")


def test_a_queue_can_be_named():
    assert one(QUEUES + SECOND, job(queue="other")).workload.queue == "nlp/other"
    assert one(QUEUES, job(team="", queue="main")).workload.queue == "nlp/main"
    assert one(QUEUES, job(team="", queue="nlp/main")).team == "nlp"
    unknown = one(QUEUES, job(queue="none", gpus=8))
    assert (unknown.refusal, unknown.workload.queue) == ("", "nlp/none")
    assert unknown.pods[0].spec.requests == {GPU: 8}
    assert arrivals(scene(QUEUES), [job(team="", queue="x/main")]).unknown == {"x/main": 1}


def test_of_several_queues_the_first_is_taken_and_noted():
    found = arrivals(scene(QUEUES + SECOND), [job(gpus=8)])
    assert found.arrivals[0].workload.queue == "nlp/main"
    assert found.notes == (
        (
            "team nlp has several queues for jobs with 8 GPUs in each pod (main, other); those without a "
            "queue in the trace go to main"
        ),
    )


def test_a_queue_of_another_team_is_noted():
    other = QUEUES + SECOND.replace("namespace: nlp", "namespace: rag")
    found = arrivals(scene(other), [job(queue="rag/other"), job("b", queue="nlp/main")])
    assert [it.team for it in found.arrivals] == ["rag", "nlp"]
    assert found.notes == (
        (
            "1 job of the trace names a team and a queue of another team; the team of the queue counts: "
            "rag/other in place of nlp"
        ),
    )
    assert not arrivals(scene(other), [job(team="x", queue="rag/other")], {"x": "rag"}).notes


def test_queues_without_gpus():
    text = QUEUES.replace("nvidia.com/gpu", "memory")
    assert one(text, job(gpus=1)).refusal == (
        "no LocalQueue of team nlp has a quota of GPUs whose flavor matches its selector"
    )


def test_a_selector_that_matches_no_flavor_is_refused():
    it = one(QUEUES, job(gpus=1, selector=(("gpu", "h100"),)))
    assert it.refusal == 'no flavor of team nlp has label gpu=h100; did you mean "a100"?'
    assert it.pods[0].spec.requests == {GPU: 1}
    assert not one(QUEUES, job(gpus=1, selector=(("gpu", "a100"),))).refusal


def test_priorities():
    text = QUEUES + CLASSES
    for name, expected in (("", (0, 0)), ("urgent", (9, 0)), ("pods", (5, 5)), ("-3", (-3, -3))):
        it = one(text, job(priority=name))
        assert (it.workload.priority, it.priority) == expected
    assert (
        one(text, job(priority="x")).refusal
        == "priority class x does not exist; known: pods, urgent"
    )


def test_a_job_of_a_missing_class_has_its_gpus():
    it = one(QUEUES + CLASSES, job(priority="urgnet", pods=2, gpus=3))
    assert it.refusal == 'priority class urgnet does not exist; did you mean "urgent"?'
    assert (it.pods[0].count, it.pods[0].spec.requests) == (2, {GPU: 3})


def test_classes_that_never_preempt_do_not_preempt_through_kube_scheduler():
    never = f"{CLASSES}preemptionPolicy: Never\n"
    assert one(QUEUES + CLASSES, job(priority="pods")).preempts
    assert not one(QUEUES + never, job(priority="pods")).preempts
    # Kueue knows what a number means; without Kueue, it is the priority of the pods.
    assert not one(QUEUES, job(priority="7")).preempts
    namespace = "\n---\n".join(QUEUES.split("---\n")[-1:])
    assert one(namespace + NODES, job(priority="7")).preempts


def test_gpu_models_select_nodes_that_have_the_label():
    nodes = NODES.replace("gpu: a100}", "gpu: a100, gpu-model: T4}")
    with_label = arrivals(scene(QUEUES + nodes), [job(gpus=1, models=("T4",), partial=True)])
    assert with_label.arrivals[0].pods[0].spec.affinity
    assert with_label.notes == ("1 job used a part of a GPU; each gets a whole GPU",)
    without = arrivals(scene(QUEUES), [job(gpus=1, models=("T4",))])
    assert not without.arrivals[0].pods[0].spec.affinity
    assert without.notes == (
        "the GPU models of 1 job have no effect, because no flavor and no node has the label gpu-model",
    )


def test_jobs_without_kueue_go_to_nodes():
    namespace = "\n---\n".join(QUEUES.split("---\n")[-1:])
    it = one(namespace + NODES, job(gpus=1))
    assert it.workload is None
    assert it.pods[0].spec.requests == {GPU: 1}


def test_equal_jobs_share_their_pods():
    first, second = arrivals(scene(QUEUES), [job("a", gpus=1), job("b", gpus=1)]).arrivals
    assert first.pods is second.pods
    assert first.workload.pod_sets is second.workload.pod_sets


def test_a_trace_is_simulated():
    """12 GPUs: the second job waits until the first ends, and the retry 1 second later."""
    it = scene(QUEUES + NODES)
    found = arrivals(it, [job("a", gpus=8), job("b", gpus=8, at=1.0), job("c", gpus=4, at=2.0)])
    made = timeline(it, found.arrivals)
    for _ in made.run():
        pass
    assert [(run.started, run.ended) for run in made.jobs] == [(0, 10), (11, 21), (2, 12)]


def test_volcanos_queues_are_not_used():
    volcano = """
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: v}
"""
    assert not list(arrivals(scene(QUEUES), [job()]).notes)
    (note,) = arrivals(scene(QUEUES + volcano), [job()]).notes
    assert "Volcano does not schedule" in note


def test_chance_orders_jobs_of_one_time():
    """Their UID has a slash, as that of manifests without one: see `chance.with_uids`."""
    assert "/" in one(QUEUES, job()).workload.uid
