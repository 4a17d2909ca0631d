"""Edge cases of the rules for Kueue that their pages cannot show."""

from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import parse_targets
from policygen.core.durations import seconds
from policygen.lint.kueue.rules import topology_missing
from tests.examples_of_rules import examples
from tests.objects import facts

TODAY = date(2026, 11, 21)
ROOT = Path(__file__).parents[3]


def lint(tmp_path, text, **settings):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    return app_lint.lint(app_lint.LintRequest(manifests=(str(file),), **settings), today=TODAY)


def found(report):
    return [(it.rule.name, it.path) for it in report.findings]


def verdict(report, rule):
    return next((it.verdict, it.reason) for it in report.rules if it.rule == rule)


def test_a_configuration_without_preemption_strategies_is_told_so(tmp_path):
    text = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nfairSharing: {enable: false}\n"
    report = lint(tmp_path, text)
    (message,) = (
        it.message for it in report.findings if it.rule.name == "preemption-strategies-refused"
    )
    assert message.startswith(
        "fairSharing has no preemptionStrategies, so Kueue does not start; write "
    )
    assert message.endswith(", or remove fairSharing to switch fair sharing off")


def test_a_remedy_names_the_fields_of_the_version(tmp_path):
    text = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: a}
spec:
  %s: c
  resourceGroups:
  - coveredResources: [cpu]
    flavors:
    - name: b
      resources:
      - {name: cpu, nominalQuota: 1, borrowingLimit: 1}
"""
    by_rule = {it.rule.name: it for it in lint(tmp_path, text % "cohortName").findings}
    unknown = by_rule["unknown-field"]
    assert (unknown.path, unknown.place.line) == ("spec.cohortName", 6)
    by_rule = {it.rule.name: it for it in lint(tmp_path, text.replace("  %s: c\n", "")).findings}
    assert by_rule["crd-rule-broken"].message.endswith("write cohort, or remove borrowingLimit")
    by_rule = {it.rule.name: it for it in lint(tmp_path, text % "cohort").findings}
    assert by_rule["kueue-version-outdated"].message.endswith(
        "write apiVersion: kueue.x-k8s.io/v1beta2 and cohortName instead of cohort; `lint --fix` does this"
    )


FLAVORLESS = """
apiVersion: kueue.x-k8s.io/v1beta1
kind: ClusterQueue
metadata: {name: q}
spec:
  cohort: traning
  namespaceSelector: {}
  admissionChecks: [scale-up]
  resourceGroups:
  - coveredResources: [cpu, memory]
    flavors:
    - {name: a, resources: [{name: cpu, nominalQuota: 1}, {name: memory, nominalQuota: 1Gi}]}
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: Cohort
metadata: {name: training}
"""


def test_findings_on_v1beta1_name_the_fields_that_were_written(tmp_path):
    assert found(lint(tmp_path, FLAVORLESS, target=parse_targets({"kueue": "0.14"}))) == [
        ("cohort-undeclared", "spec.cohort"),
        ("admission-check-missing", "spec.admissionChecks[0]"),
        ("flavor-missing", "spec.resourceGroups[0].flavors[0].name"),
    ]


def test_what_is_missing_from_a_part_is_not_judged(tmp_path):
    report = lint(tmp_path, FLAVORLESS, target=parse_targets({"kueue": "0.14"}), partial=True)
    assert found(report) == []
    for rule in ("cohort-undeclared", "admission-check-missing", "flavor-missing"):
        assert verdict(report, rule) == (
            "not evaluated",
            "the input lacks: the complete set of policy objects",
        )


def test_an_object_that_cannot_be_read_is_still_there(tmp_path):
    broken = """
