"""upgrade rewrites manifests for the versions of other releases."""

from datetime import date
from io import BytesIO

import pytest
import yaml

from policygen.app.upgrade import upgrade, write
from policygen.core import versions

TODAY = date(2026, 11, 23)
HEAD = "apiVersion: config.kueue.x-k8s.io/v1beta1\nkind: Configuration\n"
NEW = "apiVersion: config.kueue.x-k8s.io/v1beta2\nkind: Configuration\n"


def upgraded(text, to="0.19"):
    target = {"kueue": versions.parse("kueue", to)}
    return upgrade(("-",), target, today=TODAY, stdin=BytesIO(text.encode()))


def new_text(text, to="0.19"):
    made = upgraded(text, to)
    assert (made.by_hand, made.fixed.left) == ((), ())
    ((_, new),) = made.fixed.texts
    return new


def test_a_dumped_queue_loses_its_status():
    old = """\
apiVersion: v1
kind: List
items:
- apiVersion: kueue.x-k8s.io/v1beta1
  kind: LocalQueue
  metadata: {name: a, namespace: b}
  spec: {clusterQueue: c}
  status: {flavorUsage: [], pendingWorkloads: 0}
"""
    assert new_text(old) == (
        old.replace("v1beta1", "v1beta2").replace(
            "  status: {flavorUsage: [], pendingWorkloads: 0}\n", ""
        )
    )


@pytest.mark.parametrize("kind", ["Cohort", "MultiKueueCluster", "MultiKueueConfig", "Topology"])
def test_objects_in_v1alpha1_are_upgraded(kind):
    old, new = {
        "Cohort": ("{parent: b}", "{parentName: b}"),
        "MultiKueueCluster": (
            "{kubeConfig: {location: b, locationType: Secret}}",
            "{clusterSource: {kubeConfig: {location: b, locationType: Secret}}}",
        ),
        "MultiKueueConfig": ("{clusters: [b]}", "{clusters: [b]}"),
        "Topology": (
            "{levels: [{nodeLabel: kubernetes.io/hostname}]}",
            "{levels: [{nodeLabel: kubernetes.io/hostname}]}",
        ),
    }[kind]
    head = f"apiVersion: kueue.x-k8s.io/VERSION\nkind: {kind}\nmetadata: {{name: a}}\nspec: "
    made = new_text(head.replace("VERSION", "v1alpha1") + old + "  # racks\n")
    assert made == head.replace("VERSION", "v1beta2") + new + "  # racks\n"


@pytest.mark.parametrize(
    "source, group, kind",
    [
        ("kueue.x-k8s.io/workloadpriorityclass", "kueue.x-k8s.io", "WorkloadPriorityClass"),
        ("scheduling.k8s.io/priorityclass", "scheduling.k8s.io", "PriorityClass"),
    ],
)
def test_the_priority_class_of_a_workload_becomes_one_reference(source, group, kind):
    text = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: a, namespace: b}
spec:
  priorityClassName: f  # fast
  priorityClassSource: SOURCE
  priority: 9
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: d, image: e}]}}}]
""".replace("SOURCE", source)
    fields = f"priorityClassName: f  # fast\n  priorityClassSource: {source}\n"
    reference = f"priorityClassRef: {{group: {group}, kind: {kind}, name: f}}  # fast\n"
    assert new_text(text) == text.replace("v1beta1", "v1beta2").replace(fields, reference)
    mixed = text.replace("v1beta1", "v1beta2")
    assert new_text(mixed) == new_text(text)


def test_a_priority_class_without_its_source_is_a_change_by_hand():
    text = """\
apiVersion: kueue.x-k8s.io/v1beta1
kind: Workload
metadata: {name: a, namespace: b}
spec:
  queueName: c
  podSets: [{name: main, count: 1, template: {spec: {containers: [{name: d, image: e}]}}}]
