"""The list of what is reported of a spec is the list of what the code reports."""

import ast
import re
from pathlib import Path

from policygen.lint.catalog import RULES
from policygen.lint.spec_rules import SPEC_RULES

SOURCE = Path(__file__).parents[2] / "policygen"
REPORTED = re.compile(r"Severity\.(WARNING|INFO)")


def reported(path):
    """Slugs in calls that say a severity below error, or that end in such calls."""
    for call in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(call, ast.Call) or not call.args:
            continue
        name = (
            call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
        )
        if name in {"warn", "note"} or (
            name in {"Hit", "Finding"} and REPORTED.search(ast.unparse(call))
        ):
            yield from (
                each.value
                for each in call.args[:2]
                if isinstance(each, ast.Constant)
                and re.fullmatch(r"[a-z]+(-[a-z0-9]+)*", str(each.value))
            )


def test_every_report_on_a_spec_is_listed():
    paths = [*SOURCE.glob("spec/*.py"), *SOURCE.glob("plan/*.py"), SOURCE / "app.py"]
    assert {slug for path in paths for slug in reported(path)} == set(SPEC_RULES)
    assert list(SPEC_RULES) == sorted(SPEC_RULES)


def test_no_name_is_used_twice():
    assert not {rule.name for rule in RULES} & set(SPEC_RULES)
