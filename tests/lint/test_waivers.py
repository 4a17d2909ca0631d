"""Severities, waivers and baselines: what a user says of rules."""

import json
from datetime import date

import pytest

from policygen.app import baseline as app_baseline
from policygen.app import lint as app_lint
from policygen.app import verdicts
from policygen.app.requests import ClusterRequest, LintRequest
from policygen.client import snapshot_file as snapshots
from policygen.core.errors import SpecError, UsageError
from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from policygen.kubernetes.snapshot import Gap, GroupKind
from policygen.lint import baseline, waivers
from policygen.lint.kinds import every
from policygen.spec import programs
from tests.client.looks import snapshot
from tests.rules import rule

TODAY = date(2026, 11, 21)
RULE = "local-queue-without-cluster-queue"

PLATFORM = """\
apiVersion: policygen.dev/v1alpha1
kind: Platform
metadata:
  name: a
spec:
  lint:
"""

QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata:
  name: {name}
  namespace: b
spec:
  clusterQueue: gone
"""


@pytest.fixture
def lint(tmp_path):
    """Lint texts as the files of one folder."""

    def run(*texts, update=False, **settings):
        folder = tmp_path / "manifests"
        folder.mkdir(exist_ok=True)
        for old in folder.iterdir():
            old.unlink()
        for number, text in enumerate(texts):
            (folder / f"{number}.yaml").write_text(text, "utf-8")
        given = LintRequest(manifests=(str(folder),), **settings)
        return (app_baseline.update if update else app_lint.lint)(given, today=TODAY)

    return run


def platform(settings):
    return PLATFORM + "".join(f"    {line}\n" for line in settings.splitlines())


def queues(*names):
    return "---\n".join(QUEUE.format(name=name) for name in names)


def rules(report):
    return [finding.rule.name for finding in report.findings]


def test_a_severity_of_the_spec_is_the_rules_severity(lint):
    report = lint(platform(f"severities: {{{RULE}: info}}"), queues("a"))
    assert [(it.rule.name, it.severity) for it in report.findings] == [(RULE, Severity.INFO)]
    assert verdicts.verdict(report, Severity.WARNING) == Verdict.PASS
    assert verdicts.verdict(report, Severity.INFO) == Verdict.FAIL


def test_a_rule_that_is_off_finds_nothing(lint):
    report = lint(platform(f"severities: {{{RULE}: 'off'}}"), queues("a"))
    assert (rules(report), report.off) == ([], 1)


def test_a_waiver_takes_out_what_it_names_and_is_counted(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/a*, reason: old}}"
    report = lint(platform(waiver), queues("a1", "a2", "c"))
    assert [it.object for it in report.findings] == ["LocalQueue b/c"]
    assert report.waived == 2


def test_a_dot_of_a_waiver_is_a_dot(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/a.c, reason: old}}"
    found = lint(platform(waiver), queues("a.c", "axc"))
    assert [it.object for it in found.findings] == ["LocalQueue b/axc"]


@pytest.mark.parametrize("field", ["spec.clusterQueue", "*Queue", "spec.*"])
def test_a_waiver_of_a_field_accepts_that_field_only(lint, field):
    other = field.replace("spec", "status").replace("*Queue", "*queue")
    waiver = f"waivers:\n- {{rule: {RULE}, field: '%s', reason: old}}"
    assert rules(lint(platform(waiver % field), queues("a"))) == []
    assert rules(lint(platform(waiver % other), queues("a"))) == ["waiver-unused", RULE]


def test_the_last_day_of_a_waiver_counts_and_the_next_does_not(lint):
    text = f"waivers:\n- {{rule: {RULE}, reason: old, expires: '%s'}}"
    assert rules(lint(platform(text % "2026-11-21"), queues("a"))) == []
    assert rules(lint(platform(text % "2026-11-20"), queues("a"))) == ["waiver-expired", RULE]


def test_a_waiver_that_waives_nothing_is_reported(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, object: LocalQueue b/z, reason: old}}"
    report = lint(platform(waiver), queues("a"))
    assert rules(report) == ["waiver-unused", RULE]
    assert report.findings[0].place.line == 8


def test_a_waiver_of_what_was_not_judged_is_not_called_unused(lint):
    waiver = f"waivers:\n- {{rule: {RULE}, reason: old}}"
    assert rules(lint(platform(waiver), queues("a"), partial=True)) == []
    assert rules(lint(platform(waiver), queues("a"), skip=(RULE,))) == []


@pytest.mark.parametrize(
    "settings",
    [f"severities: {{{RULE[:-1]}: info}}", f"waivers:\n- {{rule: {RULE[1:]}, reason: b}}"],
)
def test_a_misspelt_rule_is_an_error_that_names_the_right_one(lint, settings):
    with pytest.raises(SpecError) as raised:
        lint(platform(settings), queues("a"))
    (finding,) = raised.value.findings
    assert finding.rule.name == "unknown-rule"
    assert f'did you mean "{RULE}"?' in finding.message
    assert finding.place.line in {7, 8}


@pytest.mark.parametrize("rule", ["workload-pendin-long", RULE])
def test_a_bound_of_a_rule_that_does_not_wait_is_an_error(lint, rule):
    with pytest.raises(SpecError) as raised:
        lint(platform(f"bounds: {{{rule}: 1h}}"), queues("a"))
    (finding,) = raised.value.findings
    assert f'no rule "{rule}" has a bound' in finding.message


def test_rule_and_skip_choose_what_runs(lint):
    assert [it.rule for it in lint(queues("a"), only=(RULE,)).rules] == [RULE]
    assert RULE not in {it.rule for it in lint(queues("a"), skip=(RULE,)).rules}
    with pytest.raises(UsageError, match=f'did you mean "{RULE}"'):
        lint(queues("a"), only=(RULE[:-1],))


def test_a_baseline_hides_what_was_there_and_shows_what_is_new(lint, tmp_path):
    path = tmp_path / "known.json"
    said = lint(queues("a", "c"), baseline=path, update=True)
    assert said.endswith("2 findings, 2 added, 0 removed\n")
    report = lint(queues("new"), queues("c", "a"), baseline=path)
    assert [it.object for it in report.findings] == ["LocalQueue b/new"]
    assert report.in_baseline == 2


def test_an_entry_that_is_found_no_more_is_stale(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("a", "c"), baseline=path, update=True)
    report = lint(queues("c"), baseline=path)
    assert rules(report) == ["baseline-stale"]
    assert "LocalQueue b/a" in report.findings[0].message
    said = lint(queues("c"), baseline=path, update=True)
    assert said.splitlines()[0] == f"- {RULE}: LocalQueue b/a"
    assert rules(lint(queues("c"), baseline=path)) == []


def test_what_cannot_be_judged_now_is_not_gone(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("a"), baseline=path, update=True)
    assert rules(lint(queues("c"), baseline=path, partial=True)) == []
    report = lint(queues("c"), "a: [", baseline=path)
    assert "baseline-stale" not in rules(report)
    assert verdicts.verdict(report, Severity.ERROR) == Verdict.NOT_EVALUATED
    with pytest.raises(UsageError, match="not all input could be read"):
        lint(queues("c"), "a: [", baseline=path, update=True)


@pytest.mark.parametrize("text", ["", "[]", '{"version": 2, "findings": []}', '{"version": 1}'])
def test_a_file_that_is_no_baseline_is_refused(lint, tmp_path, text):
    path = tmp_path / "known.json"
    path.write_text(text)
    with pytest.raises(UsageError, match=r"known\.json (is not a valid baseline|has version)"):
        lint(queues("a"), baseline=path)


def test_a_baseline_is_sorted_and_read_back(lint, tmp_path):
    path = tmp_path / "known.json"
    lint(queues("c", "a"), baseline=path, update=True)
    text = path.read_text("utf-8")
    assert baseline.text(baseline.read(text.encode())) == text
    assert [it["object"] for it in json.loads(text)["findings"]] == [
        "LocalQueue b/a",
        "LocalQueue b/c",
    ]


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
        ("", "has no reason"),
        ("  \n", "has no reason"),
        ("until 2027-01-01:", "has no reason"),
        ("until next year", "has no reason"),
        ("until 2027-02-30: x", "has an invalid date"),
        ("until 2026-11-20: x", "expired on 2026-11-20"),
    ],
)
def test_an_annotation_that_waives_nothing_is_told_and_so_is_what_it_was_for(
    lint_live, value, said
):
    told, report = lint_live(ALLOWED, annotated(value))
    rule = "waiver-expired" if "expired" in said else "waiver-unreadable"
    assert told == [(RULE, "LocalQueue b/a"), (rule, "LocalQueue b/a")]
    assert said in report.findings[-1].message
    assert report.findings[-1].path == f'metadata.annotations["{KEY}"]'
    assert report.waived == 0


def test_an_annotation_counts_only_where_the_spec_says_so(lint_live):
    """A hundred of them are one finding; without a spec there are no waivers at all."""
    texts = [annotated("x", name=f"q{number}") for number in range(100)]
    told, report = lint_live("annotations: [cohort-cycle]", *texts)
    assert report.waived == 0
    assert len([rule for rule, _ in told if rule == RULE]) == 100
    (said,) = (it for it in report.findings if it.rule.name == "waiver-not-allowed")
    assert "(and on 99 other objects) has no effect, because spec.lint.annotations" in said.message
    told, report = lint_live("", *texts)
    assert ({rule for rule, _ in told}, report.waived) == ({RULE}, 0)


def test_an_annotation_is_about_its_object_and_rule_only(lint_live):
    """Stars are no stars, and an annotation with another's rule, or of another object, waives nothing."""
    star = "policygen.dev/waive-*"
    told, report = lint_live(
        "annotations: [local-queue-without-cluster-queue, cohort-cycle]",
        annotated("x", key=star),
        annotated("x", name="'*'"),
        annotated("x", name="c", key="policygen.dev/waive-cohort-cycle"),
    )
    assert report.waived == 1
    assert [it for it in told if it[0] == RULE] == [
        (RULE, "LocalQueue b/a"),
        (RULE, "LocalQueue b/c"),
    ]
    assert ("waiver-not-allowed", "LocalQueue b/a") in told
    assert ("waiver-unused", "LocalQueue b/c") in told


