"""`policygen rules` as a user calls it, and its JSON."""

import io
import json
import re
from pathlib import Path

import jsonschema
import pytest
from click.testing import CliRunner

from policygen.app import explain
from policygen.cli.main import cli
from policygen.core.errors import UsageError
from policygen.core.rule import Family
from policygen.lint import registry
from policygen.lint.page import page
from policygen.lint.registry import REGISTRY, RULES
from policygen.report.tables import TablePage

RULE = "local-queue-without-cluster-queue"

ROOT = Path(__file__).parents[2]
SCHEMA = json.loads((ROOT / "schemas" / "rules.schema.json").read_text("utf-8"))


def rules(*arguments):
    done = CliRunner().invoke(cli, ["rules", *arguments])
    assert done.exit_code == 0, done.output
    return done


def names(*arguments):
    found = json.loads(rules("-f", "json", *arguments).stdout)
    return {each["rule"] for each in found["rules"]}


def test_each_name_has_its_line():
    listed = [line.split()[0] for line in rules().stdout.splitlines()]
    assert sorted(listed) == list(explain.names())


def test_a_line_has_severity_family_proof_and_fault():
    (line,) = rules(RULE).stdout.splitlines()
    name, severity, family, _ = line.split(maxsplit=3)
    assert (name, severity, family) == (RULE, "error", "inert")
    assert line.endswith("A LocalQueue names a ClusterQueue that does not exist")


def lines(*, wide=None):
    """The text about each rule."""
    found = {}
    for each in explain.entries():
        out = io.StringIO()
        explain.lines([each], TablePage(out, wide=wide))
        found[each.rule.name] = out.getvalue()
    return found


def test_lines_fit_a_terminal():
    narrow, full = lines(wide=80), lines()
    assert max(len(line) for text in narrow.values() for line in text.splitlines()) <= 80
    assert [" ".join(it.split()) for it in narrow.values()] == [
        " ".join(it.split()) for it in full.values()
    ]


def test_the_proof_column_equals_the_pages():
    shown = lines()
    for rule in RULES:
        of = page(rule.name)
        word = " proven " if of.proof else " not proven " if of.not_shown else " - "
        assert word in shown[rule.name]


def test_the_column_of_fixes_is_what_rules_declare():
    shown = {name: text.split()[3] for name, text in lines().items()}
    for rule in RULES:
        assert shown[rule.name] == (rule.fix.value if rule.fix else "-")
    assert set(shown.values()) == {"safe", "unsafe", "-"}


def test_json_matches_its_schema():
    jsonschema.Draft202012Validator.check_schema(SCHEMA)
    data = json.loads(rules("-f", "json").stdout)
    jsonschema.validate(data, SCHEMA)
    assert {each["family"] for each in data["rules"]} == set(Family)
    described = SCHEMA["properties"]["rules"]["items"]["properties"]
    assert set(described) == set(data["rules"][0])
    assert set(described["family"]["enum"]) == set(Family)


def test_filters_narrow_and_go_together():
    every = names()
    by_family = [names("--family", family.word) for family in Family]
    assert by_family == [names("--family", family.value) for family in Family]
    assert sum(map(len, by_family)) == len(every)
    assert names("--family", "invalid") == {r.name for r in RULES if r.family is Family.INVALID}
    by_severity = [names("--severity", word) for word in ("error", "warning", "info")]
    assert sum(map(len, by_severity)) == len(every)
    both = names("--family", "inert", "--severity", "error")
    assert both == names("--family", "inert") & names("--severity", "error")
    assert names("--family", "refused") == {r.name for r in REGISTRY if r.family is Family.REFUSED}


def test_rules_of_a_kind_are_those_that_can_speak_of_it():
    of_cohorts = names("--kind", "cohort")
    assert "cohort-cycle" in of_cohorts
    assert "unknown-field" in of_cohorts, "it judges every kind"
    assert RULE not in of_cohorts
    assert not of_cohorts & {r.name for r in REGISTRY if r.family is Family.REFUSED}


