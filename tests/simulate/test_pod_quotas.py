"""Pods that ResourceQuotas refuse wait while their job holds its quota of Kueue."""

import pytest
from msgspec.structs import replace

from policygen.simulate.instant import instant
from policygen.simulate.pod_quotas import PodQuotas
from policygen.simulate.result import JobState
from policygen.simulate.scene_jobs import arrivals
from policygen.simulate.why.causes import CauseKind
from policygen.simulate.why.changes import FieldChange
from policygen.simulate.why.explainer import Explainer
from tests.simulate.scenes import NODES, QUEUES, job, scene
from tests.simulate.test_assumptions import assuming, gated, recorded

HOUR = 3600.0
GPUS = "requests.nvidia.com/gpu"


def quota(name="rq", status="", **hard):
    limits = ", ".join(f'{key.replace("__", "/")}: "{it}"' for key, it in hard.items())
    return f"""
---
apiVersion: v1
kind: ResourceQuota
metadata: {{name: {name}, namespace: nlp}}
spec: {{hard: {{{limits}}}}}
{status}
"""


def gpus(amount):
    return quota(requests="").replace('requests: ""', f'{GPUS}: "{amount}"')


def found(text, *assumed, **more):
    return {it.name: it for it in recorded(assuming(text, *assumed), **more).jobs}


@pytest.mark.parametrize("nodes", [NODES, ""])
def test_pods_are_created_when_others_end(nodes):
    """Both jobs have quota of Kueue at once. The ResourceQuota allows 4 of their 6 GPUs."""
    both = found(QUEUES + nodes + gpus(4) + job("a", 3) + job("b", 3))
    assert (both["nlp/a"].started, both["nlp/a"].ended) == (0, HOUR)
    assert (both["nlp/b"].admitted, both["nlp/b"].started) == (0, HOUR)


def test_pods_that_are_created_later_keep_their_gate_longer():
    """The second pod of b is created when a ends at 5m, so that its gate is removed at 15m. b starts once."""
    runs = "policygen.dev/runs-for: 5m"
    text = QUEUES + NODES + gpus(2) + job("a", 1, annotations=runs) + gated("b", 1, pods=2)
    one = found(text, "gate/example.com/data=10m")["nlp/b"]
    assert (one.started, one.ended) == (900, 900 + HOUR)
    assert (one.waited, one.pod_starts) == (900, ((900, 2),))


def test_gates_of_a_job_that_never_has_all_its_pods_do_not_go_on_without_end():
    """Kueue evicts it again and again, because its second pod is refused."""
    text = QUEUES + NODES + gpus(1) + gated("a", 1, pods=2)
    (one,) = found(text, "gate/example.com/data=2m").values()
    assert (one.state, one.started) == (JobState.NEVER, None)


def test_some_pods_of_a_job_run_while_others_are_refused():
    """The job holds 2 nodes' GPUs; an unmanaged job gets no more than the quota leaves."""
    it = recorded(scene(QUEUES + NODES + gpus(3) + job("a", 1, pods=4)), until=60)
    (one,) = it.jobs
    assert (one.state, one.started, sum(one.nodes.values())) == (JobState.WAITING, None, 3)
    assert (one.cause.kind, one.cause.placed) == (CauseKind.PODS_REFUSED, 3)
    assert one.cause.message == (
        f"exceeded quota: rq, requested: {GPUS}=1, used: {GPUS}=3, limited: {GPUS}=3"
    )


def test_a_job_without_kueue_runs_as_many_pods_as_its_quota_allows():
    """3 of 4 pods run, and the last one after them, so the job takes twice as long."""
    (one,) = found(QUEUES + NODES + quota(pods=3) + job("a", 1, pods=4, queue="")).values()
    assert (one.state, one.pods_run, one.refused) == (JobState.ENDED, 3, 1)
    assert one.ended == 2 * HOUR


def test_jobs_without_kueue_wait_too():
    both = found(QUEUES + NODES + quota(pods=1) + job("a", 3, queue="") + job("b", 3, queue=""))
    assert both["nlp/b"].started == HOUR


