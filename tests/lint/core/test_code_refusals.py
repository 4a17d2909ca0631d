"""Refusals by code and webhooks, for the reasons that schemas have too."""

from policygen.core.finding import At
from policygen.lint.core import code_refusals
from tests.objects import facts

JOB = """
apiVersion: batch/v1
kind: Job
metadata: {name: j}
spec:
  template:
    metadata: {annotations: {"a b": c, A.B/ok: d}, labels: {"x y": z}}
    spec: {nodeSelector: {gpu: "h 100"}}
"""
HYPER_NODE = """
apiVersion: topology.volcano.sh/v1alpha1
kind: HyperNode
metadata: {name: h}
spec: {members: [{selector: {regexMatch: {pattern: "%s"}}}]}
"""


def test_keys_of_a_templates_annotations():
    ((at, message),) = code_refusals.annotations(facts(JOB))
    assert at == At(0, ("spec", "template", "metadata", "annotations", "a b")).on_key()
    assert "is not a valid annotation key" in message


def test_labels_of_a_template_and_of_its_node_selector():
    assert [at.path[2] for at, _ in code_refusals.labels(facts(JOB))] == ["metadata", "spec"]


def test_a_missing_spec_is_refused_by_the_webhook():
    text = "{apiVersion: scheduling.volcano.sh/v1beta1, kind: Queue, metadata: {name: q}}"
    ((at, message),) = code_refusals.missing_fields(facts(text))
    assert (at, "has no spec, so" in message) == (At(0), True)
    assert list(code_refusals.missing_fields(facts(text[:-1] + ", spec: {}}"))) == []


def test_hyper_nodes_need_members():
    for spec, path in (("spec: {members: []}", ("spec",)), ("spec: {}", ("spec",)), ("", ())):
        text = HYPER_NODE.partition("spec:")[0] + f"{spec}\n"
        ((at, message),) = code_refusals.missing_fields(facts(text))
        assert (at, "has no spec.members" in message) == (At(0, path), True)


def test_a_job_of_volcano_needs_a_spec_and_tasks():
    text = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}%s}"
    for spec, path, words in (
        ("", (), "has no spec, so"),
        (", spec: {minAvailable: 1}", ("spec",), "has no spec.tasks"),
        (", spec: {tasks: null}", ("spec",), "has no spec.tasks"),
    ):
        ((at, message),) = code_refusals.missing_fields(facts(text % spec))
        assert (at, words in message) == (At(0, path), True)


def test_brackets_of_a_pattern():
    ((_, message),) = code_refusals.patterns(facts(HYPER_NODE % "node-(1"))
    assert "has an unbalanced bracket" in message
    assert list(code_refusals.patterns(facts(HYPER_NODE % "node-(1)"))) == []
    assert list(code_refusals.patterns(facts(HYPER_NODE % "(?P<x)"))) == []


def test_a_task_of_volcano_without_a_template():
    text = "{apiVersion: batch.volcano.sh/v1alpha1, kind: Job, metadata: {name: j}, spec: {tasks: [{replicas: 1%s}]}}"
    for template in ("", ", template: {}"):
        ((at, message),) = code_refusals.missing_fields(facts(text % template))
        assert at == At(0, ("spec", "tasks", 0))
        assert "without containers" in message
    assert list(code_refusals.missing_fields(facts(text % ", templates: {}"))) == []