---
apiVersion: kueue.x-k8s.io/v1beta1
kind: ResourceFlavor
metadata: {name: a}
spec: {nodeLabels: [pool]}
"""
    report = lint(tmp_path, FLAVORLESS + broken, target=parse_targets({"kueue": "0.14"}))
    assert "flavor-missing" not in {it.rule.name for it in report.findings}


def test_rules_of_nodes_wait_for_nodes(tmp_path):
    good = examples("flavor-missing", good=True)[0]
    report = lint(tmp_path, good.text)
    lacking = ("not evaluated", "the input lacks: Nodes")
    for rule in ("flavor-matches-no-node", "node-taint-not-tolerated"):
        assert verdict(report, rule) == lacking
    lacking = ("not evaluated", "the input lacks: Nodes, or a spec with pools")
    assert verdict(report, "quota-exceeds-capacity") == lacking


def test_quota_of_whole_gpus_over_instances_names_the_instances(tmp_path):
    node = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: mig}}
status: {allocatable: {cpu: "32", nvidia.com/mig-1g.5gb: "56", example.com/other: "1"}}
---
"""
    queue = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: mig}
spec: {nodeLabels: {pool: mig}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: q}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: mig, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}]
"""
    report = lint(tmp_path, node + queue)
    found = [it.message for it in report.findings if it.rule.name == "quota-exceeds-capacity"]
    assert found == [
        (
            "the quotas of ResourceFlavor mig add up to 8 nvidia.com/gpu, all in ClusterQueue q, but its "
            "nodes (1) have 0; cover nvidia.com/mig-1g.5gb, which the nodes have, instead of nvidia.com/gpu"
        )
    ]


def test_quotas_above_the_capacity_are_named_each_with_its_amount_and_place(tmp_path):
    node = """
apiVersion: v1
kind: Node
metadata: {name: n1, labels: {pool: a100}}
status: {allocatable: {nvidia.com/gpu: "8"}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
"""
    queue = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: %s}
spec:
  namespaceSelector: {}
  resourceGroups:
    - coveredResources: [nvidia.com/gpu]
      flavors: [{name: a100, resources: [{name: nvidia.com/gpu, nominalQuota: %d}]}]
"""
    report = lint(tmp_path, node + queue % ("small", 2) + queue % ("large", 6) + queue % ("mid", 4))
    [found] = [it for it in report.findings if it.rule.name == "quota-exceeds-capacity"]
    assert found.place is not None
    assert (found.object, found.place.line) == ("ClusterQueue large", 28)
    file = found.place.file
    assert found.message == (
        "the quotas of ResourceFlavor a100 add up to 12 nvidia.com/gpu (ClusterQueue large has 6, "
        f"ClusterQueue mid has 4 at {file}:37 and ClusterQueue small has 2 at {file}:19), but its nodes "
        "(1) have 8; lower nominalQuota by 4 in total, or add nodes"
    )


def test_rules_of_settings_wait_for_the_configuration(tmp_path):
    good = examples("lends-without-reclaim", good=True)[0]
    report = lint(tmp_path, good.text)
    for rule in ("borrow-within-cohort-ignored", "feature-gate-off"):
        assert verdict(report, rule) == (
            "not evaluated",
            "the input lacks: Kueue's Configuration",
        )


def test_a_configuration_inside_its_config_map_is_judged(tmp_path):
    text = """
apiVersion: v1
kind: ConfigMap
metadata: {name: kueue-manager-config, namespace: kueue-system}
data:
  controller_manager_config.yaml: |
    apiVersion: config.kueue.x-k8s.io/v1beta2
    kind: Configuration
    waitForPodsReady: {enable: true}
"""
    report = lint(tmp_path, text)
    assert found(report) == [("kueue-configuration-key-unknown", "waitForPodsReady.enable")]
    assert [it.place.line for it in report.findings] == [9]


WORKLOAD = """
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  {namespace}
  labels: {{kueue.x-k8s.io/queue-name: a100}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: registry.example.com/train:1
        resources: {{requests: {{cpu: 1}}}}
"""


@pytest.mark.parametrize(
    "namespace, rules",
    [
        ("namespace: vision", []),
        ("namespace: speech", ["workload-without-local-queue"]),
        ("", ["workload-without-namespace"]),
    ],
)
def test_a_workload_without_namespace_may_be_applied_to_any(tmp_path, namespace, rules):
    good = examples("flavor-missing", good=True)[0]
    report = lint(tmp_path, good.text + WORKLOAD.format(namespace=namespace))
    assert [it.rule.name for it in report.findings] == rules


@pytest.mark.parametrize(
    "text, wanted",
    [
        ("30m", 1800),
        ("1h30m", 5400),
        ("-1s", -1),
        ("0", 0),
        ("1.5h", 5400),
        ("5 minutes", None),
        ("30", None),
        ("", None),
        ("m", None),
        (30, None),
    ],
)
def test_durations_are_read_as_go_reads_them(text, wanted):
    assert seconds(text) == wanted


@pytest.mark.parametrize(
    "api_version, kind",
    [
        ("trainer.kubeflow.org/v1alpha1", "TrainJob"),
        ("workload.codeflare.dev/v1beta2", "AppWrapper"),
        ("sparkoperator.k8s.io/v1beta2", "SparkApplication"),
    ],
)
@pytest.mark.parametrize("queue, told", [("gone", True), ("q", False)])
def test_kinds_of_whose_pods_nothing_is_known_name_queues_too(
    tmp_path, api_version, kind, queue, told
):
    text = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: LocalQueue\n"
        "metadata: {name: q, namespace: a}\nspec: {clusterQueue: c}\n---\n"
        f"apiVersion: {api_version}\nkind: {kind}\n"
        f"metadata: {{name: x, namespace: a, labels: {{kueue.x-k8s.io/queue-name: {queue}}}}}\n"
    )
    rules = [it.rule.name for it in lint(tmp_path, text).findings]
    assert ("workload-without-local-queue" in rules) is told


