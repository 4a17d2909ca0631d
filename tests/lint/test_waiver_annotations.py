"""Annotations on live objects waive what the spec allows them to."""

import json

import pytest

from policygen.app import lint as app_lint
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.client import snapshot_file as snapshots
from policygen.core.errors import SpecError
from policygen.kubernetes.snapshot import Gap, GroupKind
from policygen.lint.kinds import every
from tests.client.looks import snapshot
from tests.lint.linting import QUEUE, RULE, TODAY, platform, queues

KEY = f"policygen.dev/waive-{RULE}"
ALLOWED = f"annotations: [{RULE}]"


def annotated(value, name="a", key=KEY):
    head = f"metadata:\n  annotations: {{{json.dumps(key)}: {json.dumps(value)}}}"
    return QUEUE.format(name=name).replace("metadata:", head)


@pytest.fixture
def lint_live(tmp_path):
    """Lint a snapshot of these objects, beside a Platform with these settings."""

    def run(settings, *texts, **options):
        spec = tmp_path / "platform.yaml"
        spec.write_text(platform(settings), "utf-8")
        file = tmp_path / "east.snapshot"
        snapshots.write(snapshot("---\n".join(texts), **options), file)
        clusters = ClusterRequest(snapshots=(file,))
        given = LintRequest(specs=(str(spec),) if settings else (), clusters=clusters)
        report = app_lint.lint(given, today=TODAY)
        told = [it for it in report.findings if it.rule.name == RULE or "waiv" in it.message]
        return [(it.rule.name, it.object) for it in told], report

    return run


@pytest.mark.parametrize(
    "value", ["mend later", "until 2026-11-21: mend later", " until 2027-01-01:x"]
)
def test_an_annotation_that_the_spec_allows_waives(lint_live, value):
    told, report = lint_live(ALLOWED, annotated(value), queues("b"))
    assert (told, report.waived) == ([(RULE, "LocalQueue b/b")], 1)


@pytest.mark.parametrize(
    "value, said",
    [
        ("", "the annotation has no reason"),
        ("  \n", "the annotation has no reason"),
        ("until 2027-01-01:", "the annotation has no reason"),
        ("until next year", "the annotation has no reason"),
        ("until 2027-02-30: x", "the date in the annotation is invalid"),
        ("until 2026-11-20: x", "expired on 2026-11-20"),
    ],
)
def test_an_invalid_annotation_is_reported_and_its_finding_stays(lint_live, value, said):
    told, report = lint_live(ALLOWED, annotated(value))
    rule = "waiver-expired" if "expired" in said else "waiver-unreadable"
    assert told == [(RULE, "LocalQueue b/a"), (rule, "LocalQueue b/a")]
    assert said in report.findings[-1].message
    assert report.findings[-1].path == f'metadata.annotations["{KEY}"]'
    assert report.waived == 0


def test_an_annotation_has_an_effect_only_if_the_spec_allows_it(lint_live):
    """A hundred invalid annotations give one finding; without a spec there are no waivers."""
    texts = [annotated("x", name=f"q{number}") for number in range(100)]
    told, report = lint_live("annotations: [cohort-cycle]", *texts)
    assert report.waived == 0
    assert len([rule for rule, _ in told if rule == RULE]) == 100
    (said,) = (it for it in report.findings if it.rule.name == "waiver-not-allowed")
    assert (
        "of this and 99 other objects: the waiver has no effect, because spec.lint.annotations"
        in said.message
    )
    told, report = lint_live("", *texts)
    assert ({rule for rule, _ in told}, report.waived) == ({RULE}, 0)


def test_an_annotation_is_about_its_object_and_rule_only(lint_live):
    """`*` is not a wildcard, and an annotation for another rule or object has no effect."""
    star = "policygen.dev/waive-*"
    told, report = lint_live(
        "annotations: [local-queue-without-cluster-queue, cohort-cycle]",
        annotated("x", key=star),
        annotated("x", name="'*'"),
        annotated("x", name="c", key="policygen.dev/waive-cohort-cycle"),
        "apiVersion: kueue.x-k8s.io/v1beta2\nkind: Cohort\nmetadata: {name: d}\n",
    )
    assert report.waived == 1
    assert [it for it in told if it[0] == RULE] == [
        (RULE, "LocalQueue b/a"),
        (RULE, "LocalQueue b/c"),
    ]
    assert ("waiver-not-allowed", "LocalQueue b/a") in told
    assert ("waiver-unused", "LocalQueue b/c") in told


def test_an_annotation_of_a_rule_that_is_off_is_not_unused(lint_live):
    told, report = lint_live(f"{ALLOWED}\nseverities: {{{RULE}: 'off'}}", annotated("x"))
    assert (told, report.off) == ([], 1)


def test_an_annotation_of_a_rule_that_could_not_be_judged_is_not_unused(lint_live):
    gap = Gap("kueue.x-k8s.io", "ClusterQueue", "", "forbidden")
    read = every() - {GroupKind("kueue.x-k8s.io", "ClusterQueue")}
    told, _ = lint_live(ALLOWED, annotated("x"), gaps=(gap,), read=read)
    assert told == []


def test_the_text_of_an_annotation_is_never_shown(lint_live):
    told, report = lint_live(
        ALLOWED, annotated("until 2020-01-01: \x1b[31m::error::</script>"), annotated("\x00", "b")
    )
    assert len(told) == 4
    assert "error" not in str(report.findings)


def test_a_rule_that_annotations_cannot_waive_is_named_in_the_spec(lint_live):
    with pytest.raises(SpecError) as caught:
        lint_live("annotations: [cohort-cicle]")
    (said,) = caught.value.findings
    assert 'rule "cohort-cicle" does not exist; did you mean "cohort-cycle"' in said.message
    assert said.place.line == 7
