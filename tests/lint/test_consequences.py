"""What follows from another fault is not reported, and other faults are."""

import re
from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import LintRequest
from policygen.core.rule import Severity
from tests.examples_of_rules import examples

TODAY = date(2026, 11, 29)
NODE = """
---
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8, nvidia.com/mig-1g.10gb: 7}}
"""
QUOTAS = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: vision}
spec: {hard: {requests.nvidia.com/gpu: 4}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: slices, namespace: speech}
spec: {hard: {requests.nvidia.com/mig-1g.10gb: 4}}
"""
POD = """
---
apiVersion: v1
kind: Pod
metadata: {name: whisper, namespace: speech}
spec: {containers: [{name: whisper, image: registry.example.com/whisper:1, resources: {limits: {nvidia.com/mig-1g.10gb: 1}}}]}
"""


def findings(tmp_path, text, **settings):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    return app_lint.lint(LintRequest(manifests=(str(file),), **settings), today=TODAY).findings


def found(tmp_path, text, **settings):
    """The rule and object of each finding."""
    return [(it.rule.name, it.object) for it in findings(tmp_path, text, **settings)]


GPU_QUOTA, SLICES = "ResourceQuota vision/gpus", "ResourceQuota speech/slices"


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        (
            "requests.nvidia.com/gpu",
            "limits.nvidia.com/gpu",
            ("gpu-quota-counts-nothing", GPU_QUOTA),
        ),
        ("mig-1g.10gb: 4", "mig-1g.5gb: 4", ("quota-omits-gpu-resource", SLICES)),
    ],
)
def test_a_wrong_key_in_a_quota_is_no_fault_of_another_namespace(tmp_path, old, new, finding):
    text = NODE + QUOTAS + POD
    assert found(tmp_path, text) == []
    assert found(tmp_path, text.replace(old, new)) == [finding]


def test_another_fault_beside_a_wrong_key_is_reported(tmp_path):
    """The right key would limit nvidia.com/gpu, but no quota limits the slices."""
    text = (NODE + QUOTAS).replace("requests.nvidia.com/gpu", "limits.nvidia.com/gpu")
    text = text.replace("mig-1g.10gb: 4", "mig-1g.5gb: 4")
    assert found(tmp_path, text) == [
        ("gpu-quota-counts-nothing", GPU_QUOTA),
        ("quota-omits-gpu-resource", SLICES),
    ]


def test_a_consequence_is_reported_if_the_rule_about_its_cause_does_not_run(tmp_path):
    text = (NODE + QUOTAS + POD).replace("requests.nvidia.com/gpu", "limits.nvidia.com/gpu")
    skip = ("gpu-quota-counts-nothing",)
    assert found(tmp_path, text, skip=skip) == [("quota-omits-gpu-resource", SLICES)]


def quota_advice(tmp_path, resources, hard):
    """The place and message of the finding about a quota for pods that request these resources."""
    pods = "".join(
        POD.replace("whisper", f"w{i}").replace("nvidia.com/mig-1g.10gb", it)
        for i, it in enumerate(resources)
    )
    node = NODE.replace(
        "nvidia.com/mig-1g.10gb: 7", "nvidia.com/mig-1g.10gb: 7, nvidia.com/mig-3g.40gb: 2"
    )
    quota = QUOTAS.rpartition("---")[2].replace("requests.nvidia.com/mig-1g.10gb: 4", hard)
    [finding] = findings(tmp_path, f"{node}{pods}\n---{quota}")
    assert finding.rule.name == "quota-omits-gpu-resource"
    return finding.path, finding.message


def test_a_quota_names_the_resources_that_pods_request(tmp_path):
    small, large = "nvidia.com/mig-1g.10gb", "nvidia.com/mig-3g.40gb"
    hard = "requests.nvidia.com/gpu: 4"
    _, message = quota_advice(tmp_path, [large], hard)
    assert f"Pod speech/w0 requests {large} and nodes offer {small}, which" in message
    _, message = quota_advice(tmp_path, [small, large], hard)
    assert f"Pod speech/w0 and Pod speech/w1 request {small} and {large}, which" in message


def test_a_key_of_a_quota_that_no_node_offers_is_the_one_to_change(tmp_path):
    hard = "requests.nvidia.com/gpu: 4, requests.nvidia.com/mig-3g.40gb: 2, requests.nvidia.com/mig-1g.5gb: {}"
    path, message = quota_advice(tmp_path, ["nvidia.com/mig-1g.10gb"], hard.format(4))
    assert path == 'spec.hard["requests.nvidia.com/mig-1g.5gb"]'
    assert "write nvidia.com/mig-1g.10gb instead of nvidia.com/mig-1g.5gb, which no node" in message
    path, message = quota_advice(tmp_path, ["nvidia.com/mig-1g.10gb"], hard.format(0))
    assert path == 'spec.hard["requests.nvidia.com/gpu"]'


JOB_OF_FOUR = """
---
apiVersion: batch/v1
kind: Job
metadata: {name: tune, namespace: vision}
spec:
  parallelism: 4
  completions: 4
  template:
    spec:
      restartPolicy: Never
      containers: [{name: main, image: registry.example.com/tune:1, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 2}}}]
