"""`policygen lint` and `baseline` as a user calls them."""

import io
import json
from dataclasses import replace
from datetime import date
from pathlib import Path

import pytest

from policygen.app import lint, verdicts
from policygen.app.requests import LintRequest
from policygen.core.finding import Verdict
from policygen.core.rule import Severity
from policygen.lint import registry
from policygen.report.catalog import FORMATS, writer
from tests.conftest import ROOT

RULE = "local-queue-without-cluster-queue"
QUEUE = """\
apiVersion: kueue.x-k8s.io/v1beta2
kind: LocalQueue
metadata: {name: a, namespace: b}
spec: {clusterQueue: gone}
"""


@pytest.fixture(autouse=True)
def queue(tmp_path):
    (tmp_path / "queue.yaml").write_text(QUEUE)


def test_a_finding_goes_to_stdout_and_gives_exit_code_1(policygen):
    done = policygen("lint", "--manifests", "queue.yaml")
    assert done.returncode == 1
    assert done.stderr == ""
    first, excerpt, carets, elsewhere, unevaluated, summary = done.stdout.splitlines()
    assert first.startswith("queue.yaml:4:22: error: LocalQueue b/a names ClusterQueue")
    assert excerpt.endswith("spec: {clusterQueue: gone}")
    assert carets.endswith("^^^^")
    assert elsewhere == (
        "1 finding may be about objects that exist elsewhere; also pass the spec or the folder with "
        "these objects, or use --partial"
    )
    assert unevaluated == (
        "not evaluated: 9 rules (-f json lists these rules), because the input lacks: a live cluster or a "
        "snapshot; a spec; a cluster or a snapshot to which the manifests are applied; Namespaces"
    )
    assert summary.startswith("1 error; 1 object; ")
    assert summary.endswith(", 9 not evaluated")


def test_standard_input_and_a_part_of_a_set(policygen):
    done = policygen("lint", "--manifests", "-", "--partial", given=QUEUE)
    assert (done.returncode, done.stderr) == (0, "")
    assert "not evaluated" in done.stdout


def test_a_file_that_is_not_there_is_incomplete(policygen):
    done = policygen("lint", "--manifests", "queue.yaml", "--manifests", "gone.yaml")
    assert done.returncode == 3
    assert "gone.yaml" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("some input could not be read")


@pytest.mark.parametrize("name", FORMATS)
def test_no_format_hides_that_something_was_not_read(policygen, name):
    done = policygen("lint", "--manifests", "gone.yaml", "-f", name)
    assert done.returncode == 3
    assert done.stderr == "policygen: some input could not be read, so findings may be missing\n"


def test_invalid_yaml_is_reported_and_incomplete(policygen):
    done = policygen("lint", "--manifests", "-", given="a: [\n")
    assert done.returncode == 3
    assert "[yaml-syntax]" in done.stdout


def test_a_refused_spec_gives_exit_code_2(policygen):
    done = policygen("lint", "-", given="apiVersion: policygen.dev/v1alpha1\nkind: Tea\n")
    assert (done.returncode, done.stdout) == (2, "")


UNREAD = "some input could not be read"
INVALID = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {nam: a}\n"


@pytest.mark.parametrize(
    "words, unchecked",
    [
        (("-", "--manifests", "queue.yaml"), "no manifest"),
        (("--manifests", "-"), "no manifest"),
        (("-", "--manifests", "queue.yaml", "--fix"), "no manifest"),
        (("-", "--context", "c"), "no cluster"),
        (("-", "--snapshot", "s"), "no cluster"),
        (("-", "--manifests", "queue.yaml", "--context", "c"), "no manifest and no cluster"),
        (("-",), "nothing else"),
    ],
)
def test_a_refused_spec_reports_what_was_not_checked(policygen, tmp_path, words, unchecked):
    done = policygen("lint", *words, "-f", "markdown=page.md", "-f", "text=text", given=INVALID)
    note = f"the spec is invalid, so {unchecked} was checked, and checks that need a valid spec did not run"
    assert done.returncode == 2
    assert f"policygen: {note}\n" in done.stderr
    page = (tmp_path / "page.md").read_text("utf-8")
    assert note in page
    text = (tmp_path / "text").read_text("utf-8")
    assert f"rules), because {note}\n" in text
    assert UNREAD not in done.stderr + page + text


