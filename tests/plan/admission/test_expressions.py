"""The CEL of the admission policies; tests/servers/test_admission.py runs it on API servers."""

import json
import re

from policygen.core import shipped
from policygen.plan.admission.expressions import PROTECTED, RULES, VALIDATION, variables

EXPRESSIONS = [
    *((it.name, it.expression) for it in variables(RULES)),
    ("validation", VALIDATION.expression),
    ("message", VALIDATION.message_expression),
    ("protected", PROTECTED),
]
TEXT = re.compile(r"'(?:[^'\\]|\\.)*'")


def test_the_schema_has_the_same_rules():
    schema = json.loads((shipped.root() / "schemas/spec/platform.schema.json").read_text("utf-8"))
    admission = schema["properties"]["spec"]["properties"]["admission"]
    assert set(admission["properties"]["rules"]["properties"]) == set(RULES)


def test_brackets_are_closed_and_lines_fit_a_literal_block():
    for name, text in EXPRESSIONS:
        code = TEXT.sub("", text)
        for opening, closing in ("()", "[]", "{}"):
            assert code.count(opening) == code.count(closing), name
        assert max(map(len, text.split("\n"))) <= 72, name
        assert not re.search(r" +$", text, re.MULTILINE), name


def test_a_variable_reads_only_variables_before_it():
    known = set()
    for it in variables(RULES):
        assert set(re.findall(r"variables\.(\w+)", it.expression)) <= known, it.name
        known.add(it.name)