"""


@pytest.mark.parametrize(
    ("limit", "path", "advice"),
    [
        (8, None, ""),
        (4, "spec.parallelism", "run fewer pods, or raise the quota"),
        (
            1,
            'spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]',
            "lower the requests of its pods, or raise the quota",
        ),
    ],
)
def test_a_job_above_a_quota_is_reported_at_the_field_to_change(tmp_path, limit, path, advice):
    quota = QUOTAS.partition("---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: slices")[0]
    quota = quota.replace("gpu: 4", f"gpu: {limit}, requests.nvidia.com/mig-1g.10gb: 0")
    found = [
        (it.path, it.message.rpartition("; ")[2])
        for it in findings(tmp_path, NODE + quota + JOB_OF_FOUR)
    ]
    assert found == ([(path, advice)] if path else [])


def test_a_job_without_free_quota_is_reported_at_its_request(tmp_path):
    quota = QUOTAS.partition("---\napiVersion: v1\nkind: ResourceQuota\nmetadata: {name: slices")[0]
    quota = quota.replace("gpu: 4", "gpu: 4, requests.nvidia.com/mig-1g.10gb: 0")
    job = JOB_OF_FOUR.replace(": 4\n", ": 1\n")
    server = """
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: serve, namespace: vision}
spec:
  replicas: 3
  selector: {matchLabels: {app: serve}}
  template:
    metadata: {labels: {app: serve}}
    spec: {containers: [{name: main, image: registry.example.com/serve:1, resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}}]}
"""
    [finding] = findings(tmp_path, NODE + quota + server + job)
    assert finding.rule.name == "job-exceeds-free-quota"
    assert finding.path == 'spec.template.spec.containers[0].resources.limits["nvidia.com/gpu"]'


PLATFORM = """
apiVersion: v1
kind: Node
metadata: {name: a1, labels: {pool: a100}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: a2, labels: {pool: a100}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Node
metadata: {name: h1, labels: {pool: h100}}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
---
apiVersion: v1
kind: Namespace
metadata: {name: genomics}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {pool: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec:
  nodeLabels: {pool: h100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Cohort
metadata: {name: research}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: train}
spec:
  cohortName: research
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: genomics}}
  preemption: {reclaimWithinCohort: Any}
  flavorFungibility: {whenCanBorrow: TryNextFlavor}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
    - {name: h100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: eval}
spec:
  cohortName: research
  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: genomics}}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: train, namespace: genomics}
spec: {clusterQueue: train}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: eval, namespace: genomics}
spec: {clusterQueue: eval}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: batch}
value: 100
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources: {excludeResourcePrefixes: [cpu, memory]}
waitForPodsReady: {timeout: 5m}
integrations:
  frameworks:
  - batch/job
---
apiVersion: batch/v1
kind: Job
metadata:
  name: pretrain
  namespace: genomics
  labels: {kueue.x-k8s.io/queue-name: train, kueue.x-k8s.io/priority-class: batch}
spec:
  suspend: true
  parallelism: 2
  completions: 2
  completionMode: Indexed
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {pool: a100}
      containers:
      - {name: rank, image: registry.example.com/pretrain:1, resources: {limits: {nvidia.com/gpu: 8, memory: 100Gi}}}
---
apiVersion: batch/v1
kind: Job
metadata: {name: casp, namespace: genomics, labels: {kueue.x-k8s.io/queue-name: eval}}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers:
      - {name: eval, image: registry.example.com/casp:1, resources: {limits: {nvidia.com/gpu: 8, memory: 100Gi}}}