GPU_QUEUE = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec: {nodeLabels: {pool: a100}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
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
metadata: {name: %s, namespace: vision}
spec: {clusterQueue: vision}
---
"""
GPU_JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: train, namespace: vision}
spec:
  template:
    spec:
      restartPolicy: Never
      containers:
      - name: main
        image: a/b:1
        resources: {limits: {cpu: 8, memory: 64Gi, nvidia.com/gpu: 1}}
"""


def no_queue(tmp_path, text, queue="a100"):
    report = lint(tmp_path, GPU_QUEUE % queue + text)
    return [it for it in report.findings if it.rule.name == "workload-names-no-queue"]


def test_a_workload_that_names_no_queue_is_told_the_queue_of_its_namespace(tmp_path):
    (finding,) = no_queue(tmp_path, GPU_JOB)
    assert finding.message == (
        "Job vision/train requests nvidia.com/gpu but names no queue, so Kueue does not count this "
        "request; set label kueue.x-k8s.io/queue-name: a100"
    )


@pytest.mark.parametrize(
    "old, new",
    [
        ("namespace: vision", "namespace: speech"),
        ("name: train,", "name: train, labels: {kueue.x-k8s.io/queue-nam: a100},"),
        ("name: train,", "name: train, annotations: {kueue.x-k8s.io/queue-name: a100},"),
        ("nvidia.com/gpu: 1", "amd.com/gpu: 1"),
        ("restartPolicy:", "schedulerName: volcano\n      restartPolicy:"),
        ("restartPolicy:", "nodeSelector: {pool: t4}\n      restartPolicy:"),
        (
            "name: train,",
            "name: train, ownerReferences: [{kind: B, name: c, uid: d, controller: true}],",
        ),
    ],
    ids=["namespace", "misspelled", "misplaced", "resource", "scheduler", "pool", "owner"],
)
def test_a_workload_that_kueue_does_not_need_to_count_may_name_no_queue(tmp_path, old, new):
    assert old in GPU_JOB
    assert no_queue(tmp_path, GPU_JOB.replace(old, new)) == []


def test_the_queue_named_default_takes_workloads_that_name_none(tmp_path):
    assert no_queue(tmp_path, GPU_JOB, "default") == []


def test_gpus_are_enough_if_kueue_does_not_count_cpu(tmp_path):
    text = GPU_QUEUE % "a100"
    text = text.replace("nominalQuota: 96", "nominalQuota: 0")
    configuration = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"
        "resources: {excludeResourcePrefixes: [cpu]}\n"
    )
    names = [name for name, _ in found(lint(tmp_path, text))]
    assert names == ["gpu-quota-without-cpu"]
    names = [name for name, _ in found(lint(tmp_path, text + configuration))]
    assert "gpu-quota-without-cpu" not in names


