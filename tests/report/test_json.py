"""The JSON report matches its schema."""

import json
from datetime import date
from io import StringIO
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

from policygen.app import lint
from policygen.app.requests import LintRequest
from policygen.report.json import write
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


def test_models_are_listed_with_their_pools_and_reasons():
    """The example of ten models: each has its pool, or the reason why it has no pool."""
    path = ROOT / "examples" / "ten-models" / "policy.yaml"
    found = lint.lint(LintRequest(specs=(str(path),)), today=date(2026, 11, 22))
    out = StringIO()
    write(found, out)
    data = json.loads(out.getvalue())
    schema = json.loads((ROOT / "schemas" / "report.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(data)
    models = {it["model"]: it for it in data["models"]}
    assert len(models) == 10
    assert models["answers"] == {
        "model": "answers",
        "team": "search",
        "pools": ["a100"],
        "scheduler": "kueue",
        "reason": "guarantee",
        "resource": "nvidia.com/gpu",
        "unitsPerPod": 1,
        "minUnits": 6,
        "maxUnits": 6,
        "alternatives": [["l4"]],
        "rejected": [],
    }
    evaluator = models["evaluator"]
    assert (evaluator["pools"], evaluator["reason"]) == ([], None)
    assert [(it["pool"], it["obstacle"]) for it in evaluator["rejected"]] == [("a100", "size")]