"""
LABELS = "  labels: {kueue.x-k8s.io/queue-name: train, kueue"
TRAIN, PRETRAIN = "metadata: {name: train}\nspec:\n  cohortName: research", "Job genomics/pretrain"
FAULTS = {
    "cohort": (TRAIN, TRAIN.replace("research", "reserch"), ("cohort-undeclared", "ClusterQueue train")),
    "framework": ("batch/job\n", "batch/jobs\n", ("framework-unknown", "Configuration")),
    "namespace": ("{name: train, namespace: genomics}", "{name: train, namespace: genomic}", ("namespace-missing", "LocalQueue genomic/train")),
    "flavor label": ("nodeLabels: {pool: a100}", "nodeLabels: {pool: a-100}", ("flavor-matches-no-node", "ResourceFlavor a100")),
    "labels as annotations": (LABELS, LABELS.replace("labels", "annotations"), ("queue-name-misplaced", PRETRAIN)),
    "topology": ("{pool: a100}\n---\n", "{pool: a100}\n  topologyName: rack\n---\n", ("topology-missing", "ResourceFlavor a100")),
}  # fmt: skip
LAST = {
    "flavor": ("name: a100, resources", "name: a-100, resources", ("flavor-missing", "ClusterQueue eval")),
    "covered resource": ("[nvidia.com/gpu]", "[nvidia.com/gpus]", ("resource-name-misspelt", "ClusterQueue eval")),
}  # fmt: skip
"""Faults in the last text of this kind; the others are in the first."""


def changed(text, name):
    old, new, _ = {**FAULTS, **LAST}[name]
    assert old in text
    if name in LAST:
        return new.join(text.rsplit(old, 1))
    return text.replace(old, new, 1)


def test_the_platform_is_sound(tmp_path):
    assert found(tmp_path, PLATFORM) == []


@pytest.mark.parametrize("name", [*FAULTS, *LAST])
def test_a_fault_with_a_likely_correction_is_reported_once(tmp_path, name):
    assert found(tmp_path, changed(PLATFORM, name)) == [{**FAULTS, **LAST}[name][-1]]


@pytest.mark.parametrize("name", ["cohort", "namespace", "covered resource"])
def test_a_warning_is_an_error_if_an_error_follows(tmp_path, name):
    (finding,) = findings(tmp_path, changed(PLATFORM, name))
    assert finding.rule.severity is Severity.WARNING
    assert finding.severity is Severity.ERROR


def test_a_severity_of_the_spec_counts_more_than_what_follows(tmp_path):
    spec = tmp_path / "spec.yaml"
    spec.write_text(
        "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {name: a}\n"
        "spec: {lint: {severities: {cohort-undeclared: info}}}\n",
        "utf-8",
    )
    only = ("cohort-undeclared", "workload-exceeds-quota")
    (finding,) = findings(tmp_path, changed(PLATFORM, "cohort"), specs=(str(spec),), only=only)
    assert finding.severity is Severity.INFO


def test_a_warning_without_an_error_that_follows_stays_one(tmp_path):
    text = changed(PLATFORM, "cohort").replace(
        "{nvidia.com/gpu: 8, memory", "{nvidia.com/gpu: 4, memory"
    )
    (finding,) = findings(tmp_path, text)
    assert (finding.rule.name, finding.severity) == ("cohort-undeclared", Severity.WARNING)


BIG = "parallelism: 9\n  completions: 9"
OTHER = {
    "cohort": (("parallelism: 2\n  completions: 2", BIG), "workload-exceeds-quota", PRETRAIN),
    "framework": (("queue-name: eval", "queue-name: evall"), "workload-without-local-queue", "Job genomics/casp"),
    "namespace": (("queue-name: eval", "queue-name: evall"), "workload-without-local-queue", "Job genomics/casp"),
    "flavor label": (("nodeSelector: {pool: a100}", "nodeSelector: {pool: l4}"), "workload-fits-no-flavor", PRETRAIN),
    "labels as annotations": (("queue-name: eval", "queue-name: evall"), "workload-without-local-queue", "Job genomics/casp"),
    "topology": (("parallelism: 2\n  completions: 2", BIG), "workload-exceeds-quota", PRETRAIN),
}  # fmt: skip


@pytest.mark.parametrize("name", OTHER)
def test_a_second_fault_is_reported_beside_it(tmp_path, name):
    """Also by the rule that would report what follows from the first."""
    (old, new), rule, object_ = OTHER[name]
    text = PLATFORM.replace(old, new, 1)
    assert text != PLATFORM
    alone = findings(tmp_path, text)
    assert [(it.rule.name, it.object) for it in alone] == [(rule, object_)]
    both = findings(tmp_path, changed(text, name))
    assert sorted((it.rule.name, it.object) for it in both) == sorted(
        [FAULTS[name][-1], (rule, object_)]
    )
    assert alone[0].message in {it.message for it in both}


@pytest.mark.parametrize("name", [*FAULTS, *LAST])
@pytest.mark.parametrize(
    ("old", "new", "rule", "object_"),
    [
        ("kind: Cohort\n", "kind: Cohrt\n", "api-version-not-served", "Cohrt research"),
        ("  suspend: true\n", "  suspnd: true\n", "unknown-field", PRETRAIN),
        ("restartPolicy: Never", "restartPolicy: Nevr", "unsupported-value", PRETRAIN),
        ("completionMode: Indexed", "completionMode: indexed", "unsupported-value", PRETRAIN),
        ("parallelism: 2\n", "parallelism: two\n", "wrong-type", PRETRAIN),
    ],
)  # fmt: skip
def test_a_misspelled_word_is_reported_beside_it(tmp_path, name, old, new, rule, object_):
    text = changed(PLATFORM.replace(old, new, 1), name)
    assert PLATFORM.count(old)
    reported = found(tmp_path, text)
    assert (rule, object_) in reported
    if new != "kind: Cohrt\n" or name != "cohort":  # without a Cohort, cohorts are not declared
        assert {**FAULTS, **LAST}[name][-1] in reported


DEPLOYMENT = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: whisper, namespace: speech}
spec:
  replicas: 3
  selector: {matchLabels: {app: whisper}}
  template:
    metadata: {labels: {app: whisper}}
    spec:
      tolerations: [{key: gpu, operator: Equal, value: mig, effect: NoSchedule}]
      containers:
      - {name: whisper, image: registry.example.com/whisper:1, resources: {limits: {nvidia.com/gpu: 1, memory: 8Gi}}}
---
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: whisper, namespace: speech}
spec: {maxUnavailable: 1, selector: {matchLabels: {app: whisper}}}
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: memory, namespace: speech}
spec: {hard: {requests.memory: 80Gi, requests.nvidia.com/gpu: 4}}
---
apiVersion: v1
kind: Node
metadata: {name: n1}
spec: {taints: [{key: gpu, value: mig, effect: NoSchedule}]}
status: {allocatable: {cpu: 96, memory: 1000Gi, pods: 110, nvidia.com/gpu: 8}}
"""


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("{labels: {app: whisper}}", "{labels: {app: whisper-2}}", "selector-misses-template"),
        ("{labels: {app: whisper}}", "{labels: {tier: whisper}}", "selector-misses-template"),
        ("Equal", "Equals", "unsupported-value"),
        ("80Gi", "80", "memory-without-unit"),
    ],
)
def test_a_fault_of_a_deployment_is_reported_once(tmp_path, old, new, rule):
    assert found(tmp_path, DEPLOYMENT) == []
    assert [name for name, _ in found(tmp_path, DEPLOYMENT.replace(old, new))] == [rule]


