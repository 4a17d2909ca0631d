"""What `--assume` states: the outcomes of admission checks, and when scheduling gates are removed."""

import pytest
from msgspec.structs import replace

from policygen.simulate.assumptions import CheckOutcome, parse
from policygen.simulate.instant import instant
from policygen.simulate.recorder import Recorder
from policygen.simulate.result import JobState
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.scene_schedulers import timeline
from policygen.simulate.unmodelled import unmodelled
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.explainer import Explainer
from tests.simulate.scenes import NODES, QUEUES, WORKLOAD, job, scene

HOUR, MINUTE = 3600.0, 60.0
CHECKED = QUEUES.replace(
    "namespaceSelector: {}",
    "namespaceSelector: {}\n  admissionChecksStrategy: {admissionChecks: [{name: c}, {name: d}]}",
) + "".join(
    f"""
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: AdmissionCheck
metadata: {{name: {name}}}
spec: {{controllerName: example.com/check}}
status: {{conditions: [{{type: Active, status: "True", reason: Active, message: ""}}]}}
"""
    for name in "cd"
)  # fmt: skip


def assuming(text, *assumed):
    return replace(scene(text), assumptions=parse(assumed))


def recorded(it, duration=HOUR, **more):
    recorder = Recorder(it)
    made = timeline(it, arrivals(it, duration), observer=recorder, **more)
    recorder.follow(made)
    for _ in made.run():
        pass
    return recorder.result()


def gated(name, gpus, gate="example.com/data", **more):
    return job(name, gpus, **more).replace(
        "restartPolicy", f"schedulingGates: [{{name: {gate}}}]\n      restartPolicy"
    )


def test_a_job_is_admitted_when_its_last_check_is_ready():
    it = assuming(CHECKED + NODES + job("a", 8), "check/c=Ready:5m", "check/d=Ready:20m")
    (found,) = recorded(it).jobs
    assert (found.admitted, found.started, found.ended) == (1200, 1200, 1200 + HOUR)
    assert unmodelled(it, arrivals(it)) == ()


def test_quota_is_held_while_a_check_is_pending():
    """The second job needs 8 of 12 GPUs, too. The quota of the first counts from its reservation on."""
    it = assuming(CHECKED + NODES + job("a", 8) + job("b", 8), "check/c=Ready:10m")
    found = recorded(it)
    first, second = found.jobs
    assert (first.started, first.ended) == (600, 600 + HOUR)
    assert second.started == 600 + HOUR + 1 + 600
    assert found.teams[0].uses[0].gpu_seconds == 16 * (600 + HOUR)


def test_after_retry_another_job_goes_first():
    """Kueue evicts the first job, and queues it again by the time of its eviction."""
    it = assuming(CHECKED + NODES + job("a", 8) + job("b", 8), "check/c=Retry:5m,Ready:1m")
    first, second = recorded(it).jobs
    assert (first.evicted, first.evicted_for) == (1, "AdmissionCheck")
    assert second.evicted == 1
    # a: 0 to 5m. b: 5m to 10m. a: from 10m on, ready at 11m. Each retry takes 1 second.
    assert first.started == 11 * MINUTE + 2
    assert second.started == first.ended + 1 + MINUTE


def test_rejected_deactivates_the_workload():
    it = assuming(CHECKED + NODES + job("a", 8) + job("b", 8), "check/c=Rejected:5m")
    for found in recorded(it).jobs:
        assert (found.state, found.started) == (JobState.NEVER, None)
        assert found.cause.kind is CauseKind.DEACTIVATED
        assert 'AdmissionCheck in Rejected state: "c"' in found.message


def test_the_simulation_ends_if_a_check_is_retried_without_end():
    it = assuming(CHECKED + NODES + job("a", 8), "check/c=Retry:5m")
    (found,) = recorded(it).jobs
    assert (found.state, found.started) == (JobState.NEVER, None)
    assert found.cause.kind is CauseKind.CHECK_PENDING
    assert found.cause.names == ("c",)


def test_the_simulation_ends_if_a_gated_job_is_admitted_by_its_check_again_and_again():
    """Without an assumption the check is ready at once, and the pods are never ready in time."""
    it = assuming(CHECKED + NODES + gated("a", 8))
    made = timeline(it, arrivals(it, HOUR))
    times = [progress.now for _, progress in zip(range(1000), made.run(), strict=False)]
    assert len(times) < 1000
    assert made.finished


