"""The list of what is reported of a spec is the list of what the code reports."""

import ast
import re
from pathlib import Path

from policygen.lint.registry import RULES
from policygen.lint.spec_errors import RUN_ERRORS, RUN_RULES, SPEC_ERRORS
from policygen.lint.spec_rules import NOTES, SPEC_RULES

SOURCE = Path(__file__).parents[2] / "policygen"
OF_SPECS = [
    *SOURCE.glob("spec/*.py"),
    *SOURCE.glob("plan/*.py"),
    *SOURCE.glob("documents/*.py"),
    SOURCE / "app" / "render.py",
    SOURCE / "app" / "compile.py",
]
MAKERS = {
    "Hit",
    "Problem",
    "Surprise",
    "Finding",
    "_finding",
    "_fault",
    "_hit",
    "report",
    "refuse",
}
"""What makes an error, unless it is given another severity."""
REPORTED = re.compile(r"Severity\.(WARNING|INFO)")


def reported(path, said=None):
    """Slugs in calls that say a severity below error, or that end in such calls; or just `said`."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if name in {"warn", "note"} or (
            name in {"Hit", "Finding"} and REPORTED.search(ast.unparse(call))
        ):
            if said and not said.search(ast.unparse(call)):
                continue
            yield from (
                each.value
                for each in call.args[:2]
                if isinstance(each, ast.Constant)
                and re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", str(each.value))
            )


def test_every_report_on_a_spec_is_listed():
    assert {slug for path in OF_SPECS for slug in reported(path)} == set(SPEC_RULES)
    assert list(SPEC_RULES) == sorted(SPEC_RULES)


def test_no_name_is_used_twice():
    assert not {rule.name for rule in RULES} & set(SPEC_RULES)


def errors_of(path):
    """Slugs in calls that make an error."""
    text = re.compile(r"[a-z]+(-[a-z]+)+|encoding")
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        name = getattr(getattr(call, "func", None), "attr", None) or getattr(
            getattr(call, "func", None), "id", None
        )
        if name not in MAKERS or REPORTED.search(ast.unparse(call)):
            continue
        given = [*call.args, *(keyword.value for keyword in call.keywords)]
        for each in given:
            if isinstance(each, ast.Constant) and text.fullmatch(str(each.value)):
                yield each.value


def defaults_of(path):
    """Slugs that a function or a choice has where none is said."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.FunctionDef):
            named = [
                *zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True),
                *zip(reversed(node.args.args), reversed(node.args.defaults), strict=False),
            ]
            yield from (it.value for arg, it in named if arg.arg == "rule" and it)


def test_every_refusal_is_listed():
    """Beside those of `tests/spec/test_errors.py`, which has a case of every error."""
    found = {slug for path in OF_SPECS for slug in (*errors_of(path), *defaults_of(path))}
    chosen = {"limit-above-available", "limit-above-parent", "too-few-entries", "too-many-entries"}
    both = {"unknown-product"}  # an error of one form, a warning of the other
    assert (found | chosen | {"unknown-rule"}) - RUN_ERRORS.keys() == set(SPEC_ERRORS) | both
    assert list(SPEC_ERRORS) == sorted(SPEC_ERRORS)


OF_RUNS = (
    "app/*.py",
    "cli/*.py",
    "client/*.py",
    "drift/*.py",
    "kubernetes/*.py",
    "lint/*.py",
    "testing/*.py",
)


def said_in(path):
    """Slugs of findings of any severity, with the words of the call; a module can have one as RULE."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        named = isinstance(call, ast.Assign) and ast.unparse(call.targets[0]) == "RULE"
        if named and isinstance(call.value, ast.Constant):
            yield str(call.value.value), ""
        if isinstance(call, ast.Return) and isinstance(call.value, ast.Tuple):
            for each in call.value.elts[:1]:  # a name with its words
                if isinstance(each, ast.Constant) and str(each.value).startswith("waiver-"):
                    yield each.value, ""
        if isinstance(call, ast.Call) and getattr(call.func, "id", "") in {"Hit", "Finding"}:
            for each in call.args[:2]:
                if isinstance(each, ast.Constant) and re.fullmatch(
                    r"[a-z]+(-[a-z]+)+", str(each.value)
                ):
                    yield each.value, ast.unparse(call)


def test_what_is_said_of_runs_is_listed():
    paths = {path for pattern in OF_RUNS for path in SOURCE.glob(pattern)} - set(OF_SPECS)
    found = dict(said for path in paths for said in said_in(path))
    found |= {slug: "Severity.ERROR" for path in paths for slug in defaults_of(path)}
    found = {slug: words for slug, words in found.items() if slug not in SPEC_ERRORS}
    errors = {slug for slug, words in found.items() if "Severity.ERROR" in words}
    notes = {slug for slug, words in found.items() if "Severity.INFO" in words}
    assert errors == set(RUN_ERRORS)
    assert set(found) - errors == set(RUN_RULES)
    assert notes == NOTES & set(RUN_RULES)


def test_notes_are_those_that_the_code_makes():
    notes = {
        slug
        for path in OF_SPECS
        for slug in reported(path, re.compile(r"Severity\.INFO|^(\w+\.)?note"))
    }
    assert notes == NOTES & set(SPEC_RULES)
    assert set(RUN_RULES) | set(SPEC_RULES) >= NOTES


def test_names_of_errors_are_their_own():
    spec = [set(SPEC_RULES), set(SPEC_ERRORS), set(RUN_RULES), set(RUN_ERRORS)]
    lists = [{rule.name for rule in RULES}, *spec]
    assert sum(map(len, lists)) == len(set().union(*lists))
