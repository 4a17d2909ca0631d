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
percentageOfNodesToScore: 100
profiles:
- schedulerName: a
  plugins: {scor: {enabled: [{name: ImageLocality}]}}
"""
    errors = [it.rule.name for it in lint(tmp_path, text).findings if it.severity.name == "ERROR"]
    assert errors == ["scheduler-key-unknown"]


WITHOUT_MIG = NODES.replace(", nvidia.com/mig-1g.10gb: 7", "")


def test_too_much_cpu_for_a_gpu_is_no_fault_of_a_quota_with_the_share_of_the_nodes(tmp_path):
    job = _sent_to("a100").replace(": 8\n", ": 2\n").replace("cpu: 1,", "cpu: 40,")
    report = lint(tmp_path, f"{QUEUE}---{job}---{WITHOUT_MIG}")
    assert rules(report) == {"gpus-left-unusable"}


TOPOLOGY = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: default}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
"""
RACK = "pool: a100, rack: r1, kubernetes.io/hostname: a100-1}"


@pytest.mark.parametrize(
    ("level", "taint", "rule"),
    [
        ("block", "", "topology-level-unknown"),
        ("rack", "spec: {taints: [{key: gpu, effect: NoSchedule}]}\n", "node-taint-not-tolerated"),
    ],
)
def test_why_a_topology_has_no_room_is_reported_once(tmp_path, level, taint, rule):
    queue = QUEUE.replace(
        "{nodeLabels: {pool: a100}}", "{nodeLabels: {pool: a100}, topologyName: default}"
    )
    note = f"metadata: {{annotations: {{kueue.x-k8s.io/podset-required-topology: {level}}}}}"
    job = _sent_to("a100").replace("  template:\n", f"  template:\n    {note}\n")
    node = WITHOUT_MIG.replace("pool: a100}", RACK).replace("status", f"{taint}status")
    report = lint(tmp_path, f"{queue}---{TOPOLOGY}---{job}---{node}")
    assert rules(report) == {rule}


def test_levels_in_a_wrong_order_are_reported_once(tmp_path):
    """With the hostname first, the topology has no room for the Job either."""
    queue = QUEUE.replace(
        "{nodeLabels: {pool: a100}}", "{nodeLabels: {pool: a100}, topologyName: default}"
    )
    levels = "[{nodeLabel: kubernetes.io/hostname}, {nodeLabel: rack}]"
    topology = f"{TOPOLOGY.partition('spec:')[0]}spec: {{levels: {levels}}}\n"
    note = "metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: rack}}"
    job = _sent_to("a100").replace("  template:\n", f"  template:\n    {note}\n")
    node = WITHOUT_MIG.replace("pool: a100}", RACK)
    report = lint(tmp_path, f"{queue}---{topology}---{job}---{node}")
    assert rules(report) == {"crd-rule-broken"}


def test_limits_without_a_cohort_are_reported_once(tmp_path):
    limits = QUEUE.replace(
        "nominalQuota: 8}", "nominalQuota: 8, borrowingLimit: 8, lendingLimit: 4}"
    )
    report = lint(tmp_path, limits)
    assert [it.rule.name for it in report.findings] == ["crd-rule-broken"]


GPU_TAINT = "spec: {taints: [{key: gpu, effect: NoSchedule}]}\n"
TOLERATING = """{nodeLabels: {pool: a100}, nodeTaints: [{key: gpu, effect: NoSchedule}],
  tolerations: [{key: gpu, operator: Exists}]}"""


@pytest.mark.parametrize(("name", "fits"), [("default", True), ("other", False)])
def test_the_queue_default_takes_jobs_without_a_queue_name(tmp_path, name, fits):
    """So the flavor of its ClusterQueue adds the toleration that the pods need."""
    queue = QUEUE.replace("{nodeLabels: {pool: a100}}", TOLERATING)
    queue = queue.replace("{name: a100, namespace", f"{{name: {name}, namespace")
    job = JOB.replace("limits: {", "limits: {cpu: 1, memory: 1Gi, ")
    report = lint(
        tmp_path, f"{queue}---{job}---{WITHOUT_MIG.replace('status', f'{GPU_TAINT}status')}"
    )
    assert ("local-queue-named-default" in rules(report)) is fits
    assert ("workload-names-no-queue" in rules(report)) is not fits
    assert "pod-fits-no-node" not in rules(report)


