"""A value that is refused or has no effect is reported once: no other rule uses the wrong value."""

import re
import textwrap
from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import ClusterRequest, LintRequest, parse_targets
from policygen.client.snapshot_file import write
from policygen.core.finding import Verdict
from tests.client.looks import snapshot

TODAY = date(2026, 11, 21)
QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision.a100}
spec:
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a100, namespace: vision}
spec:
  clusterQueue: vision.a100
"""
QUOTA = """
apiVersion: v1
kind: ResourceQuota
metadata: {name: compute, namespace: vision}
spec: {hard: {%s}}
"""
JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: training, namespace: vision}
spec:
  parallelism: 8
  completions: 8
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: rank
        image: example.com/train:1
        resources: {limits: {nvidia.com/gpu: 1}}
"""
GANG = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: training, namespace: vision}
spec: {minMember: -1, minResources: {nvidia.com/gpu: 5}}
"""


def _sent_to(queue, kind="Job"):
    job = JOB.replace("name: training,", f'labels: {{kueue.x-k8s.io/queue-name: "{queue}"}},')
    job = job.replace("limits: {", "limits: {cpu: 1, memory: 1Gi, ")
    if kind == "Job":
        return job.replace("metadata: {", "metadata: {name: training, ")
    head, metadata, spec = re.split(r"(?m)^(?=metadata|spec)", job)
    inner = textwrap.indent(metadata.replace("namespace: vision", "") + spec, "    ")
    schedule = f'  schedule: "0 2 * * *"\n  timeZone: UTC\n  jobTemplate:\n{inner}'
    made = "metadata: {name: training, namespace: vision}\nspec:\n"
    return f"{head.replace('Job', kind)}{made}{schedule}"


def lint(tmp_path, text, **settings):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    settings = LintRequest(manifests=(str(file),), **settings)
    return app_lint.lint(settings, today=TODAY)


def rules(report):
    return {it.rule.name for it in report.findings}


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"{QUEUE}---{QUOTA % 'nvidia.com/gpu: 4'}", "gpu-quota-counts-nothing"),
        (f"{QUEUE}---{QUOTA % 'requests.cpu: -4'}", "quota-amount-refused"),
        (f"{QUOTA % 'requests.nvidia.com/gpu: -4'}---{JOB}", "quota-amount-refused"),
        (QUOTA % "requests.NVIDIA.com/gpu: 4", "quota-key-refused"),
        (
            QUEUE.replace("  resourceGroups", "  stopPolicy: hold\n  resourceGroups"),
            "unsupported-value",
        ),
        (QUEUE + "  stopPolicy: hold\n", "unsupported-value"),
        (GANG, "out-of-range"),
        (f"{QUEUE}---{_sent_to('LQ_')}", "invalid-label"),
        (f"{QUEUE}---{_sent_to('LQ')}", "queue-label-refused"),
        (f"{QUEUE}---{_sent_to('LQ', 'CronJob')}", "queue-label-refused"),
    ],
)
def test_a_refused_value_is_reported_once(tmp_path, text, rule):
    assert rules(lint(tmp_path, text)) == {rule}


NODES = """
apiVersion: v1
kind: Node
metadata: {name: a100-1, labels: {pool: a100}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8, nvidia.com/mig-1g.10gb: 7}}
"""


def test_a_resource_that_neither_queue_nor_nodes_have_is_reported_once(tmp_path):
    job = _sent_to("a100").replace("nvidia.com/gpu", "nvidia.com/mig-1g.10g")
    queue = QUEUE.replace("nvidia.com/gpu", "nvidia.com/mig-1g.10gb").replace("8}", "7}")
    report = lint(tmp_path, f"{queue}---{job}---{NODES}", partial=True)
    assert [it.rule.name for it in report.findings] == ["request-not-covered"]
    assert report.findings[0].path.endswith('limits["nvidia.com/mig-1g.10g"]')


def test_pods_without_room_are_not_reported_as_gpus_left_too(tmp_path):
    deployment = JOB.replace("batch/v1", "apps/v1").replace("kind: Job", "kind: StatefulSet")
    deployment = re.sub(r"  parallelism[\s\S]*Indexed", "  replicas: 2", deployment)
    deployment = deployment.replace("      restartPolicy: Never\n", "").replace("gpu: 1", "gpu: 5")
    report = lint(tmp_path, f"{deployment}---{NODES}", partial=True)
    (finding,) = [it for it in report.findings if "nodes" in it.rule.name or "gpus" in it.rule.name]
    assert finding.message.endswith(
        "because nvidia.com/gpu runs out on 1 node; lower the number or the requests of the pods, or add nodes"
    )


def test_a_fraction_without_quotes_is_taken_of_a_cluster_queue_when_it_is_made(tmp_path):
    """Kueue's webhook turns 10.5 into "10500m", but only on create."""
    for field in ("nominalQuota: 10.5", "nominalQuota: 96, borrowingLimit: 0.5"):
        report = lint(tmp_path, QUEUE.replace("nominalQuota: 96", field), partial=True)
        (finding,) = [it for it in report.findings if it.rule.name == "every-update-refused"]
        assert finding.message.endswith(
            " (Kueue corrects the value when the object is created, but every update is refused); put the value in quotes"
        )


