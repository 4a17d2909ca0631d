"""A small set of Kueue and one of Volcano: sound as they are, and each fault of them is reported once.

The faults are those that a team makes in queues, quotas, preemption, priorities and gangs. Each has a remedy.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from tests.lint.linting import findings

MANIFESTS = Path(__file__).parent / "batch_manifests"

IN_VISION = "metadata: {name: vision}\nspec:\n  cohortName: all\n"
PREEMPTION = "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority}"
GPUS = "nvidia.com/gpu, nominalQuota: 8"
LOW = "kueue.x-k8s.io/priority-class: low"
TRAIN = "  name: train\n  namespace: vision\n"
POD = "  template:\n    spec:\n      restartPolicy: Never"
CHECKS = "  admissionChecksStrategy: {admissionChecks: [{name: provision}]}\n"
JOB = "  priorityClassName: low\n"
QUEUE = "deserved: {cpu: 192, memory: 2000Gi, nvidia.com/gpu: 16}"
TOPOLOGY = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
"""
FRAMEWORKS = """\
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
integrations: {frameworks: [batch/job, deployments]}
"""
CAPABILITY = "capability: {cpu: 384, memory: 2000Gi, nvidia.com/gpu: 24}"


class Fault(NamedTuple):
    """An edit of a set, and the finding that it causes."""

    file: str
    old: str
    new: str
    rule: str
    remedy: str
    """The end of the message."""
    times: int = 1
    """How often the text is replaced."""