PACKING = """
apiVersion: kubescheduler.config.k8s.io/v1
kind: KubeSchedulerConfiguration
percentageOfNodesToScore: 100
profiles:
- schedulerName: binpack
  plugins: {multiPoint: {disabled: [{name: PodTopologySpread}, {name: NodeResourcesBalancedAllocation}, {name: ImageLocality}]}}
  pluginConfig:
  - name: NodeResourcesFit
    args: {scoringStrategy: {type: MostAllocated, resources: [{name: nvidia.com/gpu, weight: 100}]}}
"""
MISSPELT = JOB.replace("      restartPolicy", "      schedulerName: bin-pack\n      restartPolicy")
WITHOUT_UNIT = QUEUE.replace("1000Gi", '"1000"')
RECLAIMS = "  cohortName: all\n  preemption: {reclaimWithinCohort: Any}\n  namespaceSelector"
IN_COHORT = WITHOUT_UNIT.replace("  namespaceSelector", RECLAIMS)
OTHER_QUEUE = f"{QUEUE.split('---')[1]}".replace("vision", "other").replace("1000Gi", "1Gi")
OTHER_QUEUE = OTHER_QUEUE.replace("  namespaceSelector", RECLAIMS)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (f"{PACKING}---{MISSPELT}", "scheduler-name-misspelt"),
        (PACKING.replace("NodeResourcesFit", "NodeResourceFit"), "scheduler-arguments-ignored"),
        (f"{WITHOUT_UNIT}---{_sent_to('a100')}", "memory-quota-without-unit"),
        (f"{IN_COHORT}---{OTHER_QUEUE}---{_sent_to('a100')}", "memory-quota-without-unit"),
    ],
)
def test_what_follows_from_a_wrong_word_is_not_reported_too(tmp_path, text, rule):
    assert rules(lint(tmp_path, text)) == {rule}


@pytest.mark.parametrize(
    ("fields", "rule"),
    [
        ("serviceAccount: Trainer", {"pod-field-refused"}),
        ("serviceAccount: Trainer, serviceAccountName: trainer", set()),
    ],
)
def test_the_former_name_of_a_service_account_counts_alone(tmp_path, fields, rule):
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: chat, namespace: vision}\n"
        f"spec: {{{fields}, containers: [{{name: chat, image: registry.example.com/chat}}]}}\n"
    )
    assert rules(lint(tmp_path, text, partial=True)) == rule


def test_a_fault_in_a_part_that_two_tasks_share_is_reported_once(tmp_path):
    job = """
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: training, namespace: vision}
spec:
  schedulerName: volcano
  queue: default
  minAvailable: 2
  tasks:
  - name: master
    replicas: 1
    template: &pod
      spec:
        restartPolicy: OnFailure
        containers:
        - name: rank
          image: example.com/train:1
          resources: {limits: {cpu: 128, memory: 8Gi, nvidia.com/gpu: 8}}
  - name: worker
    replicas: 1
    template: *pod
"""
    report = lint(tmp_path, f"{job}---{NODES}", partial=True, only=("pod-fits-no-node",))
    assert len(report.findings) == 1
    assert "request at most 96" in report.findings[0].message


def test_a_quota_above_what_its_nodes_have_is_not_proposed(tmp_path):
    other = WITHOUT_MIG.replace("a100-1", "other").replace("cpu: 96", "cpu: 400")
    other = other.replace("labels: {pool: a100}", "labels: {pool: h100}")
    job = _sent_to("a100").replace(": 8\n", ": 2\n").replace("cpu: 1,", "cpu: 40,")
    report = lint(
        tmp_path, f"{QUEUE}---{job}---{WITHOUT_MIG}---{other}", skip=("gpus-left-unusable",)
    )
    assert rules(report) == set()


