"""The text report, character by character, and input that must not reach a terminal."""

import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from wcwidth import wcwidth

from policygen.core.finding import Finding, Place, Verdict
from policygen.core.rule import Family, Severity
from policygen.documents.document import load
from policygen.documents.files import Source
from policygen.plan.rules import ASSUMPTION, PODS_MUST_CARRY
from policygen.report.report import Report, RuleResult
from policygen.report.text import (
    MAX_COLUMNS,
    colours,
    folded,
    full,
    printable,
    summary,
    unevaluated,
    write_findings,
)
from tests.rules import rule

TYPO = Finding(
    rule("unknown-field", Severity.ERROR),
    'unknown field "nodeSelectors"; write "nodeSelector"',
    Place("policy.yaml", 12, 3, 13, "  nodeSelectors:"),
)


def shown(*findings, colour=False, excerpt=True, encoding="utf-8"):
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, encoding=encoding, newline="")
    write_findings(findings, out, colour=colour, excerpt=excerpt)
    out.flush()
    return raw.getvalue().decode(encoding)


def at(text, column, length, line=1):
    return Finding(rule("r", Severity.WARNING), "m", Place("f", line, column, length, text))


def excerpt(text, column, length):
    """The shown line and its carets, without the gutter."""
    headline, line, carets, end = shown(at(text, column, length)).split("\n")
    assert (headline, end) == (f"f:1:{column}: warning: m [r]", "")
    assert line.startswith("    1 | ")
    assert carets.startswith("      | ")
    return line[8:], carets[8:]


def columns(text):
    return sum(map(wcwidth, text))


def test_the_form():
    assert shown(TYPO) == (
        'policy.yaml:12:3: error: unknown field "nodeSelectors"; write "nodeSelector" [unknown-field]\n'
        "   12 |   nodeSelectors:\n"
        "      |   ^^^^^^^^^^^^^\n"
    )


def test_less_is_shown_when_less_is_known():
    assert shown(TYPO, excerpt=False).count("\n") == 1
    assert shown(Finding(rule("r", Severity.INFO), "m")) == "info: m [r]\n"
    assert shown(Finding(rule("r", Severity.INFO), "m", Place("f"))) == "f: info: m [r]\n"
    assert shown(at("", 1, 0)) == "f:1:1: warning: m [r]\n"
    assert shown(at("  ", 1, 0)) == "f:1:1: warning: m [r]\n"
    assert shown(at("x", 0, 0)) == "f:1: warning: m [r]\n    1 | x\n"


def test_a_place_without_length_has_one_caret():
    assert excerpt("ab", 2, 0) == ("ab", " ^")
    assert excerpt("ab", 3, 0) == ("ab", "  ^")
    assert excerpt("ab", 9, 4) == ("ab", "  ^")
    assert excerpt("ab", 1, 99) == ("ab", "^^")


def test_large_line_numbers_move_the_gutter():
    assert shown(at("x: y", 4, 1, line=1234567)).splitlines()[1:] == [
        "1234567 | x: y",
        "        |    ^",
    ]


def test_tabs_are_expanded_and_wide_characters_take_two_columns():
    assert excerpt("\tab", 2, 2) == ("        ab", "        ^^")
    assert excerpt("abc\td", 5, 1) == ("abc     d", "        ^")
    assert excerpt("日本: 語x", 5, 1) == ("日本: 語x", "      ^^")
    assert excerpt("e\u0301\u0301x", 4, 1) == ("e\u0301\u0301x", " ^")
    assert excerpt("\U0001f600 x", 3, 1) == ("\U0001f600 x", "   ^")
    syllable = "\u1100\u1161"  # Korean: two letters that terminals show as one
    assert excerpt(f"{syllable}x", 3, 1) == (f"{syllable}x", "  ^")