def test_a_misspelled_request_is_one_finding_with_and_without_nodes(tmp_path):
    job = GPU_JOB.replace("nvidia.com/gpu:", "nvidia.com/gpus:")
    node = (
        "---\napiVersion: v1\nkind: Node\nmetadata: {name: n1}\n"
        "status: {allocatable: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}}\n"
    )
    names = [name for name, _ in found(lint(tmp_path, job, partial=True))]
    assert names == ["resource-name-misspelt"]
    names = [name for name, _ in found(lint(tmp_path, job + node, partial=True))]
    assert names == ["pod-fits-no-node"]


_BORROWING = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  cohortName: all
  namespaceSelector: {}
  preemption:
    reclaimWithinCohort: Any
    borrowWithinCohort: {policy: LowerPriority, maxPriorityThreshold: 5}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - name: f
      resources:
      - {name: nvidia.com/gpu, nominalQuota: 8}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: n}
spec: {clusterQueue: a}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: WorkloadPriorityClass
metadata: {name: low}
value: 10
---
apiVersion: batch/v1
kind: Job
metadata:
  name: train
  namespace: n
  labels: {kueue.x-k8s.io/queue-name: a, CLASS}
spec:
  suspend: true
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {limits: {RESOURCE: 1}}}]
---
apiVersion: v1
kind: Node
metadata: {name: node-a}
status: {allocatable: {cpu: 8, memory: 64Gi, pods: 110, nvidia.com/mig-1g.5gb: 7}}
"""


@pytest.mark.parametrize(
    "label, expected", [("kueue.x-k8s.io/priority-class: low", 1), ("a: b", 0)]
)
def test_a_threshold_below_each_class_is_reported_if_each_job_has_a_class(
    tmp_path, label, expected
):
    text = _BORROWING.replace("CLASS", label).replace("RESOURCE", "nvidia.com/gpu")
    messages = [
        it.message
        for it in lint(tmp_path, text).findings
        if it.rule.name == "priority-threshold-below-all"
    ]
    assert len(messages) == expected
    assert all("but the lowest priority class has 10, so it never" in it for it in messages)


_ELSEWHERE = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: z}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors: [{name: a, resources: [{name: nvidia.com/gpu, nominalQuota: 1}]}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: z, namespace: a}
spec: {clusterQueue: z}
---
apiVersion: batch/v1
kind: Job
metadata: {name: z, namespace: a, labels: {kueue.x-k8s.io/queue-name: z}}
spec:
  template:
    spec:
      restartPolicy: Never
      containers: [{name: c, image: i, resources: {limits: {nvidia.com/gpu: 1}}}]
"""


def test_jobs_of_other_cohorts_do_not_hide_a_threshold_below_each_class(tmp_path):
    text = _BORROWING.replace("CLASS", "kueue.x-k8s.io/priority-class: low")
    text = text.replace("RESOURCE", "nvidia.com/gpu") + _ELSEWHERE
    names = [it.rule.name for it in lint(tmp_path, text).findings]
    assert "priority-threshold-below-all" in names