SERVER = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: server, namespace: vision}
spec:
  selector: {matchLabels: {app: server}}
  template:
    metadata: {labels: {app: server}}
    spec:
      containers:
      - name: server
        image: example.com/serve:1
        resources: {limits: {cpu: 1, memory: 1Gi%s}}
"""
MIG_NODE = NODES.replace("nvidia.com/gpu: 8", "nvidia.com/mig-3g.40gb: 2")


def test_an_uncounted_quota_of_a_mig_resource_is_reported_once(tmp_path):
    quota = QUOTA % "requests.nvidia.com/mig-1g.10gb: 7, nvidia.com/mig-3g.40gb: 2"
    server = SERVER % ", nvidia.com/mig-3g.40gb: 1"
    report = lint(tmp_path, f"{MIG_NODE}---{quota}---{server}")
    assert [it.rule.name for it in report.findings] == ["gpu-quota-counts-nothing"]


def test_no_quota_is_advised_for_a_resource_that_no_node_offers(tmp_path):
    quota = QUOTA % "requests.nvidia.com/mig-1g.10gb: 7, requests.nvidia.com/mig-3g.40gb: 2"
    server = SERVER % ", nvidia.com/mig-3g.20gb: 1"
    report = lint(tmp_path, f"{MIG_NODE}---{quota}---{server}")
    assert [it.rule.name for it in report.findings] == ["pod-fits-no-node"]


@pytest.mark.parametrize(
    "limits",
    [
        "max: {nvidia.com/gpu: 8}",
        "max: {nvidia.com/gpu: 8}, default: {cpu: 4, memory: 16Gi}",
        "min: {nvidia.com/gpu: 1}",
        "default: {nvidia.com/gpu: 1}",
        "default: {nvidia.com/gpu: 2}, defaultRequest: {nvidia.com/gpu: 2}, max: {nvidia.com/gpu: 8}",
    ],
)
def test_a_default_of_gpus_is_reported_without_the_pods_that_get_it(tmp_path, limits):
    """A server without GPUs, and a sidecar beside a container that takes all GPUs of a node."""
    text = f"""
apiVersion: v1
kind: LimitRange
metadata: {{name: limits, namespace: vision}}
spec: {{limits: [{{type: Container, {limits}}}]}}
"""
    sidecar = "- name: proxy\n        image: example.com/proxy:1\n        resources: {limits: {cpu: 1, memory: 1Gi}}\n"
    trainer = SERVER.replace("server", "trainer") % ", nvidia.com/gpu: 8" + f"      {sidecar}"
    trainer = trainer.replace("spec:\n  sel", "spec:\n  strategy: {type: Recreate}\n  sel", 1)
    served = f"{MIG_NODE}---{NODES.replace('a100-1', 'a100-2')}---{SERVER % ''}---{trainer}"
    assert rules(lint(tmp_path, served)) == set()
    report = lint(tmp_path, f"{served}---{text}")
    assert [it.rule.name for it in report.findings] == ["default-gpu-for-every-container"]


TREE = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "allocate, reclaim, backfill"
    tiers:
    - plugins:
      - {name: priority}
      - {name: gang, enableReclaimable: false}
      - {name: predicates}
      - {name: capacity, enabledHierarchy: true}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {parent: root, deserved: {cpu: "8", memory: 8Gi}, capability: {cpu: "8", memory: 8Gi}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: genomics}
spec: {parent: research, deserved: {cpu: "8", memory: 8Gi}, capability: {cpu: "8", memory: 8Gi}}
"""
DEFAULT_MEMORY = """
apiVersion: v1
kind: LimitRange
metadata: {name: defaults, namespace: vision}
spec: {limits: [{type: Container, defaultRequest: {memory: 1Gi}}]}
"""
WITHOUT_MEMORY = QUEUE.replace("cpu, memory, nvidia", "cpu, nvidia").replace(
    "      - {name: memory, nominalQuota: 1000Gi}\n", ""
)
ENABLED = PACKING.replace(
    "plugins: {", "plugins: {score: {enabled: [{name: NodeResourcesFit, weight: 20}]}, "
)