def test_a_refused_spec_reports_that_checks_of_its_plan_did_not_run(policygen):
    done = policygen("validate", "-", given=INVALID)
    line = "checks that need a valid spec did not run; correct the errors above first\n"
    assert done.stderr.count(line) == 1


@pytest.mark.parametrize("words", [("gone.yaml",), ("-", "gone.yaml"), ("empty",)])
def test_a_spec_that_could_not_be_read_is_not_called_invalid(policygen, tmp_path, words):
    (tmp_path / "empty").mkdir()
    words = (*words, "--manifests", "queue.yaml", "-f", "markdown=page.md")
    done = policygen("lint", *words, given=INVALID)
    assert done.returncode == 2
    assert f"policygen: {UNREAD}, so findings may be missing\n" in done.stderr
    page = (tmp_path / "page.md").read_text("utf-8")
    assert UNREAD in page
    assert "the spec is invalid" not in done.stderr + page


NOTHING = "an input contains nothing to check"
NO_INPUT = "no selected rule has all the input that it needs"


@pytest.mark.parametrize(
    "words, reason",
    [
        (("empty.yaml", "--manifests", "queue.yaml"), NOTHING),
        (("queue.yaml",), NOTHING),
        (("--manifests", "empty.yaml"), NOTHING),
        (("--manifests", "queue.yaml", "--manifests", "-"), NOTHING),
        (("empty.yaml", "--manifests", "queue.yaml", "--rule", "object-missing"), NOTHING),
        (("--manifests", "queue.yaml", "--rule", "object-missing"), NO_INPUT),
        (("empty.yaml", "--manifests", "gone.yaml"), UNREAD),
        (("--manifests", "empty.yaml", "--manifests", "gone.yaml"), UNREAD),
        (("empty.yaml", "--manifests", "invalid.yaml"), UNREAD),
    ],
)
def test_input_with_nothing_to_check_is_not_called_unreadable(policygen, tmp_path, words, reason):
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    (tmp_path / "invalid.yaml").write_text("a: [\n")
    done = policygen("lint", *words)
    missing = ", so findings may be missing" if reason == UNREAD else ""
    assert (done.returncode, done.stderr) == (3, f"policygen: {reason}{missing}\n")
    assert done.stdout.splitlines()[-1].endswith(f"; {reason}")
    assert reason == UNREAD or UNREAD not in done.stdout
    if "--rule" not in words:
        done = policygen("baseline", "update", *words, "--baseline", "new.json")
        assert (done.returncode, done.stdout) == (2, "")
        assert f"{reason}, so the baseline would lose findings" in done.stderr


def test_a_refused_spec_is_reported_in_every_format(policygen, tmp_path):
    """Users see a broken spec where they see other findings, for example in a pull request."""
    words = ("-f", "json", "-f", "github=out", "-f", "text=text")
    done = policygen("lint", "-", *words, given=INVALID)
    assert done.returncode == 2
    report = json.loads(done.stdout)
    assert report["complete"] is False
    assert {it["verdict"] for it in report["rules"]} == {"not evaluated"}
    assert [it["place"]["line"] for it in report["findings"]] == [3]
    assert 'unknown field "nam"' in report["findings"][0]["message"]
    assert 'unknown field "nam"' in done.stderr
    assert (tmp_path / "out").read_text("utf-8").startswith("::error ")
    assert 'unknown field "nam"' in (tmp_path / "text").read_text("utf-8")