def test_nothing_steers_the_terminal():
    assert excerpt("a\x1b[31m\u202eb", 8, 1) == ("a\\x1b[31m\\u202eb", " " * 15 + "^")
    assert excerpt("\x07", 1, 1) == ("\\x07", "^^^^")
    text = shown(
        Finding(
            rule("r\x1b", Severity.ERROR),
            "m\n\u2066\udcff",
            Place("f\x1b]0;x\x07\udcff\r.yaml", 1, 1, 1, "a"),
        )
    )
    assert text.splitlines()[0] == (
        "f\\x1b]0;x\\x07\\udcff\\r.yaml:1:1: error: m\\n\\u2066\\udcff [r\\x1b]"
    )


@pytest.mark.parametrize(
    "char, escape",
    [
        ("\x00", "\\x00"),
        ("\x1b", "\\x1b"),
        ("\x7f", "\\x7f"),
        ("\x9b", "\\x9b"),
        ("\xa0", "\\xa0"),
        ("\xad", "\\xad"),
        ("\u200b", "\\u200b"),
        ("\u2028", "\\u2028"),
        ("\u202e", "\\u202e"),
        ("\ufeff", "\\ufeff"),
        ("\ud800", "\\ud800"),
        ("\U000e0041", "\\U000e0041"),
        ("\t", "\\t"),
        ("é", "é"),
        ("日", "日"),
        (" ", " "),
    ],
)
def test_printable(char, escape):
    assert printable(f"a{char}b") == f"a{escape}b"


def test_what_the_output_cannot_encode_is_escaped():
    assert shown(at("é日 x", 4, 1), encoding="ascii").splitlines()[1:] == [
        "    1 | \\xe9\\u65e5 x",
        "      |            ^",
    ]
    assert "é\\u65e5" in shown(at("é日", 1, 1), encoding="latin-1")


def test_long_lines_are_cut_around_the_place():
    text = "x" * 5_000 + "HERE" + "y" * 5_000
    line, carets = excerpt(text, 5_001, 4)
    assert len(line) == MAX_COLUMNS
    assert line.startswith("...xxx")
    assert line.endswith("yyy...")
    assert line[carets.index("^") :].startswith("HEREyyy")
    assert carets.count("^") == 4
    line, carets = excerpt(text, 1, 4)
    assert line.startswith("xxxx")
    assert line.endswith("xxx...")
    assert carets == "^^^^"
    line, carets = excerpt(text, 10_004, 1)
    assert line.startswith("...yyy")
    assert line.endswith("y")
    assert (len(line), len(carets)) == (len(carets), len(line))
    line, carets = excerpt("x" * MAX_COLUMNS, 1, 1)
    assert line == "x" * MAX_COLUMNS
    line, carets = excerpt("x" * 5_000, 1_000, 3_000)
    assert carets.count("^") > 50
    assert len(carets) <= len(line) - 3


def test_lines_are_folded_at_blanks():
    text = "  team nlp     guaranteed 40 → 32, see https://example.com/a-long-address-of-a-page"
    assert list(folded(text, None)) == list(folded(text, 100)) == [text]
    assert list(folded(text, 30)) == [
        "  team nlp     guaranteed 40 →",
        "    32, see",
        "    https://example.com/a-long-address-of-a-page",
    ]
    hued = "\x1b[1ma.yaml:1:1:\x1b[0m wrong"
    assert list(folded(hued, 17)) == [hued]
    assert list(folded(hued, 16)) == ["\x1b[1ma.yaml:1:1:\x1b[0m", "  wrong"]
    assert list(folded("模型 模型", 8)) == ["模型", "  模型"]


def test_findings_fit_a_terminal():
    out = io.StringIO()
    write_findings([at("word " * 40, 101, 4)], out, colour=False, wide=50)
    lines = out.getvalue().splitlines()
    assert max(map(columns, lines)) <= 50
    assert lines[-1].index("^") == lines[-2].index("word", lines[-1].index("^") - 1)
    page = io.StringIO()
    full(
        Report((at("x", 1, 1)._replace(message="word " * 40),), objects=1),
        page,
        colour=False,
        wide=50,
    )
    assert max(map(columns, page.getvalue().splitlines())) <= 50