GANG = """
apiVersion: scheduling.volcano.sh/v1beta1
kind: PodGroup
metadata: {name: imitation, namespace: planning}
spec: {minMember: 4}
---
apiVersion: batch/v1
kind: Job
metadata: {name: imitation, namespace: planning}
spec:
  parallelism: 4
  completions: 4
  completionMode: Indexed
  template:
    metadata: {annotations: {scheduling.k8s.io/group-name: imitation}}
    spec:
      schedulerName: volcano
      restartPolicy: Never
      containers:
      - {name: rank, image: registry.example.com/train:1, resources: {limits: {nvidia.com/gpu: 1}}}
"""


def test_ranks_that_never_run_are_not_also_missing_in_their_gang(tmp_path):
    assert found(tmp_path, GANG) == []
    job = ("parallelism-exceeds-completions", "Job planning/imitation")
    few = GANG.replace("completions: 4", "completions: 2")
    assert found(tmp_path, few) == [job]
    gang = ("gang-larger-than-its-pods", "PodGroup planning/imitation")
    assert found(tmp_path, few.replace("minMember: 4", "minMember: 5")) == [gang, job]


def test_one_missing_integration_is_one_finding(tmp_path):
    text = PLATFORM.replace("  - batch/job", "  - jobset.x-k8s.io/jobset")
    assert found(tmp_path, text) == [("framework-not-enabled", "Configuration")]
    one = text.replace("labels: {kueue.x-k8s.io/queue-name: eval}", "labels: {app: casp}")
    rules_ = [it for it in found(tmp_path, one) if it[0] == "framework-not-enabled"]
    assert rules_ == [("framework-not-enabled", PRETRAIN)]