def test_a_job_that_never_fits_never_starts_and_blocks_its_quota():
    """Kueue evicts it, because its pods are not ready in time. Then the other job starts."""
    both = found(QUEUES + NODES + gpus(8) + job("a", 10) + job("b", 4))
    first = both["nlp/a"]
    assert (first.state, first.cause.kind) == (JobState.NEVER, CauseKind.PODS_REFUSED)
    assert first.evicted
    assert both["nlp/b"].ended


def test_a_quota_of_cpu_refuses_pods_without_a_request():
    (one,) = found(QUEUES + NODES + quota(**{"limits.cpu": 8}) + job("a", 1)).values()
    assert one.cause.message == "failed quota: rq: must specify limits.cpu"


def test_other_pods_of_a_cluster_use_the_quota_for_ever():
    status = 'status: {used: {pods: "2"}}'
    text = QUEUES + NODES + quota(pods=3, status=status) + job("a", 1) + job("b", 1)
    both = found(text)
    assert (both["nlp/a"].started, both["nlp/b"].started) == (0, HOUR)


def test_pods_that_kueue_holds_count_before_they_are_admitted():
    """A Pod in a queue exists, with a gate of Kueue, while it waits for quota."""
    pod = """
---
apiVersion: v1
kind: Pod
metadata: {name: p, namespace: nlp, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  restartPolicy: Never
  containers:
  - {name: main, image: i, resources: {limits: {nvidia.com/gpu: 12}, requests: {cpu: 1}}}
"""
    pod = pod.replace("labels", "annotations: {policygen.dev/arrives-after: 30s}, labels")
    late = job("c", 1, annotations="policygen.dev/arrives-after: 1m")
    text = QUEUES + NODES + quota(pods=2) + job("a", 8) + pod + late
    found_ = found(text, until=120)
    assert found_["nlp/p"].cause.kind is not CauseKind.PODS_REFUSED
    assert found_["nlp/c"].cause.kind is CauseKind.PODS_REFUSED
    assert found_["nlp/c"].admitted == 60
    refused = found(text.replace('pods: "2"', 'pods: "1"'), until=120)["nlp/p"]
    assert refused.cause.kind is CauseKind.PODS_REFUSED
    assert "used: pods=1" in refused.message


def test_gated_pods_count():
    text = QUEUES + NODES + quota(pods=1) + gated("a", 1) + job("b", 1)
    both = found(text, "gate/example.com/data=10m")
    assert (both["nlp/a"].started, both["nlp/b"].started) == (600, 600 + HOUR)


def test_why_counts_the_pods_that_run():
    it = scene(QUEUES + NODES + gpus(4) + job("a", 3) + job("b", 3))
    then = instant(it, arrivals(it, HOUR), 60)
    explainer = Explainer(then.scene, then.arrivals)
    (waiting,) = [one for one in then.arrivals if one.name == "nlp/b"]
    found_ = explainer.explain(waiting)
    assert found_.cause.kind is CauseKind.PODS_REFUSED
    assert f"used: {GPUS}=3" in found_.cause.message
    changes = [one.changes[0] for one in found_.remedies]
    assert [it.after for it in changes if isinstance(it, FieldChange)] == ["6"]


def test_quotas_of_namespaces_and_their_pods():
    it = scene(QUEUES + gpus(4) + quota("other", pods=3))
    (one,) = arrivals(scene(QUEUES + job("a", 2)))
    ((spec, _),) = [(batch.spec, batch.count) for batch in one.pods]
    quotas = PodQuotas(it.cluster, [replace(one, created=1)])
    assert quotas.create("nlp", spec, 5) == 1
    assert quotas.create("nlp", spec, 5) == 0
    assert quotas.create("elsewhere", spec, 5) == 5
    quotas.release("nlp", spec, 1)
    assert quotas.create("nlp", spec, 5) == 1
    assert not PodQuotas(scene(QUEUES).cluster)
