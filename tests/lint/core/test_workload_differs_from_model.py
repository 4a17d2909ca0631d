"""Workloads are compared with the models that they run."""

from datetime import date
from pathlib import Path

import pytest
import yaml

from policygen.app import lint, render
from policygen.app.requests import ClusterRequest, LintRequest, RenderRequest
from policygen.client import snapshot_file
from policygen.plan.extras import WORKLOADS
from tests.app.simulations import ROOT
from tests.client.looks import snapshot
from tests.examples_of_rules import examples

RULE = "workload-differs-from-model"


def found(tmp_path, text, extras=frozenset()):
    """The messages of the rule, and the names of other findings about the text's objects."""
    file = tmp_path / "all.yaml"
    file.write_text(text, "utf-8")
    parts = [it for it in text.split("---\n") if "policygen.dev/v1" in it]
    spec = tmp_path / "spec.yaml"
    spec.write_text("---\n".join(parts), "utf-8")
    rest = [it for it in text.split("---\n") if it not in parts]
    file.write_text("---\n".join(rest), "utf-8")
    request = LintRequest((str(spec),), (str(file),), extras=extras)
    report = lint.lint(request, today=date(2026, 11, 23))
    here = [it for it in report.findings if it.place and Path(it.place.file) == file]
    return (
        [it.message for it in here if it.rule.name == RULE],
        {it.rule.name for it in here if it.rule.name != RULE},
    )


(GOOD,) = (it.text for it in examples(RULE, good=True))


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("priorityClassName: train", "priorityClassName: live", '.priorityClassName is "live" instead of "train"; write "train", or'),
        ("parallelism: 2", "parallelism: 1", "spec.parallelism is 1 instead of 2"),
        ("schedulerName: ml.binpack\n      priorityClassName: train", "priorityClassName: train", "it does not have schedulerName: ml.binpack; run `policygen patch FILE --spec SPEC --write`"),
        ("restartPolicy: Never", "nodeName: a", 'spec.template.spec.nodeName is "a"'),
        ("policygen.dev/model: asr\n", "policygen.dev/model: ghost\n", 'model "ghost" does not exist'),
        ("  labels:\n    policygen.dev/model: asr\n    kueue.x-k8s.io/queue-name: h100\n", "  labels:\n", "it does not have kueue.x-k8s.io/queue-name: h100;"),
    ],
)  # fmt: skip
def test_one_finding_names_what_is_different(tmp_path, old, new, words):
    assert old in GOOD
    messages, _ = found(tmp_path, GOOD.replace(old, new))
    assert len(messages) == 1
    assert words in messages[0]


@pytest.mark.parametrize(
    ("key", "differs"), [("orbit.exmple/pool", False), ("orbit.example/area", True)]
)
def test_a_misspelt_node_label_is_left_to_another_rule(tmp_path, key, differs):
    """The patch would add the right label and keep the wrong one."""
    text = GOOD.replace("scheduler: kueue", "scheduler: volcano")
    text = text.replace(
        "nodeSelector:\n    pool: h100", "nodeSelector:\n    orbit.example/pool: h100"
    )
    text = text.replace(
        "restartPolicy: Never", f"restartPolicy: Never\n      nodeSelector: {{{key}: h100}}"
    )
    messages, others = found(tmp_path, text)
    of_job = [it for it in messages if 'model "asr"' in it]
    assert any("orbit.example/pool: h100" in it for it in of_job) is differs, messages
    assert ("pod-fits-no-node" in others) is not differs


def test_a_missing_limit_of_cpu_is_no_difference(tmp_path):
    text = GOOD.replace("limits: {cpu: 8, ", "limits: {")
    assert text != GOOD
    assert found(tmp_path, text) == ([], set())


def test_what_follows_from_a_wrong_number_is_not_reported_too(tmp_path):
    text = GOOD.replace("parallelism: 2", "parallelism: 16").replace(
        "completions: 2", "completions: 16"
    )
    messages, others = found(tmp_path, text)
    assert len(messages) == 1
    assert "spec.parallelism is 16 instead of 2" in messages[0]
    assert others == set()