PRIORITIES = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: serving}
value: 1000
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: batch-pods}
value: 500
---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {name: serving-pods}
value: 10000
"""


def _ranked(name, kueue, pods):
    job = PLATFORM.rpartition("---\n")[2].replace("casp", name)
    job = job.replace(
        "queue-name: eval", f"queue-name: eval, kueue.x-k8s.io/priority-class: {kueue}"
    )
    return job.replace("restartPolicy", f"priorityClassName: {pods}\n      restartPolicy")


@pytest.mark.parametrize("names", [("one",), ("one", "two")])
def test_one_value_of_a_priority_class_is_one_finding(tmp_path, names):
    jobs = [_ranked(name, "batch", "batch-pods") for name in names]
    text = PLATFORM.rpartition("---\n")[0] + PRIORITIES
    text = "---\n".join((text, *jobs, _ranked("chat", "serving", "serving-pods")))
    only = ("priority-orders-disagree",)
    assert found(tmp_path, text, only=only) == []
    wrong = text.replace("value: 500", "value: 50000")
    object_ = "Job genomics/one" if len(names) == 1 else "PriorityClass batch-pods"
    (finding,) = findings(tmp_path, wrong, only=only)
    assert finding.object == object_
    assert len(finding.related) == len(names) + (len(names) > 1)


TOPOLOGY = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: rack}
spec: {levels: [{nodeLabel: example.com/rack}, {nodeLabel: kubernetes.io/hostname}]}
"""
REQUEST = (
    "    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: example.com/rack}}\n"
)


def test_nodes_without_the_label_of_a_topology_are_one_finding(tmp_path):
    aware = PLATFORM.replace("100}\n---\n", "100}\n  topologyName: rack\n---\n") + TOPOLOGY
    aware = aware.replace("  template:\n", f"  template:\n{REQUEST}").replace(
        "nvidia.com/gpu: 8, memory", "nvidia.com/gpu: 4, memory"
    )
    labelled = aware.replace("{pool: a100}}\nstatus", "{pool: a100, example.com/rack: r1}}\nstatus")
    labelled = labelled.replace(
        "{pool: h100}}\nstatus", "{pool: h100, example.com/rack: r2}}\nstatus"
    )
    assert found(tmp_path, labelled) == []
    assert found(tmp_path, aware) == [
        ("node-without-topology-level", "Node a1"),
        ("node-without-topology-level", "Node h1"),
    ]


def test_flavors_of_several_queues_without_a_topology_are_one_finding(tmp_path):
    """A job that requests no topology cannot use the flavor that has one."""
    text = changed(PLATFORM, "topology") + TOPOLOGY
    text = text.replace("{pool: a100}}\nstatus", "{pool: a100, example.com/rack: r1}}\nstatus")
    assert found(tmp_path, text) == [("topology-and-plain-flavors-mixed", "ClusterQueue train")]


