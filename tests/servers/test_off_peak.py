"""A model with a schedule runs in its window on real servers, with its own queue and priority, and ends with it.

The clock of the servers cannot be moved. But the controller of CronJobs begins what it missed since the time in
`status.lastScheduleTime`, so the tests move this time back instead.
"""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import yaml

from tests.servers.cluster import KUEUE, holds
from tests.servers.rendering import rendered

ZONE = "Asia/Tokyo"
BATCH = "batch/v1"
WINDOW_S = 15
"""Instead of one hour, the shortest window of a model."""
SPEC = """
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata: {name: nights}
spec:
  priorities: [{name: serving, value: 800}, {name: night, value: 100, preempts: false}]
  peakHours: {timeZone: UTC, days: [Mon], start: "09:00", end: "09:01"}
---
apiVersion: policygen.dev/v1alpha1
kind: ResourcePool
metadata: {name: h100}
spec:
  nodeSelector: {pool: h100}
  gpu: {product: NVIDIA-H100-80GB-HBM3, perNode: 8}
  capacity: {nodes: 1, nodeAllocatable: {cpu: 64, memory: 512Gi}}
---
apiVersion: policygen.dev/v1alpha1
kind: Team
metadata: {name: offline}
spec: {namespaces: [{name: offline, create: true}], quotas: [{pool: h100, guarantee: 8}]}
"""
MODEL = """
---
apiVersion: policygen.dev/v1alpha1
kind: Model
metadata: {{name: {name}}}
spec:
  team: offline
  workload: batch
  priority: night
  resources: {{gpus: 8, cpu: 8, memory: 64Gi}}
  container: {{image: a}}
  schedule: {{cron: "{cron}", timeZone: {zone}, hours: 1}}
"""


def at(moment):
    """A schedule for each day at the time that it is now in another zone."""
    local = moment.astimezone(ZoneInfo(ZONE))
    return f"{local.minute} {local.hour} * * *"


def move_back(cluster, name):
    """Let the controller look at all runs of the last hour."""
    hour_ago = datetime.now(UTC) - timedelta(hours=1)
    status = {"lastScheduleTime": hour_ago.strftime("%Y-%m-%dT%H:%M:%SZ")}
    cluster.patch(BATCH, "CronJob", name, {"status": status}, "offline", "status")


def jobs(cluster):
    """The CronJob of each Job that is not finished."""
    found = cluster.objects(BATCH, "Job", "offline")
    running = (it for it in found if not holds(it, "Failed"))
    return sorted(it["metadata"]["ownerReferences"][0]["name"] for it in running)


def failures(cluster):
    """Why Jobs failed."""
    jobs = cluster.objects(BATCH, "Job", "offline")
    conditions = (each for it in jobs for each in it["status"].get("conditions", ()))
    return [it["reason"] for it in conditions if it["type"] == "Failed"]


def test_a_scheduled_model_runs_in_its_window_and_ends_with_it(cluster):
    now = datetime.now(UTC)
    minutes = {"nightly": 2, "late": 20}  # a run begins at most ten minutes late
    models = (
        MODEL.format(name=name, cron=at(now - timedelta(minutes=it)), zone=ZONE)
        for name, it in minutes.items()
    )
    out = rendered(SPEC + "".join(models), "workloads")
    objects = {it["metadata"]["name"]: it for it in out.objects if it["kind"] == "CronJob"}
    assert objects.keys() == minutes.keys()
    for it in objects.values():
        window = it["spec"]["jobTemplate"]["spec"]
        assert window["activeDeadlineSeconds"] == 3600
        window["activeDeadlineSeconds"] = WINDOW_S
    others = [it for it in out.objects if it["kind"] != "CronJob"]
    with cluster.kube_scheduler(out.scheduler_config):
        cluster.add_nodes(out.pools["h100"])
        cluster.apply(yaml.safe_dump_all([*others, *objects.values()]))
        for name in objects:
            move_back(cluster, name)
        cluster.becomes("only the run of this window", lambda: jobs(cluster), ["nightly"])
        cluster.becomes("GPUs in use", lambda: cluster.bound("offline"), 8)
        (workload,) = cluster.objects(KUEUE, "Workload", "offline")
        assert (workload["spec"]["queueName"], workload["spec"]["priority"]) == ("h100", 100)
        (pod,) = cluster.pods("offline")
        assert pod["spec"]["priority"] == 100
        for name in objects:
            move_back(cluster, name)
        cluster.stays("no second run beside it", lambda: jobs(cluster), ["nightly"])
        cluster.becomes("GPUs after the window", lambda: cluster.bound("offline"), 0)
        cluster.becomes("why it ended", lambda: failures(cluster), ["DeadlineExceeded"])
        cluster.becomes("quota is free", lambda: cluster.admitted("offline"), [])
