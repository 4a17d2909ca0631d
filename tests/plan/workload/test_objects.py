"""The objects that run models have all fields that the policy decides."""

import pytest

from tests.plan.model_specs import a100, models, quotas

WORKLOADS = frozenset({"workloads"})
PLATFORM = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: set}
spec: {priorities: [{name: high, value: 10}]}
"""


def made(planned, pool, fields, kind):
    done = planned(
        PLATFORM,
        pool,
        quotas("a", "pool: p, guarantee: 32"),
        models("a", m=f"resources: {{gpus: 2}}, {fields}"),
        extras=WORKLOADS,
    )
    return done.of(kind)


def test_a_job_of_kueue_has_queue_and_priorities(planned):
    found = made(planned, a100(), "workload: training, priority: high, gang: {size: 3}", "Job")
    job = found["a-ns/m"]
    assert job.meta.own_labels == {
        "policygen.dev/model": "m",
        "kueue.x-k8s.io/queue-name": "p",
        "kueue.x-k8s.io/priority-class": "high",
    }
    assert (job.size, job.gang) == (3, True)
    assert job.pods.priority_class_name == "high"
    assert job.pods.scheduler_name == "set.binpack"
    assert job.pods.restart_policy == "Never"
    # The flavor adds them.
    assert (job.pods.node_selector, job.pods.tolerations) == ({}, ())


def test_cpu_and_memory_are_the_share_of_the_gpus_rounded_down(planned):
    (it,) = made(planned, a100(), "workload: batch", "Job").values()
    # 2 of 8 GPUs of a node with 96 cores and 1100Gi, without 500m and 1Gi for DaemonSets
    assert it.pods.resources == {"nvidia.com/gpu": "2", "cpu": "23800m", "memory": "274Gi"}


def test_cpu_and_memory_of_the_model_are_not_rounded(planned):
    text = models("a", m="workload: batch, resources: {gpus: 1, cpu: 1050m, memory: 1700Mi}")
    done = planned(a100(), quotas("a", "pool: p"), text, extras=WORKLOADS)
    (it,) = done.of("Job").values()
    assert it.pods.resources == {"nvidia.com/gpu": "1", "cpu": "1050m", "memory": "1700Mi"}


@pytest.mark.parametrize(
    "cpu, memory, expected",
    [("3", "20Gi", ("600m", "4Gi")), ("150m", "700Mi", ("33m", "157Mi"))],
)
def test_small_shares(planned, cpu, memory, expected):
    pool = a100().replace('cpu: "96", memory: 1100Gi', f"cpu: {cpu}, memory: {memory}")
    (it,) = made(planned, pool, "workload: batch", "Job").values()
    assert (it.pods.resources["cpu"], it.pods.resources["memory"]) == expected


def test_a_taint_with_a_value_is_tolerated_with_its_value(planned):
    pool = a100(
        more="      scheduler: kube-scheduler\n"
        "      taints: [{key: a, value: b, effect: NoSchedule}, {key: c, effect: NoExecute}]"
    )
    (it,) = made(planned, pool, "workload: serving", "Deployment").values()
    assert it.pods.tolerations == (
        {"key": "a", "operator": "Equal", "value": "b", "effect": "NoSchedule"},
        {"key": "c", "operator": "Exists", "effect": "NoExecute"},
    )
    assert it.pods.node_selector == {"pool": "p"}


def test_each_gang_of_volcano_has_its_pod_group(planned):
    fields = "workload: training, gang: {size: 2}, replicas: 2"
    found = made(planned, a100(more="      scheduler: volcano"), fields, "Job")
    groups = [it.pods.annotations["scheduling.k8s.io/group-name"] for it in found.values()]
    assert len(set(groups)) == 2


def test_without_gang_scheduling_no_pod_names_a_pod_group(planned):
    pool = a100(more="      scheduler: volcano\n      schedulingPolicy: {gangScheduling: false}")
    (it,) = made(planned, pool, "workload: training, gang: {size: 2}", "Job").values()
    assert it.pods.annotations == {"scheduling.volcano.sh/queue-name": "a.p"}


def test_a_volcano_job_names_queue_and_least_pods(planned):
    fields = "workload: training, gang: {size: 4, runAs: vcjob}"
    (it,) = made(planned, a100(more="      scheduler: volcano"), fields, "Job").values()
    assert (it.queue, it.min_available, it.size) == ("a.p", 4, 4)


def test_a_leader_worker_set_has_all_gangs(planned):
    fields = "gang: {size: 4, runAs: lws}, replicas: 3"
    (it,) = made(planned, a100(), fields, "LeaderWorkerSet").values()
    assert (it.replicas, it.size) == (3, 4)


def test_a_cron_job_names_the_queue_in_its_jobs_only(planned):
    schedule = "schedule: {cron: '0 22 * * *', timeZone: Europe/Berlin, hours: 6}"
    fields = f"workload: training, priority: high, {schedule}, replicas: 2"
    first, second = made(planned, a100(), fields, "CronJob").values()
    assert (first.meta.name, second.meta.name) == ("m-0", "m-1")
    assert first.meta.own_labels == {"policygen.dev/model": "m"}
    assert first.cron.metadata["labels"] == {
        "kueue.x-k8s.io/queue-name": "p",
        "kueue.x-k8s.io/priority-class": "high",
    }
    assert (first.cron.schedule, first.cron.time_zone) == ("0 22 * * *", "Europe/Berlin")
    assert first.cron.active_deadline_s == 6 * 3600
    assert first.pods.restart_policy == "Never"


def test_the_container_is_that_of_the_model(planned):
    fields = "container: {image: 'i:1', command: [run], args: [--all], port: 80}"
    (it,) = made(planned, a100(), fields, "Deployment").values()
    container = it.pods.container
    assert (container.image, container.command, container.args, container.port) == (
        "i:1",
        ("run",),
        ("--all",),
        80,
    )


def test_a_checkpoint(planned):
    fields = "workload: training, checkpoint: {gracePeriodSeconds: 90, command: [save, now]}"
    (it,) = made(planned, a100(), fields, "Job").values()
    assert it.pods.checkpoint.grace_period_s == 90
    assert it.pods.checkpoint.command == ("save", "now")