"""
    assert new_text(text) == text.replace("v1beta1", "v1beta2")
    made = upgraded(f"{text}  priorityClassName: f\n")
    assert made.fixed.texts == ()
    (left,) = made.by_hand
    assert "Workload b/a uses v1beta1" in left.message
    assert "priorityClassRef: {group: ..., kind: ..., name: ...}" in left.message


@pytest.mark.parametrize(
    "version, kind, spec, words",
    [
        (
            "autoscaling/v2beta1",
            "HorizontalPodAutoscaler",
            "metrics: [{type: Pods}]",
            "averageUtilization",
        ),
        (
            "policy/v1beta1",
            "PodDisruptionBudget",
            "selector: {}",
            "an empty selector selects all pods",
        ),
    ],
)
def test_what_differs_in_the_next_version_is_reported(version, kind, spec, words):
    text = f"apiVersion: {version}\nkind: {kind}\nmetadata: {{name: a}}\nspec: {{SPEC}}\n"
    made = upgraded(text.replace("SPEC", spec))
    assert [words in it.message for it in made.by_hand] == [True]
    assert new_text(text.replace("SPEC", "")).startswith(f"apiVersion: {version.split('/')[0]}/v")


@pytest.mark.parametrize(
    "old, new",
    [
        ("waitForPodsReady: {enable: true}", {"timeout": "5m", "blockAdmission": True}),
        (
            "waitForPodsReady: {enable: true, timeout: 9m}",
            {"timeout": "9m", "blockAdmission": True},
        ),
        (
            "waitForPodsReady:\n  enable: true  # pods\n  blockAdmission: false\n  timeout: 9m",
            {"timeout": "9m", "blockAdmission": False},
        ),
    ],
)
def test_the_wait_for_pods_keeps_its_defaults(old, new):
    made = new_text(f"{HEAD}{old}\n")
    assert yaml.safe_load(made) == {**yaml.safe_load(NEW), "waitForPodsReady": new}
    assert ("# pods" in made) == ("# pods" in old)


def test_a_wait_for_pods_that_is_off_stays_off():
    for old in ("", "waitForPodsReady:\n  enable: false\n"):
        assert new_text(f"{HEAD}{old}namespace: a\n") == (
            f"{NEW}namespace: a\nfeatureGates:\n  DisableWaitForPodsReady: true\n"
        )
        assert new_text(f"{HEAD}{old}namespace: a\n", "0.18") == f"{NEW}namespace: a\n"


def test_a_wait_for_pods_that_a_gate_would_switch_on_stays_off():
    old = f"{HEAD}featureGates: {{DisableWaitForPodsReady: false}}  # gates\n"
    assert new_text(old) == f"{NEW}featureGates: {{DisableWaitForPodsReady: true}}  # gates\n"


def test_fair_sharing_gets_the_strategies_that_it_had_by_default():
    both = "[LessThanOrEqualToFinalShare, LessThanInitialShare]"
    gate = "featureGates: {DisableWaitForPodsReady: true}\n"
    for old, new in (
        ("fairSharing:\n  enable: true\n", f"fairSharing:\n  preemptionStrategies: {both}\n"),
        (
            f"fairSharing:\n  enable: true\n  preemptionStrategies: {both}\n",
            f"fairSharing:\n  preemptionStrategies: {both}\n",
        ),
        ("fairSharing: {enable: false}\n", ""),
    ):
        assert new_text(HEAD + gate + old) == NEW + gate + new


@pytest.mark.parametrize(
    "text, words",
    [
        (
            f"{HEAD}integrations: {{podOptions: {{}}}}\n",
            "managedJobsNamespaceSelector instead of integrations.podOptions",
        ),
        (f"{HEAD}waitForPodsReady: {{enable: true, timeout: 0s}}\n", "a waitForPodsReady.timeout"),
        (f"{HEAD}fairSharing: {{enable: true, preemptionStrategies: []}}\n", "instead of enable"),
        (
            "apiVersion: autoscaling/v2beta1\nkind: HorizontalPodAutoscaler\nspec: {behavior: {}}\n",
            "write autoscaling/v2",
        ),
    ],
)
def test_what_needs_a_decision_is_left_to_a_person(text, words):
    made = upgraded(text)
    assert made.fixed.texts == ()
    assert words in made.by_hand[0].message


def test_a_value_of_a_wrong_type_is_not_called_upgraded():
    made = upgraded(f"{HEAD}fairSharing: [a]\n")
    assert (made.by_hand, made.fixed.texts, made.complete) == ((), (), False)


def test_gates_on_the_command_line_are_not_set_twice():
    manager = """\
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: kueue-controller-manager, namespace: kueue-system}
spec:
  selector: {matchLabels: {a: b}}
  template:
    metadata: {labels: {a: b}}
    spec:
      containers:
      - name: manager
        image: registry.k8s.io/kueue/kueue:v0.19.2
        args: [--feature-gates=PartialAdmission=true]
"""
    made = upgraded(HEAD + manager)
    assert made.fixed.texts == ()
    assert "DisableWaitForPodsReady: true under featureGates" in made.by_hand[0].message


def test_a_second_upgrade_changes_nothing(tmp_path):
    file = tmp_path / "kueue.yaml"
    file.write_text(f"{HEAD}waitForPodsReady: {{enable: true}}\n")
    write(upgrade((str(file),), {}, today=TODAY))
    assert file.read_text().startswith(NEW)
    again = upgrade((str(file),), {}, today=TODAY)
    assert (again.fixed.texts, again.by_hand) == ((), ())