def test_checks_without_an_assumption_are_named():
    it = assuming(CHECKED + NODES + job("a", 8), "check/c=Ready")
    ((feature, workloads),) = [(one.feature, one.workloads) for one in unmodelled(it, arrivals(it))]
    assert feature.startswith("admission check d of Kueue")
    assert workloads == 1


def test_a_reserved_workload_of_a_cluster_waits_for_its_checks():
    waiting = WORKLOAD.rstrip() + "\n  admissionChecks: [{name: c, state: Pending, message: x}]\n"
    it = assuming(CHECKED + NODES + job("a", 8) + waiting, "check/c=Ready:5m")
    (found,) = recorded(it).jobs
    assert found.started == 300
    admitted = waiting.replace("type: QuotaReserved", "type: Admitted")
    (found,) = recorded(assuming(CHECKED + NODES + job("a", 8) + admitted)).jobs
    assert found.started <= 0


def test_why_names_the_check_that_is_pending_at_a_time():
    it = assuming(CHECKED + NODES + job("a", 8), "check/c=Ready:5m")
    then = instant(it, arrivals(it, HOUR), 120)
    (one,) = then.arrivals
    cause = Explainer(then.scene, then.arrivals).explain(one).cause
    assert (cause.kind, cause.names) == (CauseKind.CHECK_PENDING, ("c",))


def test_gated_pods_hold_quota_and_no_node():
    """Of 16 GPUs, 12 are quota. A gated job holds 8 of them, and an unmanaged one uses its nodes."""
    text = QUEUES + NODES + gated("a", 8) + job("b", 8, queue="") + job("c", 8, queue="")
    first, *others = recorded(assuming(text)).jobs
    assert [it.started for it in others] == [0, 0]
    assert (first.state, first.admitted, first.started) == (JobState.NEVER, 0, None)
    assert (first.cause.kind, first.cause.names) == (CauseKind.GATED, ("example.com/data",))


@pytest.mark.parametrize("nodes", [NODES, ""])
@pytest.mark.parametrize("queue", ["main", ""])
def test_gated_pods_start_when_their_gate_is_removed(nodes, queue):
    text = QUEUES + nodes + gated("a", 8, queue=queue) + gated("b", 1, "kueue.x-k8s.io/topology")
    it = assuming(text, "gate/example.com/data=10m")
    found = {one.name: one for one in recorded(it).jobs}
    assert (found["nlp/a"].started, found["nlp/a"].ended) == (600, 600 + HOUR)
    assert found["nlp/b"].started == 0
    assert unmodelled(it, arrivals(it)) == ()


def test_gates_that_stay_are_named():
    it = assuming(QUEUES + NODES + gated("a", 8))
    ((feature, workloads),) = [(one.feature, one.workloads) for one in unmodelled(it, arrivals(it))]
    assert feature.startswith("scheduling gate example.com/data, which is assumed to stay")
    assert workloads == 1
    (one,) = arrivals(it)
    cause = Explainer(it, [one]).explain(one).cause
    assert (cause.kind, cause.names) == (CauseKind.GATED, ("example.com/data",))


def test_the_forms_of_assumptions():
    found = parse(["check/a=retry:1h, Ready:90", "gate/x.y/z=7d", "check/b=Rejected"])
    assert found.checks["a"] == (CheckOutcome("Retry", 3600), CheckOutcome("Ready", 90))
    assert found.checks["b"] == (CheckOutcome("Rejected"),)
    assert found.gates == {"x.y/z": 7 * 24 * 3600}


@pytest.mark.parametrize(
    "texts, words",
    [
        (["c=Ready"], "is not valid"),
        (["check/=Ready"], "is not valid"),
        (["check/c"], "is not valid"),
        (["check/c=Maybe"], "has no known state"),
        (["check/c=Ready:soon"], "is not a duration"),
        (["check/c=Ready:-5m"], "is not a duration"),
        (["check/c=Retry"], "needs a time above 0"),
        (["gate/g=Ready"], "is not a duration"),
        (["check/c=Ready", "check/c=Rejected"], "is stated twice"),
    ],
)
def test_invalid_assumptions(texts, words):
    with pytest.raises(ValueError, match=words):
        parse(texts)
