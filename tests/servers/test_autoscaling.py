"""The rendered autoscaler scales a model by a metric of its pods, within the quota of its team."""

import subprocess

import pytest
import yaml

from tests.servers.cluster import holds
from tests.servers.custom_metrics import adapter
from tests.servers.rendering import rendered
from tests.servers.specs import model, platform, pool, share, team
from tests.servers.test_other_tools import install
from tests.servers.upstream import KEDA, VERTICAL_AUTOSCALER
from tests.servers.vertical_updater import VPA, recommend, vertical_updater

METRIC = "vllm:num_requests_running"
HPA = "autoscaling/v2", "HorizontalPodAutoscaler", "chat", "web"
SCHEDULERS = ("kueue", "volcano", "kube-scheduler")


def replicas(cluster):
    return cluster.get("apps/v1", "Deployment", "chat", "web")["spec"]["replicas"]


def running(cluster):
    return sum(holds(it, "Ready") for it in cluster.pods("web"))


def bound(cluster, **spec):
    cluster.patch(*HPA[:3], {"spec": spec}, namespace="web")


def chat(settings, scheduler="kueue", extra="volcano-config"):
    """A model with up to 8 replicas of 2 GPUs, in a team with a limit of 8 GPUs."""
    return rendered(
        [
            settings,
            pool(gpus=32, scheduler=scheduler),
            team("web", share(guarantee=6, limit=8)),
            model(
                "chat",
                "web",
                resources={"gpus": 2},
                container={"image": "registry.example.com/any:1"},
                autoscaling={
                    "minReplicas": 2,
                    "maxReplicas": 8,
                    "metric": METRIC,
                    "targetConcurrency": 8,
                },
            ),
        ],
        "workloads",
        extra,
    )


@pytest.mark.parametrize("scheduler", SCHEDULERS)
def test_an_autoscaler_stays_within_the_limit(cluster, scheduler):
    out = chat(platform(), scheduler)
    with (
        cluster.kube_scheduler(out.scheduler_config)
        if scheduler != "volcano"
        else cluster.volcano(out.volcano_config),
        adapter(cluster, cluster.bench.state / "keys", METRIC) as metrics,
    ):
        cluster.add_nodes(out.pools["a100"])
        cluster.apply(out.text)
        # Kubernetes waits five minutes before it scales down.
        bound(cluster, behavior={"scaleDown": {"stabilizationWindowSeconds": 0}})
        cluster.becomes("the fewest", lambda: running(cluster), 2)
        metrics.requests = 17  # 8.5 for each pod, less than 10 % above the target
        cluster.stays("the fewest near the target", lambda: replicas(cluster), 2)
        metrics.requests = 20
        cluster.becomes("2.5 replicas at 8 requests", lambda: running(cluster), 3)
        metrics.requests = 100
        cluster.becomes("the limit", lambda: running(cluster), 4)
        cluster.stays("no replica above the limit", lambda: replicas(cluster), 4)
        assert not cluster.waiting("web")
        if scheduler == "kueue":
            cluster.apply(out.text)
            cluster.stays("replicas after an apply", lambda: replicas(cluster), 4)
        metrics.requests = 0
        cluster.becomes("the fewest again", lambda: replicas(cluster), 2)
        if scheduler != "kueue":
            return
        bound(cluster, maxReplicas=8)
        metrics.requests = 100
        cluster.becomes("as many as the model states", lambda: replicas(cluster), 8)
        cluster.stays("only four of them run", lambda: running(cluster), 4)


SERIES = {
    "chat-5b7f9c6d8-x2k4z": ("web", 11),
    "chat-5b7f9c6d8-b9qwd": ("web", 4),
    "chat-large-5b7f9c6d8-aaaaa": ("web", 100),  # of another Deployment
    "my-chat-5b7f9c6d8-aaaaa": ("web", 100),
    "chat-eu-b9qwd": ("web", 100),  # of a Job
    "chat-0": ("web", 100),  # of a StatefulSet
    "chat-77d4c8f5bb-ccccc": ("lab", 100),  # of another team
}


def test_keda_accepts_the_scaled_object_and_asks_for_the_pods_of_the_model(
    cluster, tools, tmp_path
):
    """KEDA does not run here: its CRD checks the object, and promtool evaluates the query."""
    install(cluster, tools, KEDA)
    out = chat(platform(keda={"prometheus": "http://prometheus:9090"}))
    scaled = out.of("ScaledObject")["chat"]
    cluster.namespace("web")
    again = cluster.apply_twice(yaml.safe_dump(scaled))
    assert (again.refused, again.changed, again.warnings) == ([], [], [])
    assert (scaled["spec"]["minReplicaCount"], scaled["spec"]["maxReplicaCount"]) == (2, 4)
    series = [
        {"series": f'{METRIC}{{namespace="{space}", pod="{name}"}}', "values": str(value)}
        for name, (space, value) in SERIES.items()
    ]
    (trigger,) = scaled["spec"]["triggers"]
    asked = {
        "expr": trigger["metadata"]["query"],
        "eval_time": "0s",
        "exp_samples": [{"labels": "{}", "value": 15}],
    }
    case = {"input_series": series, "promql_expr_test": [asked]}
    file = tmp_path / "tests.yaml"
    file.write_text(yaml.safe_dump({"evaluation_interval": "1m", "tests": [case]}))
    command = [tools["prometheus"].binary("promtool"), "test", "rules", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_crd_of_the_vertical_autoscaler_accepts_the_object(cluster, tools):
    install(cluster, tools, VERTICAL_AUTOSCALER)
    out = chat(platform(), extra="vpa")
    vertical = out.of("VerticalPodAutoscaler")["chat"]
    assert vertical["spec"]["updatePolicy"] == {"updateMode": "Off"}
    cluster.namespace("web")
    again = cluster.apply_twice(yaml.safe_dump(vertical))
    assert (again.refused, again.changed, again.warnings) == ([], [], [])


IMAGE = {"container": {"image": "registry.example.com/any:1"}}


def test_the_vertical_autoscaler_evicts_no_pod_of_a_rendered_object(cluster, tools):
    """Its updater runs, and evicts the same pods as soon as the mode of the object is another one."""
    out = rendered(
        [
            platform(),
            pool(gpus=8),
            team("web", share(guarantee=8)),
            model("chat", "web", resources={"gpus": 2}, replicas=2, **IMAGE),
            model("training", "web", workload="training", resources={"gpus": 2}, **IMAGE),
        ],
        "workloads",
        "vpa",
    )
    names = [*out.of("VerticalPodAutoscaler")]
    assert names == ["chat", "training"]
    pods = lambda: {it["metadata"]["uid"] for it in cluster.pods("web")}
    with (
        vertical_updater(cluster, tools) as looked_at,
        cluster.kube_scheduler(out.scheduler_config),
    ):
        cluster.add_nodes(out.pools["a100"])
        cluster.apply(out.text)
        cluster.becomes("running", lambda: running(cluster), 3)
        before = pods()
        for name in names:
            recommend(cluster, "web", name)
            cluster.until("the updater", lambda name=name: looked_at("web", name))
        cluster.stays("pods", pods, before, for_s=3)
        for name in names:
            mode = {"spec": {"updatePolicy": {"updateMode": "Recreate"}}}
            cluster.patch(*VPA, name, mode, "web")
        cluster.until("all pods are evicted", lambda: not before & pods())