def test_an_error_about_the_same_value_is_enough(tmp_path):
    text = GOOD.replace(
        "restartPolicy: Never", "restartPolicy: Never\n      nodeSelector: {pool: l4}"
    )
    assert found(tmp_path, text) == ([], {"workload-fits-no-flavor"})


def test_other_fields_are_not_compared(tmp_path):
    text = GOOD.replace("image: example.com/asr:1", "image: b\n        command: [train]")
    text = text.replace("replicas: 2\n  strategy", "replicas: 1\n  strategy")
    assert found(tmp_path, text) == ([], set())
    assert found(tmp_path, text.replace("policygen.dev/model: asr,", "")) == ([], set())


def test_the_rendered_workload_is_no_object_of_a_server(tmp_path):
    """The user's manifest replaces it, and may have another image."""
    messages, others = found(tmp_path, GOOD, frozenset({"workloads"}))
    assert (messages, others) == ([], set())


def test_a_missing_image_is_reported_once(tmp_path):
    text = GOOD.replace("image: example.com/asr:1", 'image: ""')
    documents = [it for it in yaml.safe_load_all(text) if it["kind"] == "Model"]
    assert len(documents) == 2
    assert found(tmp_path, text, frozenset({"workloads"})) == ([], {"container-without-image"})


SCALED = GOOD.replace(
    "  replicas: 2\n  priority: live",
    '  autoscaling: {minReplicas: 1, maxReplicas: 2, metric: "a:b", targetConcurrency: 4}\n  priority: live',
)


def test_replicas_of_an_autoscaler_are_not_in_a_manifest(tmp_path):
    (message,), _ = found(tmp_path, SCALED)
    assert (
        "spec.replicas is 2, but the autoscaler of the model sets the replicas; remove the field"
        in message
    )
    assert found(tmp_path, SCALED.replace("  replicas: 2\n  strategy", "  strategy"))[0] == []


def test_kueue_keeps_the_replicas_of_a_stateful_set(tmp_path):
    text = SCALED.replace("kind: Deployment", "kind: StatefulSet")
    start = text.index("  strategy:")
    text = text[:start] + "  serviceName: answers\n" + text[text.index("  selector:", start) :]
    assert found(tmp_path, text)[0] == []


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("kind: Deployment", "kind: CronJob", "its workload is serving"),
        ("workload: serving", "workload: batch", 'answers" cannot run as Deployment of apps/v1: its workload is batch'),
    ],
)  # fmt: skip
def test_a_kind_that_cannot_run_the_model(tmp_path, old, new, words):
    text = GOOD.replace(old, new)
    if "CronJob" in new:
        head, _, rest = text.partition("  replicas: 2\n  strategy")
        template = '  schedule: "0 1 * * *"\n  jobTemplate: {spec: {template: {spec: {containers: [{name: a, image: a}]}}}}\n---'
        text = head + template + rest.partition("---")[2]
    messages, _ = found(tmp_path, text)
    assert any(words in it for it in messages), messages


@pytest.mark.parametrize(
    "example",
    ["kueue-team-tree", "ml-platform", "serving-slices", "spot-and-on-demand", "volcano-training"],
)
def test_rendered_workloads_do_not_differ_on_a_cluster(tmp_path, example):
    """A snapshot does not contain the commands of containers, also not those of preStop hooks."""
    specs = tuple(map(str, sorted((ROOT / "examples" / example).glob("*.yaml"))))
    request = RenderRequest(specs, {}, extras=frozenset({WORKLOADS}))
    text = "".join(it.text for it in render.render(request).manifests)
    path = tmp_path / "a.snapshot"
    snapshot_file.write(snapshot(text), path)
    clusters = ClusterRequest(snapshots=(path,))
    report = lint.lint(LintRequest(specs, (), clusters, only=(RULE,)), today=date(2026, 11, 23))
    assert [it.message for it in report.findings if it.rule.name == RULE] == []