KUEUE, VOLCANO = "kueue.yaml", "volcano.yaml"
FAULTS = {
    # Queues of Kueue.
    "no queue": Fault(KUEUE, f"kueue.x-k8s.io/queue-name: main, {LOW}", LOW, "workload-names-no-queue", "set label kueue.x-k8s.io/queue-name: main"),
    "queue misspelt": Fault(KUEUE, f"main, {LOW}", f"mian, {LOW}", "workload-without-local-queue", 'did you mean "main"?'),
    "ClusterQueue misspelt": Fault(KUEUE, "{clusterQueue: vision}", "{clusterQueue: vison}", "local-queue-without-cluster-queue", 'did you mean "vision"?'),
    "name of a namespace misspelt": Fault(KUEUE, "metadata.name: vision", "metadata.name: visoin", "namespace-not-selected", 'did you mean "vision" in namespaceSelector?'),
    "other namespace selected": Fault(KUEUE, "metadata.name: vision", "metadata.name: computer-vision", "namespace-not-selected", "or label the namespace"),
    "namespace of a LocalQueue misspelt": Fault(KUEUE, "{name: main, namespace: vision}", "{name: main, namespace: visio}", "namespace-missing", 'did you mean "vision"?'),
    "no namespace selected": Fault(KUEUE, "  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}\n", "", "cluster-queue-selects-no-namespace", "or an empty one ({}) for all"),
    "queue stopped": Fault(KUEUE, IN_VISION, f"{IN_VISION}  stopPolicy: Hold\n", "queue-stopped", "write stopPolicy: None to start the queue"),
    "flavor misspelt": Fault(KUEUE, "- name: a100", "- name: a100-80", "flavor-missing", 'did you mean "a100"?'),
    "resource misspelt": Fault(KUEUE, "nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n      - {name: cpu, nominalQuota: 96}\n      - {name: memory, nominalQuota: 1000Gi}\n      - {name: nvidia.com/gpu,", "nvidia.com/gpus]\n    flavors:\n    - name: a100\n      resources:\n      - {name: cpu, nominalQuota: 96}\n      - {name: memory, nominalQuota: 1000Gi}\n      - {name: nvidia.com/gpus,", "resource-name-misspelt", 'did you mean "nvidia.com/gpu"?'),
    "cpu not covered": Fault(KUEUE, "[cpu, memory, nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n      - {name: cpu, nominalQuota: 96}\n", "[memory, nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n", "request-not-covered", "add it to coveredResources of ClusterQueue vision and to its flavors"),
    "memory without unit": Fault(KUEUE, "nominalQuota: 1000Gi", "nominalQuota: 1000", "memory-quota-without-unit", "write a unit, such as 1000Gi"),
    "labels of no node": Fault(KUEUE, "nodeLabels: {pool: a100}", "nodeLabels: {pool: a10}", "flavor-matches-no-node", 'did you mean "a100"?'),
    "taint that no workload tolerates": Fault(KUEUE, "nodeLabels: {pool: a100}\n", "nodeLabels: {pool: a100}\n  nodeTaints: [{key: nvidia.com/gpu, value: present, effect: NoSchedule}]\n", "workload-fits-no-flavor", "add the tolerations to ResourceFlavor a100, or to the pods"),
    "topology": Fault(KUEUE, "nodeLabels: {pool: a100}\n", "nodeLabels: {pool: a100}\n  topologyName: racks\n", "topology-missing", "no Topology is defined"),
    "level of a topology": Fault(KUEUE, "nodeLabels: {pool: a100}\n", f"nodeLabels: {{pool: a100}}\n  topologyName: racks\n{TOPOLOGY}", "node-without-topology-level", "add the label to every node of the flavor"),
    "cpu and memory not covered": Fault(KUEUE, "[cpu, memory, nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n      - {name: cpu, nominalQuota: 96}\n      - {name: memory, nominalQuota: 1000Gi}\n", "[nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n", "request-not-covered", "nodes have them, so add them to coveredResources of ClusterQueue vision and to its flavors"),
    "no cpu": Fault(KUEUE, "{name: cpu, nominalQuota: 96}", "{name: cpu, nominalQuota: 0}", "gpu-quota-without-cpu", "raise nominalQuota of cpu"),
    "thousandths of cpu": Fault(KUEUE, "{name: cpu, nominalQuota: 96}", "{name: cpu, nominalQuota: 96m}", "gpu-quota-without-cpu", "raise nominalQuota of cpu, such as 96 instead of 96m"),
    "mebibytes of memory": Fault(KUEUE, "nominalQuota: 1000Gi", "nominalQuota: 980Mi", "gpu-quota-without-cpu", "raise nominalQuota of memory, such as 980Gi instead of 980Mi"),
    "framework misspelt": Fault(KUEUE, "---\napiVersion: apps/v1", f"---\n{FRAMEWORKS}---\napiVersion: apps/v1", "framework-unknown", 'did you mean "deployment"?'),
    # Cohorts, preemption and priorities.
    "no cohort": Fault(KUEUE, "  cohortName: all\n", "", "cohort-preemption-ignored", "write cohortName: all, or remove reclaimWithinCohort"),
    "limit without a cohort": Fault(KUEUE, f"{IN_VISION}  namespaceSelector: {{matchLabels: {{kubernetes.io/metadata.name: vision}}}}\n  preemption: {PREEMPTION}\n  resourceGroups:\n  - coveredResources: [cpu, memory, nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n      - {{name: cpu, nominalQuota: 96}}\n      - {{name: memory, nominalQuota: 1000Gi}}\n      - {{name: {GPUS}}}", "metadata: {name: vision}\nspec:\n  namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: vision}}\n  preemption: {withinClusterQueue: LowerPriority}\n  resourceGroups:\n  - coveredResources: [cpu, memory, nvidia.com/gpu]\n    flavors:\n    - name: a100\n      resources:\n      - {name: cpu, nominalQuota: 96}\n      - {name: memory, nominalQuota: 1000Gi}\n      - {name: nvidia.com/gpu, nominalQuota: 8, borrowingLimit: 4}", "crd-rule-broken", "write cohortName, or remove borrowingLimit"),
    "cohort misspelt": Fault(KUEUE, "cohortName: all", "cohortName: al", "cohort-of-one", "write the same cohort in both"),
    "nothing lent": Fault(KUEUE, GPUS, f"{GPUS}, lendingLimit: 0", "cohort-preemption-ignored", "or write reclaimWithinCohort: Never", 2),
    "nothing borrowed": Fault(KUEUE, GPUS, f"{GPUS}, borrowingLimit: 0", "cohort-preemption-ignored", "or write reclaimWithinCohort: Never", 2),
    "lends more than it has": Fault(KUEUE, GPUS, f"{GPUS}, lendingLimit: 12", "lending-above-nominal", "write at most 8"),
    "lends without reclaim": Fault(KUEUE, PREEMPTION, "{withinClusterQueue: LowerPriority}", "lends-without-reclaim", "write reclaimWithinCohort: Any or LowerPriority"),
    "no preemption in a queue of two priorities": Fault(KUEUE, PREEMPTION, "{reclaimWithinCohort: Any}", "priorities-without-preemption", "withinClusterQueue: LowerPriority if urgent jobs must preempt others"),
    "borrows without reclaim": Fault(KUEUE, PREEMPTION, "{borrowWithinCohort: {policy: LowerPriority}}", "crd-rule-broken", "or remove borrowWithinCohort"),
    "threshold below all": Fault(KUEUE, PREEMPTION, "{reclaimWithinCohort: Any, withinClusterQueue: LowerPriority, borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 10}}", "priority-threshold-below-all", "write 100 or more"),
    "equal priorities": Fault(KUEUE, "value: 1000", "value: 100", "priority-classes-equal", "or use only one of the two classes"),
    "names and values of WorkloadPriorityClasses": Fault(KUEUE, "value: 1000", "value: 10", "priority-names-swapped", "exchange the two values"),
    "WorkloadPriorityClass": Fault(KUEUE, LOW, "kueue.x-k8s.io/priority-class: lo", "workload-priority-class-missing", 'did you mean "low"?'),
    "quota above the nodes": Fault(KUEUE, GPUS, "nvidia.com/gpu, nominalQuota: 16", "quota-exceeds-capacity", "lower nominalQuota by 8 in total, or add nodes"),
    "AdmissionCheck": Fault(KUEUE, IN_VISION, IN_VISION + CHECKS, "admission-check-missing", "no AdmissionCheck is defined"),
    # Jobs of Kueue.
    "job above the quota of a strict queue": Fault(KUEUE, "parallelism: 2\n  completions: 2", "parallelism: 9\n  completions: 9", "workload-exceeds-quota", "run fewer pods, or raise the quota"),
    "minimum above the parallelism": Fault(KUEUE, TRAIN, f'{TRAIN}  annotations: {{kueue.x-k8s.io/job-min-parallelism: "4"}}\n', "kueue-annotation-refused", "write a number from 1 to 1"),
    "maximum execution time": Fault(KUEUE, LOW, f'{LOW}, kueue.x-k8s.io/max-exec-time-seconds: "2h"', "kueue-annotation-refused", 'write the number of seconds, such as "7200"'),
    "managedBy": Fault(KUEUE, "  parallelism: 2\n", "  managedBy: kueue.x-k8s.io/multi-kueue\n  parallelism: 2\n", "managed-by-unknown", 'did you mean "kueue.x-k8s.io/multikueue"?'),
    "priority on the pods": Fault(KUEUE, f", {LOW}}}\nspec:\n  parallelism: 2\n  completions: 2\n  completionMode: Indexed\n{POD}", f"}}\nspec:\n  parallelism: 2\n  completions: 2\n  completionMode: Indexed\n  template:\n    metadata: {{labels: {{{LOW}}}}}\n    spec:\n      restartPolicy: Never", "kueue-key-misplaced", "move it to metadata.labels"),
    "limit that no queue lends": Fault(KUEUE, GPUS, f"{GPUS}, borrowingLimit: 8, lendingLimit: 0", "borrowing-limit-unused", "or remove borrowingLimit", 2),
    "GPUs that a queue never uses": Fault("topology.yaml", GPUS, f"{GPUS[:-1]}0, borrowingLimit: 0", "flavor-never-used", "or remove the flavor"),
    # Queues of Volcano.
    "capability without GPUs": Fault(VOLCANO, CAPABILITY, "capability: {cpu: 384, memory: 2000Gi}", "capability-incomplete", "list every GPU resource in capability, with 0 to forbid its use"),
    "resource of a Queue misspelt": Fault(VOLCANO, CAPABILITY, "capability: {cpu: 384, memory: 2000Gi, nvidia.com/gpus: 24}", "queue-resource-not-counted", 'write "nvidia.com/gpu"'),
    "guarantee": Fault(VOLCANO, QUEUE, f"{QUEUE}\n  guarantee: {{resource: {{nvidia.com/gpu: 32}}}}", "guarantee-above-deserved", "because the capability is 24"),
    "deserved above the nodes": Fault(VOLCANO, QUEUE, "deserved: {cpu: 192, memory: 2000Gi, nvidia.com/gpu: 24}", "deserved-exceeds-cluster", "lower deserved"),
    "deserved without GPUs": Fault(VOLCANO, QUEUE, "deserved: {cpu: 192, memory: 2000Gi}", "deserved-without-gpu", "with 0 if other queues may reclaim all"),
    "not reclaimable": Fault(VOLCANO, "reclaimable: true", "reclaimable: false", "borrowing-queue-not-reclaimable", "or set reclaimable: true"),
    "closed": Fault(VOLCANO, f"{CAPABILITY}\n", f"{CAPABILITY}\nstatus: {{state: Closed}}\n", "queue-closed", "or use another queue"),
    "no reclaim": Fault(VOLCANO, "preempt, reclaim, ", "preempt, ", "reclaim-never-runs", "for resources that must not be lent"),
    "own parent": Fault(VOLCANO, "reclaimable: true\n", "reclaimable: true\n  parent: vision\n", "queue-not-below-root", "remove the parent of one of these queues"),
    "no plugin for queues": Fault(VOLCANO, "      - name: capacity\n", "", "queues-without-plugin", "add capacity to the first tier"),
    "actions with semicolons": Fault(VOLCANO, "allocate, preempt, reclaim, backfill", "allocate; preempt; reclaim; backfill", "volcano-configuration-not-loaded", "preempt, reclaim, shuffle"),
    # Gangs and priorities of Volcano.
    "minAvailable above the replicas": Fault(VOLCANO, "minAvailable: 2", "minAvailable: 4", "min-available-exceeds-replicas", "write at most 2"),
    "gang above the capability": Fault(VOLCANO, "minAvailable: 2\n  priorityClassName: low\n  tasks:\n  - name: worker\n    replicas: 2", "minAvailable: 8\n  priorityClassName: low\n  tasks:\n  - name: worker\n    replicas: 8", "gang-exceeds-queue", "or raise the capability"),
    "minMember above the pods": Fault(VOLCANO, "minMember: 4", "minMember: 8", "gang-larger-than-its-pods", "or run more pods"),
    "PodGroup misspelt": Fault(VOLCANO, "group-name: ft", "group-name: fft", "pod-group-missing", 'did you mean "ft"?'),
    "pods of a gang without its scheduler": Fault(VOLCANO, "      schedulerName: volcano\n", "", "gang-scheduler-not-volcano", "write schedulerName: volcano in spec.template.spec"),
    "scheduler misspelt": Fault(VOLCANO, "schedulerName: volcano", "schedulerName: volcanoo", "scheduler-name-misspelt", 'did you mean "volcano"?'),
    "queue of Volcano misspelt": Fault(VOLCANO, "  queue: vision\n", "  queue: vison\n", "gang-without-queue", 'did you mean "vision"?'),
    "plugin misspelt": Fault(VOLCANO, JOB, f"{JOB}  plugins: {{svcs: []}}\n", "job-plugin-unknown", 'did you mean "svc"?'),
    "event misspelt": Fault(VOLCANO, JOB, f"{JOB}  policies: [{{event: PodFail, action: RestartJob}}]\n", "unsupported-value", 'did you mean "PodFailed"?'),
    "action misspelt": Fault(VOLCANO, JOB, f"{JOB}  policies: [{{event: PodFailed, action: Restart}}]\n", "job-policy-refused", "write RestartJob, RestartPartition, RestartPod or RestartTask"),
    "class of the tasks only": Fault(VOLCANO, f"{JOB}  tasks:\n  - name: worker\n    replicas: 2\n    template:\n      spec:\n", "  tasks:\n  - name: worker\n    replicas: 2\n    template:\n      spec:\n        priorityClassName: low\n", "gang-priorities-differ", "write priorityClassName: low in spec of the Job too"),
    "class of a Job misspelt": Fault(VOLCANO, JOB, "  priorityClassName: lo\n", "priority-class-missing", 'did you mean "low"?'),
    "class of the system": Fault(VOLCANO, JOB, "  priorityClassName: system-cluster-critical\n", "system-priority-misused", "write a PriorityClass of your own"),
    "high never preempts": Fault(VOLCANO, "value: 1000\n", "value: 1000\npreemptionPolicy: Never\n", "high-priority-never-preempts", "or give low the higher value"),
    "names and values of PriorityClasses": Fault(VOLCANO, "value: 1000", "value: 10", "priority-names-swapped", "exchange the two values"),
    "no class preempts": Fault(VOLCANO, "\ndescription: class ", "\npreemptionPolicy: Never\ndescription: class ", "high-priority-never-preempts", "or remove preempt from the actions", 2),
    "one value for two names": Fault(VOLCANO, "value: 1000\n", "value: 100\n", "priority-classes-equal", "or use only one of the two classes"),
    "one value, and one class never preempts": Fault(VOLCANO, "value: 1000\n", "value: 100\npreemptionPolicy: Never\n", "priority-classes-equal", "or use only one of the two classes"),
    "reserved value": Fault(VOLCANO, "value: 1000\n", "value: 2000000000\n", "priority-class-refused", "write at most 1000000000"),
    "nodes of no pool": Fault(VOLCANO, "nodeSelector: {pool: a100}", "nodeSelector: {pool: a10}", "pod-fits-no-node", "write a100 in nodeSelector, or label the nodes"),
}  # fmt: skip