@pytest.mark.parametrize(
    ("task", "rule"),
    [("", "every-update-refused"), (", minAvailable: 1, maxRetry: 3", "wrong-type")],
)
def test_a_fraction_in_a_task_is_taken_if_volcano_sets_a_default_in_it(tmp_path, task, rule):
    """Volcano's webhook writes all tasks again, but only on create, and only if it changes one."""
    text = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: resize, namespace: vision}\n"
        "spec:\n  schedulerName: volcano\n  minAvailable: 1\n  tasks:\n"
        f"  - {{name: worker, replicas: 1{task}, template: {{spec: {{restartPolicy: Never, containers: "
        "[{name: resize, image: registry.example.com/resize, resources: {limits: {cpu: 1.5}}}]}}}\n"
    )
    (finding,) = lint(tmp_path, text, partial=True).findings
    assert finding.rule.name == rule


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("hostAliases: [{hostnames: [a]}]", "missing-field"),
        ("hostAliases: [{ip: [], hostnames: [a]}]", "wrong-type"),
        ("volumes: [{name: a, emptyDir: {}, mediums: a}]", "unknown-field"),
        ("initContainers: [{name: a, image: a, envFrom: [{secretRef: {name: []}}]}]", "wrong-type"),
        ("initContainers: [{name: a, image: a, envFrom: [{secretRef: []}]}]", "wrong-type"),
        ("initContainers: [{name: a, image: a, env: [{name: A, valueFrom: []}]}]", "wrong-type"),
        ("volumes: [{name: a, configMap: {name: a, items: [{key: [], path: a}]}}]", "wrong-type"),
    ],
)
def test_what_the_schema_refuses_is_not_refused_again(tmp_path, fields, rule):
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: chat, namespace: vision}\nspec:\n"
        f"  containers: [{{name: chat, image: registry.example.com/chat}}]\n  {fields}\n"
    )
    (finding,) = lint(tmp_path, text, partial=True).findings
    assert finding.rule.name == rule


@pytest.mark.parametrize(
    ("header", "task", "rule"),
    [
        ("{name: a}", "", "every-update-refused"),
        ("{name: a, value: null}", "", "every-update-refused"),
        ("{name: a}", ", minAvailable: 1, maxRetry: 3", "missing-field"),
        ("{value: a}", "", "missing-field"),
    ],
)
def test_a_header_without_value_is_taken_if_volcano_sets_a_default(tmp_path, header, task, rule):
    text = (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: resize, namespace: vision}\n"
        "spec:\n  schedulerName: volcano\n  minAvailable: 1\n  tasks:\n"
        f"  - {{name: worker, replicas: 1{task}, template: {{spec: {{restartPolicy: Never, containers: "
        "[{name: resize, image: registry.example.com/resize, "
        f"livenessProbe: {{httpGet: {{port: 80, httpHeaders: [{header}]}}}}}}]}}}}}}\n"
    )
    (finding,) = lint(tmp_path, text, partial=True).findings
    assert finding.rule.name == rule