def test_an_annotation_of_a_rule_that_could_not_be_judged_is_not_unused(lint_live):
    gap = Gap("kueue.x-k8s.io", "ClusterQueue", "", "forbidden")
    read = every() - {GroupKind("kueue.x-k8s.io", "ClusterQueue")}
    told, _ = lint_live(ALLOWED, annotated("x"), gaps=(gap,), read=read)
    assert told == []


def test_what_an_annotation_says_is_never_shown(lint_live):
    told, report = lint_live(
        ALLOWED, annotated("until 2020-01-01: \x1b[31m::error::</script>"), annotated("\x00", "b")
    )
    assert len(told) == 4
    assert "error" not in str(report.findings)


def test_a_rule_that_annotations_cannot_waive_is_named_in_the_spec(lint_live):
    with pytest.raises(SpecError) as caught:
        lint_live("annotations: [cohort-cicle]")
    (said,) = caught.value.findings
    assert 'no rule "cohort-cicle"; did you mean "cohort-cycle"' in said.message
    assert said.place.line == 7


TWICE = "object-declared-twice"
FORMER = ["identity-twice", "duplicate-identity"]
"""Of a rule of objects, and of a spec's refusal that has its name now."""


@pytest.mark.parametrize("name", [TWICE, *FORMER])
def test_a_rule_is_known_by_its_former_names(lint, name):
    texts = queues("a", "a")
    assert TWICE in rules(lint(texts))
    assert TWICE not in rules(lint(texts, skip=(name,)))
    assert set(rules(lint(texts, only=(name,)))) == {TWICE}
    assert lint(platform(f"severities: {{{name}: 'off'}}"), texts).off == 1
    assert lint(platform(f"waivers:\n- {{rule: {name}, reason: old}}"), texts).waived == 1


