"""Names of workloads, and which ones are pending."""

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from policygen.kubernetes.cluster import Cluster
from policygen.kubernetes.snapshot import Seen
from policygen.report import cause_words
from policygen.simulate.instant import instant
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.changes import FewestPodsChange, PodsChange
from policygen.simulate.why.explainer import Explainer
from tests.simulate.why.waiting import (
    PLAIN,
    explain,
    explainer,
    flavor,
    job,
    local,
    node,
    priority,
    queue,
    scene,
    thing,
)


def test_a_workload_has_several_names():
    it = explainer(*PLAIN, job("a"), job("a", namespace="m"))
    assert [one.name for one in it.named("n/a")] == ["n/a"]
    assert [one.name for one in it.named("job/n/a")] == ["n/a"]
    assert sorted(one.name for one in it.named("a")) == ["m/a", "n/a"]
    assert it.named("b") == []


def test_jobs_of_two_kinds_with_one_name():
    """The quota of pods lets the Job create 1 of its 2 pods."""
    other = {**job("a", to=""), "kind": "Deployment", "apiVersion": "apps/v1"}
    limit = thing("ResourceQuota", "rq", {"hard": {"pods": "1"}}, "n", "v1")
    it = explainer(*PLAIN, job("a", pods=2), other, limit)
    assert [one.kind for one in it.named("job/n/a")] == ["Job"]
    for name in ("n/a", "a"):
        assert sorted(one.kind for one in it.named(name)) == ["Deployment", "Job"]
    (found,) = it.named("n/a (Job)")
    assert it.explain(found).cause.kind.value == "pods-refused"


def test_pending_workloads_are_those_without_quota_or_node():
    it = explainer(*PLAIN, job("a", pods=9), job("b", to=""))
    assert {one.name for one in it.pending()} == {"n/a", "n/b"}


def test_a_job_that_kueue_does_not_manage():
    found = explain("n/a", *PLAIN, job("a", rank="gone"))
    assert found.cause.kind.value == "not-managed"
    assert "gone" in found.cause.message


def test_quota_without_nodes_does_not_help():
    """b runs on 3 of 4 GPUs. More quota would admit a with 7 pods, but the node never holds them."""
    found = explain("n/a", *PLAIN, node("x", 4), job("b", pods=3), job("a", pods=7))
    assert [(it.changes, it.placed) for it in found.remedies] == [
        ((PodsChange("main", 7, 1),), True)
    ]
    assert (found.cause.never.placed, found.cause.never.pods) == (4, 7)
    room = explain("n/a", *PLAIN, node("x", 8), job("b", pods=3), job("a", pods=7))
    assert [it.placed for it in room.remedies] == [True, False]


def test_a_workload_that_is_too_large_and_others_use_all():
    jobs = job("b", pods=8), job("a", pods=12, after="1m")
    found = explain("n/a", *PLAIN, node("x", 8), *jobs)
    fewer = [it.changes for it in found.later if isinstance(it.changes[0], FewestPodsChange)]
    assert found.cause.kind.value == "above-maximum"
    assert not found.remedies
    assert fewer == [(FewestPodsChange("main", 12, 8, 12),)]


def test_cohorts_that_are_their_own_parents():
    cohorts = [thing("Cohort", it, {"parentName": other}) for it, other in ("xy", "yx")]
    found = explain("n/a", flavor(), queue("q", cohort="x"), local(), *cohorts, job("a"))
    assert (found.cause.kind.value, set(found.cause.names)) == ("cohort-cycle", {"x", "y"})
    assert found.remedies


def test_without_a_queue_nothing_is_said_about_nodes():
    """Kueue would add the tolerations of a flavor."""
    taints = [{"key": "gpu", "value": "yes", "effect": "NoSchedule"}]
    tolerant = flavor(tolerations=[{"operator": "Exists"}])
    found = explain(
        "n/a", tolerant, queue("q"), local(), node("x", taints=taints), job("a", to="z")
    )
    assert (found.cause.kind.value, found.cause.never) == ("queue-missing", None)
    assert found.remedies[0].placed


def test_what_is_not_simulated_is_not_pending_and_has_no_known_reason():
    spec = {"schedule": "0 1 * * *", "jobTemplate": {"spec": job("x")["spec"]}}
    it = explainer(*PLAIN, thing("CronJob", "a", spec, "n", "batch/v1"))
    assert not [*it.pending()]
    found = it.explain(*it.named("n/a"))
    assert (found.cause.kind.value, found.cause.message) == (
        "unknown", "a CronJob creates its Jobs later",
    )  # fmt: skip


@pytest.mark.parametrize("to", ["q", ""])
def test_a_misspelled_scheduler(to):
    """It holds its quota, and its pods never start."""
    found = explain("n/a", *PLAIN, job("a", to=to, schedulerName="vulcano"))
    assert (found.cause.kind, found.cause.lasts) == (CauseKind.SCHEDULER_UNKNOWN, True)
    assert found.cause.names == ("vulcano", "volcano")


def test_the_scheduler_that_is_meant():
    found = explain("n/a", *PLAIN, job("a", schedulerName="default-schedular"))
    ((change,),) = (it.changes for it in found.remedies)
    assert (change.path[-1], change.after) == ("schedulerName", "default-scheduler")


