"""The SARIF package reads the report."""

from urllib.parse import unquote

import pytest
from msgspec.structs import replace
from sarif_pydantic import Sarif

from policygen.report.report import UNREAD
from tests.report.reports import NASTY, report, written


@pytest.mark.parametrize("text", ["queue a", NASTY])
def test_sarif_is_read_by_its_own_types(text):
    log = Sarif.model_validate_json(written("sarif", report(text)))
    (run,) = log.runs
    assert [rule.id for rule in run.tool.driver.rules] == sorted(
        ["first-rule", "second-rule", "third-rule", "fourth-rule", "fifth-rule", "note"]
    )
    none, first, file = run.results
    assert (none.level, none.locations) == ("note", None)
    assert first.message.text == f"wrong: {text.replace(chr(0xD800), '?')}"
    where = first.locations[0].physical_location
    assert unquote(where.artifact_location.uri, errors="replace").startswith(text[:5])
    assert (where.region.start_line, where.region.start_column, where.region.end_column) == (
        3,
        5,
        9,
    )
    assert file.locations[0].physical_location.region is None


@pytest.mark.parametrize("incomplete", ["", UNREAD])
def test_sarif_of_an_incomplete_run_is_not_a_success(incomplete):
    made = replace(report(), rules=(), incomplete=incomplete)
    (run,) = Sarif.model_validate_json(written("sarif", made)).runs
    assert run.invocations[0].execution_successful is (not incomplete)