@pytest.mark.parametrize("file", [KUEUE, VOLCANO, "topology.yaml"])
def test_sound_sets_have_no_finding(tmp_path, file):
    assert findings(tmp_path, (MANIFESTS / file).read_text("utf-8")) == []


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_is_reported_once(tmp_path, name):
    fault = FAULTS[name]
    text = (MANIFESTS / fault.file).read_text("utf-8")
    assert text.count(fault.old) >= fault.times
    found = findings(tmp_path, text.replace(fault.old, fault.new, fault.times))
    assert [rule for rule, _ in found] == [fault.rule], found
    assert found[0][1].endswith(fault.remedy), found


OTHER_NODES = """\
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: h100}
spec: {nodeLabels: {pool: h100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue"""
PODS = "".join(
    f"""---
apiVersion: scheduling.k8s.io/v1
kind: PriorityClass
metadata: {{name: {name}}}
value: {value}
description: class {name}
"""
    for name, value in (("high", 1000), ("low", 100))
)
IN_COHORT = ("  cohortName: all\n", "reclaimWithinCohort: Any, ")


def with_classes(text, **classes):
    """The manifests with a PriorityClass for the pods of each workload, and WorkloadPriorityClasses of other names."""
    for name in ("high", "low"):
        text = text.replace(f"name: {name}}}", f"name: jobs-{name}}}")
        text = text.replace(f"priority-class: {name}}}", f"priority-class: jobs-{name}}}")
    for workload, name in classes.items():
        head, middle, tail = text.partition(f"  name: {workload}\n")
        field = f"priorityClassName: {name}\n      nodeSelector"
        text = head + middle + tail.replace("nodeSelector", field, 1)
    return text + PODS