GANG_QUOTA = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: gpus, namespace: planning}
spec: {hard: {requests.nvidia.com/gpu: 4}}
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: planning}
spec: {capability: {nvidia.com/gpu: 8}, deserved: {nvidia.com/gpu: 8}, reclaimable: true}
"""


@pytest.mark.parametrize(
    ("old", "new", "finding"),
    [
        ("requests.nvidia.com/gpu: 4", "requests.nvidia.com/gpu: 3", ("workload-exceeds-resource-quota", "Job planning/imitation")),
        ("minResources: {nvidia.com/gpu: 4}", "minResources: {nvidia.com/gpu: 16}", ("quota-below-gang", "PodGroup planning/imitation")),
        ("capability: {nvidia.com/gpu: 8}, deserved: {nvidia.com/gpu: 8}", "capability: {nvidia.com/gpu: 2}, deserved: {nvidia.com/gpu: 2}", ("gang-exceeds-queue", "PodGroup planning/imitation")),
        ("minResources: {nvidia.com/gpu: 4}", "minResources: {nvidia.com/gpu: 6}", ("quota-below-gang", "PodGroup planning/imitation")),
    ],
)  # fmt: skip
def test_a_gang_above_its_limits_is_one_finding(tmp_path, old, new, finding):
    text = GANG.replace(
        "minMember: 4", "minMember: 4, queue: planning, minResources: {nvidia.com/gpu: 4}"
    )
    text += GANG_QUOTA
    assert found(tmp_path, text) == []
    assert found(tmp_path, text.replace(old, new)) == [finding]


def test_a_gang_above_its_queue_and_its_nodes_is_one_finding(tmp_path):
    task = (
        "  - name: worker%s\n    replicas: %d\n    template: {spec: {restartPolicy: Never, containers: [{name: rank, "
        "image: registry.example.com/train:1, resources: {limits: {nvidia.com/gpu: 4}}}]}}\n"
    )
    job = (
        "---\napiVersion: batch.volcano.sh/v1alpha1\nkind: Job\nmetadata: {name: train, namespace: planning}\n"
        "spec:\n  schedulerName: volcano\n  queue: planning\n  minAvailable: 2\n  tasks:\n"
    )
    queue, node = GANG_QUOTA.rpartition("---\n")[2], NODE.replace(", nvidia.com/mig-1g.10gb: 7", "")
    sound = f"{queue}{node}{job}{task % ('', 1)}{task % ('-2', 1)}"
    assert found(tmp_path, sound) == []
    large = sound.replace("minAvailable: 2", "minAvailable: 5").replace(
        "replicas: 1", "replicas: 2", 1
    )
    large = large.replace("replicas: 1", "replicas: 3")
    (finding,) = findings(tmp_path, large)
    assert finding.rule.name == "gang-exceeds-queue"
    assert "(also, the nodes have room for only 2 of the 3 pods)" in finding.message


def test_memory_that_cannot_be_borrowed_is_one_finding(tmp_path):
    text = PLATFORM.replace("[nvidia.com/gpu]", "[nvidia.com/gpu, memory]").replace(
        "[cpu, memory]", "[cpu]"
    )
    text = text.replace("nominalQuota: 8}", "nominalQuota: 8}, {name: memory, nominalQuota: 150Gi}")
    assert found(tmp_path, text) == []
    train, eval_ = text.split("metadata: {name: eval}\nspec:\n  cohort")
    train = train.replace("150Gi}", "150Gi, borrowingLimit: 0}", 1)
    (finding,) = findings(tmp_path, f"{train}metadata: {{name: eval}}\nspec:\n  cohort{eval_}")
    assert (finding.rule.name, finding.severity) == ("gpu-quota-without-cpu", Severity.ERROR)


def test_deployments_that_fill_their_queue_are_one_finding(tmp_path):
    """Also if the update of one needs one more pod."""
    server = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: NAME, namespace: genomics, labels: {kueue.x-k8s.io/queue-name: train}}
spec:
  replicas: COUNT
  strategy: {rollingUpdate: {maxSurge: 1, maxUnavailable: 0}}
  selector: {matchLabels: {app: NAME}}
  template:
    metadata: {labels: {app: NAME}}
    spec:
      nodeSelector: {pool: h100}
      containers: [{name: server, image: registry.example.com/serve:1, resources: {limits: {nvidia.com/gpu: 1, memory: 8Gi}}}]
"""
    text = PLATFORM.replace("- batch/job", "- batch/job\n  - deployment")
    for name, count in (("chat", "6"), ("embed", "1")):
        text += server.replace("NAME", name).replace("COUNT", count)
    only = ("rollout-exceeds-quota", "workloads-exceed-queue")
    assert found(tmp_path, text, only=only) == []
    full = text.replace("replicas: 6", "replicas: 8")
    (finding,) = findings(tmp_path, full, only=only)
    assert (finding.rule.name, finding.severity) == ("workloads-exceed-queue", Severity.ERROR)


def test_a_queue_with_limits_and_without_a_cohort_is_one_finding(tmp_path):
    limited = PLATFORM.replace("nominalQuota: 8}", "nominalQuota: 8, borrowingLimit: 8}", 1)
    assert found(tmp_path, limited) == []
    alone = limited.replace(TRAIN, TRAIN.replace("\n  cohortName: research", ""))
    # Kueue's quota of flavor a100 is 8 of the 16 that the Job requests, as long as it cannot borrow.
    assert found(tmp_path, alone) == [("crd-rule-broken", "ClusterQueue train")]
    larger = alone.replace("parallelism: 2\n  completions: 2", BIG)
    assert found(tmp_path, larger) == [
        ("crd-rule-broken", "ClusterQueue train"),
        ("workload-exceeds-quota", PRETRAIN),
    ]