def test_an_unknown_scheduler_may_exist():
    """As `simulate`, `why` assumes for manifests that it is like kube-scheduler."""
    assert not explain("n/a", node("x"), job("a", to="", schedulerName="own")).waits


def test_a_pending_pod_of_a_cluster_with_an_unknown_scheduler():
    """Another scheduler of the cluster can still start it."""
    made = scene(node("x"), job("a", to="", schedulerName="yunikorn"))
    seen = Seen("east", datetime(2026, 1, 1, tzinfo=UTC), "")
    made = replace(made, cluster=Cluster(made.cluster.objects, seen, ()))
    it = Explainer(made, arrivals(made))
    found = it.explain(*it.named("n/a"))
    assert (found.cause.kind, found.cause.lasts) == (CauseKind.SCHEDULER_UNKNOWN, False)
    (text,) = cause_words.reasons(found)
    assert text.startswith(
        "policygen does not know scheduler yunikorn. If no scheduler has this name,"
    )


def test_a_label_for_a_job_without_a_queue_comes_first():
    taint = {"key": "gpu", "value": "yes", "effect": "NoSchedule"}
    tolerated = flavor(nodeTaints=[taint], tolerations=[{"key": "gpu", "operator": "Exists"}])
    things = tolerated, queue("q"), local(), node("x", taints=[taint]), job("a", to="")
    first, *others = explain("n/a", *things).remedies
    assert [(it.path[-1], it.after) for it in first.changes] == [("kueue.x-k8s.io/queue-name", "q")]
    assert [type(it).__name__ for one in others for it in one.changes] == ["TolerationAdded"]


def test_no_label_if_others_hold_the_nodes():
    """Job b runs on the only node, without Kueue."""
    made = scene(*PLAIN, node("x", 4), job("b", gpus=4, to=""), job("a", gpus=4, to=""))
    state = instant(made, arrivals(made, 3600.0), 60)
    it = Explainer(state.scene, state.arrivals)
    found = it.explain(*it.named("n/a"))
    assert not [one for one in found.remedies if hasattr(one.changes[0], "path")]
    assert found.ends == ("n/b",)


def test_a_change_for_later_names_who_must_end():
    """A higher limit costs no other workload, but job b must end. A smaller job starts now."""
    limit = {"borrowingLimit": "2"}
    queues = queue("q", 4, "c", limits=limit), queue("r", 8, "c"), local("r", "r")
    found = explain("n/a", flavor(), *queues, local(), job("b", pods=6, to="r"), job("a", pods=8))
    assert found.remedies
    later = {
        it.changes[0].path[-1]: it.ends for it in found.later if hasattr(it.changes[0], "path")
    }
    assert later["borrowingLimit"] == ("n/b",)


def test_a_change_for_later_names_jobs_that_wait_too():
    """Job c takes what b leaves, so both must end before a."""
    limit = {"borrowingLimit": "2"}
    queues = queue("q", 4, "c", limits=limit), queue("r", 8, "c"), local(), local("r", "r")
    jobs = job("b", pods=8, to="r"), job("c", pods=8, to="r"), job("a", pods=8)
    found = explain("n/a", flavor(), *queues, *jobs)
    assert found.later
    assert {it.ends for it in found.later} == {("n/b", "n/c")}


def test_who_ends_before_it_starts():
    """No job holds quota of the flavor that it needs, but one is before it in its queue."""
    strict = queue("q", queueingStrategy="StrictFIFO")
    jobs = job("b", pods=6), job("c", pods=8), job("a", after="1m")
    made = scene(flavor(), strict, local(), *jobs)
    state = instant(made, arrivals(made, 3600.0), 120)
    it = Explainer(state.scene, state.arrivals)
    found = it.explain(*it.named("n/a"))
    assert (found.cause.kind, found.ends) == (CauseKind.QUEUE_HEAD, ("n/b", "n/c"))


def test_kueue_must_admit_a_changed_job_again():
    """a holds quota for 6 GPUs that no node has, and c waits for quota. With fewer GPUs, c may be first."""
    jobs = job("a", gpus=6), job("b", gpus=2, after="1s"), job("c", gpus=2, after="2s", rank="high")
    high = {**priority("high", 9), "description": "d"}
    made = scene(flavor(), queue("q", 8), local(), high, node("x", 4), *jobs)
    state = instant(made, arrivals(made), None)
    it = Explainer(state.scene, state.arrivals)
    found = it.explain(*it.named("n/a"))
    assert found.cause.kind is CauseKind.NO_NODES
    assert [(one.changes[0].after, one.cost.admitted) for one in found.remedies] == [
        (2, ("n/c",)),
    ]


def test_a_model_that_serves_without_an_end_does_not_end():
    made = scene(node("x"), job("b", gpus=6, to=""), job("a", gpus=8, to=""))
    then = instant(made, arrivals(made), None)

    def ends(model):
        them = [replace(it, model=model if it.name == "n/b" else "") for it in then.arrivals]
        explained = Explainer(then.scene, them)
        (waits,) = explained.named("n/a")
        return explained.explain(waits).ends

    assert ends("") == ("n/b",)
    assert ends("chat") == ()
