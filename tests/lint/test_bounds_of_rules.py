"""Where a rule begins and ends to report: objects that differ in one field from a bad example."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest

TODAY = date(2026, 11, 21)


def findings(tmp_path, text, rule):
    path = tmp_path / "objects.yaml"
    path.write_text(text)
    report = app_lint.lint(LintRequest(manifests=(str(path),)), today=TODAY)
    return [it for it in report.findings if it.rule.name == rule]


def priority_class(name, value, policy="PreemptLowerPriority"):
    return (
        "apiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\n"
        f"metadata: {{name: {name}}}\nvalue: {value}\npreemptionPolicy: {policy}\n"
    )


def with_gpus(kind, name, priority, labels="{}"):
    api_version = "apps/v1" if kind == "Deployment" else "batch/v1"
    selector = "selector: {matchLabels: {app: a}}, " if kind == "Deployment" else ""
    policy = "Always" if kind == "Deployment" else "Never"
    return (
        f"apiVersion: {api_version}\nkind: {kind}\n"
        f"metadata: {{name: {name}, namespace: vision, labels: {labels}}}\n"
        f"spec: {{{selector}template: {{metadata: {{labels: {{app: a}}}}, spec: {{restartPolicy: {policy}, "
        f"priorityClassName: {priority}, containers: [{{name: a, image: registry.example.com/a:1, "
        "resources: {limits: {cpu: 4, memory: 8Gi, nvidia.com/gpu: 1}}}]}}}\n"
    )


CLUSTER_QUEUE = (
    "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue\nmetadata: {name: vision}\n"
    "spec: {namespaceSelector: {}}\n"
)
NEVER = priority_class("serving", 1000, "Never")
TRAINING = priority_class("training", 100)
HIGHEST = priority_class("alerts", 2000)
SERVES, TRAINS = with_gpus("Deployment", "llm", "serving"), with_gpus("Job", "train", "training")
IN_KUEUE = with_gpus("Deployment", "llm", "serving", "{kueue.x-k8s.io/queue-name: a}")


@pytest.mark.parametrize(
    ("texts", "rival"),
    [
        ([NEVER, TRAINING], "training"),
        ([NEVER, TRAINING, priority_class("batch", 50)], "training"),
        ([NEVER, TRAINING, priority_class("urgent", 1000)], ""),
        ([NEVER, TRAINING, HIGHEST], ""),
        ([NEVER, TRAINING, CLUSTER_QUEUE], ""),
        ([NEVER, priority_class("training", 100, "Never")], ""),
        # A class that is not the highest is reported for serving workloads beside others.
        ([NEVER, TRAINING, HIGHEST, SERVES, TRAINS], "training"),
        ([NEVER, TRAINING, CLUSTER_QUEUE, SERVES, TRAINS], "training"),
        ([NEVER, TRAINING, HIGHEST, SERVES], ""),
        ([NEVER, TRAINING, HIGHEST, TRAINS], ""),
        ([NEVER, TRAINING, HIGHEST, with_gpus("Job", "batch", "serving"), TRAINS], ""),
        ([NEVER, HIGHEST, SERVES, with_gpus("Job", "train", "alerts")], ""),
        ([NEVER, TRAINING, HIGHEST, priority_class("urgent", 1000), SERVES, TRAINS], ""),
        ([NEVER, priority_class("training", 1000), HIGHEST, SERVES, TRAINS], ""),
        ([NEVER, TRAINING, HIGHEST, TRAINS, IN_KUEUE], ""),
    ],
)
def test_high_priority_never_preempts(tmp_path, texts, rival):
    found = findings(tmp_path, "---\n".join(texts), "high-priority-never-preempts")
    assert len(found) == bool(rival)
    assert all(f"the lower class {rival} do" in it.message for it in found)


def node(name, gpus=0, taint="", cpu=32):
    taints = f"taints: [{{key: nvidia.com/gpu, effect: {taint}}}]" if taint else ""
    return (
        f"apiVersion: v1\nkind: Node\nmetadata: {{name: {name}}}\nspec: {{{taints}}}\n"
        f"status: {{allocatable: {{cpu: {cpu}, memory: 128Gi, pods: 110, nvidia.com/gpu: {gpus}}}}}\n"
    )


def web(name="web", resources="{requests: {cpu: 2, memory: 4Gi}}", labels="{}"):
    return (
        f"apiVersion: apps/v1\nkind: Deployment\nmetadata: {{name: {name}, namespace: vision, labels: {labels}}}\n"
        "spec: {selector: {matchLabels: {app: a}}, template: {metadata: {labels: {app: a}}, spec: "
        f"{{containers: [{{name: a, image: registry.example.com/a:1, resources: {resources}}}]}}}}}}\n"
    )


CPU = node("cpu-1")


@pytest.mark.parametrize(
    ("texts", "begins"),
    [
        ([node("gpu-1", 8), CPU, web()], "1 node with GPUs has no taint"),
        ([node("gpu-1", 8), node("gpu-2", 8), CPU, web()], "2 nodes with GPUs have no taint"),
        ([node("gpu-1", 8), node("gpu-2", 8, "NoSchedule"), CPU, web()], "1 node with GPUs has"),
        ([node("gpu-1", 8, "NoExecute"), CPU, web()], ""),
        ([node("gpu-1", 8, "PreferNoSchedule"), CPU, web()], "1 node with GPUs has"),
        ([node("gpu-1", 8), web()], ""),
        ([CPU, web()], ""),
        ([node("gpu-1", 8), node("cpu-1", cpu=1), web()], ""),
        ([node("gpu-1", 8, cpu=1), CPU, web()], ""),
        ([node("gpu-1", 8), CPU, web(resources="{}")], ""),
        ([node("gpu-1", 8), CPU, web(resources="{limits: {cpu: 1, nvidia.com/gpu: 1}}")], ""),
        ([node("gpu-1", 8), CPU, web(), web("site")], "1 node with GPUs has"),
    ],
)
def test_gpu_nodes_open(tmp_path, texts, begins):
    found = findings(tmp_path, "---\n".join(texts), "gpu-nodes-open")
    assert len(found) == bool(begins)
    assert all(it.message.startswith(begins) for it in found)


TOLERATION = "[{key: nvidia.com/gpu, operator: Exists}]"


def tolerating(text, tolerations=TOLERATION):
    return text.replace("{containers:", f"{{tolerations: {tolerations}, containers:")


@pytest.mark.parametrize(
    ("texts", "begins"),
    [
        (
            [node("gpu-1", 8, "NoSchedule"), CPU, tolerating(web())],
            "the pods of Deployment vision/web",
        ),
        ([node("gpu-1", 8, "NoSchedule"), CPU, web()], ""),
        ([node("gpu-1", 8), CPU, tolerating(web())], ""),
        ([node("gpu-1", 8, "NoSchedule"), tolerating(web())], ""),
        ([node("gpu-1", 8, "NoSchedule", cpu=1), CPU, tolerating(web())], ""),
        (
            [node("gpu-1", 8, "NoSchedule"), CPU, tolerating(web(), "[{operator: Exists}]")],
            "the pods of Deployment vision/web",
        ),
        (
            [
                node("gpu-1", 8, "NoSchedule"),
                CPU,
                tolerating(web(resources="{limits: {cpu: 1, nvidia.com/gpu: 1}}")),
            ],
            "",
        ),
    ],
)
def test_gpu_nodes_tolerated(tmp_path, texts, begins):
    found = findings(tmp_path, "---\n".join(texts), "gpu-nodes-tolerated")
    assert len(found) == bool(begins)
    assert all(it.message.startswith(begins) for it in found)


def test_the_first_workload_is_named_and_the_others_are_counted(tmp_path):
    some = [web(), web("site"), web("shop", "{limits: {nvidia.com/gpu: 1}}")]
    for texts, named in ((some[:1], "vision/web,"), (some, "vision/web and of 1 other workload,")):
        text = "---\n".join([node("gpu-1", 8), CPU, *texts])
        (found,) = findings(tmp_path, text, "gpu-nodes-open")
        assert named in found.message


def spread(selector, *, kind="topologySpreadConstraints"):
    term = f"topologyKey: kubernetes.io/hostname, {selector}"
    if kind == "topologySpreadConstraints":
        field = f"{kind}: [{{maxSkew: 1, whenUnsatisfiable: ScheduleAnyway, {term}}}]"
    else:
        required = f"requiredDuringSchedulingIgnoredDuringExecution: [{{{term}}}]"
        field = f"affinity: {{podAntiAffinity: {{{required}}}}}"
    text = web().replace("labels: {app: a}", "labels: {app: server}")
    return text.replace("matchLabels: {app: a}", "matchLabels: {app: server}").replace(
        "{containers:", f"{{{field}, containers:"
    )


@pytest.mark.parametrize(
    ("selector", "kind", "advice"),
    [
        ("labelSelector: {matchLabels: {app: server}}", "topologySpreadConstraints", ""),
        (
            "labelSelector: {matchLabels: {app: sever}}",
            "topologySpreadConstraints",
            "write app: server",
        ),
        (
            "labelSelector: {matchLabels: {tier: web}}",
            "topologySpreadConstraints",
            "select the labels",
        ),
        ("minDomains: null", "topologySpreadConstraints", "select the labels"),
        ("labelSelector: {}", "topologySpreadConstraints", ""),
        ("labelSelector: {matchLabels: {app: sever}}", "podAntiAffinity", "write app: server"),
        ("labelSelector: {matchLabels: {app: noisy}}", "podAntiAffinity", ""),
    ],
)
def test_spread_matches_no_pod(tmp_path, selector, kind, advice):
    found = findings(tmp_path, spread(selector, kind=kind), "spread-matches-no-pod")
    assert len(found) == bool(advice)
    assert all(f"; {advice}" in it.message for it in found)
    others = web("batch").replace("labels: {app: a}", "labels: {app: sever, tier: web}")
    both = spread(selector, kind=kind) + "---\n" + others
    only = "minDomains" in selector
    assert bool(findings(tmp_path, both, "spread-matches-no-pod")) == only


@pytest.mark.parametrize(("priority", "expected"), [(5, 0), (10, 1)])
def test_of_several_default_classes_the_lowest_gives_a_pod_its_priority(
    tmp_path, priority, expected
):
    classes = "".join(
        f"{priority_class(name, value)}globalDefault: true\n---\n"
        for name, value in (("a", 10), ("b", 5))
    )
    pod = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: vision}\n"
        f"spec: {{priority: {priority}, containers: [{{name: a, image: registry.example.com/a:1}}]}}\n"
    )
    assert len(findings(tmp_path, classes + pod, "pod-field-refused")) == expected