def test_an_accelerator_that_no_node_has_beside_others_is_no_fault_of_the_quota(tmp_path):
    cards = NODE.replace("metadata: {name: n1", "metadata: {name: n2").replace(
        ", nvidia.com/mig-1g.10gb: 7", ""
    )
    slices = NODE.replace("nvidia.com/gpu: 8, ", "").replace("pool: a100", "pool: mig")
    text = slices + cards + QUOTAS + POD.replace("spec: {", "spec: {nodeSelector: {pool: mig}, ")
    assert found(tmp_path, text) == []
    both = text.replace(
        "{nvidia.com/mig-1g.10gb: 1}", "{nvidia.com/mig-1g.10gb: 1, nvidia.com/gpu: 1}"
    )
    assert found(tmp_path, both) == [("pod-fits-no-node", "Pod speech/whisper")]
    alone = text.replace("{nvidia.com/mig-1g.10gb: 1}", "{nvidia.com/gpu: 1}")
    assert sorted(found(tmp_path, alone)) == [
        ("pod-fits-no-node", "Pod speech/whisper"),
        ("quota-omits-gpu-resource", SLICES),
    ]


def test_only_the_fault_that_an_error_is_about_becomes_an_error(tmp_path):
    """Both queues are of a kind that the rule of the error reads."""
    text = changed(changed(PLATFORM, "cohort"), "covered resource")
    severities = {it.rule.name: it.severity for it in findings(tmp_path, text)}
    assert severities == dict.fromkeys(
        ("cohort-undeclared", "resource-name-misspelt"), Severity.ERROR
    )
    small = text.replace("{nvidia.com/gpu: 8, memory", "{nvidia.com/gpu: 4, memory", 1)
    severities = {it.rule.name: it.severity for it in findings(tmp_path, small)}
    assert severities == {
        "cohort-undeclared": Severity.WARNING,
        "resource-name-misspelt": Severity.ERROR,
    }


def test_a_misspelled_group_of_pods_is_one_finding(tmp_path):
    text = examples("pod-group-missing", good=False)[0].text
    missing = ("pod-group-missing", "Pod vision/evaluation")
    assert found(tmp_path, text) == [missing]
    assert {
        rule
        for rule, _ in found(
            tmp_path, text.replace("group-name: training\n", "group-name: trainings\n")
        )
    } == {"pod-group-missing"}
    assert ("pod-group-without-pods", "PodGroup vision/training") in found(
        tmp_path, text.replace("group-name: training", "group-name: elsewhere")
    )


def test_a_group_in_another_namespace_is_one_finding(tmp_path):
    text = examples("pod-group-missing", good=True)[0].text
    moved = text.replace(
        "namespace: vision\nspec:\n  minMember", "namespace: other\nspec:\n  minMember"
    )
    other = POD.replace("namespace: speech", "namespace: other")
    hits = findings(tmp_path, moved + other)
    assert {it.rule.name for it in hits} == {"pod-group-missing"}
    assert all(
        it.message.endswith("is in another namespace: write namespace vision there") for it in hits
    )


def test_a_misspelled_class_of_pods_is_no_difference_to_their_group(tmp_path):
    text = examples("gang-priorities-differ", good=True)[0].text
    rules = ("priority-class-missing", "gang-priorities-differ")
    classes = "---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {name: training}\nvalue: 100\n"
    head, _, last = text.rpartition("priorityClassName: training")
    assert found(tmp_path, text + classes, only=rules) == []
    slip = f"{head}priorityClassName: trainingx{last}{classes}"
    assert [rule for rule, _ in found(tmp_path, slip, only=rules)] == ["priority-class-missing"]


@pytest.mark.parametrize("number", [0, 1])
def test_a_note_that_hides_a_warning_becomes_one(tmp_path, number):
    text = examples("gpu-nodes-closed", good=False)[number].text
    for replicas, severity in ((1, Severity.INFO), (2, Severity.WARNING)):
        hits = findings(tmp_path, re.sub("replicas: .", f"replicas: {replicas}", text))
        assert [(it.rule.name, it.severity) for it in hits] == [("gpu-nodes-closed", severity)]


def test_the_maintenance_of_a_pool_or_for_a_pod_is_intended(tmp_path):
    """The taint is on all nodes with the labels, or pods tolerate it, or the manifests are incomplete."""
    text = examples("gpu-nodes-closed", good=False)[0].text.replace("replicas: 2", "replicas: 1")
    assert [rule for rule, _ in found(tmp_path, text)] == ["gpu-nodes-closed"]
    for old, new in (
        ("name: a100-2\n  labels: {pool: a100}", "name: a100-2\n  labels: {pool: a100, rack: r2}"),
        (
            "operator: Exists}\n",
            "operator: Exists}\n      - {key: maintenance, operator: Exists}\n",
        ),
    ):
        assert old in text
        assert found(tmp_path, text.replace(old, new)) == []
    assert found(tmp_path, text, partial=True) == []