@pytest.mark.parametrize(
    "options, says",
    [
        (("--patches", "out"), "--patches needs a cluster; name one"),
        (("--snapshot", "s", "--patches", "out"), "name the SPEC"),
        (("--namespace", "a"), "--namespace and --kubeconfig need a cluster"),
        (("--kubeconfig", "f"), "--namespace and --kubeconfig need a cluster"),
    ],
)
def test_options_of_clusters_need_one(policygen, options, says):
    done = policygen("lint", "--manifests", "queue.yaml", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert says in done.stderr


def test_a_snapshot_is_judged_in_no_namespace_only(policygen):
    done = policygen("lint", "--snapshot", "any", "--namespace", "a")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--namespace works only with a live cluster" in done.stderr


def test_selected_rules_that_need_more_input_are_not_clean(policygen):
    done = policygen("lint", "--manifests", "queue.yaml", "--rule", "object-missing")
    assert done.returncode == 3
    assert "[nothing-to-check]" in done.stdout
    assert "object-missing (the input lacks: a spec; a live cluster or a snapshot)" in done.stdout
    assert "1 rule: 0 passed, 1 not evaluated" in done.stdout


def test_a_spec_among_manifests_is_linted_as_a_spec(policygen):
    spec = "apiVersion: policygen.dev/v1alpha1\nkind: Platform\nmetadata: {nam: a}\n"
    done = policygen("lint", "--manifests", "-", given=f"{QUEUE}---\n{spec}")
    assert done.returncode == 2
    assert 'unknown field "nam"' in done.stderr


def test_several_formats_in_one_run(policygen, tmp_path):
    done = policygen(
        "lint", "--manifests", "queue.yaml", "-f", "json", "-f", "html=out.html", "-f", "sarif=o"
    )
    assert [it["rule"] for it in json.loads(done.stdout)["findings"]] == [RULE]
    assert "gone" in (tmp_path / "out.html").read_text("utf-8")
    assert json.loads((tmp_path / "o").read_text("utf-8"))["version"] == "2.1.0"


@pytest.mark.parametrize(
    "formats, says",
    [
        (("-f", "xml"), "write one of text, json"),
        (("-f", "json", "-f", "text"), "only one format can go to standard output"),
        (("-f", "json="), "names no file"),
        (("-f", "json=a", "-f", "text=./a"), "two formats would be written to "),
        (("-f", "json=queue.yaml"), "queue.yaml is an input"),
        (("--manifests", ".", "-f", "json=new.json"), "is in an input folder"),
    ],
)
def test_invalid_formats_are_reported(policygen, formats, says):
    done = policygen("lint", "--manifests", "queue.yaml", *formats)
    assert done.returncode == 2
    assert says in done.stderr
    assert done.stdout == ""


def test_a_file_that_cannot_be_written_hides_no_other_report(policygen, tmp_path):
    formats = ("-f", "text", "-f", "json=no/such/folder/a", "-f", "junit=b/c", "-f", "sarif=o")
    done = policygen("lint", "--manifests", "queue.yaml", *formats)
    assert done.returncode == 2
    for file in ("no/such/folder/a", "b/c"):
        assert f"{file} cannot be written: No such file or directory" in done.stderr
    assert RULE in done.stdout
    assert RULE in (tmp_path / "o").read_text("utf-8")


def test_several_reports_may_go_to_a_device(policygen):
    done = policygen(
        "lint", "--manifests", "queue.yaml", "-f", "json=/dev/null", "-f", "text=/dev/null"
    )
    assert (done.returncode, done.stderr) == (1, "")


def test_quiet_shows_no_notes_and_counts_them(policygen, tmp_path):
    (tmp_path / "other.yaml").write_text(
        "apiVersion: example.com/v1\nkind: A\nmetadata: {name: a}\n"
    )
    given = ("lint", "--manifests", ".", "--partial", "--fail-on", "info")
    loud, quiet = policygen(*given), policygen(*given, "-q")
    assert "info: policygen has no special rules for 1 A" in loud.stdout
    assert "info: policygen has no special rules for" not in quiet.stdout
    assert quiet.stdout.splitlines()[-1] == loud.stdout.splitlines()[-1]
    assert quiet.returncode == loud.returncode
    whole = [policygen(*given, "-f", "json", *more).stdout for more in ([], ["-q"])]
    assert [it["severity"] for it in json.loads(whole[1])["findings"]].count("info")
    assert json.loads(whole[0])["findings"] == json.loads(whole[1])["findings"]


def test_quiet_keeps_the_fields_that_pods_need(policygen):
    done = policygen("lint", str(ROOT / "examples" / "three-schedulers"), "-q")
    shown = [line for line in done.stdout.splitlines() if "info: " in line]
    assert len(shown) == 3
    assert all("[pods-must-carry]" in line for line in shown)


def test_empty_input_is_reported(policygen):
    done = policygen("lint")
    assert done.returncode == 2
    assert "nothing to lint" in done.stderr


@pytest.mark.parametrize("text", ["", "# no object\n", "replicas: 1\n"])
def test_an_input_without_objects_does_not_look_clean(policygen, tmp_path, text):
    (tmp_path / "empty.yaml").write_text(text)
    for arguments, given in ((("-",), text), (("empty.yaml",), "")):
        done = policygen("lint", "--manifests", *arguments, given=given)
        assert (done.returncode, done.stdout.count("[nothing-to-check]")) == (3, 1)


def test_manifests_that_are_given_as_a_spec_do_not_look_clean(policygen):
    for command, code in (("lint", 3), ("validate", 2)):
        done = policygen(command, "queue.yaml")
        assert done.returncode == code
        told = done.stdout + done.stderr
        assert "[nothing-to-check]" in told
        assert "run `policygen lint --manifests queue.yaml`" in told
        assert "foreign-documents" not in told


def test_a_spec_that_is_not_there_does_not_look_clean(policygen, tmp_path):
    (tmp_path / "empty.yaml").write_text("# nothing\n")
    done = policygen("lint", "empty.yaml")
    assert (done.returncode, done.stdout.count("[nothing-to-check]")) == (3, 1)


def test_an_empty_pipe_beside_files_is_reported_but_not_an_empty_file(policygen, tmp_path):
    (tmp_path / "empty.yaml").write_text("# no object\n")
    beside = ("lint", "--partial", "--manifests", "queue.yaml", "--manifests")
    assert policygen(*beside, "empty.yaml").returncode == 0
    done = policygen(*beside, "-", given="")
    assert done.returncode == 3
    assert "<stdin>: error: this input contains no object" in done.stdout


def test_a_run_without_rules_is_not_clean(policygen):
    done = policygen("lint", "--manifests", "queue.yaml", "--rule", RULE, "--skip", RULE)
    assert (done.returncode, done.stdout) == (2, "")
    assert "--skip excludes every selected rule" in done.stderr


@pytest.mark.parametrize("name", ["waiver-unused", "file-not-utf-8", "limit-above-parent"])
def test_findings_about_inputs_cannot_be_selected(policygen, name):
    for option in ("--rule", "--skip"):
        done = policygen("lint", "--manifests", "queue.yaml", option, name)
        assert done.returncode == 2
        assert (
            f'rule "{name}" checks the spec or other input and always runs with its own severity, '
            "so --rule, --skip, severities, waivers and annotations cannot name it" in done.stderr
        )


def test_a_former_name_of_a_rule_that_cannot_be_selected_is_named(policygen):
    done = policygen("lint", "--manifests", "queue.yaml", "--rule", "encoding")
    assert 'rule "file-not-utf-8" (formerly "encoding") checks the spec' in done.stderr


def test_a_former_name_of_a_rule_is_noted(policygen):
    names = ("--rule", RULE, "--rule", "queue-held", "--skip", "gangs-not-awaited")
    done = policygen("lint", "--manifests", "queue.yaml", *names)
    assert done.stderr == (
        'policygen: rule "queue-held" is now named "queue-stopped"\n'
        'policygen: rule "gangs-not-awaited" is now named "wait-for-pods-ready-off"\n'
    )
    assert RULE in done.stdout


def test_a_baseline_is_not_standard_output(policygen, tmp_path):
    done = policygen("baseline", "update", "--baseline", "-", "--manifests", "queue.yaml")
    assert (done.returncode, done.stdout) == (2, "")
    assert "--baseline needs a file; name a file such as lint.json, not -" in done.stderr
    assert not (tmp_path / "-").exists()


def test_a_baseline_is_made_and_used(policygen):
    arguments = ("--baseline", "known.json", "--manifests", "queue.yaml")
    assert policygen("lint", *arguments).returncode == 2
    made = policygen("baseline", "update", *arguments)
    assert made.stdout.endswith("known.json: 1 finding, 1 added, 0 removed\n")
    done = policygen("lint", *arguments)
    assert done.returncode == 0
    assert "1 in the baseline" in done.stdout


def test_a_rule_that_raises_is_our_bug_and_the_others_go_on(monkeypatch, tmp_path):
    def broken(_):
        raise RuntimeError("what a pity")
        yield

    rules = [
        replace(rule, check=broken) if rule.name == "malformed-object" else rule
        for rule in registry.RULES
    ]
    monkeypatch.setattr(registry, "RULES", rules)
    (tmp_path / "queue.yaml").write_text(QUEUE)
    settings = LintRequest(manifests=(str(tmp_path / "queue.yaml"),))
    report = lint.lint(settings, today=date(2026, 11, 21))
    assert [it.rule.name for it in report.findings] == [RULE]
    (crashed,) = (it for it in report.rules if it.verdict == "crashed")
    assert "what a pity" in crashed.reason
    assert not report.complete
    assert verdicts.verdict(report, Severity.ERROR) == Verdict.CRASHED
    for name in FORMATS:
        writer(name)(report, io.StringIO())


def test_kinds_that_no_rule_judges_are_counted(policygen):
    other = "apiVersion: example.com/v1\nkind: {}\nmetadata: {{name: {}}}\n---\n"
    given = other.format("Widget", "a") + other.format("Widget", "b") + other.format("Gadget", "a")
    given += QUEUE
    done = policygen("lint", "--manifests", "-", "--partial", given=given)
    assert done.returncode == 0
    first, _, summary = done.stdout.splitlines()
    assert (
        first
        == "info: policygen has no special rules for 1 Gadget, 2 Widget [kinds-without-special-rules]"
    )
    assert summary.startswith("1 info; 4 objects")


def test_a_kind_of_another_api_group_is_not_ours(policygen):
    """A message queue has the kind of Volcano's Queue, and no rule checks it."""
    given = "apiVersion: rabbitmq.com/v1beta1\nkind: Queue\nmetadata: {name: a, namespace: b}\n"
    done = policygen("lint", "--manifests", "-", given=given)
    assert done.returncode == 0
    first, *_ = done.stdout.splitlines()
    assert first == "info: policygen has no special rules for 1 Queue [kinds-without-special-rules]"


def test_thousands_of_findings_are_counted_and_some_are_shown(policygen):
    given = "---\n".join(QUEUE.replace("name: a,", f"name: a{number},") for number in range(250))
    done = policygen("lint", "--manifests", "-", given=given)
    assert done.stdout.count(f"[{RULE}]\n") == 3
    more, _, _, summary = done.stdout.splitlines()[-4:]
    places = "<stdin>:19:22, <stdin>:24:22, <stdin>:29:22"
    assert more.strip() == f"and 247 more [{RULE}]: {places}, ... (--all shows them)"
    assert summary.startswith("250 errors; 250 objects")
    done = policygen("lint", "--all", "--manifests", "-", given=given)
    assert done.stdout.count(f"[{RULE}]\n") == 250
    done = policygen("lint", "--manifests", "-", "-f", "json", given=given)
    assert len(json.loads(done.stdout)["findings"]) == 250


@pytest.mark.parametrize("name", ["a,b", "Vision", "a/../../secrets?x=", "a?limit=1", "", "-a"])
def test_an_invalid_name_of_a_namespace_is_refused(policygen, name):
    done = policygen("lint", "--context", "any", "--namespace", name)
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name!r} is not a valid namespace name" in done.stderr