def test_a_resource_that_nodes_have_is_to_be_covered(tmp_path):
    text = _BORROWING.replace("CLASS", "a: b").replace("RESOURCE", "nvidia.com/mig-1g.5gb")
    (message,) = (
        it.message for it in lint(tmp_path, text).findings if it.rule.name == "request-not-covered"
    )
    assert message.endswith(
        "nodes have it, so add it to coveredResources of ClusterQueue a and to its flavors"
    )


@pytest.mark.parametrize(
    "within, advice",
    [("LowerPriority", "remove reclaimWithinCohort"), ("Never", "withinClusterQueue: Lower")],
)
def test_advice_about_a_queue_without_a_cohort_names_what_is_not_set_yet(tmp_path, within, advice):
    preemption = f"reclaimWithinCohort: Any, withinClusterQueue: {within}"
    text = _BORROWING.replace("  cohortName: all\n", "")
    text = text.replace("reclaimWithinCohort: Any\n", preemption.replace(", ", "\n    ") + "\n")
    (message,) = (
        it.message
        for it in lint(tmp_path, text).findings
        if it.rule.name == "cohort-preemption-ignored"
        and "reclaimWithinCohort: Any but" in it.message
    )
    assert f", or {advice}" in message


def test_a_queue_of_another_team_is_not_to_be_opened(tmp_path):
    queue = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: NAME}
spec: {namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: NAME}}}
---"""
    local = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: red}
spec: {clusterQueue: blue}
"""
    blue, red = (queue.replace("NAME", it) for it in ("blue", "red"))
    for text, advice in (
        (blue + red + local, "write clusterQueue: red, which selects it"),
        (blue + local, "add the namespace to namespaceSelector, or label the namespace"),
    ):
        (message,) = (
            it.message
            for it in lint(tmp_path, text).findings
            if it.rule.name == "namespace-not-selected"
        )
        assert message.endswith(f"so its workloads are never admitted; {advice}")


@pytest.mark.parametrize(
    ("pods", "gpus", "path", "remedy"),
    [
        (16, 1, "spec.parallelism", "run fewer pods"),
        (1, 9, 'containers[0].resources.requests["nvidia.com/gpu"]', "lower the request"),
    ],
)
def test_more_than_a_queue_has_is_reported_at_the_amount(tmp_path, pods, gpus, path, remedy):
    [page] = examples("workload-exceeds-quota", good=False)
    text = page.text.replace(": 16", f": {pods}").replace("gpu: 1", f"gpu: {gpus}")
    [finding] = lint(tmp_path, text).findings
    assert finding.rule.name == "workload-exceeds-quota"
    assert finding.path.endswith(path)
    assert finding.message.endswith(f"can have at most 8; {remedy}, or raise the quota")


def test_quotas_of_a_pool_with_an_autoscaler_are_compared_with_all_its_nodes(tmp_path):
    """Without workloads, one of its nodes runs, or none."""
    example = ROOT / "examples" / "node-autoscalers" / "policy.yaml"
    node = """
apiVersion: v1
kind: Node
metadata: {name: a, labels: {gpu-pool: %s}}
status: {allocatable: {cpu: 96, memory: 1000Gi, nvidia.com/gpu: 8}}
"""
    for pool in ("a100", "h100", "other"):
        report = lint(tmp_path, node % pool, specs=(str(example),))
        assert "quota-exceeds-capacity" not in {it.rule.name for it in report.findings}


def test_quotas_are_not_compared_with_the_nodes_that_a_node_pool_has_started(tmp_path):
    text = examples("node-pool-below-quotas", good=True)[-1].text
    assert "kind: Node\n" in text
    assert "quota-exceeds-capacity" not in {it.rule.name for it in lint(tmp_path, text).findings}


def _ranked(name, rank, of_pods):
    """A queued Job with the classes of Kueue and of its pods."""
    spec = f"priorityClassName: {of_pods}, " if of_pods else ""
    return f"""---
apiVersion: batch/v1
kind: Job
metadata: {{name: {name}, namespace: vision, labels: {{kueue.x-k8s.io/queue-name: a100, kueue.x-k8s.io/priority-class: {rank}}}}}
spec: {{suspend: true, template: {{spec: {{{spec}restartPolicy: Never, containers: [{{name: main, image: "a:1"}}]}}}}}}
"""