@pytest.mark.parametrize("shares_quota", [True, False])
@pytest.mark.parametrize(
    ("classes", "wrong"),
    [
        ({}, []),
        ({"train": "low", "eval": "high", "serve": "high"}, []),
        ({"train": "low", "eval": "low", "serve": "low"}, []),
        ({"train": "high", "eval": "high", "serve": "low"}, ["priority-orders-disagree"]),
    ],
)
def test_the_classes_of_pods_and_jobs_on_the_same_nodes_are_compared(
    tmp_path, classes, wrong, shares_quota
):
    """Also if their queues have no cohort: kube-scheduler knows no queues."""
    text = with_classes((MANIFESTS / KUEUE).read_text("utf-8"), **classes)
    for part in () if shares_quota else IN_COHORT:
        text = text.replace(part, "")
    found = findings(tmp_path, text)
    assert [rule for rule, _ in found] == wrong
    assert all("below Deployment nlp/serve" in message for _, message in found)
    other = text.replace(
        "---\napiVersion: kueue.x-k8s.io/v1beta2\nkind: ClusterQueue", OTHER_NODES, 1
    )
    apart = other.replace("- name: a100", "- name: h100", 1)
    if not shares_quota:  # the nodes of vision are others
        assert "priority-orders-disagree" not in {rule for rule, _ in findings(tmp_path, apart)}