@pytest.mark.parametrize(
    ("text", "rule"),
    [
        (TREE, "volcano-key-ignored"),
        (
            ENABLED.replace("- name: NodeResourcesFit", "- name: NodeResourceFit"),
            "scheduler-arguments-ignored",
        ),
        (f"{WITHOUT_MEMORY}---{DEFAULT_MEMORY}---{_sent_to('a100')}", "request-not-covered"),
    ],
)
def test_the_cause_of_two_findings_is_reported_once(tmp_path, text, rule):
    assert rules(lint(tmp_path, text, partial=True)) == {rule}


SERVING = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: vision, labels: {kueue.x-k8s.io/queue-name: a100}}
spec:
  replicas: 2
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      containers:
      - name: chat
        image: example.com/chat:1
        resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 4}}
"""


def test_an_update_without_room_in_quota_and_queue_is_reported_once(tmp_path):
    quota = QUOTA % "requests.nvidia.com/gpu: 8"
    report = lint(tmp_path, f"{QUEUE}---{quota}---{SERVING}", partial=True)
    assert [it.rule.name for it in report.findings] == ["rollout-exceeds-quota"]


@pytest.mark.parametrize(
    ("spec", "advice"),
    [
        (
            "deserved: {cpu: 8}, capability: {cpu: 16}",
            "lower the guarantee to at most 8 cores, because the capability is 16 cores",
        ),
        ("deserved: {cpu: 8}, capability: {cpu: 32}", "raise deserved to at least the guarantee"),
    ],
)
def test_no_amount_above_the_capability_is_proposed(tmp_path, spec, advice):
    text = (
        "apiVersion: scheduling.volcano.sh/v1beta1\nkind: Queue\nmetadata: {name: trials}\n"
        f"spec: {{guarantee: {{resource: {{cpu: 24}}}}, {spec}}}\n"
    )
    found = lint(tmp_path, text, partial=True).findings
    [message] = [it.message for it in found if it.rule.name == "guarantee-above-deserved"]
    assert message.endswith(advice)


LARGE_NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: a100-1}
status: {allocatable: {cpu: 256, memory: 4Ti, pods: 110, nvidia.com/gpu: 32}}
"""
VOLCANO_QUEUES = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: vision}
spec:
  deserved: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}
  capability: {cpu: 128, memory: 1Ti, nvidia.com/gpu: 16}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: nlp}
spec:
  deserved: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 8}
  guarantee: {resource: {nvidia.com/gpu: 4}}
  capability: {cpu: 128, memory: 1Ti, nvidia.com/gpu: 16}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: training, namespace: vision}
spec:
  schedulerName: volcano
  queue: vision
  minAvailable: 2
  tasks:
  - name: rank
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: rank
          image: example.com/train:1
          resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 4}}