@pytest.mark.parametrize(
    ("urgent", "bulk", "remedy"),
    [
        ("", "above", "remove priorityClassName from Job vision/bulk, or write preemptionPolicy: Never in PriorityClass above"),
        ("below", "", "remove priorityClassName from Job vision/urgent"),
        ("below", "above", "use a PriorityClass with a value of at most -5 in Job vision/bulk, or write preemptionPolicy: Never in PriorityClass above"),
    ],
)  # fmt: skip
def test_the_remedy_for_priorities_that_disagree_names_a_job(tmp_path, urgent, bulk, remedy):
    text = examples("priority-orders-disagree", good=True)[0].text
    for name, value in (("above", 5), ("below", -5)):
        text += f"---\napiVersion: scheduling.k8s.io/v1\nkind: PriorityClass\nmetadata: {{name: {name}}}\nvalue: {value}\n"
    text += _ranked("urgent", "urgent", urgent) + _ranked("bulk", "bulk", bulk)
    [finding] = lint(tmp_path, text, only=("priority-orders-disagree",)).findings
    assert finding.message.endswith(f"; {remedy}")


def test_the_remedy_for_classes_that_disagree_names_the_values(tmp_path):
    text = examples("priority-orders-disagree", good=False)[0].text
    [finding] = lint(tmp_path, text, only=("priority-orders-disagree",)).findings
    assert finding.message.endswith(
        "; raise the value of PriorityClass urgent to 500 or more, or write preemptionPolicy: Never in PriorityClass bulk"
    )
    raised = text.replace(
        "kind: PriorityClass\nmetadata:\n  name: urgent\nvalue: 100\n",
        "kind: PriorityClass\nmetadata:\n  name: urgent\nvalue: 500\n",
    )
    assert raised != text
    assert lint(tmp_path, raised, only=("priority-orders-disagree",)).findings == ()


SIMILAR = """\
apiVersion: v1
kind: Namespace
metadata: {name: churn, labels: {team: churn}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: batch}
spec:
  namespaceSelector: {matchLabels: {%s}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: churn}
spec: {clusterQueue: bacth}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: batch, namespace: fraud}
spec: {clusterQueue: batch}
"""


@pytest.mark.parametrize(
    ("labels", "advice"),
    [("team: churn", 'did you mean "batch"?'), ("kubernetes.io/metadata.name: fraud", "create it")],
)
def test_a_similar_cluster_queue_is_proposed_unless_its_selector_excludes_the_namespace(
    tmp_path, labels, advice
):
    report = lint(tmp_path, SIMILAR % labels)
    (message,) = [
        it.message for it in report.findings if it.rule.name == "local-queue-without-cluster-queue"
    ]
    assert advice in message


_SLICES = """
apiVersion: v1
kind: Node
metadata: {name: small, labels: {slice: small}}
status: {allocatable: {cpu: 8, memory: 64Gi, pods: 110}}
---
apiVersion: v1
kind: Node
metadata: {name: whole, labels: {slice: whole}}
status: {allocatable: {cpu: 8, memory: 64Gi, pods: 110, nvidia.com/gpu: 4}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: FLAVOR}
spec: {nodeLabels: {slice: FLAVOR}}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: a}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [memory, nvidia.com/gpu]
    flavors:
    - name: FLAVOR
      resources: [{name: memory, nominalQuota: 64UNIT}, {name: nvidia.com/gpu, nominalQuota: 4}]
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: a}
spec: {clusterQueue: a}
---
apiVersion: batch/v1
kind: Job
metadata: {name: a, namespace: a, labels: {kueue.x-k8s.io/queue-name: a}}
spec:
  template:
    spec:
      restartPolicy: Never
      nodeSelector: {slice: FLAVOR}
      containers: [{name: c, image: i, resources: {limits: {memory: 16Gi, nvidia.com/gpu: 1}}}]
"""