def test_a_target_omits_rules_that_do_not_apply_to_it():
    late = [rule for rule in RULES if rule.since.get("kueue", (0, 0)) > (0, 14)]
    assert late
    assert not {rule.name for rule in late} & names("--target", "kueue=0.14")


def test_a_kind_that_no_rule_names_has_the_rules_of_all_kinds():
    assert set(names("--kind", "PersistentVolume")) < set(names("--kind", "ClusterQueue"))
    assert "missing-field" in names("--kind", "persistentvolume")


def test_words_are_looked_for_in_name_fault_and_kinds():
    assert RULE in names("clusterqueue", "NOT EXIST")
    assert RULE not in names("clusterqueue", "volcano")


def test_a_former_name_lists_its_rule():
    done = rules("queue-held")
    assert "queue-stopped" in [line.split()[0] for line in done.stdout.splitlines()]
    assert 'rule "queue-held" is now named "queue-stopped"' in done.stderr


def test_a_text_of_several_words_is_searched_for_all_of_them():
    assert rules("gpu quota").stdout == rules("gpu", "quota").stdout != ""


def test_no_match_is_reported():
    done = rules("--family", "run", "--kind", "Cohort")
    assert (done.exit_code, done.stdout) == (0, "")
    assert "no rule matches; `policygen rules` lists all rules" in done.stderr


@pytest.mark.parametrize(
    "text, word, advice",
    [
        ("borow", "borow", 'did you mean "borrow"?'),
        ("gpu xyzzy", "xyzzy", "`policygen rules` lists all rules"),
    ],
)
@pytest.mark.parametrize("form", ["text", "json"])
def test_a_word_that_no_rule_has_is_refused(text, word, advice, form):
    with pytest.raises(
        UsageError, match=re.escape(f'no rule contains the word "{word}"; {advice}')
    ):
        CliRunner().invoke(cli, ["rules", "-f", form, text], catch_exceptions=False)


@pytest.mark.parametrize(
    "wrong", [("--family", "bad"), ("--severity", "fatal"), ("--target", "kueue=9"), ("-f", "xml")]
)
def test_usage(wrong):
    assert CliRunner().invoke(cli, ["rules", *wrong]).exit_code != 0


def test_an_unknown_kind_is_reported_with_the_nearest():
    with pytest.raises(UsageError, match='did you mean "ClusterQueue"'):
        explain.select(explain.RuleQuery(kinds=("ClusterQueu",)))


@pytest.mark.parametrize(
    "name, advice",
    [
        ("nope", ""),
        ("nope-rule", ""),
        ("flavor-mising", 'did you mean "flavor-missing"? '),
        ("missing-flavor", "similar: flavor-missing; "),
        ("borrow", "similar: borrow-within-cohort-ignored, "),
    ],
)
def test_only_really_similar_names_are_suggested(name, advice):
    """`lint --rule`, waivers and `explain` use the same text."""
    message = registry.unknown(name, registry.names())
    assert message.startswith(f'rule "{name}" does not exist; {advice}')
    assert message.endswith("`policygen rules` lists all rules")
    assert (
        bool(advice)
        or message == f'rule "{name}" does not exist; `policygen rules` lists all rules'
    )
    with pytest.raises(UsageError, match=re.escape(f'rule "{name}" does not exist; {advice}')):
        explain.explain(name)


def test_families_are_described_the_same_everywhere():
    shown = CliRunner().invoke(cli, ["rules", "--help"]).output
    described = SCHEMA["properties"]["rules"]["items"]["properties"]["family"]
    assert described["enum"] == [*Family]
    assert described["description"] == " ".join(f"`{it}`: {it.about}." for it in Family)
    for family in Family:
        assert f"{family.word} ({family.about})" in " ".join(shown.split())
        assert {line.split()[2] for line in rules("--family", family.word).output.splitlines()} == {
            family.word
        }
    assert explain.explain(RULE).splitlines()[2].startswith("error, inert: ")


def test_a_former_name_is_explained_with_a_note():
    done = CliRunner().invoke(cli, ["explain", "queue-held"])
    assert (done.exit_code, done.stdout) == (0, explain.explain("queue-stopped"))
    assert done.stderr == 'policygen: rule "queue-held" is now named "queue-stopped"\n'
