"""Pods that required affinities select; tests/servers/proofs/test_core_affinities.py asks kube-scheduler."""

import pytest
from msgspec.structs import replace

from policygen.lint.core.pod_partners import partners, unmet_affinities
from policygen.lint.rule import Need
from tests.objects import facts

POD = """
apiVersion: v1
kind: Pod
metadata: {name: %s, namespace: %s, labels: {%s}}
spec:
  containers: [{name: main, image: a}]
"""
NEAR = """  affinity: {podAffinity: {requiredDuringSchedulingIgnoredDuringExecution: [%s]}}
"""


def pod(name: str, labels: str = "", *terms: str, namespace: str = "a") -> str:
    near = ", ".join(f"{{topologyKey: kubernetes.io/hostname, {it}}}" for it in terms)
    text = POD % (name, namespace, labels or f"app: {name}")
    return text + (NEAR % near if terms else "")


def app(name: str, more: str = "") -> str:
    return f"labelSelector: {{matchLabels: {{app: {name}}}}}{more}"


def unmet(*texts: str, namespaces: bool = True) -> list[tuple[str, list[str]]]:
    """The names of pods with an unmet affinity, and of those in a circle with them."""
    given = facts("---\n".join(texts))
    if not namespaces:
        given = replace(given, given=given.given - {Need.NAMESPACES})
    return [
        (it.pods.workload.name, [other.workload.name for other in it.circle])
        for it in unmet_affinities(given)
    ]


def test_a_pod_may_be_the_first_one_that_its_terms_select():
    assert unmet(pod("one", "", app("one"))) == []
    assert unmet(pod("one", "", app("two"))) == [("one", [])]
    assert unmet(pod("one", "app: one, tier: t", app("one"), app("two"))) == [("one", [])]


def test_only_pods_that_match_all_terms_count():
    tier = "labelSelector: {matchLabels: {tier: t}}"
    assert unmet(pod("one", "", app("two"), tier), pod("two"), pod("three", "tier: t")) == [
        ("one", [])
    ]
    assert unmet(pod("one", "", app("two"), tier), pod("two", "app: two, tier: t")) == []


def test_who_waits_for_a_pod_that_never_starts_is_not_reported():
    first, second = pod("one", "", app("two")), pod("two", "", app("three"))
    assert unmet(first, second) == [("two", [])]
    assert unmet(first, second, pod("three")) == []


def test_a_circle_is_reported_once():
    circle = [
        pod("one", "", app("two")),
        pod("two", "", app("three")),
        pod("three", "", app("one")),
    ]
    assert unmet(*circle, pod("four", "", app("two"))) == [("one", ["two", "three"])]
    assert unmet(*circle, pod("five", "app: two")) == []


@pytest.mark.parametrize(
    "selector",
    [
        "labelSelector: {matchLabels: {pod-template-hash: x}}",
        "labelSelector: {matchLabels: {example.com/app: x}}",
        "labelSelector: {matchExpressions: [{key: example.com/app, operator: Exists}]}",
    ],
)
def test_a_label_that_a_controller_may_add_is_not_judged(selector):
    assert unmet(pod("one", "", selector)) == []


@pytest.mark.parametrize(
    "selector",
    [
        "labelSelector: {matchLabels: {app.kubernetes.io/name: x}}",
        "labelSelector: {matchExpressions: [{key: app, operator: In, values: [x, y]}]}",
        "labelSelector: {matchExpressions: [{key: tier, operator: Exists}]}",
        "namespaces: [a]",
    ],
)
def test_a_label_that_users_write_is_judged(selector):
    assert unmet(pod("one", "", selector), pod("two")) == [("one", [])]


def test_operators_add_labels_of_all_domains():
    ray = """
apiVersion: ray.io/v1
kind: RayCluster
metadata: {name: ray, namespace: a}
spec: {headGroupSpec: {template: {spec: {containers: [{name: main, image: a}]}}}}
"""
    name = "labelSelector: {matchLabels: {app.kubernetes.io/name: kuberay}}"
    assert unmet(pod("one", "", name), ray) == []
    assert unmet(pod("one", "", name)) == [("one", [])]


def test_other_namespaces_are_judged_if_their_pods_are_in_the_input():
    namespace = "apiVersion: v1\nkind: Namespace\nmetadata: {name: %s, labels: {team: %s}}\n"
    there = pod("two", namespace="b")
    wrong, right = app("two", ", namespaces: [c]"), app("two", ", namespaces: [b]")
    assert unmet(pod("one", "", right), there) == []
    assert unmet(pod("one", "", wrong), there) == [("one", [])]
    assert unmet(pod("one", "", wrong), there, namespaces=False) == []
    assert (
        unmet(pod("one", "", wrong), there, namespace % ("c", "red")) == []
    )  # its pods are unknown
    selector = ", namespaceSelector: {matchLabels: {team: %s}}"
    known = namespace % ("a", "red"), namespace % ("b", "blue")
    assert unmet(pod("one", "", app("two", selector % "blue")), there, *known) == []
    assert unmet(pod("one", "", app("two", selector % "bleu")), there, *known) == [("one", [])]
    assert unmet(pod("one", "", app("four", ", namespaceSelector: {}")), there, *known) == []


def test_kinds_of_other_projects_may_create_pods():
    other = "apiVersion: serving.kserve.io/v1beta1\nkind: InferenceService\nmetadata: {name: x, namespace: %s}\n"
    assert unmet(pod("one", "", app("two")), other % "a") == []
    assert unmet(pod("one", "", app("two")), other % "b") == [("one", [])]


def test_each_of_the_selected_pods_is_found_once():
    name = "app.kubernetes.io/name"
    set_ = """
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: set, namespace: a}
spec:
  replicatedJobs:
  - name: w
    template:
      spec:
        template:
          metadata: {labels: {app.kubernetes.io/name: two}}
          spec: {containers: [{name: main, image: a}]}
"""
    near = (
        f"labelSelector: {{matchExpressions: [{{key: {name}, operator: In, values: [two, two]}}]}}"
    )
    texts = (pod("one", "", near), pod("two", f"{name}: two"), pod("other"), set_)
    known = partners(facts("---\n".join(texts)))
    [(_, term)] = known.pods[0].together
    assert [it.workload.name for it in known.selected([term])] == ["two", "set"]