@pytest.mark.parametrize("name", FORMER)
def test_a_baseline_with_a_former_name_knows_the_finding(lint, tmp_path, name):
    file = tmp_path / "baseline.json"
    texts = queues("a", "a")
    findings = [it for it in lint(texts).findings if it.rule.name == TWICE]
    former = [it._replace(rule=rule(name, Severity.ERROR)) for it in findings]
    file.write_text(baseline.text(baseline.made(former)), "utf-8")
    report = lint(texts, only=(TWICE,), baseline=file)
    assert (rules(report), report.in_baseline) == ([], 1)


def test_a_refusal_of_a_spec_cannot_be_switched_off_by_the_name_of_a_rule(lint):
    off = platform(f"severities: {{{TWICE}: 'off'}}\nwaivers:\n- {{rule: {TWICE}, reason: old}}")
    team = "apiVersion: policygen.dev/v1alpha1\nkind: Team\nmetadata: {name: a}\n"
    team += "spec: {namespaces: [{name: a}]}\n"
    lint(off, team)
    with pytest.raises(SpecError) as raised:
        lint(off, team, team, skip=(TWICE,))
    assert [it.rule.name for it in raised.value.findings] == [TWICE]
    settings = programs.LintSettings(severities=((TWICE, "off"),))
    judged = waivers.judge(raised.value.findings, settings, today=TODAY)
    assert (judged.shown, judged.off) == (raised.value.findings, 0)