@pytest.mark.parametrize("kind", ["PriorityClass", "WorkloadPriorityClass"])
@pytest.mark.parametrize("classes", [{}, {"train": "low", "eval": "high", "serve": "high"}])
def test_classes_whose_values_are_swapped_are_one_finding(tmp_path, kind, classes):
    text = with_classes((MANIFESTS / KUEUE).read_text("utf-8"), **classes)
    prefix = "" if kind == "PriorityClass" else "jobs-"
    value = f"kind: {kind}\nmetadata: {{name: {prefix}high}}\nvalue: 10"
    assert f"{value}00" in text
    swapped = text.replace(f"{value}00", value)
    for changed in (swapped, swapped.replace("jobs-", "")):
        assert [rule for rule, _ in findings(tmp_path, changed)] == ["priority-names-swapped"]


SERVING = """
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: chat, namespace: vision, labels: {kueue.x-k8s.io/queue-name: main}}
spec:
  replicas: 15
  strategy: {rollingUpdate: {maxSurge: 0, maxUnavailable: 1}}
  selector: {matchLabels: {app: chat}}
  template:
    metadata: {labels: {app: chat}}
    spec:
      nodeSelector: {pool: a100}
      containers:
      - name: main
        image: registry.example.com/serve:2.1
        resources: {limits: {cpu: 1, memory: 1Gi, nvidia.com/gpu: 1}}
"""


