"""Findings quote values as the file has them: placeholders, odd scalars, types and positions."""

from datetime import date

import pytest

from policygen.app import lint as app_lint
from policygen.documents.placeholders import MESSAGE, is_blank

TODAY = date(2026, 11, 21)

OBJECTS = """\
apiVersion: v1
kind: Pod
metadata: {name: "${NAME}", namespace: a, labels: {x: "{{ .x }}"}}
spec:
  serviceAccountName: $ACCOUNT_NAME
  containers:
  - {name: a, image: "example.com/a:${TAG}", args: ["$(FOO)"]}
---
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: q, namespace: b}
spec: {clusterQueue: "{{ .Values.queue }}"}
"""
CHART = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: {{ .Values.name }}
{{- if .Values.queue }}
spec: {clusterQueue: {{ .Values.queue | quote }}}
{{- end }}
"""


def lint(tmp_path, text):
    file = tmp_path / "in.yaml"
    file.write_text(text, "utf-8")
    return app_lint.lint(app_lint.LintRequest(manifests=(str(file),)), today=TODAY)


def test_a_placeholder_is_reported_once_at_its_position(tmp_path):
    report = lint(tmp_path, OBJECTS)
    assert {it.message for it in report.findings} == {MESSAGE}
    assert [(it.place.line, it.place.column) for it in report.findings] == [
        (3, 18),
        (3, 55),
        (5, 23),
        (12, 22),
    ]


def test_what_is_filled_in_is_judged(tmp_path):
    filled = OBJECTS.replace("${NAME}", "A_").replace("{{ .Values.queue }}", "gone")
    found = {it.rule.name: it.message for it in lint(tmp_path, filled).findings}
    assert '"A_"' in found["invalid-name"]
    assert '"gone"' in found["local-queue-without-cluster-queue"]


def test_a_template_of_a_chart_is_one_finding(tmp_path):
    report = lint(tmp_path, CHART)
    (finding,) = report.findings
    assert (finding.rule.name, finding.place.line, finding.place.column) == ("yaml-syntax", 4, 9)
    assert "`helm template`" in finding.message
    assert not report.complete


def test_a_text_that_contains_a_template_is_complete(tmp_path):
    text = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  a: |\n"
    inner = "".join(f"    {line}\n" for line in CHART.splitlines())
    report = lint(tmp_path, text + inner)
    assert report.complete
    assert not [it for it in report.findings if it.place]


@pytest.mark.parametrize(
    "value, blank",
    [
        ("${NAME}", True),
        ("a-${NAME:-b}-c", True),
        ("$NAME", True),
        ("{{ name }}", True),
        ("$5", False),
        ("US$ 5", False),
        ("$(NAME)", False),
        ("$name", False),
        ("line\n{{ name }}", False),
        (5, False),
    ],
)
def test_what_looks_like_a_template(value, blank):
    assert is_blank(value) is blank


def test_a_duplicate_object_has_the_position_of_the_first(tmp_path):
    queue = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: b}\n"
    (finding,) = (it for it in lint(tmp_path, f"{queue}---\n{queue}").findings if it.place)
    assert (finding.rule.name, finding.place.line) == ("object-declared-twice", 7)
    assert f"first at {tmp_path / 'in.yaml'}:3" in finding.message


ROOT = """\
apiVersion: scheduling.volcano.sh/v1beta1
kind: Queue
metadata: {name: root%s}
spec: {weight: 1, deserved: {cpu: 8}}
"""


@pytest.mark.parametrize("uid, told", [("", True), (", uid: abc", False)])
def test_volcanos_own_values_in_its_root_queue_are_not_a_fault(tmp_path, uid, told):
    rules = {it.rule.name for it in lint(tmp_path, ROOT % uid).findings}
    assert ("root-queue-declared" in rules) is told


def test_a_cohort_is_not_offered_as_its_own_parent(tmp_path):
    text = (
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: child}\n"
        "spec: {parentName: gone}\n"
    )
    message = next(
        it.message for it in lint(tmp_path, text).findings if it.rule.name == "cohort-undeclared"
    )
    assert "create a Cohort object with this name" in message
    assert "known: " not in message


@pytest.mark.parametrize(
    "value, said",
    [
        ("n", "(YAML reads n as false)"),
        ("0x10", "(YAML reads 0x10 as 16)"),
        ("true", ""),
        ("16", ""),
    ],
)
def test_an_ambiguous_value_is_quoted_as_it_is_written(tmp_path, value, said):
    text = (
        "apiVersion: v1\nkind: Pod\nmetadata: {name: a, namespace: b}\n"
        f"spec:\n  nodeName: {value}\n  containers: [{{name: a, image: b}}]\n"
    )
    (finding,) = lint(tmp_path, text).findings
    assert finding.message.endswith(said or "put the value in quotes")


CONF = "actions: %s\ntiers: %s\n"
ACTIONS = '"enqueue, allocate, backfill"'


@pytest.mark.parametrize(
    "actions, tiers, said, remedy",
    [
        (
            "[allocate]",
            "[{plugins: [{name: gang}]}]",
            "actions is a list, but must be a string",
            'actions: "enq',
        ),
        (
            ACTIONS,
            "{plugins: []}",
            "tiers is a mapping, but must be a list",
            'a list of tiers, each with the key "plugins:"',
        ),
        (
            ACTIONS,
            "[{plugins: [gang]}]",
            'an entry of plugins is "gang", but must be a mapping',
            '"name: gang"',
        ),
        (
            ACTIONS,
            "[{plugins: [{name: gang, arguments: [a]}]}]",
            "arguments is a list, but must be a mapping",
            "write a mapping",
        ),
    ],
)
def test_what_volcanos_scheduler_cannot_decode_drops_the_whole_file(
    tmp_path, actions, tiers, said, remedy
):
    (finding,) = lint(tmp_path, CONF % (actions, tiers)).findings
    assert finding.rule.name == "malformed-object"
    assert said in finding.message
    assert "the scheduler ignores this file" in finding.message
    assert remedy in finding.message


def test_a_number_as_the_text_of_an_operator_is_reported_at_the_value(tmp_path):
    text = (
        "apiVersion: ray.io/v1\nkind: RayCluster\nmetadata: {name: a, namespace: b}\n"
        "spec:\n  headGroupSpec:\n    template:\n      spec:\n        nodeSelector:\n"
        "          a: b\n          c: 8\n        containers: [{name: a, image: b}]\n"
    )
    (finding,) = lint(tmp_path, text).findings
    assert finding.message.endswith("c must be a string, not 8; put the value in quotes")
    assert (finding.place.line, finding.place.column) == (10, 14)