def test_a_label_of_pods_and_of_their_flavor_is_changed_once(tmp_path):
    text = _SLICES.replace("FLAVOR", "small").replace("UNIT", "Gi")
    (message,) = (
        it.message for it in lint(tmp_path, text).findings if it.rule.name == "pod-fits-no-node"
    )
    assert message.endswith("not small; write whole in nodeSelector, or label the nodes")


def test_a_quota_in_a_smaller_unit_than_was_meant_is_raised_by_the_unit(tmp_path):
    """The cohort lends enough memory for one pod."""
    text = _SLICES.replace("FLAVOR", "whole").replace("64UNIT", "1900Mi")
    text = text.replace("  namespaceSelector", "  cohortName: c\n  namespaceSelector") + _LENDER
    (message,) = (
        it.message for it in lint(tmp_path, text).findings if it.rule.name == "gpu-quota-unusable"
    )
    assert "raise the quota of memory to 1900Gi, if the unit is wrong, or request" in message


_LENDER = """---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: z}
spec:
  cohortName: c
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [memory, nvidia.com/gpu]
    flavors:
    - name: whole
      resources: [{name: memory, nominalQuota: 32Gi}, {name: nvidia.com/gpu, nominalQuota: 0}]
"""


@pytest.mark.parametrize(
    ("values", "remedy"),
    [
        ("kube-system", "write operator: NotIn, and add kueue-system to its values"),
        ("kube-system, kueue-system", "write operator: NotIn"),
    ],
)
def test_all_namespaces_of_the_system_are_excluded(tmp_path, values, remedy):
    text = (
        "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\nmanagedJobsNamespaceSelector:\n"
        f"  matchExpressions: [{{key: kubernetes.io/metadata.name, operator: In, values: [{values}]}}]\n"
    )
    (message,) = (
        it.message
        for it in lint(tmp_path, text).findings
        if it.rule.name == "system-namespaces-managed"
    )
    assert message.endswith(f"so Kueue does not start; {remedy}")


TAINTED = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: %(name)s}
spec:
  nodeLabels: {pool: %(name)s}
  nodeTaints: [{key: dedicated, value: %(name)s, effect: NoSchedule}]