def test_long_messages_are_cut_in_the_middle():
    long = Finding(rule("r", Severity.ERROR), "9" * 5_000 + "; write less", Place("f" * 5_000, 1))
    text = shown(long)
    assert len(text) < 1_500
    assert text.endswith("9; write less [r]\n")


def test_colours_are_around_what_is_shown_without_them():
    coloured = shown(TYPO, colour=True)
    assert "\x1b[1;31merror:\x1b[0m" in coloured
    plain = coloured
    for code in ("0", "1", "2", "32", "1;31"):
        plain = plain.replace(f"\x1b[{code}m", "")
    assert plain == shown(TYPO)


@pytest.mark.parametrize(
    "tty, environ, expected",
    [
        (True, {}, True),
        (False, {}, False),
        (True, {"NO_COLOR": "1"}, False),
        (True, {"NO_COLOR": ""}, True),
        (True, {"TERM": "dumb"}, False),
        (True, {"TERM": "xterm"}, True),
        (False, {"FORCE_COLOR": "1"}, True),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (True, {"FORCE_COLOR": "1", "NO_COLOR": "1"}, False),
        (False, {"FORCE_COLOR": "1", "NO_COLOR": ""}, True),
        (True, {"FORCE_COLOR": "1", "TERM": "dumb"}, True),
        (False, {"FORCE_COLOR": "0"}, False),
        (False, {"FORCE_COLOR": ""}, False),
    ],
)
def test_when_to_colour(tty, environ, expected):
    out = io.StringIO()
    out.isatty = lambda: tty
    assert colours(out, environ) is expected


@pytest.mark.parametrize(
    "errors, warnings, infos, expected",
    [
        (0, 0, 0, "no findings"),
        (1, 0, 0, "1 error"),
        (2, 1, 0, "2 errors, 1 warning"),
        (0, 2, 1, "2 warnings, 1 info"),
        (0, 0, 3, "3 info"),
    ],
)
def test_summary(errors, warnings, infos, expected):
    counts = {Severity.INFO: infos, Severity.WARNING: warnings, Severity.ERROR: errors}
    findings = [
        Finding(rule("r", severity), "m") for severity, n in counts.items() for _ in range(n)
    ]
    assert summary(iter(findings)) == expected


def test_findings_of_a_document_are_shown_as_the_issue_requires():
    text = "a:\n  \u65e5\u672c: 0777 # \x41\n"
    (document,), _ = load(Source("spec/a.yaml", text, None))
    assert shown(*document.faults) == (
        "spec/a.yaml:2:7: error: some programs read 0777 as 511, others as 777; "
        'write 511, 777, or "0777" in quotes [ambiguous-yaml-value]\n'
        "    2 |   日本: 0777 # A\n"
        "      |         ^^^^\n"
    )


@settings(max_examples=300, deadline=None)
@given(
    text=st.text(max_size=300) | st.text("ab\t日\u0301 \x1b", max_size=400),
    column=st.integers(1, 420),
    length=st.integers(0, 300),
    encoding=st.sampled_from(["utf-8", "ascii", "latin-1", "cp1252", "utf-16"]),
)
def test_carets_stay_below_the_line_and_all_is_printable(text, column, length, encoding):
    finding = Finding(rule(text, Severity.ERROR), text, Place(text, 1, column, length, text))
    lines = shown(finding, encoding=encoding).split("\n")
    assert all(line.isprintable() for line in lines)
    assert lines.pop() == ""
    if len(lines) == 3:
        line, carets = lines[1][8:], lines[2][8:]
        assert columns(line) <= MAX_COLUMNS
        assert set(carets) <= {" ", "^"}
        assert "^" in carets
        assert len(carets) <= MAX_COLUMNS + 1
    else:
        assert len(lines) == 1
        assert not text.strip()


