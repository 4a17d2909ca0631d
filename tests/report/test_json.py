"""The JSON report matches its schema."""

import json
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from tests.report.reports import NASTY, report, written

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_json_keeps_its_schema(text):
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text("utf-8"))
    Draft202012Validator.check_schema(schema)
    data = json.loads(written("json", report(text)))
    Draft202012Validator(schema).validate(data)
    text = text.replace("\ud800", "?")
    assert [each["message"] for each in data["findings"]] == [
        f"no place: {text}",
        f"wrong: {text}",
        "file",
    ]
    assert data["findings"][1]["place"] == {
        "file": f"{text}.yaml",
        "line": 3,
        "column": 5,
        "length": 4,
    }
    assert data["summary"] == {"error": 1, "warning": 1, "info": 1}
    assert [each["verdict"] for each in data["rules"]] == [
        "fail",
        "pass",
        "vacuous",
        "not evaluated",
        "crashed",
    ]