"""


@pytest.mark.parametrize("release", ["1.12", "1.14.1", "1.15"])
@pytest.mark.parametrize("nodes", ["", LARGE_NODE])
@pytest.mark.parametrize(
    "field",
    [
        "deserved: {cpu: 64, memory: 512Gi, ",
        "capability: {cpu: 128, memory: 1Ti, ",
        "guarantee: {resource: {",
    ],
)
@pytest.mark.parametrize("slip", ["nvidia.com/gpus", "gpu", "requests.nvidia.com/gpu"])
def test_a_misspelled_resource_of_a_volcano_queue_is_reported_once(
    tmp_path, release, nodes, field, slip
):
    text = VOLCANO_QUEUES.replace(f"{field}nvidia.com/gpu", f"{field}{slip}", 1) + nodes
    report = lint(tmp_path, text, partial=True, target=parse_targets({"volcano": release}))
    (finding,) = report.findings
    assert finding.rule.name == "queue-resource-not-counted"
    assert finding.path.endswith(slip) or finding.path.endswith(f'["{slip}"]')
    assert finding.message.endswith('write "nvidia.com/gpu"')


def test_a_misspelled_resource_of_a_volcano_queue_hides_no_other_fault(tmp_path):
    text = VOLCANO_QUEUES.replace("1Ti, nvidia.com/gpu", "1Ti, nvidia.com/gpus", 1)
    text = text.replace("minAvailable: 2", "minAvailable: 3")
    assert rules(lint(tmp_path, text, partial=True)) == {
        "queue-resource-not-counted",
        "min-available-exceeds-replicas",
    }


def test_a_misspelled_resource_of_a_queue_on_a_cluster_is_reported_once(tmp_path):
    text = VOLCANO_QUEUES.replace("1Ti, nvidia.com/gpu", "1Ti, nvidia.com/gpus", 1) + LARGE_NODE
    write(snapshot(text), tmp_path / "of.snapshot")
    clusters = ClusterRequest(snapshots=(tmp_path / "of.snapshot",))
    report = app_lint.lint(LintRequest(clusters=clusters), today=TODAY)
    assert [it.rule.name for it in report.findings] == ["queue-resource-not-counted"]


@pytest.mark.parametrize("wrong", ["ServiceAccount", "Pod"])
def test_a_wrong_namespace_explains_a_missing_service_account(tmp_path, wrong):
    spaces = {kind: "visions" if kind == wrong else "vision" for kind in ("ServiceAccount", "Pod")}
    text = (
        "apiVersion: v1\nkind: Namespace\nmetadata: {name: vision}\n---\n"
        "apiVersion: v1\nkind: ServiceAccount\n"
        f"metadata: {{name: trainer, namespace: {spaces['ServiceAccount']}}}\n---\n"
        f"apiVersion: v1\nkind: Pod\nmetadata: {{name: train, namespace: {spaces['Pod']}}}\n"
        "spec: {serviceAccountName: trainer, containers: [{name: c, image: example.com/train:1}]}\n"
    )
    assert rules(lint(tmp_path, text)) == {"namespace-missing"}


TAINTED = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100}}
spec: {taints: [{key: nvidia.com/gpu, effect: NoSchedule}]}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
---
"""
TOLERANT = (
    "tolerations: [{key: nvidia.com/gpu, operator: Exist}], containers: [{name: pytorch, image: "
    "registry.example.com/train:1, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]"
)
OWNERS = {
    "unsupported-value": (
        "apiVersion: batch/v1\nkind: Job\nspec: {template: {spec: {restartPolicy: Never, %s}}}"
    ),
    "pod-field-refused": (
        "apiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nspec: {schedulerName: volcano, queue: default, "
        "minAvailable: 1, tasks: [{name: a, replicas: 1, template: {spec: {restartPolicy: Never, %s}}}]}"
    ),
    "template-pods-refused": (
        "apiVersion: kubeflow.org/v1\nkind: PyTorchJob\nspec: {pytorchReplicaSpecs: {Master: {replicas: 1, "
        "restartPolicy: Never, template: {spec: {%s}}}}}"
    ),
    "crd-rule-broken": (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: ResourceFlavor\nspec: {nodeLabels: {pool: a100}, "
        "tolerations: [{key: nvidia.com/gpu, operator: Exist}]}"
    ),
}


@pytest.mark.parametrize("rule", OWNERS)
def test_a_misspelled_operator_is_no_missing_toleration(tmp_path, rule):
    owner = OWNERS[rule].replace("spec:", "metadata: {name: one, namespace: vision}\nspec:", 1)
    text = TAINTED + owner.replace("%s", TOLERANT)
    [finding] = lint(tmp_path, text).findings
    assert finding.rule.name == rule
    assert finding.message.endswith(
        'operator "Exist" is not supported; did you mean "Exists"?'
    ) or ('operator "Exist", ' in finding.message)
    assert finding.path.endswith("tolerations[0].operator")
    assert not lint(tmp_path, text.replace("operator: Exist}", "operator: Exists}")).findings


def test_a_queue_below_default_is_reported_without_its_amounts(tmp_path):
    text = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: default
spec:
  reclaimable: true
  deserved: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 0}
  capability: {cpu: 16, memory: 64Gi, nvidia.com/gpu: 0}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata:
  name: serving
spec:
  parent: default
  reclaimable: false
  deserved: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 6}
  capability: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 6}
  guarantee:
    resource: {cpu: 64, memory: 512Gi, nvidia.com/gpu: 6}
"""
    assert rules(lint(tmp_path, text)) == {"default-queue-has-children"}