@settings(max_examples=300, deadline=None)
@given(
    text=st.text("ab日\u0301 \x1b", min_size=1, max_size=11).filter(str.strip),
    begin=st.integers(0, 10),
    length=st.integers(0, 11),
)
def test_carets_are_below_their_text(text, begin, length):
    begin = min(begin, len(text) - 1)
    end = min(begin + max(length, 1), len(text))
    finding = Finding(rule("r", Severity.ERROR), "m", Place("f", 1, begin + 1, end - begin, text))
    carets = shown(finding, encoding="utf-8").split("\n")[2][8:]
    assert columns(printable(text[:begin])) == carets.index("^")
    assert carets.count("^") == max(columns(printable(text[begin:end])), 1)


def skipped(*lacks, reason="", partial=False):
    return RuleResult(
        "r",
        Severity.ERROR,
        Family.INERT,
        Verdict.NOT_EVALUATED,
        "",
        reason,
        lacks=lacks,
        partial=partial,
    )


@pytest.mark.parametrize(
    "rules, count, why",
    [
        ([skipped("Nodes")], "1 rule", "the input lacks: Nodes"),
        ([skipped("Nodes"), skipped("a", "Nodes")], "2 rules", "the input lacks: Nodes; a"),
        ([skipped(*"abcdef")], "1 rule", "the input lacks: a; b; c; d; e; and more"),
        ([skipped("a"), skipped(reason="403")], "2 rules", "the input lacks: a; and more"),
        ([skipped(reason="403")], "1 rule", "some input could not be read"),
    ],
)
def test_rules_that_were_not_evaluated_are_counted_with_what_they_lack(rules, count, why):
    passed = RuleResult("p", Severity.ERROR, Family.INERT, Verdict.PASS, "")
    line = f"not evaluated: {count} (-f json lists these rules), because {why}"
    field = skipped(reason="the result depends on x", partial=True)
    assert [*unevaluated(Report((), (passed,)))] == []
    assert [*unevaluated(Report((), (passed, *rules)))] == [line]
    assert [*unevaluated(Report((), (passed, field, field, *rules)))] == [
        line,
        "not evaluated completely: 2 rules (r, r), because the result depends on x",
    ]


@pytest.mark.parametrize("quiet", [True, False])
def test_quiet_does_not_group_the_fields_that_pods_need(quiet):
    needed = [Finding(PODS_MUST_CARRY, f"field {number}") for number in range(8)]
    others = [Finding(rule("r", Severity.WARNING), f"other {number}") for number in range(8)]
    out = io.StringIO()
    full(Report((*needed, *others)), out, colour=False, quiet=quiet)
    assert out.getvalue().count("info: field") == (8 if quiet else 3)
    assert out.getvalue().count("warning: other") == 3


def test_quiet_hides_the_fields_that_pods_need_beside_objects():
    out = io.StringIO()
    note = Finding(PODS_MUST_CARRY, "field a")
    full(Report((note,), objects=1), out, colour=False, quiet=True)
    assert "field" not in out.getvalue()


def test_notes_about_the_spec_are_grouped_as_validate_groups_them():
    assumed = [Finding(ASSUMPTION, f"assumed {number}", Place("a", 1, 1)) for number in range(3)]
    report = Report((*assumed, TYPO))
    grouped, each = io.StringIO(), io.StringIO()
    full(report, grouped, colour=False)
    assert grouped.getvalue().splitlines()[3:] == [
        f"info: {ASSUMPTION.summary} (3 times) [assumption]",
        "  a:1:1: assumed 0",
        "  a:1:1: assumed 1",
        "  and 1 more; --all shows them",
        "1 error, 3 info; no manifests",
    ]
    full(report, each, colour=False, every=True)
    assert each.getvalue().count("info: assumed") == 3