---
"""


@pytest.mark.parametrize(
    ("tolerations", "remedy"),
    [
        (
            "[]",
            ("add a toleration for taint dedicated=a:NoSchedule (flavor a) or add a toleration for taint "
            "dedicated=b:NoSchedule (flavor b)"),
        ),
        (
            "[{key: dedicated, value: x}]",
            ("write value: a in the toleration of the pods (flavor a) or write value: b in the toleration of the pods "
            "(flavor b)"),
        ),
    ],
)  # fmt: skip
def test_the_toleration_for_each_flavor_is_named(tmp_path, tolerations, remedy):
    serving = SERVING % ("chat", 1, "")
    serving = serving.replace("      nodeSelector: {}\n", f"      tolerations: {tolerations}\n")
    flavors = [TAINTED % {"name": it} for it in "ab"]
    report = lint(tmp_path, "".join((*flavors, TWO_FLAVORS, serving)))
    (message,) = (it.message for it in report.findings if it.rule.name == "workload-fits-no-flavor")
    assert message.endswith(f"; {remedy}")


POOL = """
{apiVersion: kueue.x-k8s.io/v1beta2, kind: ResourceFlavor, metadata: {name: %(name)s}, spec: {nodeLabels: {pool: %(name)s}}}
---
"""
TWO_FLAVORS = """
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: vision}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [nvidia.com/gpu]
    flavors:
    - {name: a, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
    - {name: b, resources: [{name: nvidia.com/gpu, nominalQuota: 8}]}
---
{apiVersion: kueue.x-k8s.io/v1beta2, kind: LocalQueue, metadata: {name: q, namespace: n}, spec: {clusterQueue: vision}}
---
"""
SERVING = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: %s, namespace: n, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: %d
  selector: {matchLabels: {app: a}}
  template:
    metadata: {labels: {app: a}}
    spec:
      nodeSelector: {%s}
      containers: [{name: main, image: a/b:1, resources: {limits: {nvidia.com/gpu: 1}}}]
---
"""


def test_fewer_pods_leave_room_only_to_workloads_of_the_same_flavor(tmp_path):
    job = SERVING % ("train", 9, "pool: a")
    job = job.replace("apps/v1", "batch/v1").replace("Deployment", "Job")
    job = job.replace("replicas: 9", "parallelism: 9\n  completions: 9")
    job = job.replace("  selector: {matchLabels: {app: a}}\n", "")
    job = job.replace("containers:", "restartPolicy: Never\n      containers:")
    others = [SERVING % it for it in (("a", 2, "pool: a"), ("b", 3, "pool: b"), ("any", 4, ""))]
    flavors = [POOL % {"name": it} for it in "ab"]
    report = lint(tmp_path, "".join((*flavors, TWO_FLAVORS, *others, job)))
    (message,) = (it.message for it in report.findings if it.rule.name == "workload-exceeds-quota")
    assert "run fewer pods, and leave 2 nvidia.com/gpu to Deployment a, or raise" in message


@pytest.mark.parametrize(
    ("more", "kueue", "effect"),
    [
        ("", 19, "Kueue crashes as soon as a workload is queued, if a ResourceFlavor names this Topology"),
        ("", 17, "no workload that requests its levels is admitted"),
        ("featureGates: {TopologyAwareScheduling: false}", 19, "no workload that requests its levels is admitted"),
    ],
)  # fmt: skip
def test_a_topology_without_levels_can_end_the_process(more, kueue, effect):
    """Kueue 0.19.2 panics in IsLowestLevelHostname. Other releases and gates are not known to."""
    text = (ROOT / "tests/lint/cases/topology-missing/bad-02.yaml").read_text("utf-8")
    if more:
        text += f"---\n{{apiVersion: config.kueue.x-k8s.io/v1beta2, kind: Configuration, {more}}}\n"
    [hit] = topology_missing.check(facts(text, kueue=kueue))
    assert hit.message == f"Topology fabric has no spec, so {effect}; write spec.levels"


MADE_RESOURCE = """\
apiVersion: v1
kind: Node
metadata:
  name: gpu-1
  labels: {pool: a100}
status:
  allocatable: {cpu: 64, memory: 512Gi, nvidia.com/mig-1g.10gb: 56, pods: 110}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ResourceFlavor
metadata: {name: a100}
spec:
  nodeLabels: {pool: a100}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: ClusterQueue
metadata: {name: lab}
spec:
  namespaceSelector: {}
  resourceGroups:
  - coveredResources: [cpu, memory, acme.io/gpu-memory]
    flavors:
    - name: a100
      resources:
      - {name: cpu, nominalQuota: 64}
      - {name: memory, nominalQuota: 512Gi}
      - {name: acme.io/gpu-memory, nominalQuota: 560}
"""
TRANSFORMATION = """\
---
apiVersion: config.kueue.x-k8s.io/v1beta2
kind: Configuration
resources:
  transformations:
  - {input: nvidia.com/mig-1g.10gb, strategy: Replace, outputs: {acme.io/gpu-memory: 10}}
"""


def test_a_resource_that_kueue_makes_is_on_no_node(tmp_path):
    path = "spec.resourceGroups[0].flavors[0].resources[2].nominalQuota"
    assert found(lint(tmp_path, MADE_RESOURCE)) == [("quota-exceeds-capacity", path)]
    assert found(lint(tmp_path, MADE_RESOURCE + TRANSFORMATION)) == []