def test_the_help_of_baseline_update_names_the_file_that_it_writes(policygen):
    shown = " ".join(policygen("baseline", "update", "--help").stdout.split())
    assert "Write the current findings to this file; required." in shown
    assert "Show only findings" not in shown


SPEC = str(Path(__file__).parents[2] / "examples" / "volcano-training" / "policy.yaml")


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--partial", SPEC], "--partial has no effect without --manifests"),
        (["--timeout", "9", SPEC], "--timeout has no effect without --context or --in-cluster"),
        (["--all", "-f", "json", SPEC], "--all has no effect without -f text"),
        (["--with", "volcano-config", "--snapshot", "gone"], "--with has no effect without a SPEC"),
        (["--templates", ".", "--snapshot", "gone"], "--templates has no effect without a SPEC"),
    ],
)
def test_an_option_without_effect_is_reported(policygen, words, message):
    done = policygen("lint", *words)
    assert done.stderr.splitlines()[0] == f"policygen: {message}"


@pytest.mark.parametrize(
    "words", [["--partial"], ["--all", "-f", "text"], ["--with", "volcano-config", SPEC]]
)
def test_an_option_with_effect_is_not_reported(policygen, words):
    assert "no effect" not in policygen("lint", "--manifests", "queue.yaml", *words).stderr