def test_a_weight_of_zero_is_taken_of_a_queue_when_it_is_made(tmp_path):
    """Volcano's webhook sets 1, but only on create."""
    text = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: vision}\n"
        "spec: {weight: %d}\n"
    )
    (finding,) = lint(tmp_path, text % 0, partial=True).findings
    assert (
        " (Volcano corrects the value when the object is created, but every update is refused); write "
        in finding.message
    )
    (finding,) = lint(tmp_path, text % -1, partial=True).findings
    assert "Volcano accepts it" not in finding.message


def test_a_name_that_is_counted_beside_another_is_not_advised(tmp_path):
    text = QUOTA % "requests.nvidia.com/gpu: 8, limits.nvidia.com/gpu: 4"
    (finding,) = lint(tmp_path, text, partial=True).findings
    assert finding.message.endswith("; remove this key, because requests.nvidia.com/gpu is set too")


def test_a_fraction_without_quotes_is_refused_of_a_cohort(tmp_path):
    cohort = QUEUE.split("---")[1].replace("ClusterQueue", "Cohort").replace("96", "10.5")
    found = lint(tmp_path, cohort, partial=True).findings
    (finding,) = [it for it in found if it.rule.name == "wrong-type"]
    assert finding.message.endswith("; put the value in quotes")


def test_deserved_is_not_checked_without_volcanos_configuration(tmp_path):
    text = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec: {weight: 1, capability: {cpu: 64}}
"""
    report = lint(tmp_path, text)
    (verdict,) = [it for it in report.rules if it.rule == "queue-without-deserved"]
    assert verdict.verdict is Verdict.NOT_EVALUATED
    assert verdict.reason == "the input lacks: Volcano's scheduler configuration"


def test_a_cluster_without_nodes_is_reported_once(tmp_path):
    """There is one finding for all flavors, and no advice to lower amounts that no node has."""
    queue = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec:
  deserved: {cpu: 64}
  guarantee: {resource: {cpu: 64}}
  affinity: {nodeGroupAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [a100]}}
"""
    other = QUEUE.split("---", maxsplit=1)[0].replace("a100", "h100")
    write(snapshot(f"{QUEUE}---{queue}---{other}"), tmp_path / "of.snapshot")
    clusters = ClusterRequest(snapshots=(tmp_path / "of.snapshot",))
    report = app_lint.lint(LintRequest(clusters=clusters), today=TODAY)
    said = [it.message for it in report.findings if "node" in it.message]
    assert said == ["the cluster has no nodes, so no pod can run in any flavor; add nodes"]


@pytest.mark.parametrize("version, field", [("v1beta1", "cohort"), ("v1beta2", "cohortName")])
def test_a_remedy_names_the_field_that_was_written(tmp_path, version, field):
    text = QUEUE.replace("v1beta2", version).replace("  resourceG", f"  {field}: lone\n  resourceG")
    found = {it.rule.name: it.message for it in lint(tmp_path, text).findings}
    assert f"; remove {field}, or" in found["cohort-of-one"]


@pytest.mark.parametrize("version, field", [("v1beta1", "cohort"), ("v1beta2", "cohortName")])
def test_a_remedy_for_a_limit_names_the_field_of_the_version(tmp_path, version, field):
    text = QUEUE.replace("v1beta2", version).replace("8}", "8, lendingLimit: 4}")
    found = {it.rule.name: it.message for it in lint(tmp_path, text, partial=True).findings}
    assert f"; write {field}, or remove" in found["limits-without-cohort"]


def test_a_cron_job_makes_gangs(tmp_path):
    """The field completionMode is in the template of its Jobs."""
    configuration = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
    text = f"{QUEUE}---{_sent_to('a100', 'CronJob')}---\n{configuration}"
    found = rules(lint(tmp_path, text, target=parse_targets({"kueue": "0.18"})))
    assert "wait-for-pods-ready-off" in found