def test_a_job_without_room_in_a_strict_queue_is_one_finding(tmp_path):
    """The job blocks those behind it, so both rules know the fault."""
    text = (MANIFESTS / KUEUE).read_text("utf-8")
    head, middle, tail = text.partition(IN_VISION)
    strict = f"{head}{middle}  queueingStrategy: StrictFIFO\n{tail.replace(PREEMPTION, '{reclaimWithinCohort: Any}')}"
    jobs = strict.partition("---\napiVersion: apps/v1")[0].replace(
        "priority-class: high", "priority-class: low"
    )
    [(rule, message)] = findings(tmp_path, jobs + SERVING)
    assert rule == "workloads-exceed-queue"
    assert (
        "since ClusterQueue vision is StrictFIFO, Kueue never admits the jobs behind it" in message
    )


def test_the_gangs_of_a_class_that_never_preempts_are_not_reported_too(tmp_path):
    """A gang of another class that never preempts is a fault of its own."""
    text = (MANIFESTS / VOLCANO).read_text("utf-8")
    group = "minMember: 4, queue: vision,"
    for name, never, rules in (
        ("high", ["high"], ["high-priority-never-preempts"]),
        ("high", ["high", "low"], ["high-priority-never-preempts"]),
        ("low", ["low"], ["gang-cannot-reclaim"]),
        ("low", ["high", "low"], ["high-priority-never-preempts", "gang-cannot-reclaim"]),
        ("high", ["low"], []),
    ):
        pods = "      schedulerName: volcano\n"
        changed = text.replace(group, f"{group} priorityClassName: {name},")
        changed = changed.replace(pods, f"{pods}      priorityClassName: {name}\n")
        for it in never:
            metadata = f"metadata: {{name: {it}}}\nvalue"
            changed = changed.replace(
                metadata, metadata.replace("value", "preemptionPolicy: Never\nvalue")
            )
        assert [rule for rule, _ in findings(tmp_path, changed)] == rules, (name, never)