WITHOUT_GANG = """
apiVersion: v1
kind: ConfigMap
metadata: {name: volcano-scheduler-configmap, namespace: volcano-system}
data:
  volcano-scheduler.conf: |
    actions: "allocate, reclaim, backfill"
    tiers:
    - plugins:
      - name: priority
      - name: conformance
    - plugins:
      - name: predicates
      - name: capacity
---
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: research}
spec: {deserved: {nvidia.com/gpu: 8, cpu: 96, memory: 500Gi}}
---
apiVersion: batch.volcano.sh/v1alpha1
kind: Job
metadata: {name: training, namespace: vision}
spec:
  schedulerName: volcano
  queue: research
  minAvailable: 2
  tasks:
  - name: worker
    replicas: 2
    template:
      spec:
        restartPolicy: Never
        containers:
        - name: rank
          image: registry.example.com/train:1
          resources: {limits: {cpu: 8, memory: 8Gi, nvidia.com/gpu: 1}}
"""


def test_a_missing_plugin_is_no_fault_of_the_tiers(tmp_path):
    [hit] = findings(tmp_path, WITHOUT_GANG)
    assert (hit.rule.name, hit.severity) == ("volcano-plugin-missing", Severity.ERROR)
    assert hit.message.endswith("; add gang to tier 1, beside conformance")
    single = WITHOUT_GANG.replace("minAvailable: 2", "minAvailable: 1").replace("s: 2", "s: 1")
    assert [rule for rule, _ in found(tmp_path, single)] == ["reclaim-ignores-queue-shares"]


@pytest.mark.parametrize("rule", ["workload-fits-no-flavor", "workload-never-starts"])
def test_a_flavor_without_toleration_beside_another_is_one_finding(tmp_path, rule):
    """The other flavor has another label, or too little quota."""
    file = (
        Path(__file__).parent / "plausible" / "bad" / "workload-fits-no-flavor-of-one-flavor.yaml"
    )
    text = file.read_text("utf-8")
    if rule == "workload-never-starts":
        text = text.replace("nominalQuota: 16}", "nominalQuota: 2}", 1)
        text = text.replace("      nodeSelector: {pool: h100}\n", "")
    assert found(tmp_path, text) == [(rule, "ResourceFlavor h100")]
    head, _, last = text.rpartition("---")
    tolerant = last.replace("Never\n", "Never\n      tolerations: [{operator: Exists}]\n")
    owners = {owner for _, owner in found(tmp_path, f"{head}---{tolerant}")}
    assert "ResourceFlavor h100" not in owners


CPU_QUOTA = """
---
apiVersion: v1
kind: ResourceQuota
metadata: {name: team, namespace: vision}
spec: {hard: {requests.cpu: 240m, %s}}
---
apiVersion: v1
kind: Pod
metadata: {name: chat, namespace: vision}
spec: {containers: [{name: chat, image: registry.example.com/chat:1, resources: {limits: {cpu: 8, memory: 8Gi}}}]}
"""


def test_a_quota_of_cpu_in_thousandths_is_one_finding(tmp_path):
    [hit] = findings(tmp_path, CPU_QUOTA % "requests.nvidia.com/gpu: 8")
    assert (hit.rule.name, hit.severity) == ("gpu-quota-without-cpu", Severity.ERROR)
    assert hit.message.endswith("raise requests.cpu, such as 240 instead of 240m")
    [hit] = findings(tmp_path, CPU_QUOTA % "requests.memory: 64Gi")
    assert hit.rule.name == "workload-exceeds-resource-quota"
    assert hit.message.endswith("raise the quota, such as 240 instead of 240m")


QUEUES_OF_TWO = """
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  cohortName: all
  namespaceSelector: {matchLabels: {team: vision}}
  preemption: {reclaimWithinCohort: Any}
  resourceGroups:
  - coveredResources: [cpu, memory, nvidia.com/gpu]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 96}
      - {name: memory, nominalQuota: 1000Gi}
      - {name: nvidia.com/gpu, nominalQuota: 8%s}
"""


@pytest.mark.parametrize(
    ("old", "new", "rule"),
    [
        ("  cohortName: all\n", "", "cohort-preemption-ignored"),
        ("Any", "Never, borrowWithinCohort: {policy: LowerPriority}", "crd-rule-broken"),
    ],
)
def test_a_missing_setting_of_a_cohort_is_one_finding(tmp_path, old, new, rule):
    first = QUEUES_OF_TWO % ""
    other = first[first.index("---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue") :]
    other = other.replace("vision", "speech")
    assert found(tmp_path, first + other) == []
    assert found(tmp_path, first + other.replace(old, new)) == [(rule, "ClusterQueue speech")]