def test_a_pod_group_without_min_resources_needs_its_pods_requests(tmp_path):
    annotation = "template:\n    metadata: {annotations: {scheduling.k8s.io/group-name: training}}"
    job = JOB.replace("template:", annotation).replace("gpu: 1}", "gpu: 2}")
    queue = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: vision}\n"
        "spec: {capability: {nvidia.com/gpu: 8}}\n"
    )
    group = GANG.replace("minMember: -1, minResources: {nvidia.com/gpu: 5}", "%s, queue: vision")
    for size, wrong in ((8, True), (4, False)):
        text = f"{queue}---{group % f'minMember: {size}'}---{job}"
        found = rules(lint(tmp_path, text, partial=True))
        assert ("gang-exceeds-queue" in found) is wrong


def test_an_object_without_a_name_is_called_by_the_start_of_the_one_it_gets(tmp_path):
    text = JOB.replace("name: training,", "generateName: train-,").replace("gpu: 1}", "gpu: 0.5}")
    found = lint(tmp_path, f"{text}---{QUOTA % 'requests.nvidia.com/gpu: 3'}").findings
    assert {it.object for it in found} == {"Job vision/train-*"}


def test_an_invalid_name_is_described(tmp_path):
    text = QUEUE.replace("  resourceG", "  cohortName: My_Cohort\n  resourceG")
    found = {it.rule.name: it.message for it in lint(tmp_path, text, partial=True).findings}
    assert found["invalid-value"].endswith(
        '"My_Cohort" is not a valid name; write lower-case letters, digits, "-" and ".", beginning and ending '
        "with a letter or digit"
    )


NODE = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100}}
spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
"""
FLAVOR = "spec: {nodeLabels: {pool: a100}, tolerations: [{key: nvidia.com/gpu, operator: Exists}]}"


@pytest.mark.parametrize("gpus, more", [(1, set()), (16, {"pod-fits-no-node"})])
def test_a_missing_queue_is_the_reason_for_a_missing_toleration(tmp_path, gpus, more):
    """The flavor of the queue adds the toleration, but not GPUs."""
    queue = QUEUE.replace("spec: {nodeLabels: {pool: a100}}", FLAVOR)
    text = f"{NODE}---{queue}---{JOB.replace('gpu: 1}', f'gpu: {gpus}}}')}"
    assert rules(lint(tmp_path, text)) == {*more, "workload-names-no-queue"}


def test_a_refused_resource_is_reported_once(tmp_path):
    """In requests and limits, and not again because no node has it."""
    resources = "{limits: {gpu: 1, cpu: 1}, requests: {gpu: 1}}"
    text = NODE.replace("spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}\n", "")
    text = f"{text}---{JOB.replace('{limits: {nvidia.com/gpu: 1}}', resources)}"
    assert rules(lint(tmp_path, text)) == {"container-resource-refused"}


def test_a_volcano_job_keeps_no_null_amounts(tmp_path):
    """A create drops memory: null; server-side apply, which keeps it as 0, would accept the huge pages."""
    resources = "{limits: {hugepages-2Mi: 64Mi, memory: null}}"
    text = f"""
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {{name: training, namespace: vision}}
spec:
  schedulerName: volcano
  queue: default
  minAvailable: 1
  tasks:
  - name: worker
    replicas: 1
    template: {{spec: {{restartPolicy: Never, containers: [{{name: main, image: i, resources: {resources}}}]}}}}
"""
    assert rules(lint(tmp_path, text)) == {"container-resource-refused"}


def test_a_refused_number_of_gpus_is_not_also_called_wasteful(tmp_path):
    text = NODE.replace("spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}\n", "")
    text = f"{text}---{JOB.replace('limits: {nvidia.com/gpu: 1}', 'requests: {nvidia.com/gpu: 3}')}"
    assert rules(lint(tmp_path, text)) == {"gpu-request-without-limit"}


def test_a_plugin_at_an_unknown_extension_point_is_reported_with_the_point(tmp_path):
    text = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
profiles:
- schedulerName: a
  plugins: {scor: {enabled: [{name: ImageLocality}]}}
"""
    errors = [it.rule.name for it in lint(tmp_path, text).findings if it.severity.name == "ERROR"]
    assert errors == ["scheduler-key-unknown"]
